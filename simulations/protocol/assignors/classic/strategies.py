"""The assignors that a consumer of a classic group may list, and which rebalance protocols each supports.

All assignors of one client together decide how it rebalances: the highest protocol that each of them supports. It is
never sent to anybody (``ConsumerCoordinator``; KIP-429).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from groups.wire.embedded.user_data import COOPERATIVE_STICKY, STICKY
from simulations.protocol.assignors.classic.cooperative_sticky import CooperativeStickyAssignor
from simulations.protocol.assignors.classic.custom import (
    CUSTOM_COOPERATIVE,
    CUSTOM_USER_DATA,
    STREAM,
    CustomCooperativeAssignor,
    CustomUserDataAssignor,
    StreamAssignor,
)
from simulations.protocol.assignors.classic.range import RangeAssignor
from simulations.protocol.assignors.classic.roundrobin import RoundRobinAssignor
from simulations.protocol.assignors.classic.sticky import StickyAssignor
from simulations.protocol.assignors.interface import Assignor

EAGER: Final = "EAGER"
COOPERATIVE: Final = "COOPERATIVE"

_TABLE: Final[Mapping[str, tuple[Callable[[], Assignor], tuple[str, ...]]]] = {
    "range": (RangeAssignor, (EAGER,)),
    "roundrobin": (RoundRobinAssignor, (EAGER,)),
    STICKY: (StickyAssignor, (EAGER,)),
    COOPERATIVE_STICKY: (CooperativeStickyAssignor, (COOPERATIVE, EAGER)),
    STREAM: (StreamAssignor, (COOPERATIVE, EAGER)),
    CUSTOM_COOPERATIVE: (CustomCooperativeAssignor, (COOPERATIVE,)),
    CUSTOM_USER_DATA: (CustomUserDataAssignor, (EAGER,)),
}
STRATEGIES: Final = MappingProxyType({name: makes for name, (makes, _) in _TABLE.items()})
"""Name → makes a fresh one: an object belongs to one client."""

SUPPORTS: Final = MappingProxyType({name: protocols for name, (_, protocols) in _TABLE.items()})
"""``ConsumerPartitionAssignor.supportedProtocols``."""

DEFAULT_STRATEGIES: Final = ("range", COOPERATIVE_STICKY)
"""``partition.assignment.strategy`` where nothing is set."""


def rebalance_protocol(strategies: Sequence[str]) -> str | None:
    """EAGER or COOPERATIVE; ``None`` where no protocol is supported by all, which no client starts with."""
    common = {EAGER, COOPERATIVE}.intersection(*(SUPPORTS[name] for name in strategies))
    if COOPERATIVE in common:
        return COOPERATIVE
    return EAGER if EAGER in common else None
