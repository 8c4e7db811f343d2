"""The worst moment of a timeline: where an imported one opens, so that nobody has to look for what went wrong.

Findings weigh by how long readers were hurt; those that begin with the same entry weigh together. A group that only
formed and did its daily work has no worst moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

BROKEN_MS: Final = 3_600_000
"""A broken invariant, or two owners, is worse than any wait: it weighs as an hour."""

REMOVED_MS: Final = 10_000
"""A member that was removed, fenced or lost weighs as ten seconds without an owner: somebody will ask why."""

WEIGHTS_MS: Final[Mapping[str, int]] = {
    "violation": BROKEN_MS,
    "two_owners": BROKEN_MS,
    "two_clients": REMOVED_MS,
    "removed": REMOVED_MS,
    "fenced": REMOVED_MS,
    "failed_over": REMOVED_MS,
    "coordinator_moved": REMOVED_MS,
    "twin_instance": REMOVED_MS,
}
"""What a finding weighs by its kind alone."""

SHARES: Final[Mapping[str, float]] = {
    "waited_for": 0.5,
    "away": 0.5,
    "storm": 0.1,
    "flapping": 0.1,
    "crash_loop": 0.1,
    "left_and_back": 0.1,
    "rolling_restart": 0.1,
}
"""The part of its length that counts: while a member waits for a partition, the other one still reads it; and what is said
of a whole stretch (a storm) holds the moments that hurt within it."""

QUIET: Final = frozenset(
    {
        "joined",
        "began",
        "epochs",
        "commits",
        "moved",
        "moves",
        "midway",
        "deleted",
        "formed",
        "stable",
        "idle_members",
    }
    | {"migrated", "emptied", "gap"}
)
"""A group at its daily work, and what is long without hurting anybody."""


class Worst(NamedTuple):
    """``sequence``: the entry with which it begins. ``weight_ms``: what lists may sort by. ``says``: the finding."""

    sequence: int
    weight_ms: float
    says: str


TROUBLES_MOST: Final = 1000
"""Problems that one steps through by key; more are a storm, which is one of them."""


def worst(findings: Iterable[Mapping[str, Any]]) -> Worst | None:
    """The entry with which the gravest thing begins; of equal ones the first, ``None`` where nothing went wrong.

    ``findings`` are those of a summary. A kind that is not known here weighs as long as its ``length_ms``.
    """
    weighed = _weighed(findings)
    if not weighed:
        return None
    return max(weighed, key=lambda each: (each.weight_ms, -each.sequence))


def troubles(findings: Iterable[Mapping[str, Any]]) -> list[int]:
    """The entries with which something goes wrong, in order; of more than ``TROUBLES_MOST`` the gravest."""
    gravest = sorted(_weighed(findings), key=lambda each: (-each.weight_ms, each.sequence))
    return sorted(each.sequence for each in gravest[:TROUBLES_MOST])


def _weighed(findings: Iterable[Mapping[str, Any]]) -> list[Worst]:
    """What goes wrong, by the entry with which it begins."""
    weights: dict[int, dict[str, float]] = {}
    gravest: dict[int, tuple[float, str]] = {}
    for finding in findings:
        kind = finding["kind"]
        weight = WEIGHTS_MS.get(kind, 0) + SHARES.get(kind, 1.0) * (finding.get("length_ms") or 0)
        if kind in QUIET or weight <= 0 or not finding.get("sequences"):
            continue
        sequence = finding["sequences"][0]
        # Of many partitions without an owner at once the longest counts: they are one thing that happened.
        at = weights.setdefault(sequence, {})
        at[kind] = max(at.get(kind, 0.0), weight)
        if weight > gravest.get(sequence, (0.0, ""))[0]:
            gravest[sequence] = weight, str(finding.get("says", ""))
    return [Worst(each, sum(kinds.values()), gravest[each][1]) for each, kinds in weights.items()]
