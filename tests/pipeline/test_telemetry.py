"""What consumers push of their metrics (KIP-714), as a real broker's plug-in and a collector write it to files."""

from __future__ import annotations

import gzip
import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, MetricsData

from tests.broker.telemetry_sample import REVOKE_MS
from tests.pipeline.folds import Folds, fold_paths

RECORDED = gzip.decompress((Path(__file__).parents[1] / "broker/fixtures/telemetry.otlp.gz").read_bytes())
AT_MS = 1795782600_000
PREFIX = "org.apache.kafka.consumer."


def pushes() -> Iterator[bytes]:
    at = 0
    while at < len(RECORDED):
        [length] = struct.unpack_from(">I", RECORDED, at)
        yield RECORDED[at + 4 : at + 4 + length]
        at += 4 + length


def read(folder: Path, data: bytes) -> Folds:
    (folder / "telemetry").write_bytes(data)
    return fold_paths(str(folder / "telemetry"), scratch=str(folder / "scratch"))


def notes(folds: Folds, group: str) -> list[tuple[int, str]]:
    """The clients' notes with their times."""
    return [(each["at_ms"], each["payload"]["says"]) for each in folds.entries(f"{group}#1") if " logs: " in each["payload"].get("says", "")]  # fmt: skip


def skipped(folds: Folds) -> list[str]:
    return [one["reason"] for one in folds.lines[-1]["records"]["skipped"] if not one.get("normal")]


def push(client: dict[str, str], count: float, *, after_s: int = 0, delta: bool = False, **gauges: float) -> str:  # fmt: skip
    """A push as a collector writes it: of a count, and of values by their names with ``_``."""
    point = {"timeUnixNano": str((AT_MS + 1000 * after_s) * 10**6)}
    counts = {"dataPoints": [{**point, "asDouble": count}], "aggregationTemporality": 1 if delta else 2}
    metrics: list[dict[str, Any]] = [{"name": f"{PREFIX}coordinator.rebalance.total", "sum": counts}]
    metrics += [{"name": PREFIX + name.replace("_", "."), "gauge": {"dataPoints": [{**point, "asDouble": value}]}} for name, value in gauges.items()]  # fmt: skip
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in client.items()]
    return json.dumps({"resourceMetrics": [{"resource": {"attributes": attributes}, "scopeMetrics": [{"metrics": metrics}]}]})  # fmt: skip


ONE = {"group_id": "orders", "client_id": "c-1", "client_instance_id": "x"}


def test_what_real_clients_pushed_is_their_rebalances_with_how_long_their_callbacks_took(
    tmp_path: Path,
) -> None:
    folds = read(tmp_path, RECORDED)
    shop, stock = (dict(enumerate(says for _, says in notes(folds, group))) for group in ("shop", "stock"))
    # The first member of each group began alone, and gave up half of it when the second came; it left, and the second had all.
    assert [re.sub(r"^\S+ |;.*", "", each) for each in shop.values()] == [
        "logs: 1 rebalance since its metrics before",
        "logs: 1 rebalance since its metrics before",
        "logs: 2 rebalances since its metrics before",
        "logs: 1 rebalance since its metrics before",
    ]
    [revoked] = [int(found[1]) for each in shop.values() if (found := re.search(r"onPartitionsRevoked up to (\d+) ms", each))]  # fmt: skip
    assert REVOKE_MS <= revoked < REVOKE_MS + 300
    assert {each.split(" ")[0] for each in stock.values()} == {"stock-1", "stock-2"}
    assert all("it rebalanced since its metrics before; that took" in each for each in stock.values())
    assert skipped(folds) == []


def test_json_lines_and_one_message_in_a_file_are_what_the_messages_with_lengths_are(tmp_path: Path) -> None:
    messages = [MetricsData.FromString(each) for each in pushes()]
    lines = "\n".join(json.dumps(MessageToDict(each)) for each in messages if each.resource_metrics)
    merged = MetricsData(resource_metrics=[one for each in messages for one in each.resource_metrics])
    wanted = [notes(read(tmp_path, RECORDED), group) for group in ("shop", "stock")]
    for other in (lines.encode(), merged.SerializeToString()):
        assert [notes(read(tmp_path, other), group) for group in ("shop", "stock")] == wanted
    assert AggregationTemporality.Value("AGGREGATION_TEMPORALITY_DELTA") == 1


def test_counts_since_the_push_before_and_counts_since_the_start_are_each_read_as_they_are(
    tmp_path: Path,
) -> None:
    since_start = [push(ONE, count, after_s=at) for at, count in enumerate((2, 2, 3, 1))]
    assert notes(read(tmp_path, "\n".join(since_start).encode()), "orders") == [
        (AT_MS, "c-1 logs: rebalance 2 since it started"),
        (AT_MS + 2_000, "c-1 logs: rebalance 3 since it started"),
        (AT_MS + 3_000, "c-1 logs: its counters began again, 3 rebalances before: it was started again"),
    ]
    since_push = [push(ONE, count, after_s=at, delta=True) for at, count in enumerate((2, 0, 1))]
    assert notes(read(tmp_path, "\n".join(since_push).encode()), "orders") == [
        (AT_MS, "c-1 logs: 2 rebalances since its metrics before"),
        (AT_MS + 2_000, "c-1 logs: 1 rebalance since its metrics before"),
    ]


def test_an_application_that_leaves_no_time_for_poll_and_a_late_poll_are_noted_once(tmp_path: Path) -> None:
    some = [push(ONE, 0, after_s=at, poll_idle_ratio_avg=ratio, last_poll_seconds_ago=age) for at, ratio, age in ((0, 0.9, 0), (1, 0.01, 40), (2, 0.02, 41))]  # fmt: skip
    assert notes(read(tmp_path, "\n".join(some).encode()), "orders") == [
        (AT_MS + 1_000, "c-1 logs: it polled last 40 s before"),
        (AT_MS + 1_000, "c-1 logs: it is in poll for 1 % of its time: its application takes the rest"),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (push(ONE, 1)[:-9], "the telemetry is cut off, or not whole"),
        ('{"resourceMetrics": [7]}', "the telemetry is cut off, or not whole"),
        ('{"resourceMetrics": ' + "[" * 100_000, "the telemetry is cut off, or not whole"),
        (push(ONE, -1), "the metric rebalance has a value or a time that cannot be"),
        (push(ONE, float("inf")), "the metric rebalance has a value or a time that cannot be"),
        (push(ONE, 1, after_s=-(10**12)), "the metric rebalance has a value or a time that cannot be"),
        (push({"group_id": "orders"}, 1), "the metric rebalance names no client"),
    ],
)
def test_a_push_that_is_cut_or_cannot_be_is_one_line_with_its_place(
    tmp_path: Path, line: str, why: str
) -> None:
    folds = read(tmp_path, f"{push(ONE, 1)}\n{line}\n{push(ONE, 2, after_s=9)}".encode())
    assert skipped(folds) == [f"line 2: {why}"]
    assert [says for _, says in notes(folds, "orders")] == [
        f"c-1 logs: rebalance {count} since it started" for count in (1, 2)
    ]


def test_messages_that_are_cut_or_none_are_one_line_after_those_that_are_whole(tmp_path: Path) -> None:
    first = 4 + len(next(pushes()))
    for broken in (RECORDED[: 3 * first], RECORDED[:first] + b"\xff" * 99):
        folds = read(tmp_path, broken)
        assert any(each.endswith("the telemetry is cut off, or not whole") for each in skipped(folds))
        assert folds.timelines


def test_pushes_of_clients_without_a_group_are_counted(tmp_path: Path) -> None:
    found = skipped(read(tmp_path, push({"client_id": "c-1"}, 1).encode()))
    assert any(each.startswith("1 scrape of clients that neither") for each in found)
