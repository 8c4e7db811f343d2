"""A row of the groups list: its shape.

For a new fact, add it here and compute it in ``row_facts.facts_after``: API, sockets, commands, the browser's types and the reference
take it from these two. The table of what is wrong shows those that ``liveCell`` of ``static/js/troubles/rows.js`` picks.
"""

from __future__ import annotations

from typing import TypedDict


class LagFacts(TypedDict):
    """How far a group is behind, as one round saw it; null where unknown."""

    lag: int | None
    """Records that the group has not read."""

    lag_ms: int | None
    """How old the oldest of them is."""

    lag_is_least: bool | None
    """Whether it is that old or older: it was written before anybody looked."""

    lost_records: int | None
    """Records that retention deleted before the group read them: the log starts behind its committed offset."""

    lost_partition: str | None
    """The partition that lost most of them."""

    skew: str | None
    """Who falls behind alone in the last minutes: a `hot-partition` or a `slow-member`."""

    skew_of: str | None
    """That partition, or the member's client id."""


class ShownFacts(LagFacts):
    """The facts of a group that lists show; null where unknown. Times are the watcher's clock."""

    group_epoch: int | None
    assignment_epoch: int | None
    members: int | None
    behind: int | None
    """Members that are not at the assignment epoch."""

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
    began_ms: int | None
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
