"""Statistics of librdkafka among lines of its log, as the client itself makes them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from confluent_kafka import Consumer

from groups.pipeline.reading.entry_lines import entry_line
from groups.texts.formats import formats_of, read_text
from groups.texts.found import Found, LineProblem, LogEvent, Remark

NAMES_GROUP = '%7|1795782600.000|MEMBERID|c-1#consumer-1| [thrd:main]: Group "orders": updating member id "(not-set)" -> "rdkafka-1"'


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """One real object of statistics, of a client without a broker."""
    found: list[str] = []
    settings = {"bootstrap.servers": "127.0.0.1:1", "group.id": "orders", "client.id": "c-1", "log_level": 0}
    consumer = Consumer({**settings, "statistics.interval.ms": 100, "stats_cb": found.append})
    deadline = time.monotonic() + 60
    while not found and time.monotonic() < deadline:
        consumer.poll(0.1)
    consumer.close()
    return dict(json.loads(found[0]))


def line(made: dict[str, Any], count: int, reason: str = "", *, at_s: int = 1795782610) -> str:
    counters = {"rebalance_cnt": count, "rebalance_age": 1_500, "rebalance_reason": reason}
    return json.dumps({**made, "time": at_s, "cgrp": {**made["cgrp"], **counters}})


def read(*lines: str) -> list[Found]:
    text = "\n".join(lines)
    return list(read_text(text.splitlines(), formats_of(text)))


def says(found: list[Found]) -> list[tuple[int, str, str]]:
    return [(each.at_ms, each.source, each.fields["reason"]) for each in found if isinstance(each, LogEvent) and each.what == "reason"]  # fmt: skip


def test_each_rebalance_that_statistics_count_is_an_event_with_its_reason_and_time(
    made: dict[str, Any],
) -> None:
    assert "rebalance_cnt" in made["cgrp"]
    found = read(
        NAMES_GROUP, line(made, 0), line(made, 1, "group is rebalancing"), line(made, 1), line(made, 2)
    )
    assert says(found) == [
        (1795782608500, "c-1", "rebalance 1 since it started: group is rebalancing"),
        (1795782608500, "c-1", "rebalance 2 since it started: no reason"),
    ]
    assert {each.group for each in found if isinstance(each, LogEvent)} == {"orders"}


def test_counters_that_begin_again_are_said_to_and_count_from_there(made: dict[str, Any]) -> None:
    found = read(NAMES_GROUP, line(made, 7, "x"), line(made, 1, "y"), line(made, 2, "z"))
    assert [reason for _, _, reason in says(found)][1:] == [
        "its counters began again, 7 rebalances before: it was started again",
        "rebalance 2 since it started: z",
    ]


def test_two_clients_of_one_name_in_a_process_have_counters_of_their_own(made: dict[str, Any]) -> None:
    first = line(made, 3, "x")
    second = line({**made, "name": "c-1#consumer-999"}, 1, "y")
    found = read(NAMES_GROUP, first, second, first, second)
    assert [reason for _, _, reason in says(found)] == [
        "rebalance 3 since it started: x",
        "rebalance 1 since it started: y",
    ]


def test_processes_with_clients_of_one_name_are_not_one_that_is_started_repeatedly(
    made: dict[str, Any],
) -> None:
    """Two processes that name no client, each with statistics every five seconds."""
    lines = [NAMES_GROUP]
    for at_s in (10, 15, 20):
        for count, age_s in ((5, 90.3), (2, 30.7)):
            age = int((age_s + at_s + 0.4 * (at_s == 15)) * 1_000_000)
            lines.append(line({**made, "age": age}, count, "x", at_s=1795782600 + at_s))
    assert [reason for _, _, reason in says(read(*lines))] == [
        "rebalance 5 since it started: x",
        "counters of its own: it was started again, or another client has the same name",
        "rebalance 2 since it started: x",
    ]


def test_a_reason_with_half_of_a_surrogate_pair_can_be_written_as_an_entry(made: dict[str, Any]) -> None:
    found = read(NAMES_GROUP, line(made, 1, "a\ud800b"))
    assert [reason for _, _, reason in says(found)] == ["rebalance 1 since it started: a?b"]
    assert all(entry_line(each) for each in found if isinstance(each, LogEvent))


@pytest.mark.parametrize(
    "broken",
    [
        {"time": "x"},
        {"time": -5},
        {"time": 10**12},
        {"cgrp": None},
        {"cgrp": {}},
        {"cgrp": {"rebalance_cnt": -1, "rebalance_age": 0, "rebalance_reason": ""}},
    ],
)
def test_statistics_that_are_cut_or_not_whole_are_one_line_with_its_place(made: dict[str, Any], broken: dict[str, Any]) -> None:  # fmt: skip
    whole = json.dumps({**made, **broken})
    for text in (whole, line(made, 1)[:-40]):
        [problem] = [each for each in read(NAMES_GROUP, text) if isinstance(each, LineProblem)]
        assert problem.line == 2
        assert says(read(NAMES_GROUP, text)) == []


def test_statistics_of_a_client_without_a_known_group_are_counted(made: dict[str, Any]) -> None:
    found = read(line(made, 1), line(made, 2))
    assert says(found) == []
    [remark] = [each.reason for each in found if isinstance(each, Remark)]
    assert remark.startswith("2 statistics of librdkafka are of clients that no log line before them")
