"""Single steps of ``conform``, on positions made by hand: what may have come next, what to go on with, what a step tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from groups.history.entries import Kind
from groups.history.state.group import Protocol
from simulations.proof.conformance import ImageChange, RecordedRequest, Recording, Score, Written
from simulations.proof.conformance.candidates import _loaded_from_ms, agreeing, exchanges
from simulations.proof.conformance.differing import _belongs, differing
from simulations.proof.conformance.excuses import LATE_IMAGE
from simulations.proof.conformance.internal_events import _counts
from simulations.proof.conformance.position import (
    CLOCK_SLACK_MS,
    INFINITE_MS,
    LATE_IMAGE_MS,
    LOG_DELAY_MOST_MS,
    LOG_DELAY_MS,
    Log,
    Position,
)
from simulations.proof.conformance.releasing import Released
from simulations.proof.conformance.requests import COMMIT, Answered, ask
from simulations.proof.conformance.steps import (
    Differing,
    DifferingByItself,
    RequestStep,
    SearchStep,
    Unanswered,
    Unexplained,
)
from simulations.proof.conformance.timeouts import _times
from simulations.proof.conformance.timers import Running, Timers
from simulations.proof.conformance.trace import Story
from simulations.proof.conformance.variants import Variant
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import JOIN, SESSION
from tests.simulations.broker import GROUP, Broker
from tests.simulations.classic_broker import ClassicBroker
from tests.simulations.test_conformance_excuses import asked


def recorded(
    *requests: RecordedRequest, written: Sequence[Written] = (), images: Sequence[ImageChange] = ()
) -> Log:
    return Log(Recording(group=GROUP, asked=requests, written=tuple(written), images=tuple(images)))


def log_of(records: Sequence[Record], at_ms: int) -> list[Written]:
    return [
        Written(partition=0, offset=offset, batch=0, at_ms=at_ms, payload=record)
        for offset, record in enumerate(records)
    ]


def record(kind: int, who: str | None = None, value: Any = None) -> Record:
    key = {"groupId": GROUP} if who is None else {"groupId": GROUP, "memberId": who}
    return {"type": kind, "key": key, "version": 0, "value": value}


def of_member(who: str, arrived_ms: int, done_ms: int, **changed: Any) -> RecordedRequest:
    request = {"groupId": GROUP, "memberId": who, "memberEpoch": 1, "rebalanceTimeoutMs": -1}
    return replace(asked(arrived_ms, done_ms), client=who, **{"request": request, **changed})


# What may have come next.


def commit(done_ms: int) -> tuple[RecordedRequest, list[Written], Shard]:
    """A commit that was read at 100, with what the broker answered and wrote at once; the shard is as before."""
    shard = Broker().shard
    partition = {"partitionIndex": 0, "committedOffset": 5, "committedMetadata": ""}
    topics = [{"name": "foo", "partitions": [partition]}]
    fields = {"groupId": GROUP, "memberId": "", "generationIdOrMemberEpoch": -1, "topics": topics}
    request = replace(asked(100, done_ms), api=COMMIT, version=8, request=fields)
    told = ask(shard.copy(), request, 100)
    assert told.answer is not None
    return replace(request, response=told.answer), log_of(told.records, 100), shard


def explained(request: RecordedRequest, written: Sequence[Written], shard: Shard) -> bool:
    """Whether the request explains the records."""
    position = Position(log=recorded(request, written=written), shard=shard)
    return any(step.records for step in exchanges(position, (0, request), LOG_DELAY_MS))


@pytest.mark.parametrize(
    ("done_ms", "agrees"), [(100 + LOG_DELAY_MOST_MS, True), (100 + LOG_DELAY_MOST_MS + 1, False)]
)
def test_a_request_that_wrote_records_was_answered_within_the_time_that_a_line_may_be_late(
    done_ms: int, agrees: bool
) -> None:
    assert explained(*commit(done_ms)) is agrees


def test_a_request_explains_no_records_where_its_answer_or_one_of_them_is_another() -> None:
    request, (written,), shard = commit(110)
    assert explained(request, [written], shard)
    assert not explained(replace(request, response={"errorCode": 16}), [written], shard)
    value = {**written.payload["value"], "offset": 6}
    other = replace(written, payload={**written.payload, "value": value})
    assert not explained(request, [other], shard)


@pytest.mark.parametrize(("left", "agrees"), [(0, True), (1, False)])
def test_a_removal_whose_last_records_are_not_in_the_log_is_explained_by_no_timer(
    left: int, agrees: bool
) -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    session = Running(timer=SESSION, member_id="A", bound_epoch=None, earliest_ms=0, latest_ms=broker.now_ms)
    records = broker.shard.copy().expired(SESSION, "A", None, broker.now_ms).records
    assert len(records) > 1
    position = Position(
        log=recorded(written=log_of(records[: len(records) - left], broker.now_ms)),
        shard=broker.shard,
        timers=Timers({(SESSION, "A"): session}),
    )
    assert bool(list(agreeing(position))) is agrees


@pytest.mark.parametrize(("late_ms", "agrees"), [(LOG_DELAY_MS, True), (LOG_DELAY_MS + 1, False)])
def test_what_a_classic_groups_timer_wrote_stands_in_the_log_no_later_than_a_line_may_be(
    late_ms: int, agrees: bool
) -> None:
    """Nobody asks any more, and the session of the only member ends: the record tells when the group became empty."""
    broker = ClassicBroker()
    broker.stable("A")
    shard, ended_ms = broker.shard.copy(), broker.now_ms + 10_000
    records = shard.expired(SESSION, "A", None, ended_ms).records
    assert records[0]["value"]["currentStateTimestamp"] == ended_ms
    session = Running(
        timer=SESSION, member_id="A", bound_epoch=None, earliest_ms=ended_ms, latest_ms=ended_ms
    )
    position = Position(
        log=recorded(written=log_of(records, ended_ms + late_ms)),
        shard=broker.shard,
        timers=Timers({(SESSION, "A"): session}),
    )
    assert [step.now_ms for step in agreeing(position)] == ([ended_ms] if agrees else [])


@pytest.mark.parametrize(("until_ms", "times"), [(999, []), (1_000, [1_000]), (1_001, [1_001])])
def test_a_timer_whose_start_nobody_saw_may_run_out_from_its_earliest_time_on(
    until_ms: int, times: list[int]
) -> None:
    running = Running(timer=JOIN, member_id=None, bound_epoch=None, earliest_ms=1_000, latest_ms=None)
    assert _times(Position(log=recorded(), shard=Broker().shard), running, until_ms) == times


@pytest.mark.parametrize(
    ("protocol", "since_ms"),
    [(Protocol.CLASSIC, 700), (Protocol.CONSUMER, -INFINITE_MS), (None, -INFINITE_MS)],
)
def test_the_timers_of_a_load_run_from_its_time_on_where_the_group_is_a_classic_one_by_then(
    protocol: Protocol | None, since_ms: int
) -> None:
    loaded = Broker().shard
    loaded.state = replace(loaded.state, protocol=protocol)
    assert _loaded_from_ms(loaded, 700) == since_ms


def changes(*told: tuple[int, str]) -> list[ImageChange]:
    return [
        ImageChange(at_ms=at_ms, version=number, image=Image(topics={}, version=number), names=(name,))
        for number, (at_ms, name) in enumerate(told, 1)
    ]


def test_of_the_changes_that_cannot_matter_to_a_group_all_or_none_are_tried() -> None:
    request = of_member("A", 0, 1, request={"subscribedTopicNames": ["foo"]})
    told = changes((10, "bar"), (20, "bar"), (30, "foo"), (40, "bar"), (50, "foo"))
    position = Position(log=recorded(request, images=told), shard=Broker().shard)
    assert _counts(position, 40) == [0, 2, 4]
    assert _counts(position, 9) == [0]


# What to go on with.


def belongs(
    at_ms: int, *, who: str | None = None, wrote: bool = False, overlapping: Sequence[str] = ()
) -> bool:
    """Whether a record at that time is told as A's, whose request was handled from 1,000 to 1,100."""
    request = of_member("A", 1_000, 1_100)
    others = [of_member(other, 1_050, 1_100) for other in overlapping]
    unit = log_of([record(8, who)], at_ms)
    shard = Broker().shard
    position = Position(log=recorded(request, *others, written=unit), shard=shard)
    answered: Answered = Outcome(answer={}, records=(record(8, "A"),) if wrote else ())
    attempt = Variant(before=shard, shard=shard, answered=answered, now_ms=1_000)
    return _belongs(position, request, attempt, unit)


def test_records_are_told_as_a_requests_own_where_it_wrote_some_or_they_name_its_member_or_nobody_else() -> (
    None
):
    assert belongs(1_050, wrote=True, who="B", overlapping=["B"]), "it wrote some"
    assert belongs(1_050, who="A", overlapping=["B"]), "they name it"
    assert belongs(1_050, who="B"), "B asks nothing"
    assert belongs(1_050, who=None, overlapping=["B"]), "they name nobody"
    assert not belongs(1_050, who="B", overlapping=["B"])


@pytest.mark.parametrize(
    ("at_ms", "own"),
    [
        (1_000 - LOG_DELAY_MS - 1, False),
        (1_000 - LOG_DELAY_MS, True),
        (1_100 + CLOCK_SLACK_MS, True),
        (1_100 + CLOCK_SLACK_MS + 1, False),
    ],
)
def test_records_from_another_time_are_never_told_as_a_requests_own(at_ms: int, own: bool) -> None:
    assert belongs(at_ms, wrote=True, who="A") is own


def test_a_request_that_nothing_lets_go_before_its_recorded_answer_is_told_as_unanswered() -> None:
    waits = of_member("A", 0, 100, api="JOIN_GROUP")
    position = Position(log=recorded(of_member("B", 5_000, 5_010)), shard=Broker().shard, parked=(waits,))
    step = differing(position)
    assert isinstance(step, Unanswered)
    assert step.asked is waits
    assert step.after.parked == ()
    assert (step.after.answered, step.after.progress) == (1, 1), "so that the walk knows that it goes on"


def test_a_request_that_is_answered_otherwise_and_wrote_nothing_is_told_alone() -> None:
    request = of_member("A", 1_000, 1_010, response={"errorCode": 0})
    step = differing(Position(log=recorded(request), shard=Broker().shard))
    assert isinstance(step, Differing)
    assert step.asked is request
    assert step.answer is not None
    assert step.answer["errorCode"] == 69
    assert (step.records, step.after.all_asked) == ((), True)


def test_records_that_nothing_explains_after_the_last_request_are_used_up_by_what_tells_them() -> None:
    unit = log_of([record(8, "A"), record(7, "A")], 500)
    step = differing(Position(log=recorded(written=unit), shard=Broker().shard))
    assert isinstance(step, Unexplained)
    assert list(step.records) == unit
    assert step.after.at == 2


# What a step tells.


def test_a_timer_that_lets_requests_go_with_other_answers_is_told_with_its_records_and_by_whose_they_are() -> (
    None
):
    waits = of_member("A", 10, 100, api="SYNC_GROUP", response={"errorCode": 0})
    unit = log_of([record(2)], 90)
    position = Position(log=recorded(written=unit), shard=Broker().shard, parked=(waits,))
    tally, story = Score(), Story(GROUP)
    story.waits(waits, ())
    DifferingByItself(
        before=position,
        after=replace(position, at=1),
        now_ms=95,
        what=JOIN,
        member=None,
        simulated=[unit[0].payload],
        let_go=[Released(asked=waits, answer={"errorCode": 27})],
        refused=(),
    ).score(tally, story)
    assert [entry.kind for entry in story.entries] == [
        *(Kind.REQUEST, Kind.TIMER, Kind.RECORD, Kind.RESPONSE, Kind.FAULT)
    ]
    assert story.entries[-1].payload["member"] == "A"
    assert (tally.equal, tally.answers_different, tally.answers_equal) == (1, 1, 0)


def test_a_request_that_waited_until_its_coordinator_was_another_one_is_told_and_not_judged() -> None:
    turned_away = of_member("A", 10, 100, api="JOIN_GROUP", response={"errorCode": 16})
    position = Position(log=recorded(turned_away), shard=Broker().shard)
    tally, story = Score(), Story(GROUP)
    step = RequestStep(
        before=position, after=position.without(0), now_ms=10, asked=turned_away, waits=True, answered=()
    )
    step.score(tally, story)
    assert [(entry.kind, entry.actor) for entry in story.entries] == [(Kind.REQUEST, "A")]
    assert tally == Score()


HEARD_OF_MS = 1_000 + LATE_IMAGE_MS + 1


@pytest.mark.parametrize(
    ("arrived_ms", "done_ms", "excused"),
    [
        (1_000 + LATE_IMAGE_MS, 9_000, True),
        (1_000 + LATE_IMAGE_MS + 1, 9_000, False),
        (0, 1_000 + LATE_IMAGE_MS // 2 - CLOCK_SLACK_MS, True),
        (0, 1_000 + LATE_IMAGE_MS // 2 - CLOCK_SLACK_MS - 1, False),
    ],
)
def test_a_change_heard_of_late_is_excused_where_a_heartbeat_could_have_shown_it_half_a_second_before(
    arrived_ms: int, done_ms: int, excused: bool
) -> None:
    fields = {"memberId": "A", "subscribedTopicNames": ["foo"]}
    request = of_member("A", arrived_ms, done_ms, request=fields)
    position = Position(log=recorded(request, images=changes((1_000, "foo"))), shard=Broker().shard)
    tally = Score()
    step = SearchStep(before=position, after=replace(position, images_seen=1), now_ms=HEARD_OF_MS)
    step.score(tally, Story(GROUP))
    assert tally.excuses[LATE_IMAGE] == excused
    in_time = Score()
    replace(step, now_ms=HEARD_OF_MS - 1).score(in_time, Story(GROUP))
    assert in_time.excuses[LATE_IMAGE] == 0


def test_a_heartbeat_whose_answer_moves_the_member_to_another_epoch_is_told_in_full() -> None:
    story = Story(GROUP)
    answer = {"errorCode": 0, "memberEpoch": 2, "assignment": None}
    story.exchange(of_member("A", 1, 2, response=answer), ())
    assert [entry.payload.get("steady", False) for entry in story.entries] == [False, False]


def test_a_request_of_another_api_is_told_in_full_whatever_it_is_answered() -> None:
    story = Story(GROUP)
    request, written, _ = commit(110)
    story.exchange(request, ())
    story.exchange(request, written)
    exchange = [Kind.REQUEST, Kind.RESPONSE]
    assert [entry.kind for entry in story.entries] == [*exchange, exchange[0], Kind.RECORD, exchange[1]]
