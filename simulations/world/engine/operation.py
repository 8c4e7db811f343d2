"""An operation of a coordinator, until it takes effect; and what a coordinator needs of the world around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from simulations.protocol.coordinator.consumer.outcome import Outcome, Record
from simulations.world.engine.access import Access
from simulations.world.engine.in_flight import InFlightRequest
from simulations.world.engine.log import Log
from simulations.world.engine.queue import EventQueue
from simulations.world.engine.requests import Answer
from simulations.world.engine.step_events import Seen
from simulations.world.engine.timers import Notice


class RuntimeEnvironment(Protocol):
    """What a coordinator needs of the world."""

    queue: EventQueue
    log: Log
    access: Access

    def reply(self, exchange: InFlightRequest, answer: Answer, cause: int | None) -> None:
        """The answer leaves for its client."""

    def waits(self, exchange: InFlightRequest) -> None:
        """The answer has to wait for the log."""

    def settled(self, *events: Seen) -> None:
        """A moment of the run is over, and these events were part of it."""

    def appended(self, records: Sequence[Record]) -> None:
        """Records were committed."""

    def note_topics(self, cause: int) -> None:
        """``cause`` is the note of how topics are from here on."""


@dataclass(slots=True)
class Operation:
    """What is to be reported of an operation once it takes effect.

    ``begins`` writes the entry that it is the effect of, where that has to stand in the order of effects.
    """

    outcome: Outcome[Any]
    """``Any``: the ``Answer``, if the operation came in a request; otherwise unused."""
    notices: list[Notice]
    cause: int | None = None
    begins: Callable[[], int] | None = None
    exchange: InFlightRequest | None = None
    seen: tuple[Seen, ...] = ()
    matched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What expressions match after it, where no record contains it."""
