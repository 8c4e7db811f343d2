"""The assignors, by Kafka's names: those of the consumer protocol, and those of the classic one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from simulations.protocol.assignors.classic import (
    CooperativeStickyAssignor,
    RoundRobinAssignor,
    StickyAssignor,
)
from simulations.protocol.assignors.classic import RangeAssignor as ClassicRangeAssignor
from simulations.protocol.assignors.consumer import RangeAssignor, UniformAssignor
from simulations.protocol.assignors.explanation import Explanation
from simulations.protocol.assignors.interface import (
    Assignment,
    Assignor,
    AssignorError,
    GroupAssignment,
    GroupSpec,
    MemberSpec,
    Owned,
    Topic,
    all_subscribe_alike,
)

SERVER_ASSIGNORS: Final[Mapping[str, Assignor]] = {
    assignor.name: assignor for assignor in (UniformAssignor(), RangeAssignor())
}
"""``group.consumer.assignors`` at its default, in its order: the first is the default assignor."""

ASSIGNORS: Final[Mapping[str, Mapping[str, Callable[[], Assignor]]]] = {
    "consumer": {"uniform": UniformAssignor, "range": RangeAssignor},
    "classic": {
        "range": ClassicRangeAssignor,
        "roundrobin": RoundRobinAssignor,
        "sticky": StickyAssignor,
        "cooperative-sticky": CooperativeStickyAssignor,
    },
}
"""Protocol → name → makes a fresh one: an object belongs to one group."""
