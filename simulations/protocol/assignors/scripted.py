"""An assignor that answers as scripted in a scenario's file: targets by epoch.

A broker loads such assignors in addition to its own (``group.consumer.assignors`` may name classes). What a buggy one would do
can be scripted, too: that it throws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from simulations.protocol.assignors.interface import Assignment, AssignorError

SCRIPTED: Final = "scripted"

ScriptedTarget = Mapping[str, Mapping[str, Sequence[int]]]
"""Member → topic name → partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAssignor:
    """``targets`` by the target's epoch; ``None`` throws. An epoch without a target has the last one before it.

    >>> assignor = ScriptedAssignor(targets={2: {"A": {"foo": [0]}}, 4: None})
    >>> assignor.assign(3, {"foo": "id-1"})
    {'A': {'id-1': [0]}}
    """

    targets: Mapping[int, ScriptedTarget | None]

    def assign(self, epoch: int, ids: Mapping[str, str]) -> Assignment:
        """The target of an epoch; ``ids`` are those of the topics that exist, by name."""
        newest = max((known for known in self.targets if known <= epoch), default=None)
        if newest is None:
            return {}
        target = self.targets[newest]
        if target is None:
            raise AssignorError(f"the assignor throws at epoch {epoch}, as it was told to")
        return {
            member: {ids[name]: list(partitions) for name, partitions in owned.items() if name in ids}
            for member, owned in target.items()
        }
