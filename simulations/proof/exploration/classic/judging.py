"""What clients and the coordinator together must not do: a step is held to it, in the words of a run's checkers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from simulations.invariants import INVARIANTS
from simulations.invariants.classic_clients import ONE_PROCESSOR
from simulations.invariants.classic_groups import CLASSIC_GROUP_INVARIANTS
from simulations.invariants.mixed import GIVEN_UP, KEPT, ONE_READER
from simulations.invariants.violations import named
from simulations.proof.exploration.classic.coordinators import ClassicCoordinator
from simulations.proof.exploration.classic.processes import ClassicProcess
from simulations.proof.exploration.coordinators import Wrongs
from simulations.proof.exploration.partition_bits import Bits

NOT_ASKED_OF_CLASSIC: Final[Mapping[str, tuple[str, ...]]] = {
    "checked instead: the group can come to rest, with every partition read": (
        "assigned_whole",
        "classic_converges",
    ),
    "a walk that ends has no rounds without an end": ("rounds_end",),
    "it is asked of the coordinator, as generations_grow and one_leader": ("generations",),
}
"""Invariants of a classic group that no world is held to by their own name, by why."""

NOT_ASKED_OF_MIXED: Final[Mapping[str, tuple[str, ...]]] = {
    **NOT_ASKED_OF_CLASSIC,
    "it is asked of groups of one protocol": tuple(
        sorted({*CLASSIC_GROUP_INVARIANTS, *INVARIANTS} - KEPT - {"compacted_log", "group_converges"})
    ),
}
"""The same of a group that changes its protocol."""

Processes = list[ClassicProcess | None]


def gains(node: ClassicCoordinator, processes: Processes, slot: int, partitions: int, bits: Bits) -> Wrongs:
    """The process of a slot begins with partitions, or may keep them: nobody else may read them."""
    process = processes[slot]
    assert process is not None
    if not partitions or not _takes_part(node, process):
        return ()
    found = []
    for other in _others(processes, slot):
        both = partitions & other.reads
        if not node.is_consumer:
            both &= ~other.lapsed
        if both and _takes_part(node, other):
            what, who, its = named(bits.partitions(both)), process.member_id, other.member_id
            if node.is_consumer:
                found.append((ONE_READER, f"{who} begins with {what} while {its} still reads it"))
            else:
                generation = process.generation
                text = f"{who} and {its} both process {what} in generation {generation}: {its} has not revoked it"
                found.append((ONE_PROCESSOR, text))
    return tuple(found)


def taken(before: ClassicCoordinator, after: ClassicCoordinator, processes: Processes, bits: Bits) -> Wrongs:
    """A consumer group takes from a classic member only what its client has given up."""
    found = []
    for process in processes:
        if process is None or not process.alive or process.out:
            continue
        who = process.member_id
        if who not in before.held or who not in after.held or who not in after.speaks_classic:
            continue
        if kept := before.held[who] & ~after.held[who] & process.owned:
            what = named(bits.partitions(kept))
            found.append((GIVEN_UP, f"{what} is taken from {who}, which still reads it"))
    return tuple(found)


def _takes_part(node: ClassicCoordinator, process: ClassicProcess) -> bool:
    """Whether it is one of the group as it is now: of the present generation, or a member that was not fenced."""
    who = process.member_id
    if node.is_consumer:
        return who in node.held and not process.out
    group = node.group
    return group is not None and who in group.members and process.generation == group.generation


def _others(processes: Processes, slot: int) -> Iterator[ClassicProcess]:
    for other, process in enumerate(processes):
        if process is not None and other != slot and process.alive:
            yield process
