"""Tells steps of a coordinator that has classic members as entries: a request may be answered by a later one's step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groups.history.entries import Kind
from groups.history.state.group import State
from simulations.proof.exploration.coordinator_entries import NOW_MS, Teller, Timer
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.classic.messages import (
    ClassicHeartbeatAnswer,
    JoinAnswer,
    LeaveAnswer,
    SyncAnswer,
)
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.messages.groups import CommitAnswer, HeartbeatAnswer
from simulations.world.engine.log import COORDINATOR
from simulations.world.engine.requests import APIS

GroupAnswer = HeartbeatAnswer | CommitAnswer | JoinAnswer | SyncAnswer | ClassicHeartbeatAnswer | LeaveAnswer
"""Whatever a group's coordinator answers where clients ask nothing beside their membership."""

Waiting = Mapping[int, tuple[int, str, str, int]]
"""Ticket → sequence of the request's entry, who sent it, its API, its version."""


class ClassicTeller(Teller):
    """``waiting`` are requests that were handled and are not answered; ``answers`` those that the step answers."""

    def __init__(self, state: State, timers: Mapping[Timer, int | None], last: int, waiting: Waiting) -> None:
        super().__init__(state, timers, last)
        self.waiting = dict(waiting)

    def request(self, request: Request, who: str, ticket: int) -> int:
        """A request arrives; its sequence."""
        api = APIS[type(request)].name
        told = {"api": api, "version": request.version, "body": request.body()}
        asked = self.log.write(Kind.REQUEST, who, NOW_MS, told)
        self.waiting[ticket] = (asked, who, api, request.version)
        return asked

    def effect(
        self, cause: int | None, outcome: Outcome[object], answers: Sequence[tuple[int, GroupAnswer]]
    ) -> None:
        """What an operation wrote and started, and whom it answers: who was parked at once, the asking one behind the records."""
        parked = {each.ticket for each in outcome.parked_answers}
        for ticket, answer in answers:
            if ticket in parked:
                self._answer(ticket, answer, cause)
        self.done(outcome, cause)
        for ticket, answer in answers:
            if ticket not in parked:
                self._answer(ticket, answer, cause)

    def _answer(self, ticket: int, answer: GroupAnswer, cause: int | None) -> None:
        waiting = self.waiting.pop(ticket, None)
        if waiting is None:
            return
        asked, who, api, version = waiting
        told = {"api": api, "version": version, "to": who, "body": answer.body()}
        if cause != asked:
            told["request"] = asked
        self.log.write(Kind.RESPONSE, COORDINATOR, NOW_MS, told, cause=cause)

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
        return self.log.write(Kind.NOTE, COORDINATOR, NOW_MS, note)
