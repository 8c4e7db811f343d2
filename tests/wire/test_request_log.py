"""The broker's request log, in its own form and in JSON Lines."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from groups.texts.found import LineProblem
from groups.texts.request_log import LoggedRequest, read_request_log
from tests.broker.recording import json_line

TOLD: dict[str, Any] = {
    "isForwarded": False,
    "requestHeader": {
        "requestApiKey": 68,
        "requestApiVersion": 1,
        "correlationId": 2,
        "clientId": "cl",
        "requestApiKeyName": "CONSUMER_GROUP_HEARTBEAT",
    },
    "request": {"groupId": "g", "memberId": "A", "memberEpoch": 0},
    "response": {"throttleTimeMs": 0, "errorCode": 0, "memberEpoch": 2},
    "connection": "127.0.0.1:35767-10.0.0.7:49530-1-0",
    "totalTimeMs": 126.68,
}
DONE_MS = 1795297828796


def line(front: str, behind: str = "") -> str:
    return f"{front}Completed request:{json.dumps(TOLD)}{behind}"


@pytest.mark.parametrize(
    "front",
    [
        "1795297828796 ",
        "[2026-11-21 21:50:28,796] DEBUG ",
        "2026-11-21T21:50:28.796Z DEBUG [data-plane] ",
        "2026-11-21T23:50:28.796+02:00 ",
        "2026-11-21 17:20:28,796-0430 ",
    ],
)
def test_the_time_in_front_is_read_in_the_forms_that_logging_layouts_write(front: str) -> None:
    (read,) = read_request_log([line(front, " (kafka.request.logger)\n")])
    assert isinstance(read, LoggedRequest)
    assert read.done_ms == DONE_MS
    assert read.arrived_ms == pytest.approx(DONE_MS - 126.68)
    assert (read.api, read.version, read.client, read.host) == (
        "CONSUMER_GROUP_HEARTBEAT",
        1,
        "cl",
        "10.0.0.7",
    )
    assert read.request == TOLD["request"]
    assert read.response == TOLD["response"]


def test_a_date_without_a_zone_is_in_the_zone_that_is_told() -> None:
    front = "[2026-11-21 23:50:28,796] DEBUG "
    (read,) = read_request_log([line(front)], utc_offset=timedelta(hours=2))
    assert isinstance(read, LoggedRequest)
    assert read.done_ms == DONE_MS


def test_the_form_in_json_lines_says_the_same() -> None:
    (read,) = read_request_log([line("1795297828796 ")])
    assert isinstance(read, LoggedRequest)
    assert list(read_request_log([json.dumps(json_line(read))])) == [read]


def test_other_lines_are_passed_over_and_other_requests_left_out() -> None:
    lines = ["[2026-11-21 21:50:28,796] INFO [KafkaServer id=1] started\n", "\n", line("1795297828796 ")]
    assert [each.line for each in read_request_log(lines)] == [3]
    assert list(read_request_log(lines, apis=frozenset({"FETCH"}))) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (line("1795297828796 ")[:-30], "is the line cut short"),
        (line(""), "no time in front of the request"),
        ("1795297828796 Completed request:RequestHeader(apiKey=FETCH)", "expected the request as JSON"),
        ('{"done_ms": 1', "no JSON at column"),
        ('{"done_ms": 1} and more', "Extra data"),
        ('{"done_ms": "now"}', "done_ms is 'now'"),
        ('{"done_ms": 1, "total_ms": 2, "api": "HEARTBEAT"}', "version is nothing"),
        ('{"done_ms": true}', "done_ms is True"),
    ],
)
def test_a_line_that_holds_no_request_is_told_with_its_number(text: str, says: str) -> None:
    _, problem = read_request_log([line("1795297828796 "), text])
    assert isinstance(problem, LineProblem)
    assert problem.line == 2
    assert says in problem.reason


def test_only_the_hosts_of_connections_are_read_also_of_version_6() -> None:
    told = {**TOLD, "connection": "::1:9092-2001:db8::7:49530-1-0"}
    (read,) = read_request_log([f"1795297828796 Completed request:{json.dumps(told)}"])
    assert isinstance(read, LoggedRequest)
    assert read.host == "2001:db8::7"
