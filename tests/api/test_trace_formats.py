"""Ownership in formats of other tools, against what the timeline's own API answers."""

from __future__ import annotations

import base64
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pandas
import pytest
from django.test import Client
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from groups import storage
from groups.exporting import EXPORTERS, Wanted, fresh_key
from groups.incidents.pieces import Stretch
from groups.models import Timeline
from groups.storage.handing_on import CannotHandOn
from tests.api.test_remedies import incident

pytestmark = pytest.mark.django_db


def made(timeline: Timeline, kind: str, **wanted: object) -> bytes:
    return EXPORTERS[kind](timeline, Wanted(made=datetime.now(UTC), **wanted)).content  # type: ignore[arg-type]


def test_table_traces_and_tracks_have_what_the_rebalances_of_the_api_have(client: Client) -> None:
    run = incident()
    costs = storage.lag_between(run, 1, run.last, 2)["rebalances"]
    table = pandas.read_csv(io.BytesIO(made(run, "csv")))
    free = table[table["owner"].isna()]
    assert (free["to_ms"] - free["from_ms"]).sum() == sum(one["unassigned_partition_ms"] for one in costs) > 0
    typed = pandas.read_parquet(io.BytesIO(made(run, "parquet")))
    assert list(typed["owner"].fillna("")) == list(table["owner"].fillna(""))
    assert list(typed["partition"]) == list(table["partition"])
    assert list(typed["to_ms"].astype("int64")) == list(table["to_ms"])
    assert str(typed["from_ms"].dtype) == "datetime64[ms, UTC]"
    # Each partition's intervals follow each other without a hole.
    for _, rows in table.groupby(["topic", "partition"]):
        assert list(rows["from_ms"][1:]) == list(rows["to_ms"][:-1])

    (resource,) = json.loads(made(run, "otlp"))["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    roots = [one for one in spans if "parentSpanId" not in one]
    assert len(roots) == len(costs)
    assert len({one["spanId"] for one in spans}) == len(spans)
    children = [one for one in spans if one["traceId"] == roots[-1]["traceId"] and one not in roots]
    moved = [one for one in children if any(each["key"] == "from" for each in one["attributes"])]
    assert len(moved) == costs[-1]["moved"] > 0
    (link,) = roots[-1]["links"]
    last = next(one for one in children if one["spanId"] == link["spanId"])
    assert int(last["endTimeUnixNano"]) == max(int(one["endTimeUnixNano"]) for one in children)
    for one in spans:
        assert (len(one["traceId"]), len(one["spanId"])) == (32, 16)
        assert int(one["startTimeUnixNano"]) <= int(one["endTimeUnixNano"])

    with_owners = [one for one in slices_of(made(run, "perfetto")) if one[0] != "Epochs"]
    assert sorted(with_owners) == sorted(
        (f"{one.topic}-{one.partition}", one.owner if isinstance(one.owner, str) else "unassigned",
         one.from_ms * 1_000_000, one.to_ms * 1_000_000)
        for one in table.itertuples()
    )  # fmt: skip
    answer = client.post(
        f"/api/timelines/{run.id}/exports", {"format": "csv"}, content_type="application/json"
    )
    assert answer.content == made(run, "csv")


def slices_of(content: bytes) -> list[tuple[str, str, int, int]]:
    """Track, name, begin and end (ns), read by Perfetto's own messages."""
    tracks: dict[int, str] = {}
    begun: dict[int, tuple[str, int]] = {}
    found = []
    for packet in perfetto_trace_pb2.Trace.FromString(content).packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
            continue
        event = packet.track_event
        if event.type == event.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in begun
            begun[event.track_uuid] = (event.name, packet.timestamp)
        else:
            assert event.type == event.TYPE_SLICE_END
            name, since = begun.pop(event.track_uuid)
            found.append((tracks[event.track_uuid], name, since, packet.timestamp))
    assert not begun
    return found


def test_opentelemetrys_messages_take_the_traces_and_duckdb_the_tables(tmp_path: Path) -> None:
    run = incident()
    document = json.loads(made(run, "otlp"))
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    # OTLP has ids as hex, where JSON of Protocol Buffers has bytes as base64.
    for one in [*spans, *(link for span in spans for link in span.get("links", ()))]:
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in one:
                one[key] = base64.b64encode(bytes.fromhex(one[key])).decode()
    read = ParseDict(document, TracesData(), ignore_unknown_fields=False)
    taken = read.resource_spans[0].scope_spans[0].spans
    assert {len(one.trace_id) for one in taken} == {16}
    roots = {one.span_id for one in taken if not one.parent_span_id}
    assert {one.parent_span_id for one in taken if one.parent_span_id} <= roots
    assert {link.span_id for one in taken for link in one.links} <= {one.span_id for one in taken}

    answers = []
    for kind in ("csv", "parquet"):
        file = tmp_path / f"owned.{kind}"
        file.write_bytes(made(run, kind))
        length = "to_ms - from_ms" if kind == "csv" else "epoch_ms(to_ms) - epoch_ms(from_ms)"
        query = (
            f"select topic, partition, owner, sum({length})::bigint from '{file}' group by all order by all"
        )
        answers.append(duckdb.execute(query).fetchall())
    assert answers[0] == answers[1] != []


def test_a_stretch_has_its_own_intervals_and_names_are_not_hidden_in_silence() -> None:
    run = incident()
    part = pandas.read_csv(io.BytesIO(made(run, "csv", stretch=Stretch(first=1, last=run.last // 2))))
    whole = pandas.read_csv(io.BytesIO(made(run, "csv")))
    assert part["to_ms"].max() < whole["to_ms"].max()
    with pytest.raises(CannotHandOn, match="no pseudonyms"):
        made(run, "otlp", key=fresh_key())
