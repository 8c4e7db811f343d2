"""The assignors that a broker ships for the consumer protocol, by Kafka's names."""

from __future__ import annotations

from simulations.assignors.interface import (
    Assignment,
    Assignor,
    AssignorError,
    GroupSpec,
    MemberSpec,
    all_subscribe_alike,
)
from simulations.assignors.range import RangeAssignor
from simulations.assignors.uniform import UniformAssignor

SERVER_ASSIGNORS: dict[str, Assignor] = {
    assignor.name: assignor for assignor in (UniformAssignor(), RangeAssignor())
}
"""``group.consumer.assignors`` at its default, in its order: the first is the default assignor."""

__all__ = [
    "SERVER_ASSIGNORS",
    "Assignment",
    "Assignor",
    "AssignorError",
    "GroupSpec",
    "MemberSpec",
    "all_subscribe_alike",
]
