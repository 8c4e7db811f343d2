"""Timers that run out, with or without a record that shows it.

A timer of a consumer group writes records, and is tried where they stand. Most of what a classic group's timers do
is in no record: a join phase ends and its members are answered, a session ends and others are asked to join again.
Those are tried at the time that is the most exact in the recording: that of an answer which waited, or of the state in the
group's next record, and else when they were due.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from groups.history.state.group import Protocol
from simulations.proof.conformance.excuses import UNSEEN_TIMER
from simulations.proof.conformance.position import INFINITE_MS, LOG_DELAY_MS, Position
from simulations.proof.conformance.requests import committed
from simulations.proof.conformance.timers import LATE_MS, Running
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.image import ImageTopic
from simulations.protocol.coordinator.shard import Shard


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalEvents:
    """One thing that may have happened without a request, done on a copy.

    ``images``: further image changes that it implies; ``running``: the timer that ran out; ``task``: the task whose result
    it is; ``deleted``: topics whose offsets it removes.
    """

    what: str
    now_ms: int
    shard: Shard
    outcome: Outcome[None]
    running: Running | None = None
    images: int = 0
    task: int | None = None
    deleted: tuple[ImageTopic, ...] = ()
    excuse: str | None = None

    @property
    def member(self) -> str | None:
        return None if self.running is None else self.running.member_id


def timeout(position: Position, running: Running, now_ms: int, *, images: int = 0) -> InternalEvents:
    """The timer runs out."""
    shard = position.after_images(images, now_ms)
    outcome = shard.expired(running.timer, running.member_id, running.bound_epoch, now_ms)
    return InternalEvents(
        what=running.timer,
        now_ms=now_ms,
        shard=shard,
        outcome=committed(shard, outcome, now_ms),
        running=running,
        images=images,
        excuse=UNSEEN_TIMER if running.latest_ms is None else None,
    )


def unrecorded(position: Position, until_ms: int) -> Iterator[InternalEvents]:
    """Timers of a classic group that may have run out before this time, each at every time that may have been."""
    if not is_classic(position.shard):
        return
    for running in position.timers.due(until_ms):
        for now_ms in _times(position, running, until_ms):
            yield timeout(position, running, now_ms)


def is_classic(shard: Shard) -> bool:
    if shard.memory.classic is not None:
        return True
    return shard.state.protocol is Protocol.CLASSIC and not shard.state.deleted


def changes(position: Position, done: InternalEvents) -> bool:
    """Whether anything is otherwise after it: a session that ends of a member that waits for an answer does nothing."""
    return bool(
        done.outcome.records
        or done.outcome.parked_answers
        or done.shard.memory.classic is not position.shard.memory.classic
    )


def _times(position: Position, running: Running, until_ms: int) -> list[int]:
    """When it may have been, the likeliest first: times in the recording if they are near to when it was due."""
    last_ms = INFINITE_MS if running.latest_ms is None else running.latest_ms + LATE_MS
    due_ms = until_ms if running.latest_ms is None else running.latest_ms
    known = list(islice(position.log.state_times(position.at), 1))
    if (answered := position.answer_due) is not None:
        known.append(answered.done_ms)
    if (written_ms := position.next_written_ms()) is not None:
        known.append(written_ms)
    near = [time for time in known if abs(time - due_ms) <= LOG_DELAY_MS]
    times = dict.fromkeys([*near, min(due_ms, until_ms), *known])
    return [time for time in times if running.earliest_ms <= time <= min(last_ms, until_ms)]
