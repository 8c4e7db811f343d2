"""A row of the groups list: its shape, and the columns in which pages show it.

For a new column, add its fact here and compute it in ``row_facts.facts_after``: page, API, sockets, commands, the browser's types and the
reference take it from these two.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypedDict


class ShownFacts(TypedDict):
    """The facts of a group that lists show; null where unknown. Times are the watcher's clock."""

    group_epoch: int | None
    assignment_epoch: int | None
    members: int | None
    behind: int | None
    """Members that are not at the assignment epoch."""

    lag: int | None
    state_since_ms: int | None
    """When this state was first seen."""

    rebalancing: bool
    since_ms: int | None
    """When the rebalance under way was first seen."""

    rebalanced_ms: list[int]
    """When the last rebalances began."""


class Facts(ShownFacts):
    """What is stored of a group: also what the next look is compared with."""

    lost_ms: int | None
    number: int | None
    settled: str | None


class GroupRow(ShownFacts):
    """A group of a live cluster, as lists show it."""

    group: str
    type: str | None
    state: str | None
    condition: str | None
    """Whether the group can be seen: `seen`, or why not."""

    timeline: str | None


class Column(NamedTuple):
    """``fact`` is a key of ``GroupRow``; ``kind`` says how a page draws it."""

    title: str
    fact: str
    kind: Literal["name", "text", "state", "number", "members", "times"]


COLUMNS: Final = (
    Column("Group", "group", "name"),
    Column("Type", "type", "text"),
    Column("State", "state", "state"),
    Column("Group epoch", "group_epoch", "number"),
    Column("Assignment epoch", "assignment_epoch", "number"),
    Column("Members", "members", "members"),
    Column("Lag", "lag", "number"),
    Column("Rebalances, last hour", "rebalanced_ms", "times"),
)
