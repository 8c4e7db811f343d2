"""Where nothing agrees: the step to continue with, which shows what differs.

It takes the recorded records, so that one difference is reported once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from simulations.proof.conformance.candidates import (
    Numbered,
    after_event,
    after_request,
    answer_is_overdue,
    may_be_next,
    overdue,
)
from simulations.proof.conformance.comparing import differing as fields_differing
from simulations.proof.conformance.comparing import same_place, same_record
from simulations.proof.conformance.position import CLOCK_SLACK_MS, LOG_DELAY_MS, Position
from simulations.proof.conformance.recording import RecordedRequest, Written
from simulations.proof.conformance.releasing import Released, released
from simulations.proof.conformance.steps import (
    Differing,
    DifferingByItself,
    Overdue,
    Refused,
    SearchStep,
    Unanswered,
    Unexplained,
)
from simulations.proof.conformance.timeouts import InternalEvents, unrecorded
from simulations.proof.conformance.variants import Variant, attempts
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.errors import IllegalState
from simulations.protocol.coordinator.shard import Shard


@dataclass(frozen=True, slots=True, kw_only=True)
class _TimedOut:
    """A timer of a classic group that may have run out, and how much of what came of it differs."""

    done: InternalEvents
    let_go: tuple[Released, ...]
    distance: int


def differing(position: Position) -> SearchStep:
    """The step to go on with where none agrees."""
    if position.all_asked:
        return _at_the_end(position)
    candidates = may_be_next(position, CLOCK_SLACK_MS)
    first = candidates[0][1]
    timed_out = _closest_timeout(position, min(asked.latest_ms for _, asked in candidates) + CLOCK_SLACK_MS)
    if answer_is_overdue(position, first, LOG_DELAY_MS):
        return _unanswered(position) if timed_out is None else _differing_timeout(position, timed_out)
    late = next(overdue(position, first), None)
    if late is not None:
        running, missed = late
        after = replace(position, timers=position.timers.without([running]))
        return Overdue(before=position, after=after, now_ms=first.arrived_ms, running=running, missed=missed)
    next_ms = position.next_written_ms()
    if next_ms is not None and next_ms < first.arrived_ms - LOG_DELAY_MS:
        return _unexplained(position)
    (number, asked), attempt = _likeliest(position, candidates)
    if timed_out is not None and timed_out.distance < _distance(position, asked, attempt):
        return _differing_timeout(position, timed_out)
    unit = position.unit()
    recorded = unit if unit and _belongs(position, asked, attempt, unit) else []
    return _differing_request(position, (number, asked), attempt, recorded)


def differing_request(position: Position, number: int, records: int) -> SearchStep:
    """The request as it differs the least, where it is known that it wrote the next ``records``."""
    asked = position.log.asked[number]
    recorded = position.log.written[position.at : position.at + records]
    return _differing_request(position, (number, asked), _closest(position, asked), recorded)


def _differing_request(
    position: Position, request: Numbered, attempt: Variant, recorded: Sequence[Written]
) -> SearchStep:
    shard = attempt.before.copy()
    refused = take_recorded(shard, recorded)
    shard.memory = attempt.shard.memory
    let_go = released(position, attempt.answered.parked_answers)
    after = after_request(position, request, replace(attempt, shard=shard), let_go)
    return Differing(
        before=position,
        after=replace(after, at=position.at + len(recorded)),
        now_ms=attempt.now_ms,
        asked=request[1],
        answer=attempt.answered.answer,
        simulated=attempt.answered.records,
        let_go=let_go,
        refused=refused,
    )


def _at_the_end(position: Position) -> SearchStep:
    """Nobody asks any more: records that nothing explains, answers that do not come."""
    due = position.answer_due
    if due is None:
        return _unexplained(position)
    timed_out = _closest_timeout(position, due.done_ms + CLOCK_SLACK_MS)
    if timed_out is not None:
        return _differing_timeout(position, timed_out)
    return _unanswered(position) if position.all_written else _unexplained(position)


def _unanswered(position: Position) -> SearchStep:
    """A request that was answered waits on."""
    due = position.answer_due
    assert due is not None
    return Unanswered(before=position, after=position.freed([due]), now_ms=due.done_ms, asked=due)


# A timer that lets requests go.


def _closest_timeout(position: Position, until_ms: int) -> _TimedOut | None:
    """Of the timers that may have run out and let requests go, the one that differs in the least."""
    tried = [
        _TimedOut(
            done=done, let_go=let_go, distance=_off(position, let_go, done.outcome.records, done.now_ms)
        )
        for done in unrecorded(position, until_ms)
        if (let_go := released(position, done.outcome.parked_answers))
    ]
    return min(tried, key=lambda each: each.distance, default=None)


def _differing_timeout(position: Position, timed_out: _TimedOut) -> SearchStep:
    done, let_go = timed_out.done, timed_out.let_go
    unit = position.unit() if done.outcome.records else []
    shard = position.after_images(done.images, done.now_ms)
    refused = take_recorded(shard, unit)
    shard.memory = done.shard.memory
    after = after_event(position, replace(done, shard=shard), let_go)
    return DifferingByItself(
        before=position,
        after=replace(after, at=position.at + len(unit)),
        now_ms=done.now_ms,
        what=done.what,
        member=done.member,
        simulated=done.outcome.records,
        let_go=let_go,
        refused=refused,
    )


def _off(position: Position, let_go: Iterable[Released], records: Sequence[Record], now_ms: int) -> int:
    """In how many fields of answers, and in how many records, something differs; an answer at another time counts as one."""
    come = position.coming_written(len(records))
    alike = sum(same_record(written.payload, record) for written, record in zip(come, records, strict=False))
    fields = sum(1 for each in let_go for _ in fields_differing(each.asked.response, each.answer))
    late = sum(1 for each in let_go if not each.came(now_ms, now_ms, LOG_DELAY_MS))
    return fields + late + len(records) - alike


# A request.


def _likeliest(position: Position, candidates: Iterable[Numbered]) -> tuple[Numbered, Variant]:
    """The first whose records begin as the log goes on, else the first that was read; each as it differs the least."""
    tried = [(each, _closest(position, each[1])) for each in candidates]
    for come in position.coming_written(1):
        for candidate, attempt in tried:
            if attempt.answered.records and same_place(come.payload, attempt.answered.records[0]):
                return candidate, attempt
    return tried[0]


def _closest(position: Position, asked: RecordedRequest) -> Variant:
    """The way to handle the request that differs in the fewest fields and records."""
    return min(
        attempts(position, asked, LOG_DELAY_MS), key=lambda attempt: _distance(position, asked, attempt)
    )


def _distance(position: Position, asked: RecordedRequest, attempt: Variant) -> int:
    answered = attempt.answered
    let_go = released(position, answered.parked_answers)
    own = 0 if answered.answer is None else sum(1 for _ in fields_differing(asked.response, answered.answer))
    return own + _off(position, let_go, answered.records, attempt.now_ms)


def _belongs(position: Position, asked: RecordedRequest, attempt: Variant, unit: Sequence[Written]) -> bool:
    """Whether the next records are taken as written by this request."""
    if not asked.arrived_ms - LOG_DELAY_MS <= unit[0].at_ms <= asked.latest_ms + CLOCK_SLACK_MS:
        return False
    others = {other.member for _, other in may_be_next(position, CLOCK_SLACK_MS) if other is not asked}
    members = {written.payload["key"].get("memberId") for written in unit} - {None}
    return bool(attempt.answered.records) or asked.member in members or not members & others


# Records.


def _unexplained(position: Position) -> SearchStep:
    unit = position.unit()
    shard = position.shard.copy()
    refused = take_recorded(shard, unit)
    return Unexplained(
        before=position,
        after=replace(position, shard=shard, at=position.at + len(unit)),
        now_ms=unit[0].at_ms,
        refused=refused,
    )


def take_recorded(shard: Shard, recorded: Iterable[Written]) -> list[Refused]:
    """Has the shard, which this changes, go on from what the log contains; those that it does not take are given back."""
    refused: list[Refused] = []
    for written in recorded:
        try:
            shard.load([written.payload])
        except IllegalState as problem:
            refused.append((written, str(problem)))
    return refused
