"""Tells the coordinator's steps as entries, for the checker and for the timeline of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groups.history.entries import Kind
from groups.history.state.group import State
from simulations.protocol.coordinator.consumer.outcome import (
    ASSIGNMENT,
    Outcome,
    Record,
    TimerCancel,
    TimerCommand,
)
from simulations.protocol.messages.groups import (
    COMMIT_API,
    HEARTBEAT_API,
    CommitAnswer,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
)
from simulations.world.engine.log import COORDINATOR, Log

NOW_MS: Final = 1_000_000
"""The time at which the clock stands: any, but not 0, which stands for "never" in records."""

Timer = tuple[str, str | None]


class Teller:
    """Writes one step of the coordinator into a log that begins behind ``last``, and keeps account of its timers."""

    def __init__(self, state: State, timers: Mapping[Timer, int | None], last: int) -> None:
        self.log = Log(state, partition=0)
        self.log.last = last
        self.timers = dict(timers)

    def exchange(
        self,
        request: Heartbeat | OffsetCommit,
        outcome: Outcome[HeartbeatAnswer] | Outcome[CommitAnswer],
    ) -> None:
        """A request, what it wrote and started, and its answer."""
        api = HEARTBEAT_API if isinstance(request, Heartbeat) else COMMIT_API
        told = {"api": api, "version": request.version}
        asked = self.log.write(Kind.REQUEST, request.member_id, NOW_MS, {**told, "body": request.body()})
        self.done(outcome, asked)
        answer = {**told, "to": request.member_id, "body": outcome.answer.body()}
        self.log.write(Kind.RESPONSE, COORDINATOR, NOW_MS, answer, cause=asked)

    def expiry(self, timer: str, member_id: str | None, outcome: Outcome[None]) -> None:
        """A timer ran out."""
        del self.timers[timer, member_id]
        self.done(outcome, self._timer((timer, member_id), "fired", 0, None))

    def note(self, note: Mapping[str, object], outcome: Outcome[None]) -> None:
        """The metadata changed."""
        self.done(outcome, self.log.write(Kind.NOTE, COORDINATOR, NOW_MS, note))

    def fail_over(self, epoch: int, outcome: Outcome[None]) -> None:
        """Another broker has loaded the log."""
        self.timers.clear()
        fault = {
            "fault": "fail_over",
            "member": None,
            "coordinator": f"broker-{epoch}",
            "epoch": epoch,
            "loading_ms": 0,
        }
        self.done(outcome, self.log.write(Kind.FAULT, COORDINATOR, NOW_MS, fault))

    def task(self, outcome: Outcome[None]) -> None:
        """A task in the background is done."""
        self.done(outcome, None)

    def records(self, records: tuple[Record, ...], timers: tuple[TimerCommand, ...]) -> None:
        """A group that is there at the start."""
        self.done(Outcome(answer=None, records=records, timers=timers), None)

    def done(self, outcome: Outcome[object], cause: int | None) -> None:
        """What an operation wrote, then the timers that it started and stopped."""
        if outcome.records:
            cause = self.log.write_unit(outcome.records, NOW_MS, cause=cause)
        for command in outcome.timers:
            key = (command.timer, command.member_id)
            if isinstance(command, TimerCancel):
                if key in self.timers:
                    del self.timers[key]
                    self._timer(key, "cancelled", 0, cause)
            elif command.timer != ASSIGNMENT or key not in self.timers:
                # A computation that is under way takes what it finds when it is done.
                self.timers[key] = command.bound_epoch
                self._timer(key, "started", command.length_ms, cause)

    def _timer(self, key: Timer, event: str, length_ms: int, cause: int | None) -> int:
        timer, member = key
        payload = {"timer": timer, "member": member, "event": event, "deadline_ms": NOW_MS + length_ms}
        return self.log.write(Kind.TIMER, COORDINATOR, NOW_MS, payload, cause=cause)
