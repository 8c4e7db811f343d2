"""A process of a world: a client of either protocol, what is on its way, and the checker's account of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from simulations.proof.exploration.canonical import FIELDS, as_they_are, canonical
from simulations.proof.exploration.classic.entries import GroupAnswer
from simulations.proof.exploration.coordinators import Wrongs
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.classic.untimed import plain
from simulations.protocol.client.consumer import Call, Consumer
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.classic.messages import (
    NO_GENERATION,
)

Client = Consumer | ClassicConsumer

NOBODY: Final = -1
"""In the place of a line of the script: no other process is to start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicProcess:
    """One state; the client is never changed, a step takes a copy of it.

    ``requests`` are on their way to the coordinator, each with whether its answer is still wanted and the id under which it was sent;
    ``parked`` are those that arrived and are not answered, by ticket; ``answers`` come back, oldest first. ``stale``: the
    coordinator has moved, and the process does not know it yet. ``follows`` is the line of the script that is to start
    another process of the member when this one has closed.

    ``ids`` counts the ids that were asked for beyond the first, ``asked``: one is asked for now.

    The rest is the checker's own account: ``owned`` by callbacks, ``lapsed`` what of it comes from a membership that is
    over, ``generation`` what the coordinator told it last, ``out``: it was fenced or has left, and may not know it yet.
    ``said``, ``misunderstood`` and ``unbegun`` are those of ``exploration.processes.Process``, for the consumer protocol.
    """

    consumer: Client
    alive: bool = True
    paused: bool = False
    follows: int = NOBODY
    requests: tuple[tuple[Request, bool, str], ...] = ()
    parked: tuple[tuple[int, Request], ...] = ()
    answers: tuple[tuple[Request, GroupAnswer], ...] = ()
    stale: bool = False
    ids: int = 0
    asked: bool = False
    owned: int = 0
    lapsed: int = 0
    generation: int = NO_GENERATION
    out: bool = False
    said: int = 0
    misunderstood: int = 0
    unbegun: int = 0
    calling: Call | None = None

    @property
    def member_id(self) -> str:
        """The id that it has, or will be given next."""
        first = self.consumer.config.member_id
        if not self.ids:
            return first
        return f"{first}.{self.ids}" if "~" in first else f"{first}~1.{self.ids}"

    @property
    def speaks_classic(self) -> bool:
        return isinstance(self.consumer, ClassicConsumer)

    @property
    def runs(self) -> bool:
        return self.alive and not self.paused

    @property
    def reads(self) -> int:
        """What it reads, but for what the group took it to be rid of by a heartbeat that could not know of it."""
        return self.owned & ~self.misunderstood

    @property
    def counts(self) -> bool:
        """Whether the group may be expected to have it as a member."""
        return self.runs and not self.consumer.closed and not self.consumer.ended

    @property
    def deaf(self) -> bool:
        """Whether no answer means anything to it any more."""
        over = self.consumer.closed or self.consumer.ended
        return not self.alive or (self.follows == NOBODY and over and self.calling is None)

    @property
    def has_closed(self) -> bool:
        """Whether the process that is to follow it may start."""
        over = self.consumer.closed or self.consumer.ended
        return self.follows != NOBODY and over and self.calling is None

    @property
    def idle(self) -> bool:
        """Whether nothing of it is under way."""
        return not (self.requests or self.parked or self.answers or self.stale or self.calling)

    def key(self) -> Hashable:
        requests = tuple((said(request), wanted, who) for request, wanted, who in self.requests)
        if not self.alive:
            return self.consumer.config.member_id, self.ids, requests
        consumer, awaits = self.consumer, self.consumer.awaits
        return (
            self.consumer.config.member_id,
            self.ids,
            requests,
            consumer.canonical()
            if isinstance(consumer, ClassicConsumer)
            else consumer.canonical(as_they_are),
            tuple(awaits(request) for request, wanted, _ in self.requests if wanted),
            tuple((ticket, said(request), awaits(request)) for ticket, request in self.parked),
            tuple((said(answer), said(request), awaits(request)) for request, answer in self.answers),
            self.paused,
            self.follows,
            self.stale,
            self.asked,
            self.owned,
            self.lapsed,
            self.generation,
            self.out,
            self.said & self.owned if self.requests else 0,
            self.misunderstood,
            self.unbegun,
            self.calling.callback if self.calling is not None else None,
        )


def said(message: object) -> Hashable:
    """A request or an answer by what decides something."""
    return canonical(message, as_they_are) if type(message) in FIELDS else plain(message)


@dataclass(frozen=True, slots=True)
class Done:
    """A step of a process. ``gained``: what it began to read; ``kept``: what it may go on reading from a membership that is over.

    ``called``: callbacks that began and returned within the step.
    """

    after: ClassicProcess
    wrong: Wrongs = ()
    gained: int = 0
    kept: int = 0
    called: tuple[Call, ...] = ()
