"""The form that all findings have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast


class BasicFinding(TypedDict):
    kind: str
    says: str
    sequences: list[int]
    """The entries that prove it."""
    needs: list[str]
    """What it was read from: ``records``, ``requests``, ``timers``, ``callbacks``, ``notes``."""
    certain: bool
    """False where it is inferred."""


class Finding(BasicFinding, total=False):
    """A fact with its proof. ``count`` is the number of all such facts, of which only the first or the longest are listed.

    Times are ``at_ms`` or ``from_ms`` and ``to_ms``, on the log's clock; ``forming`` marks what belongs to the group's first
    seconds. Each finder's docstring lists which of the other fields it fills.
    """

    at_ms: int | None
    from_ms: int
    to_ms: int | None
    length_ms: int | None
    quiet_ms: int | None
    """Of a removal: since the member's last commit."""
    every_ms: int
    count: int
    forming: bool
    open: bool
    member: str | None
    name: str
    waiter: str
    """The id of the member that waits for ``member``."""
    members: Sequence[object]
    names: list[str]
    lane: str
    back_ms: int | None
    back_sequence: int | None
    at: int
    again: int
    why: str | None
    looks_like: str | None
    because: str
    partition: str
    partitions: object
    noun: str
    first: int | bool | None
    """Of epochs the first one; of an unassigned partition whether nobody had owned it before."""
    last: int | None
    steps: list[int]
    """Where each of the things that it counts happened, for stepping through them."""
    data: Mapping[str, object]
    pattern: bool
    """Whether it is an incident's name (``patterns``); the next ones are of these alone."""
    title: str
    rank: int
    """Of several patterns the lowest opens the verdict."""
    severity: str
    causes: list[str]
    look_at: list[str]
    explained_by: str
    """Titles of other patterns that are the cause of this one here."""
    from_offset: int | None
    to_offset: int | None
    """A committed offset before and after."""
    giver: str | None
    """Who held a partition before ``name``."""
    cannot_know: str
    """What the evidence leaves open."""
    differs: str
    """Where a proposal and the release say different things."""


def finding(
    kind: str,
    text: str,
    sequences: list[int],
    *,
    needs: list[str] | None = None,
    certain: bool = True,
    more: Mapping[str, object] | None = None,
    **data: object,
) -> Finding:
    """A finding; ``data`` are its kind's fields in addition to the common ones, ``more`` those with other names."""
    made = {
        "kind": kind,
        "says": text,
        "sequences": sequences,
        "needs": needs or ["records"],
        "certain": certain,
        **data,
        **(more or {}),
    }
    return cast(Finding, made)
