"""What may have come next at a position: the steps that the simulated coordinator takes as the broker did.

``agreeing`` gives them, the likeliest first; ``differing`` the one to go on with where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from groups.history.state.group import Semantics
from simulations.proof.conformance.comparing import differing as fields_differing
from simulations.proof.conformance.comparing import equal, same_place, same_record
from simulations.proof.conformance.excuses import LATE_LINE
from simulations.proof.conformance.internal_events import InternalEvents, by_itself
from simulations.proof.conformance.position import CLOCK_SLACK_MS, LOG_DELAY_MS, Position
from simulations.proof.conformance.recording import RecordedRequest, Written
from simulations.proof.conformance.steps import (
    ByItself,
    Differing,
    Loading,
    Overdue,
    Refused,
    RequestStep,
    SearchStep,
    Unexplained,
)
from simulations.proof.conformance.timers import Running, Timers
from simulations.proof.conformance.variants import Variant, attempts
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.errors import IllegalState
from simulations.protocol.coordinator.shard import Shard

Numbered = tuple[int, RecordedRequest]
"""A request with its place in the recording."""


def agreeing(position: Position, delay_ms: int = LOG_DELAY_MS) -> Iterator[SearchStep]:
    """Every step that agrees with the recording, the likeliest first. ``delay_ms``: how late a request's line may be."""
    if position.all_asked:
        if not position.all_written:
            yield from _unasked(position)
        return
    candidates = may_be_next(position, CLOCK_SLACK_MS)
    first = candidates[0][1]
    if (loading := _loading(position, first)) is not None:
        yield loading
        return
    next_ms = position.next_written_ms()
    nobody_asked = next_ms is not None and next_ms < first.arrived_ms - delay_ms
    if nobody_asked:
        yield from _unasked(position)
    if next(_overdue(position, first), None) is not None:
        return
    for candidate in candidates:
        yield from exchanges(position, candidate, delay_ms)
    if next_ms is not None and not nobody_asked and next_ms <= first.done_ms + CLOCK_SLACK_MS:
        yield from _unasked(position)
    for candidate in may_be_next(position, delay_ms)[len(candidates) :]:
        yield from exchanges(position, candidate, delay_ms)


def may_be_next(position: Position, slack_ms: int) -> list[Numbered]:
    """The requests that were read before the first answer of any of them had been sent, the first first.

    A client's own come in their order.
    """
    out: list[Numbered] = []
    senders: set[tuple[str, str]] = set()
    first_done_ms: int | None = None
    for number, asked in position.waiting():
        if first_done_ms is not None and asked.arrived_ms > first_done_ms + slack_ms:
            break
        if asked.sender not in senders:
            out.append((number, asked))
        senders.add(asked.sender)
        first_done_ms = asked.done_ms if first_done_ms is None else min(first_done_ms, asked.done_ms)
    return out


def exchanges(position: Position, candidate: Numbered, delay_ms: int) -> Iterator[SearchStep]:
    """The ways in which a request agrees; one that explains the next records before one that leaves them to others."""
    number, asked = candidate
    due = _are_due(position, asked)
    later: list[SearchStep] = []
    known: set[tuple[int, int, bool]] = set()
    for attempt in attempts(position, asked, delay_ms):
        records = attempt.answered.records
        what = (attempt.images, attempt.tasks_done, bool(records))
        if what in known or not equal(asked.response, attempt.answered.answer):
            continue
        if not _come_next(position, records, asked, delay_ms):
            continue
        known.add(what)
        after = _left_behind(position, asked, attempt).become(attempt.shard, asked.done_ms)
        after = replace(after.without(number), at=position.at + len(records))
        step = RequestStep(
            before=position,
            after=after,
            now_ms=attempt.now_ms,
            asked=asked,
            excuses=_excuses(asked, attempt),
        )
        if records or not due:
            yield step
        else:
            later.append(step)
    yield from later


def _excuses(asked: RecordedRequest, attempt: Variant) -> tuple[str, ...]:
    """What has to be believed for the request to have been handled so."""
    late = attempt.now_ms < asked.arrived_ms - LOG_DELAY_MS
    return tuple(excuse for excuse in (attempt.excuse, LATE_LINE if late else None) if excuse is not None)


def _are_due(position: Position, asked: RecordedRequest) -> bool:
    """Whether the next records were written while the request was handled."""
    next_ms = position.next_written_ms()
    return (
        next_ms is not None and asked.arrived_ms - CLOCK_SLACK_MS <= next_ms <= asked.done_ms + CLOCK_SLACK_MS
    )


def _come_next(position: Position, records: Sequence[Record], asked: RecordedRequest, delay_ms: int) -> bool:
    """Whether the log goes on with these records, in the time of the request."""
    come = position.coming_written(len(records))
    return len(come) == len(records) and all(
        asked.arrived_ms - delay_ms <= written.at_ms <= asked.done_ms + CLOCK_SLACK_MS
        and same_record(written.payload, record)
        for written, record in zip(come, records, strict=True)
    )


def _left_behind(position: Position, asked: RecordedRequest, attempt: Variant) -> Position:
    """Timers and tasks as the request left them, and what had to be known for it."""
    known = bool(attempt.answered.records)
    earliest_ms = attempt.now_ms if known else asked.arrived_ms
    latest_ms = attempt.now_ms if known else asked.done_ms
    started = tuple((task, attempt.now_ms) for task in attempt.answered.tasks)
    return replace(
        position.knowing(attempt.images),
        timers=position.timers.taking(attempt.answered.timers, earliest_ms, latest_ms),
        tasks=(*position.tasks[attempt.tasks_done :], *started),
    )


def _unasked(position: Position) -> Iterator[SearchStep]:
    """Explanations of the next records by something that the coordinator does by itself."""
    first = position.log.written[position.at]
    for done in by_itself(position, first):
        records = done.outcome.records
        come = position.coming_written(len(records))
        if not records or len(come) < len(records):
            continue
        pairs = zip(come, records, strict=True)
        if all(same_record(written.payload, record) for written, record in pairs):
            yield _by_itself(position, done, first)


def _by_itself(position: Position, done: InternalEvents, first: Written) -> SearchStep:
    after = position.knowing(done.images).become(done.shard, first.at_ms + CLOCK_SLACK_MS)
    gone = set(done.deleted)
    after = replace(
        after,
        at=position.at + len(done.outcome.records),
        tasks=tuple(task for index, task in enumerate(position.tasks) if index != done.task),
        deleted=tuple(topic for topic in after.deleted if topic not in gone),
        timers=position.timers.taking(done.outcome.timers, first.at_ms, first.at_ms),
    )
    return ByItself(
        before=position,
        after=after,
        now_ms=first.at_ms,
        what=done.what,
        member=done.member,
        excuses=() if done.excuse is None else (done.excuse,),
    )


def _loading(position: Position, asked: RecordedRequest) -> SearchStep | None:
    """A load from before the request, if there is one that the walk has not come to."""
    log = position.log
    if position.loads == len(log.loads) or log.loads[position.loads] >= asked.arrived_ms:
        return None
    now_ms = log.loads[position.loads]
    # It begins with the image of its moment.
    known = sum(1 for change in position.coming_images() if change.at_ms <= now_ms)
    before = position.having_heard(known, now_ms)
    loaded = Shard(log.group, Semantics.KAFKA, before.settings, before.image, config=before.group_config)
    loaded.load(written.payload for written in log.written[: position.at])
    after = replace(
        position.knowing(known),
        shard=loaded,
        timers=Timers().taking(loaded.loaded(now_ms).timers, now_ms, None),
        tasks=(),
        loads=position.loads + 1,
    )
    return Loading(before=position, after=after, now_ms=now_ms)


def _overdue(position: Position, asked: RecordedRequest) -> Iterator[tuple[Running, int]]:
    """Timers that the simulated coordinator would have run out of, and how many records it would have written."""
    for running in position.timers.overdue(asked.arrived_ms):
        trial = position.shard.copy()
        removed = trial.expired(running.timer, running.member_id, running.bound_epoch, asked.arrived_ms)
        if removed.records:
            yield running, len(removed.records)


# Where nothing agrees.


def differing(position: Position) -> SearchStep:
    """The step to go on with where none agrees; it takes the recorded records, so that a difference is told once."""
    if position.all_asked:
        return _unexplained(position)
    candidates = may_be_next(position, CLOCK_SLACK_MS)
    first = candidates[0][1]
    late = next(_overdue(position, first), None)
    if late is not None:
        running, missed = late
        after = replace(position, timers=position.timers.without([running]))
        return Overdue(before=position, after=after, now_ms=first.arrived_ms, running=running, missed=missed)
    next_ms = position.next_written_ms()
    if next_ms is not None and next_ms < first.arrived_ms - LOG_DELAY_MS:
        return _unexplained(position)
    (number, asked), attempt = _likeliest(position, candidates)
    unit = position.unit()
    recorded = unit if unit and _belongs(position, asked, attempt, unit) else []
    shard = attempt.before.copy()
    refused = take_recorded(shard, recorded)
    shard.memory = attempt.shard.memory
    after = _left_behind(position, asked, attempt).become(shard, asked.done_ms)
    return Differing(
        before=position,
        after=replace(after.without(number), at=position.at + len(recorded)),
        now_ms=attempt.now_ms,
        asked=asked,
        answer=attempt.answered.answer,
        simulated=attempt.answered.records,
        refused=refused,
    )


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

    def distance(attempt: Variant) -> int:
        records = attempt.answered.records
        come = position.coming_written(len(records))
        alike = sum(
            same_record(written.payload, record) for written, record in zip(come, records, strict=False)
        )
        return (
            sum(1 for _ in fields_differing(asked.response, attempt.answered.answer)) + len(records) - alike
        )

    return min(attempts(position, asked, LOG_DELAY_MS), key=distance)


def _belongs(position: Position, asked: RecordedRequest, attempt: Variant, unit: Sequence[Written]) -> bool:
    """Whether the next records are told as what this request wrote."""
    if not asked.arrived_ms - LOG_DELAY_MS <= unit[0].at_ms <= asked.done_ms + CLOCK_SLACK_MS:
        return False
    others = {other.member for _, other in may_be_next(position, CLOCK_SLACK_MS) if other is not asked}
    members = {written.payload["key"].get("memberId") for written in unit} - {None}
    return bool(attempt.answered.records) or asked.member in members or not members & others


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
    """Has the shard, which this changes, go on from what the log says; those that it does not take are given back."""
    refused: list[Refused] = []
    for written in recorded:
        try:
            shard.load([written.payload])
        except IllegalState as problem:
            refused.append((written, str(problem)))
    return refused
