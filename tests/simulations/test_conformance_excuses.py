"""What ``conform`` believes without proof: how late metadata may be heard of, and that a task had a beginning."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.core.management import call_command

from simulations.proof.conformance import ImageChange, RecordedRequest, Recording, Written
from simulations.proof.conformance.candidates import _are_due
from simulations.proof.conformance.excuses import LATE_IMAGE
from simulations.proof.conformance.position import (
    CLOCK_SLACK_MS,
    IMAGE_LAG_LEAST_MS,
    IMAGE_LAG_MOST_MS,
    IMAGE_SHOWN_LAG_MS,
    LOG_DELAY_MOST_MS,
    Log,
    Position,
)
from simulations.proof.conformance.requests import DELETE_OFFSETS, HEARTBEAT, ask
from simulations.proof.conformance.trace import Story
from simulations.protocol.coordinator.image import Image
from tests.simulations.broker import Broker


def asked(arrived_ms: int, done_ms: int) -> RecordedRequest:
    return RecordedRequest(
        group="g",
        api=HEARTBEAT,
        version=1,
        client="c",
        host="/h",
        request={"memberId": "A", "memberEpoch": 1},
        response={},
        arrived_ms=arrived_ms,
        done_ms=done_ms,
        line=1,
    )


def resolved(at_ms: int, version: int) -> Written:
    payload = {"type": 16, "key": {"regularExpression": "f.*"}, "value": {"topics": [], "version": version}}
    return Written(partition=0, offset=0, batch=0, at_ms=at_ms, payload=payload)


def log(*requests: RecordedRequest, written: tuple[Written, ...] = (), slowest_ms: int = 0) -> Log:
    changes = (
        ImageChange(at_ms=1_000, version=5, image=Image(topics={}, version=5)),
        ImageChange(at_ms=9_000, version=8, image=Image(topics={}, version=8)),
    )
    return Log(Recording(group="g", asked=requests, written=written, images=changes, slowest_ms=slowest_ms))


def test_metadata_is_heard_of_within_a_while_where_no_request_is_slow() -> None:
    assert log(asked(0, 3)).known_ms == (1_000 + IMAGE_LAG_LEAST_MS, 9_000 + IMAGE_LAG_LEAST_MS)


def test_metadata_may_be_heard_of_later_on_a_machine_whose_slowest_request_shows_that_it_stood_still() -> (
    None
):
    assert log(asked(0, 3), asked(10, 1_510)).known_ms == (1_000 + 30_000, 9_000 + 30_000)
    assert log(asked(0, 90_000)).known_ms[0] == 1_000 + IMAGE_LAG_MOST_MS
    # Another group's request shows it as well.
    assert log(asked(0, 3), slowest_ms=1_500).known_ms == (1_000 + 30_000, 9_000 + 30_000)


def test_a_result_of_expressions_shows_how_new_an_image_the_broker_had() -> None:
    slow = asked(0, 90_000)
    assert log(slow, written=(resolved(2_000, 5),)).known_ms == (
        2_000 + IMAGE_SHOWN_LAG_MS,
        9_000 + IMAGE_LAG_MOST_MS,
    )
    assert log(slow, written=(resolved(2_000, 4),)).known_ms[0] == 1_000 + IMAGE_LAG_MOST_MS


@pytest.mark.parametrize(
    ("at_ms", "known"), [(99, False), (100, True), (150, True), (206, False), (500, True)]
)
def test_a_task_can_begin_only_while_a_heartbeat_is_handled(at_ms: int, known: bool) -> None:
    # The second is read late: its line's time is when it was written.
    told = log(asked(100, 200), replace(asked(480, 600), line=2))
    assert told.heartbeat_at(at_ms, 0) is known
    assert told.heartbeat_at(480 - LOG_DELAY_MOST_MS, LOG_DELAY_MOST_MS)


def test_a_member_that_asks_for_an_assignor_which_the_broker_does_not_have_is_answered_with_an_error() -> (
    None
):
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    members = broker.shard.state.consumer.members
    spoilt = {**members, "A": replace(members["A"], server_assignor="mine")}
    consumer = replace(broker.shard.state.consumer, members=spoilt)
    broker.shard.state = replace(broker.shard.state, consumer=consumer)
    assert int(broker.join("B").error_code) == -1


def test_the_command_says_how_much_was_judged_and_how_much_of_it_excused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("conform", "--sample", "recorded-clients")
    told = capsys.readouterr()
    assert told.err.splitlines()[-1] == f"378 judged, 2 excused: 2 times {LATE_IMAGE}"
    assert json.loads(told.out)["excused"] == [{"reason": LATE_IMAGE, "count": 2}]


@pytest.mark.parametrize(
    ("written_ms", "due"),
    [
        (100 - CLOCK_SLACK_MS - 1, False),
        (100 - CLOCK_SLACK_MS, True),
        (150, True),
        (200 + CLOCK_SLACK_MS, True),
        (200 + CLOCK_SLACK_MS + 1, False),
    ],
)
def test_records_are_due_that_were_written_while_a_request_was_handled_give_or_take_a_clock(
    written_ms: int, due: bool
) -> None:
    request = asked(100, 200)
    shard = Broker().shard
    position = Position(log=log(request, written=(resolved(written_ms, 5),)), shard=shard)
    assert _are_due(position, request) is due
    assert _are_due(Position(log=log(request), shard=shard), request) is False


def test_a_heartbeat_that_says_nothing_is_fast_path_unless_it_wrote_something() -> None:
    told, nothing = Story("g"), {"errorCode": 0, "memberEpoch": 1, "assignment": None}
    told.exchange(replace(asked(1, 2), response=nothing), ())
    told.exchange(replace(asked(3, 4), response=nothing), (resolved(3, 5),))
    told.exchange(replace(asked(5, 6), response={**nothing, "errorCode": 25}), ())
    kinds = [(entry.kind, entry.payload.get("steady", False)) for entry in told.entries]
    wrote = [("request", False), ("record", False), ("response", False)]
    assert kinds == [("request", True), *wrote, ("request", False), ("response", False)]


def test_offsets_of_a_topic_that_is_not_there_are_answered_by_the_broker_itself() -> None:
    """Of one that is there, those of partitions that it does not have are."""
    broker = Broker(foo=3)

    def answered(name: str, *numbers: int) -> list[tuple[int, int]]:
        topics = [{"name": name, "partitions": [{"partitionIndex": number} for number in numbers]}]
        request = replace(asked(1, 2), api=DELETE_OFFSETS, request={"topics": topics})
        told = ask(broker.shard, request, broker.now_ms).answer
        return [
            (partition["partitionIndex"], partition["errorCode"])
            for topic in told["topics"]
            for partition in topic["partitions"]
        ]

    assert answered("nowhere", 0, 1) == [(0, 3), (1, 3)]
    assert answered("foo", -1, 3) == [(-1, 3), (3, 3)]
    broker.join("A")
    assert answered("foo", 3, 0) == [(3, 3), (0, 86)]
