"""An operation of a coordinator, until it takes effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.world.engine.in_flight import InFlightRequest
from simulations.world.engine.step_events import Seen
from simulations.world.engine.timers import Notice


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
