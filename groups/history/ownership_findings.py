"""Findings about partitions: moves, times without an owner, waits; and the form that all findings have."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final

from groups.history.names import Cast
from groups.history.ownership import Ownership
from groups.history.words import PARTITIONS, Wording, counted, duration, partition_name

Finding = dict[str, Any]

Names = Mapping[str, str]
"""Topic id → name, of those that have one."""

NO_OWNER_TOLD_MAX: Final = 20
"""Times without an owner that stand among the findings, the longest first."""


def finding(
    kind: str, says: str, sequences: list[int], *, needs: list[str] | None = None, **data: Any
) -> Finding:
    return {
        "kind": kind,
        "says": says,
        "sequences": sequences,
        "needs": needs or ["records"],
        "certain": True,
        **data,
    }


def found_moves(
    own: Ownership, cast: Cast, names: Names, *, contradicted: bool, wording: Wording = PARTITIONS
) -> list[Finding]:
    """How many partitions moved, and each move; ``contradicted``: the log has two owners of one partition."""
    if not own.moves_count:
        return []
    clean = not own.overlapped and not contradicted
    says = f"{counted(own.moves_count, wording.noun)} moved"
    total = finding(
        "moves", says, [own.moves_last_sequence], count=own.moves_count, released_before_taken=clean
    )
    found = [total]
    for topic, partition, before, after, released, taken in own.moves:
        name = partition_name((names.get(topic, topic), partition), wording)
        says = f"{name} moved from {cast.name(before)} to {cast.name(after)}"
        sequences = [released, taken] if released != taken else [taken]
        found.append(finding("moved", says, sequences, partition=name, **{"from": before, "to": after}))
    return found


def found_no_owner(
    own: Ownership, names: Names, *, last_ms: int, empty: bool, wording: Wording = PARTITIONS
) -> list[Finding]:
    """How long partitions had no owner, then those that have none still; an empty group needs none."""
    found = []
    for one in own.longest_first()[:NO_OWNER_TOLD_MAX]:
        name = partition_name((names.get(one.topic, one.topic), one.partition), wording)
        found.append(
            finding(
                "no_owner",
                f"{name} had no owner for {duration(one.length_ms)}",
                [one.from_sequence, one.to_sequence],
                partition=name,
                length_ms=one.length_ms,
                from_ms=one.from_ms,
                before=one.before,
                after=one.after,
                open=False,
                count=own.ownerless_count,
                noun=wording.noun,
            )
        )
    still = [] if empty else sorted(own.free.items(), key=lambda item: item[1].since_ms)
    for (topic, partition), free in still[:NO_OWNER_TOLD_MAX]:
        name = partition_name((names.get(topic, topic), partition), wording)
        length = max(last_ms - free.since_ms, 0)
        found.append(
            finding(
                "no_owner",
                f"{name} has had no owner for {duration(length)}",
                [free.sequence],
                partition=name,
                length_ms=length,
                from_ms=free.since_ms,
                before=free.owner,
                after=None,
                open=True,
                count=len(own.free),
                noun=wording.noun,
            )
        )
    return found


def found_waits(
    own: Ownership,
    cast: Cast,
    names: Names,
    *,
    last_ms: int,
    members: Container[str],
    wording: Wording = PARTITIONS,
) -> list[Finding]:
    """Who waited for whom, the waits that are not over first; ``members`` are there at the end."""
    found = []
    still = own.still_waited()
    for holder, (key, wait) in list(still.items())[:NO_OWNER_TOLD_MAX]:
        length = max(last_ms - wait.since_ms, 0)
        if wait.waiter not in members or not length:
            continue
        name = partition_name((names.get(key[0], key[0]), key[1]), wording)
        who, whom = cast.name(wait.waiter), cast.name(holder)
        found.append(
            finding(
                "waited_for",
                f"{who} has waited {duration(length)} for {whom} to release {name}",
                [wait.sequence],
                member=holder,
                name=whom,
                waiter=wait.waiter,
                partition=name,
                length_ms=length,
                open=True,
            )
        )
    found.sort(key=lambda one: -one["length_ms"])
    longest = sorted(own.waited.items(), key=lambda item: (-item[1][0], item[0]))
    for holder, (length, topic, partition, waiter, start, end, given_up) in longest[:NO_OWNER_TOLD_MAX]:
        name = partition_name((names.get(topic, topic), partition), wording)
        who, whom = cast.name(waiter), cast.name(holder)
        says = f"{who} waited {duration(length)} for {whom} to release {name}"
        if not given_up:
            says = f"{who} waited {duration(length)} for {name}, until {whom} was removed"
        found.append(
            finding(
                "waited_for",
                says,
                [start, end],
                member=holder,
                name=cast.name(holder),
                waiter=waiter,
                partition=name,
                length_ms=length,
                open=False,
            )
        )
    return found
