"""Reports the coordinator's steps as entries, for the checker and for the timeline of a trace.

A request may be answered by a later one's step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from groups.history.entries import Kind
from groups.history.state.group import State
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.timers import ASSIGNMENT, TimerCancel
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeatAnswer,
    JoinAnswer,
    LeaveAnswer,
    SyncAnswer,
)
from simulations.protocol.messages.client_mode import InstallAnswer, PrepareAnswer
from simulations.protocol.messages.groups import CommitAnswer, HeartbeatAnswer
from simulations.world.engine.log import COORDINATOR, Log
from simulations.world.engine.requests import APIS

NOW_MS: Final = 1_000_000
"""The time at which the clock is: any, but not 0, which means "never" in records."""

Timer = tuple[str, str | None]

Answer = (
    HeartbeatAnswer
    | CommitAnswer
    | PrepareAnswer
    | InstallAnswer
    | JoinAnswer
    | SyncAnswer
    | ClassicHeartbeatAnswer
    | LeaveAnswer
)
"""Whatever a group's coordinator answers where clients ask nothing next to their membership."""

Answers = tuple[tuple[int, Answer], ...]
"""Whom a step answers, by the ticket of the request."""

Waiting = Mapping[int, tuple[int, str, str, int]]
"""Ticket → sequence of the request's entry, who sent it, its API, its version."""


class Teller:
    """Writes one step of the coordinator into a log that begins behind ``last``, and keeps account of its timers.

    ``waiting`` are requests that were handled and are not answered.
    """

    def __init__(self, state: State, timers: Mapping[Timer, int | None], last: int, waiting: Waiting) -> None:
        self.log = Log(state, partition=0)
        self.log.last = last
        self.timers = dict(timers)
        self.waiting = dict(waiting)

    def request(self, request: Request, who: str, ticket: int) -> int:
        """A request arrives; its sequence."""
        api = APIS[type(request)].name
        known = {"api": api, "version": request.version, "body": request.body()}
        asked = self.log.write(Kind.REQUEST, who, NOW_MS, known)
        self.waiting[ticket] = (asked, who, api, request.version)
        return asked

    def fired(self, timer: Timer) -> int:
        """A timer ran out."""
        del self.timers[timer]
        return self._timer(timer, "fired", 0, None)

    def failed_over(self, epoch: int) -> int:
        """Another broker has loaded the log; what was parked is lost."""
        self.timers.clear()
        self.waiting.clear()
        fault = {
            "fault": "fail_over",
            "member": None,
            "coordinator": f"broker-{epoch}",
            "epoch": epoch,
            "loading_ms": 0,
        }
        return self.log.write(Kind.FAULT, COORDINATOR, NOW_MS, fault)

    def topics(self, note: Mapping[str, object]) -> int:
        """The metadata changed."""
        return self.log.write(Kind.NOTE, COORDINATOR, NOW_MS, note)

    def effect(
        self, cause: int | None, outcome: Outcome[object], answers: Sequence[tuple[int, Answer]]
    ) -> None:
        """What an operation wrote and started, and whom it answers: who was parked at once, the asking one behind the records."""
        parked = {each.ticket for each in outcome.parked_answers}
        for ticket, answer in answers:
            if ticket in parked:
                self._answer(ticket, answer, cause)
        self._done(outcome, cause)
        for ticket, answer in answers:
            if ticket not in parked:
                self._answer(ticket, answer, cause)

    def _answer(self, ticket: int, answer: Answer, cause: int | None) -> None:
        waiting = self.waiting.pop(ticket, None)
        if waiting is None:
            return
        asked, who, api, version = waiting
        known = {"api": api, "version": version, "to": who, "body": answer.body()}
        if cause != asked:
            known["request"] = asked
        self.log.write(Kind.RESPONSE, COORDINATOR, NOW_MS, known, cause=cause)

    def _done(self, outcome: Outcome[object], cause: int | None) -> None:
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
