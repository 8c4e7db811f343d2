"""The parts by which a recording is judged: timers with bounds, comparing leaf by leaf, counting, and what is not judged."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from groups.texts.request_log import LoggedRequest
from groups.wire.embedded.consumer_protocol import encode_subscription
from simulations.proof.conformance.classic_requests import can_read
from simulations.proof.conformance.comparing import ABSENT, aligned, differing, same_place, same_record
from simulations.proof.conformance.configs import group_settings
from simulations.proof.conformance.position import CLOCK_SLACK_MS, IMAGE_LAG_LEAST_MS, Log, Position
from simulations.proof.conformance.recording import ImageChange, RecordedRequest, Recording, Written
from simulations.proof.conformance.requests import COMMIT, ask
from simulations.proof.conformance.score import Score
from simulations.proof.conformance.splitting import (
    HANDLED_MS,
    NOT_COORDINATOR,
    Loading,
    NotJudged,
    bounded,
    recordings,
    why_not,
)
from simulations.proof.conformance.timers import EARLY_MS, LATE_MS, Running, Timers
from simulations.proof.conformance.trace import Story
from simulations.proof.conformance.variants import attempts
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.timers import SESSION, TimerCancel, TimerStart
from simulations.protocol.coordinator.transactions import end_of
from simulations.protocol.messages.classic_requests import CLASSIC_HEARTBEAT_API, LEAVE_API, SYNC_API
from tests.simulations.broker import Broker
from tests.simulations.test_conformance_excuses import asked


def start(who: str | None = "A", length_ms: int = 6_000, bound: int | None = None) -> TimerStart:
    return TimerStart(timer=SESSION, member_id=who, length_ms=length_ms, bound_epoch=bound)


def of_member(timers: Timers, who: str) -> list[Running]:
    """A member's timers, the first to run out first."""
    return [each for each in timers.due(10**12) if each.member_id == who]


def test_a_timer_that_was_seen_to_start_runs_out_within_what_the_recording_allows() -> None:
    timers = Timers().taking([start(bound=4)], 1_000, 1_200)
    (running,) = of_member(timers, "A")
    assert running == Running(
        timer=SESSION,
        member_id="A",
        bound_epoch=4,
        earliest_ms=1_000 + 6_000 - EARLY_MS,
        latest_ms=1_200 + 6_000,
    )
    assert list(of_member(timers, "B")) == []
    assert list(of_member(Timers(), "A")) == []


def test_a_timer_of_which_nobody_saw_until_when_it_started_is_never_overdue() -> None:
    timers = Timers().taking([start()], 1_000, None)
    (running,) = of_member(timers, "A")
    assert (running.earliest_ms, running.latest_ms) == (1_000 + 6_000 - EARLY_MS, None)
    assert timers.overdue(10**12) == []


def test_a_timer_that_starts_anew_or_is_stopped_runs_no_more_as_it_did() -> None:
    timers = Timers().taking([start("A"), start("B"), start(None)], 0, 0)
    again = timers.taking([start("A", 9_000), TimerCancel(timer=SESSION, member_id="B")], 100, 100)
    assert [each.latest_ms for each in of_member(again, "A")] == [9_100]
    assert list(of_member(again, "B")) == []
    assert [each.latest_ms for each in of_member(timers, "B")] == [6_000], "a change makes another"
    assert list(of_member(timers.without(of_member(timers, "A")), "A")) == []
    assert list(of_member(timers.without(of_member(timers, "A")), "B")) != []
    assert list(of_member(timers.taking([TimerCancel(timer=SESSION, member_id="C")], 0, 0), "A")) != []


def test_timers_of_a_member_come_by_when_they_run_out() -> None:
    rebalance = TimerStart(timer="rebalance", member_id="A", length_ms=300, bound_epoch=None)
    timers = Timers().taking([start(), rebalance], 0, 0)
    assert [each.timer for each in of_member(timers, "A")] == ["rebalance", SESSION]


@pytest.mark.parametrize(("after_ms", "late"), [(LATE_MS, False), (LATE_MS + 1, True)])
def test_a_timer_is_overdue_that_should_have_run_out_long_ago(after_ms: int, late: bool) -> None:
    timers = Timers().taking([start()], 0, 100)
    assert bool(timers.overdue(6_100 + after_ms)) is late


def test_values_are_compared_leaf_by_leaf_and_each_is_told_with_its_path() -> None:
    recorded = {"a": 1, "b": {"c": [1, 2], "d": "x"}, "throttleTimeMs": 3, "e": [1]}
    simulated = {"a": 1, "b": {"c": [1, 9], "d": "y"}, "throttleTimeMs": 0, "e": [1, 2], "f": None}
    assert list(differing(recorded, simulated)) == [
        ("b.c.1", 2, 9),
        ("b.d", "x", "y"),
        ("e", [1], [1, 2]),
        ("f", ABSENT, None),
    ]
    assert list(differing(1, 2)) == [("", 1, 2)]
    assert list(differing("ab", "ac")) == [("", "ab", "ac")]


def record(kind: int, who: str, value: Any = 1) -> dict[str, Any]:
    told = None if value is None else {"told": value}
    return {"type": kind, "key": {"memberId": who}, "version": None if value is None else 0, "value": told}


def test_records_are_of_one_place_by_their_type_their_key_and_whether_they_remove_something() -> None:
    one = record(5, "A")
    assert same_place(one, record(5, "A", 2))
    assert not same_record(one, record(5, "A", 2))
    for other in (record(7, "A"), record(5, "B"), record(5, "A", None)):
        assert not same_place(one, other)
        assert not same_record(one, other)


def test_records_are_paired_in_their_order_and_what_has_no_counterpart_stands_alone() -> None:
    a, b, c, d = (record(5, who) for who in "ABCD")
    assert list(aligned([a, b, c], [a, c])) == [(a, a), (b, None), (c, c)]
    assert list(aligned([a, c], [a, b, c])) == [(a, a), (None, b), (c, c)]
    assert list(aligned([a, b], [b, a])) == [(a, None), (b, b), (None, a)]
    assert list(aligned([a], [a, d])) == [(a, a), (None, d)]
    assert list(aligned([a, d], [a])) == [(a, a), (d, None)]


def written(payload: dict[str, Any], offset: int) -> Written:
    return Written(partition=0, offset=offset, batch=0, at_ms=1_000 + offset, payload=payload)  # type: ignore[arg-type]


def test_the_score_counts_what_is_equal_and_words_what_is_not() -> None:
    score = Score()
    for records in (3, 2):
        score.asked(records)
        score.agreed()
    assert (score.requests, score.answers_equal, score.equal) == (2, 2, 5)
    told = score.answer(replace(asked(1, 2), response={"errorCode": 0}), {"errorCode": 25})
    assert [(each.at_ms, each.what, each.recorded, each.simulated) for each in told] == [
        (2, "answer to CONSUMER_GROUP_HEARTBEAT of A (line 1): errorCode", 0, 25)
    ]
    assert score.answer(replace(asked(1, 2), response={}), {}) == []
    assert (score.requests, score.answers_equal, score.answers_different) == (2, 3, 1)
    assert score.differences == told


def test_each_record_that_differs_or_stands_alone_is_a_difference_at_its_own_time() -> None:
    score = Score()
    recorded = [written(record(5, "A"), 7), written(record(5, "B"), 8), written(record(5, "C"), 9)]
    told = score.records("g", 2, recorded, [record(5, "A"), record(5, "B", 2), record(7, "D")])
    assert [(each.at_ms, each.what) for each in told] == [
        (1_008, "record of type 5 at offset 8"),
        (2, "record of type 7"),
        (1_009, "record of type 5 at offset 9"),
    ]
    assert [(each.recorded is None, each.simulated is None) for each in told] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    assert (score.equal, score.different, score.extra, score.missing) == (1, 1, 1, 1)
    assert score.differences == told


def test_what_nothing_explains_is_missing_and_a_timer_that_never_ran_out_has_written_too_little() -> None:
    score = Score()
    unit = [written(record(8, "A", None), 7), written(record(5, "A", None), 8)]
    told = score.unexplained("g", unit)
    assert [each.what for each in told] == [
        "record of type 8 at offset 7, which nothing explains",
        "record of type 5 at offset 8, which nothing explains",
    ]
    running = Running(timer=SESSION, member_id="A", bound_epoch=None, earliest_ms=5, latest_ms=90)
    late = score.overdue("g", running, 4)
    assert (late.at_ms, late.what, late.recorded) == (90, "session timer of A", "the member stays")
    refused = score.refused("g", unit[0], "no such member")
    assert (refused.what, refused.simulated) == (
        "record of type 8 at offset 7, when it is loaded",
        "no such member",
    )
    assert (score.missing, score.extra) == (2, 4)
    assert score.differences == [*told, late, refused]


def test_an_answer_that_came_at_another_time_is_no_longer_counted_as_equal() -> None:
    score = Score()
    for _ in range(2):
        assert score.answer(replace(asked(1, 2), response={}), {}) == []
    told = score.answered_at(asked(1, 2), 70)
    assert (told.what, told.recorded, told.simulated) == (
        "answer to CONSUMER_GROUP_HEARTBEAT of A (line 1): when it comes, in ms",
        2,
        70,
    )
    assert (score.answers_equal, score.answers_different) == (1, 1)
    assert score.differences == [told]


def test_a_commit_of_a_version_without_leader_epochs_writes_that_there_is_none() -> None:
    partition = {"partitionIndex": 0, "committedOffset": 5, "committedMetadata": ""}
    fields = {
        "groupId": "orders",
        "memberId": "",
        "generationIdOrMemberEpoch": -1,
        "topics": [{"name": "foo", "partitions": [partition]}],
    }
    request = replace(asked(1, 2), api=COMMIT, version=5, request=fields)
    (told,) = ask(Broker().shard, request, 1).records
    assert told["value"]["leaderEpoch"] == -1


@pytest.mark.parametrize(
    ("api", "version", "fields", "readable"),
    [
        (SYNC_API, 5, {"generationId": 1, "memberId": "A", "assignments": []}, True),
        (SYNC_API, 5, {"generationId": 1, "memberId": "A"}, False),
        (
            SYNC_API,
            5,
            {
                "generationId": 1,
                "memberId": "A",
                "assignments": [{"memberId": "A", "assignment": "not base64"}],
            },
            False,
        ),
        (CLASSIC_HEARTBEAT_API, 4, {"generationId": 1, "memberId": "A"}, True),
        (CLASSIC_HEARTBEAT_API, 4, {"memberId": "A"}, False),
        (LEAVE_API, 2, {"memberId": "A"}, True),
        (LEAVE_API, 3, {"memberId": "A"}, False),
        (LEAVE_API, 3, {"members": [{"memberId": "A"}]}, True),
    ],
)
def test_a_request_of_the_classic_protocol_can_be_read_where_it_has_the_fields_of_its_version(
    api: str, version: int, fields: dict[str, Any], readable: bool
) -> None:
    assert can_read(api, {"groupId": "g", **fields}, version) is readable


def test_settings_of_a_group_are_set_and_removed_one_by_one_and_others_are_none_of_ours() -> None:
    shard = Broker().shard
    told = {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "6000"}
    group_settings(shard, {**told, "share.session.timeout.ms": "many"})
    assert shard.group_config == {"session_timeout_ms": 50_000, "heartbeat_interval_ms": 6_000}
    group_settings(shard, {"consumer.session.timeout.ms": None, "consumer.assignment.interval.ms": None})
    assert shard.group_config == {"heartbeat_interval_ms": 6_000}


def test_the_topics_of_a_classic_member_count_though_what_comes_behind_them_cannot_be_read() -> None:
    """A subscription that says version 1 and has no owned partitions, as version 1 has them."""
    blob = bytearray(encode_subscription({"version": 0, "topics": ["foo"], "userData": None}))
    blob[:2] = (1).to_bytes(2)
    protocol = {"name": "range", "metadata": b64encode(blob).decode()}
    joins = replace(asked(1, 2), api="JOIN_GROUP", request={"groupId": "g", "protocols": [protocol]})
    log = Log(Recording(group="g", asked=(joins,), written=(), images=()))

    def concerned(name: str) -> bool:
        change = ImageChange(at_ms=1, version=1, image=Image(topics={}, version=1), names=(name,))
        return log.concerned_by(change)

    assert concerned("foo")
    assert not concerned("bar")


def of(api: str) -> RecordedRequest:
    return replace(asked(1, 2), api=api)


@pytest.mark.parametrize(
    ("api", "slowest_ms", "handled_ms"),
    [
        ("JOIN_GROUP", 0, 1 + HANDLED_MS),
        ("SYNC_GROUP", 400, 1 + 400),
        ("SYNC_GROUP", 20_000, 9_000),
        ("HEARTBEAT", 0, None),
        ("LEAVE_GROUP", 0, None),
        ("OFFSET_COMMIT", 0, None),
    ],
)
def test_a_request_that_may_wait_for_others_was_handled_as_soon_as_the_machine_was_free_for_it(
    api: str, slowest_ms: int, handled_ms: int | None
) -> None:
    assert bounded(replace(asked(1, 9_000), api=api), slowest_ms).handled_ms == handled_ms


def at(arrived_ms: int, done_ms: int, code: int = 0) -> RecordedRequest:
    return replace(
        asked(arrived_ms, done_ms),
        api="JOIN_GROUP",
        arrived_ms=arrived_ms,
        done_ms=done_ms,
        response={"errorCode": code},
    )


@pytest.mark.parametrize(
    ("before", "unready_ms", "until_ms"),
    [
        ([], [], None),
        # Refused, and nothing was answered since: it may load until this one is answered.
        ([at(10, 11, 14)], [10], 900),
        ([at(10, 11, 16), at(20, 21, 14)], [10, 20], 900),
        # It had loaded before this one arrived.
        ([at(10, 11, 14), at(30, 31)], [10], None),
        ([at(30, 31), at(40, 41)], [], None),
        # Another one, which arrived first, was answered meanwhile.
        ([at(10, 11, 14), at(90, 300)], [10], 300),
        # Refusals of other groups count for one that was not seen before, and for no other.
        ([], [50], 900),
        ([at(30, 31)], [50], None),
    ],
)
def test_a_coordinator_may_load_until_it_has_answered_a_request_that_came_after_a_refusal(
    before: list[RecordedRequest], unready_ms: list[int], until_ms: int | None
) -> None:
    part = at(100, 900)
    loading = Loading([*before, part], unready_ms)
    assert loading.until_ms(part) == until_ms
    expected = part.arrived_ms if until_ms is None else until_ms
    assert bounded(part, 0, loading.until_ms(part)).handled_ms == min(expected + HANDLED_MS, 900)


def kept(kind: int, *, value: Any = 1) -> Written:
    return written(record(kind, "A", value), 7)


@pytest.mark.parametrize(
    ("requests", "records", "reason"),
    [
        (["CONSUMER_GROUP_HEARTBEAT"], [kept(3)], None),
        (["CONSUMER_GROUP_HEARTBEAT"], [], None),
        (["OFFSET_COMMIT"], [kept(8)], None),
        (["OFFSET_COMMIT"], [kept(16)], None),
        (["OFFSET_FETCH"], [kept(11)], "share group"),
        (["OFFSET_FETCH"], [kept(15)], "share group"),
        (["OFFSET_FETCH"], [kept(17)], "streams group"),
        (["OFFSET_FETCH"], [kept(23)], "streams group"),
        (["SHARE_GROUP_HEARTBEAT"], [], "share group"),
        (["STREAMS_GROUP_DESCRIBE"], [], "streams group"),
        (["TXN_OFFSET_COMMIT", "CONSUMER_GROUP_HEARTBEAT"], [], None),
        (["TXN_OFFSET_COMMIT"], [kept(1)], None),
        (["OFFSET_COMMIT"], [kept(1)], None),
        (["OFFSET_FETCH"], [kept(1, value=None)], None),
        ([], [kept(3)], "no request of the group is in the log"),
        ([], [kept(1)], "no request of the group is in the log"),
    ],
)
def test_of_which_groups_nothing_can_be_judged_and_why(
    requests: list[str], records: list[Written], reason: str | None
) -> None:
    assert why_not([of(api) for api in requests], records) == reason


@pytest.mark.parametrize("is_committed", [True, False])
def test_the_story_has_a_transactions_records_when_it_is_committed(is_committed: bool) -> None:
    story = Story("g")
    commit = {**record(1, "A"), "key": {"group": "g", "topic": "t", "partition": 0}}
    held = {**commit, "producer": 7}
    later = replace(written(held, 9), payload=end_of(7, committed=is_committed), at_ms=5_000)
    story.loaded([written(held, 7), written(record(3, "A"), 8)])
    story.loaded([later])
    own = [(entry.payload["type"], entry.at_ms) for entry in story.entries]
    assert own == [(3, 1_008), (1, 5_000)][: 1 + is_committed]
    assert all("producer" not in entry.payload for entry in story.entries)


def test_records_that_cannot_be_read_are_a_reason_before_all_others() -> None:
    opaque = replace(kept(3), payload={"type": 31, "key_bytes": "AB8=", "value_bytes": None})  # type: ignore[arg-type]
    assert why_not([of("CONSUMER_GROUP_HEARTBEAT")], [opaque]) == "records that cannot be read"


def times(*, next_ms: int | None, target_ms: int | None = None) -> list[int]:
    """When a request from 100 to 200 may have been handled, the next record written at ``next_ms``."""
    records: tuple[Written, ...] = ()
    if next_ms is not None:
        payload = {
            "type": 6,
            "key": {"groupId": "g"},
            "value": {"assignmentEpoch": 2, "assignmentTimestamp": target_ms},
        }
        records = (Written(partition=0, offset=0, batch=0, at_ms=next_ms, payload=payload),)  # type: ignore[typeddict-item]
    request = replace(
        asked(100, 200),
        request={"groupId": "g", "memberId": "A", "memberEpoch": 1, "rebalanceTimeoutMs": -1},
    )
    log = Log(Recording(group="g", asked=(request,), written=records, images=()))
    position = Position(log=log, shard=Broker().shard)
    return [each.now_ms for each in attempts(position, request, 10)]


def test_a_request_was_handled_when_its_records_say_or_when_it_came_or_was_done_or_a_little_before() -> None:
    assert times(next_ms=None) == [100, 200, 90]
    assert times(next_ms=150) == [150, 100, 200, 90]
    assert times(next_ms=150, target_ms=140) == [140, 150, 100, 200, 90]
    assert times(next_ms=150, target_ms=89) == [150, 100, 200, 90], "not before it can have come"
    assert times(next_ms=90) == [90, 100, 200]
    assert times(next_ms=200 + CLOCK_SLACK_MS)[0] == 205
    assert times(next_ms=89) == times(next_ms=200 + CLOCK_SLACK_MS + 1) == [100, 200, 90]


def images(*at_ms: int) -> list[int]:
    """How many of the changes a heartbeat from 3,000 to 3,010 may have known of; each concerns the group."""
    request = replace(
        asked(3_000, 3_010),
        request={
            "groupId": "g",
            "memberId": "A",
            "memberEpoch": 1,
            "rebalanceTimeoutMs": -1,
            "subscribedTopicNames": ["foo"],
        },
    )
    changes = tuple(
        ImageChange(at_ms=each, version=number, image=Image(topics={}, version=number), names=("foo",))
        for number, each in enumerate(at_ms, 1)
    )
    log = Log(Recording(group="g", asked=(request,), written=(), images=changes))
    position = Position(log=log, shard=Broker().shard)
    return list(dict.fromkeys(each.images for each in attempts(position, request, 0)))


def test_a_change_of_the_metadata_may_be_known_from_when_it_was_made_and_must_be_after_a_while() -> None:
    assert images(2_000, 2_500) == [0, 1, 2]
    assert images(500 - IMAGE_LAG_LEAST_MS, 2_500) == [1, 2], "the first was made too long before"
    assert images(3_010 + CLOCK_SLACK_MS) == [0, 1]
    assert images(3_010 + CLOCK_SLACK_MS + 1) == [0]


def test_the_story_names_topics_when_they_are_new_changed_or_gone_and_not_again() -> None:
    story, foo, bar = (
        Story("g"),
        ImageTopic(name="foo", topic_id="id-f", partitions=2),
        ImageTopic(name="bar", topic_id="id-b", partitions=1),
    )
    for at_ms, topics in enumerate(
        (
            {"foo": foo},
            {"foo": foo},
            {"foo": foo, "bar": bar},
            {"foo": ImageTopic(name="foo", topic_id="id-f", partitions=3), "bar": bar},
            {},
        )
    ):
        story.topics(at_ms, Image(topics=topics, version=at_ms))
    assert [(entry.at_ms, entry.payload["topics"]) for entry in story.entries] == [
        (0, {"foo": {"id": "id-f", "partitions": 2}}),
        (2, {"bar": {"id": "id-b", "partitions": 1}}),
        (3, {"foo": {"id": "id-f", "partitions": 3}}),
        (4, {"foo": None, "bar": None}),
    ]


def test_a_join_that_was_turned_away_is_judged_since_it_may_have_waited_before() -> None:
    def turned_away(line: int, api: str) -> LoggedRequest:
        return LoggedRequest(
            line=line, done_ms=line, total_ms=1, api=api, version=3, client="c", host=None,
            request={"groupId": "g", "memberId": "A"}, response={"errorCode": NOT_COORDINATOR},
        )  # fmt: skip

    told = NotJudged()
    [recording] = recordings([turned_away(1, "JOIN_GROUP"), turned_away(2, "HEARTBEAT")], {}, (), told)
    assert [part.line for part in recording.asked] == [1]
    assert told.requests == {"coordinator not ready": 2}
    assert list(recordings([turned_away(2, "HEARTBEAT")], {}, (), NotJudged())) == []


def test_a_heartbeat_that_joins_is_told_though_it_says_nothing_else() -> None:
    story = Story("g")
    joining = replace(
        asked(1, 2),
        request={"memberId": "A", "memberEpoch": 0},
        response={"errorCode": 0, "memberEpoch": 1, "assignment": None},
    )
    story.exchange(joining, ())
    assert [entry.payload.get("steady", False) for entry in story.entries] == [False, False]


def test_what_is_not_judged_is_counted_by_its_reason() -> None:
    told = NotJudged()
    assert list(recordings([], {"g": [kept(1)], "h": [kept(1), kept(1)]}, (), told)) == []
    assert told.requests == Counter()
    assert told.to_json() == [
        {"reason": "no request of the group is in the log", "requests": 0, "records": 3}
    ]
    one = NotJudged()
    assert list(recordings([], {"g": [kept(1)], "h": [kept(1), kept(1)]}, (), one, only="h")) == []
    assert one.records == {"no request of the group is in the log": 2}
