"""What may have come next at a position: the steps that the simulated coordinator takes as the broker did.

``agreeing`` gives them, the likeliest first; where there is none, ``differing`` has the one to go on with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from groups.history.state.group import Protocol, Semantics
from simulations.proof.conformance.comparing import equal, same_record
from simulations.proof.conformance.excuses import LATE_LINE
from simulations.proof.conformance.internal_events import by_itself
from simulations.proof.conformance.position import (
    CLOCK_SLACK_MS,
    INFINITE_MS,
    LOG_DELAY_MOST_MS,
    LOG_DELAY_MS,
    Position,
)
from simulations.proof.conformance.recording import RecordedRequest
from simulations.proof.conformance.releasing import Released, released
from simulations.proof.conformance.requests import HEARTBEAT, WAITING
from simulations.proof.conformance.splitting import is_turned_away
from simulations.proof.conformance.steps import ByItself, Loading, RequestStep, SearchStep, TurnedAway
from simulations.proof.conformance.timeouts import InternalEvents, changes, timeout, unrecorded
from simulations.proof.conformance.timers import Running, Timers
from simulations.proof.conformance.variants import Variant, attempts
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.shard import Shard

Numbered = tuple[int, RecordedRequest]
"""A request with its place in the recording."""


def agreeing(position: Position, delay_ms: int = LOG_DELAY_MS) -> Iterator[SearchStep]:
    """Every step that agrees with the recording, the likeliest first. ``delay_ms``: how late a request's line may be."""
    if position.all_asked:
        yield from _at_the_end(position, delay_ms)
        return
    candidates = may_be_next(position, CLOCK_SLACK_MS)
    first = candidates[0][1]
    if (loading := _loading(position, first)) is not None:
        yield from _timeouts(position, loading.now_ms, delay_ms)
        yield loading
        return
    next_ms = position.next_written_ms()
    nobody_asked = next_ms is not None and next_ms < first.arrived_ms - delay_ms
    if nobody_asked:
        yield from _unasked(position)
    until_ms = min(asked.latest_ms for _, asked in candidates) + CLOCK_SLACK_MS
    timed = sorted(_timeouts(position, until_ms, delay_ms), key=lambda step: step.now_ms)
    yield from (step for step in timed if step.now_ms <= first.arrived_ms)
    if next(overdue(position, first), None) is not None or answer_is_overdue(position, first, delay_ms):
        return
    yield from exchanges(position, candidates[0], delay_ms)
    for candidate in candidates[1:]:
        yield from (step for step in exchanges(position, candidate, delay_ms) if not step.waits)
    if next_ms is not None and not nobody_asked and next_ms <= first.done_ms + CLOCK_SLACK_MS:
        yield from _unasked(position)
    yield from (step for step in timed if step.now_ms > first.arrived_ms)
    for candidate in may_be_next(position, delay_ms)[len(candidates) :]:
        yield from (step for step in exchanges(position, candidate, delay_ms) if not step.waits)


def waiting_ahead(position: Position, delay_ms: int) -> Iterator[SearchStep]:
    """Requests that may have come before the first and wait, which by itself shows nothing."""
    if not position.all_asked:
        for candidate in may_be_next(position, CLOCK_SLACK_MS)[1:]:
            yield from (step for step in exchanges(position, candidate, delay_ms) if step.waits)


def _at_the_end(position: Position, delay_ms: int) -> Iterator[SearchStep]:
    """Nobody asks any more; records and answers are still to come."""
    if not position.all_written:
        yield from _unasked(position)
    times = [each.done_ms for each in position.parked]
    times += [at_ms for at_ms in [position.next_written_ms()] if at_ms is not None]
    if times:
        yield from _timeouts(position, min(times) + CLOCK_SLACK_MS, delay_ms)


def answer_is_overdue(position: Position, asked: RecordedRequest, delay_ms: int) -> bool:
    """Whether a request that waits was answered before this one was read, however late its line is."""
    due = position.answer_due
    return due is not None and due.done_ms + CLOCK_SLACK_MS < asked.arrived_ms - delay_ms


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
        first_done_ms = asked.latest_ms if first_done_ms is None else min(first_done_ms, asked.latest_ms)
    return out


def exchanges(position: Position, candidate: Numbered, delay_ms: int) -> Iterator[RequestStep | TurnedAway]:
    """The ways in which a request agrees; one that explains the next records before one that leaves them to others."""
    number, asked = candidate
    due = _are_due(position, asked)
    later: list[RequestStep] = []
    known: set[tuple[int, int, bool, int]] = set()
    for attempt in attempts(position, asked, delay_ms):
        records = attempt.answered.records
        let_go = released(position, attempt.answered.parked_answers)
        what = (attempt.images, attempt.tasks_done, bool(records), len(let_go))
        if what in known or not _answered_alike(asked, attempt, let_go, delay_ms):
            continue
        if not _come_next(position, records, asked, delay_ms):
            continue
        known.add(what)
        step = RequestStep(
            before=position,
            after=replace(after_request(position, candidate, attempt, let_go), at=position.at + len(records)),
            now_ms=attempt.now_ms,
            asked=asked,
            waits=attempt.answered.answer is None,
            answered=tuple(each.asked for each in let_go),
            excuses=_excuses(asked, attempt),
        )
        if records or not due:
            yield step
        else:
            later.append(step)
    yield from later
    if is_turned_away(asked):
        after = position.without(number)
        yield TurnedAway(before=position, after=after, now_ms=asked.arrived_ms, asked=asked)


def _answered_alike(
    asked: RecordedRequest, attempt: Variant, let_go: Iterable[Released], delay_ms: int
) -> bool:
    """Whether the request, and those that it lets go, are answered as recorded, or wait as they may have."""
    exact = bool(attempt.answered.records)
    earliest_ms = attempt.now_ms if exact else asked.arrived_ms - delay_ms
    latest_ms = attempt.now_ms if exact else asked.latest_ms
    # A heartbeat that migrates a classic group answers the waiting joins first, and computes the assignment then: its
    # records have a later time, by as long as that takes.
    first_ms = min(earliest_ms, asked.arrived_ms) if asked.api == HEARTBEAT else earliest_ms
    if not all(each.agrees(first_ms, latest_ms, delay_ms) for each in let_go):
        return False
    answer = attempt.answered.answer
    if is_turned_away(asked):
        return answer is None
    if answer is None:
        return True
    return equal(asked.response, answer) and asked.done_ms <= latest_ms + LOG_DELAY_MOST_MS


def after_request(
    position: Position, candidate: Numbered, attempt: Variant, let_go: Sequence[Released]
) -> Position:
    """The position with the request handled, but for the records that are used up by it."""
    number, asked = candidate
    after = _left_behind(position, asked, attempt, let_go).become(attempt.shard, asked.latest_ms)
    after = after.without(number).freed([each.asked for each in let_go])
    return replace(after, parked=(*after.parked, asked)) if attempt.answered.answer is None else after


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
    # What a JoinGroup writes does not keep its answer waiting, so that it may stand in the log later.
    latest_ms = asked.done_ms + (delay_ms if asked.api in WAITING else CLOCK_SLACK_MS)
    return len(come) == len(records) and all(
        asked.arrived_ms - delay_ms <= written.at_ms <= latest_ms and same_record(written.payload, record)
        for written, record in zip(come, records, strict=True)
    )


def _left_behind(
    position: Position, asked: RecordedRequest, attempt: Variant, let_go: Iterable[Released]
) -> Position:
    """Timers and tasks as the request left them, and what had to be known for it."""
    known = bool(attempt.answered.records)
    earliest_ms = attempt.now_ms if known else asked.arrived_ms
    latest_ms = min([attempt.now_ms if known else asked.latest_ms, *(each.asked.done_ms for each in let_go)])
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
            yield _by_itself(position, done, released(position, done.outcome.parked_answers))


def _timeouts(position: Position, until_ms: int, delay_ms: int) -> Iterator[SearchStep]:
    """Timers of a classic group that may have run out before this time: their answers were sent, their records come next."""
    for done in unrecorded(position, until_ms):
        let_go = released(position, done.outcome.parked_answers)
        records = done.outcome.records
        come = position.coming_written(len(records))
        if (
            len(come) == len(records)
            and all(
                done.now_ms - CLOCK_SLACK_MS <= written.at_ms <= done.now_ms + delay_ms
                and same_record(written.payload, record)
                for written, record in zip(come, records, strict=True)
            )
            and all(each.agrees(done.now_ms, done.now_ms, delay_ms) for each in let_go)
        ):
            yield _by_itself(position, done, let_go)


def _by_itself(position: Position, done: InternalEvents, let_go: Sequence[Released]) -> SearchStep:
    answered = tuple(each.asked for each in let_go)
    return ByItself(
        before=position,
        after=replace(after_event(position, done, let_go), at=position.at + len(done.outcome.records)),
        now_ms=done.now_ms,
        what=done.what,
        member=done.member,
        answered=answered,
        shows=changes(position, done),
        excuses=() if done.excuse is None else (done.excuse,),
    )


def after_event(position: Position, done: InternalEvents, let_go: Sequence[Released]) -> Position:
    """The position with the event done, but for the records that are used up by it."""
    after = position.knowing(done.images).become(done.shard, done.now_ms + CLOCK_SLACK_MS)
    gone = set(done.deleted)
    stopped = () if done.running is None else (done.running,)
    unsure_ms = 0 if done.running is None else done.running.unsure_ms
    timers = position.timers.without(stopped)
    after = replace(
        after,
        tasks=tuple(task for index, task in enumerate(position.tasks) if index != done.task),
        deleted=tuple(topic for topic in after.deleted if topic not in gone),
        timers=timers.taking(done.outcome.timers, done.now_ms - unsure_ms, done.now_ms),
    )
    return after.freed([each.asked for each in let_go])


def _loading(position: Position, asked: RecordedRequest) -> SearchStep | None:
    """A load from before the request, if there is one that the walk has not come to."""
    log = position.log
    if position.loads == len(log.loads) or log.loads[position.loads] >= asked.arrived_ms:
        return None
    now_ms = log.loads[position.loads]
    # It begins with the image of its moment.
    known = sum(1 for change in position.coming_images() if change.at_ms <= now_ms)
    before = position.after_images(known, now_ms)
    loaded = Shard(log.group, Semantics.KAFKA, before.settings, before.image, config=before.group_config)
    loaded.load(written.payload for written in log.written[: position.at])
    from_ms = _loaded_from_ms(loaded, now_ms)
    after = replace(
        position.knowing(known),
        shard=loaded,
        timers=Timers().taking(loaded.loaded(now_ms).timers, from_ms, None),
        tasks=(),
        loads=position.loads + 1,
    )
    after = after.freed([each for each in position.parked if is_turned_away(each)])
    return Loading(before=position, after=after, now_ms=now_ms)


def _loaded_from_ms(loaded: Shard, now_ms: int) -> int:
    """From when on the timers of a load may have run: of a consumer group it may have been over long before it shows.

    A classic group writes nothing as its timers run out, so that each that could would be tried between any two requests.
    """
    return now_ms if loaded.state.protocol is Protocol.CLASSIC else -INFINITE_MS


def overdue(position: Position, asked: RecordedRequest) -> Iterator[tuple[Running, int]]:
    """Timers that the simulated coordinator would have run out of, and how many records it would have written."""
    for running in position.timers.overdue(asked.arrived_ms):
        done = timeout(position, running, asked.arrived_ms)
        if changes(position, done):
            yield running, len(done.outcome.records)
