"""Compares what was recorded with what was simulated: answers field by field, records one by one.

The order of lists counts: a broker's hash tables are simulated too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeGuard

from simulations.protocol.coordinator.consumer.outcome import Record

UNJUDGED_FIELDS: Final = frozenset({"throttleTimeMs"})
"""Quotas are another part of the broker."""

ABSENT: Final = "(absent)"

REMOVAL: Final = (8, 7, 5)
"""Types of the tombstones of a member that is removed."""


def differing(recorded: object, simulated: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """``(path, recorded, simulated)`` of each leaf that differs."""
    if isinstance(recorded, Mapping) and isinstance(simulated, Mapping):
        for name in {**recorded, **simulated}:
            if name not in UNJUDGED_FIELDS:
                where = f"{path}.{name}" if path else name
                yield from differing(recorded.get(name, ABSENT), simulated.get(name, ABSENT), where)
    elif _is_list(recorded) and _is_list(simulated) and len(recorded) == len(simulated):
        for index, (left, right) in enumerate(zip(recorded, simulated, strict=True)):
            yield from differing(left, right, f"{path}.{index}")
    elif recorded != simulated:
        yield path, recorded, simulated


def equal(recorded: object, simulated: object) -> bool:
    return next(differing(recorded, simulated), None) is None


def same_record(recorded: Record, simulated: Record) -> bool:
    return all(
        equal(recorded.get(name), simulated.get(name))
        for name in ("type", "key", "version", "value", "producer")
    )


def same_place(recorded: Record, simulated: Record) -> bool:
    """Whether both are about the same thing: type, key, and whether something is removed."""
    return (
        recorded["type"] == simulated["type"]
        and recorded.get("key") == simulated.get("key")
        and (recorded.get("value") is None) == (simulated.get("value") is None)
    )


def removed_in_order(simulated: tuple[Record, ...], recorded: Sequence[Record]) -> tuple[Record, ...]:
    """The simulated records with members that are removed at once in the order of the recorded ones.

    A broker takes the members of one LeaveGroup in the order of a hash set whose hashes differ from one run of it to the next.
    Each has three tombstones: of its assignment, its target and itself.
    """
    removals: dict[str, tuple[Record, ...]] = {}
    for at in range(0, len(simulated), 3):
        three = simulated[at : at + 3]
        who = {str(each["key"].get("memberId")) for each in three}
        are_gone = all(each["value"] is None for each in three) and len(who) == 1
        if not are_gone or tuple(each["type"] for each in three) != REMOVAL:
            break
        removals[who.pop()] = three
    if len(removals) < 2:
        return simulated
    order = [str((each.get("key") or {}).get("memberId")) for each in recorded[: 3 * len(removals) : 3]]
    if set(order) != removals.keys():
        return simulated
    return (*(each for who in order for each in removals[who]), *simulated[3 * len(removals) :])


def aligned(
    recorded: Sequence[Record], simulated: Sequence[Record]
) -> Iterator[tuple[Record | None, Record | None]]:
    """Pairs in order; ``None`` where one side has no counterpart."""
    at = 0
    for record in simulated:
        found = next((n for n in range(at, len(recorded)) if same_place(recorded[n], record)), None)
        if found is None:
            yield None, record
            continue
        for other in recorded[at:found]:
            yield other, None
        yield recorded[found], record
        at = found + 1
    for other in recorded[at:]:
        yield other, None


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)
