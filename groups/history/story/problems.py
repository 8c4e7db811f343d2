"""The problems of a timeline that one steps through by key: where its findings begin that hurt somebody.

Findings weigh by how long readers were hurt; those that begin with the same entry are one problem, and weigh together.
The worst moment, at which an import opens, is the verdict's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

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


TROUBLES_MOST: Final = 1000
"""Problems that one steps through by key; more are a storm, which is one of them."""


def troubles(findings: Iterable[Mapping[str, Any]]) -> list[int]:
    """The entries with which something goes wrong, in order; of more than ``TROUBLES_MOST`` the gravest."""
    weights = _weights(findings)
    gravest = sorted(weights, key=lambda sequence: (-weights[sequence], sequence))
    return sorted(gravest[:TROUBLES_MOST])


def _weights(findings: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    """What goes wrong, by the entry with which it begins. A kind that is not known here weighs as long as its ``length_ms``."""
    weights: dict[int, dict[str, float]] = {}
    for finding in findings:
        kind = finding["kind"]
        weight = WEIGHTS_MS.get(kind, 0) + SHARES.get(kind, 1.0) * (finding.get("length_ms") or 0)
        if kind in QUIET or weight <= 0 or not finding.get("sequences"):
            continue
        # Of many partitions without an owner at once the longest counts: they are one thing that happened.
        at = weights.setdefault(finding["sequences"][0], {})
        at[kind] = max(at.get(kind, 0.0), weight)
    return {sequence: sum(kinds.values()) for sequence, kinds in weights.items()}
