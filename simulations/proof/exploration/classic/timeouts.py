"""Which of the coordinator's timers may run out in a world, and whether that takes a fault: a process that lives beats them.

Whose process is dead, does not move or goes by another id is waited for in vain: its timers run out of themselves. So does
the initial delay of a group, at any moment, and a computation of a target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from simulations.proof.exploration.actions import SLOTS_MAX, ActionKind, Step, packed
from simulations.proof.exploration.classic.coordinators import ClassicCoordinator
from simulations.proof.exploration.consumer.world import TIMEOUTS
from simulations.proof.exploration.coordinator_entries import Timer
from simulations.protocol.coordinator.timers import JOIN, SYNC

OF_GROUP = SLOTS_MAX - 1
"""In the place of a process: the timer is the group's own."""

KINDS = {
    **TIMEOUTS,
    JOIN: ActionKind.JOIN_PHASE,
    SYNC: ActionKind.SYNC_PHASE,
}


class Expiry(NamedTuple):
    """``fault``: somebody lives who would have beaten the timer."""

    step: Step
    timer: Timer
    fault: bool


def expiries(node: ClassicCoordinator, living: Mapping[str, int]) -> Iterator[Expiry]:
    """``living``: the ids of processes that run, with their slots."""
    forgotten = 0
    for timer in sorted(node.timers, key=lambda each: (each[0], each[1] or "")):
        name, member_id = timer
        if member_id is None and name in (JOIN, SYNC):
            yield Expiry(packed(KINDS[name], OF_GROUP), timer, _is_fault(node, name, living))
        elif member_id is None:
            yield Expiry(packed(ActionKind.ASSIGNMENT), timer, False)
        elif member_id in living:
            yield Expiry(packed(KINDS[name], living[member_id]), timer, True)
        else:
            yield Expiry(packed(ActionKind.FORGET, forgotten), timer, False)
            forgotten += 1


def _is_fault(node: ClassicCoordinator, name: str, living: Mapping[str, int]) -> bool:
    """Whether a phase of the group waits for somebody who lives."""
    group = node.group
    if group is None:
        return False
    if name == SYNC:
        return not group.pending_sync.isdisjoint(living)
    if group.initial_delay is not None:
        return False
    missing = {who for who, member in group.members.items() if not member.awaits_join} | group.pending
    return not missing.isdisjoint(living)
