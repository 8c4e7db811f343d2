"""Ownership in formats of other tools, against what the timeline's own API answers."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pandas
import pytest
from django.test import Client

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

    events = json.loads(made(run, "perfetto"))["traceEvents"]
    slices = [one for one in events if one["ph"] == "X" and one["tid"] > 1]
    assert len(slices) == len(table)
    assert sum(one["dur"] for one in slices if one["name"] == "unassigned") == 1000 * (
        (free["to_ms"] - free["from_ms"]).sum()
    )
    tracks = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    assert {one["tid"] for one in slices} | {1} == set(tracks)
    answer = client.post(
        f"/api/timelines/{run.id}/exports", {"format": "csv"}, content_type="application/json"
    )
    assert answer.content == made(run, "csv")


def test_a_stretch_has_its_own_intervals_and_names_are_not_hidden_in_silence() -> None:
    run = incident()
    part = pandas.read_csv(io.BytesIO(made(run, "csv", stretch=Stretch(first=1, last=run.last // 2))))
    whole = pandas.read_csv(io.BytesIO(made(run, "csv")))
    assert part["to_ms"].max() < whole["to_ms"].max()
    with pytest.raises(CannotHandOn, match="no pseudonyms"):
        made(run, "otlp", key=fresh_key())
