"""A digest: what the map shows of some entries, as the state at a first column and what changed in the later ones.

A column of the finest digest is a moment: states in between never existed. Rows are reported when they change and never
repeated, so that a digest is as large as what happened, and parts that follow each other are put together by taking one
after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Generic

from groups.history.digests.values import Key, MemberValue, PartitionKey, PartitionValue, Value
from groups.history.frames.shapes import MemberFrame


@dataclass(slots=True)
class Columns:
    """One list each. ``first`` and ``last`` are sequences of moments; ``unassigned`` is the most in the column, ``members`` at its end.

    ``unknown``: 1 where entries were not looked at yet, so that rows have at most their ends.
    """

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    from_ms: list[int] = field(default_factory=list)
    to_ms: list[int] = field(default_factory=list)
    moments: list[int] = field(default_factory=list)
    unassigned: list[int] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.first)

    def lists(self) -> tuple[list[int], ...]:
        return tuple(getattr(self, each.name) for each in fields(self))


@dataclass(slots=True)
class Rows(Generic[Key, Value]):
    """``start``: rows of the first column, where the part begins a chunk. ``changes``: (column, row, value), by column.

    A change in a column beyond the last one holds from the first column of whatever follows.
    """

    start: dict[Key, Value] | None = None
    changes: list[tuple[int, Key, Value]] = field(default_factory=list)


@dataclass(slots=True)
class Facts:
    """Facts of a member other than what it holds; each is ``None`` if unknown."""

    client_id: str | None
    host: str | None
    rack_id: str | None
    instance_id: str | None

    @classmethod
    def of(cls, member: MemberFrame) -> Facts:
        return cls(
            client_id=member.get("client_id"),
            host=member.get("host"),
            rack_id=member.get("rack_id"),
            instance_id=member.get("instance_id"),
        )


@dataclass(slots=True)
class EventGroup:
    """Like events that followed each other, shown as one. ``first`` and ``last`` are sequences of moments.

    ``epoch`` and ``actor`` are ``None`` where they are not one and the same. ``problem``: it needs attention.
    """

    first: int
    last: int
    from_ms: int
    to_ms: int
    count: int
    shape: str
    epoch: int | None
    actor: str | None
    text: str
    cause: int | None
    problem: bool
    alone: bool
    """Never shown together with others: what is rare, or a row of a proposal's table."""


@dataclass(slots=True)
class Tracks:
    """The group's own: (column, …) where each begins to hold."""

    states: list[tuple[int, str]] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)
    coordinators: list[tuple[int, str, int | None]] = field(default_factory=list)
    """Column, name, and until when (ms) it loads."""
    violations: list[tuple[int, str]] = field(default_factory=list)
    """Column, and the moment's sentence."""


@dataclass(slots=True)
class Digest:
    """``begins``: its first column is a state to start from (``moments`` 0), else it goes on where another part ends."""

    begins: bool
    columns: Columns = field(default_factory=Columns)
    tracks: Tracks = field(default_factory=Tracks)
    events: list[EventGroup] = field(default_factory=list)
    facts: dict[str, Facts] = field(default_factory=dict)
    members: Rows[str, MemberValue] = field(default_factory=lambda: Rows[str, MemberValue]())
    partitions: Rows[PartitionKey, PartitionValue] = field(
        default_factory=lambda: Rows[PartitionKey, PartitionValue]()
    )
