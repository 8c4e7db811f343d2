"""The problems of a timeline that one steps through by key: where its findings begin that hurt somebody.

Findings weigh by how long readers were hurt; those that begin with the same entry are one problem, and weigh together.
The worst moment, at which an import opens, is the verdict's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NotRequired, TypedDict


class Trouble(TypedDict):
    """A problem: the entry with which it begins, when that was, and the sentence of its gravest finding."""

    sequence: int
    at_ms: int | None
    says: str


BROKEN_MS: Final = 3_600_000
"""A broken invariant, or two owners, is worse than any wait: it weighs as an hour."""

REMOVED_MS: Final = 10_000
"""A member that was removed, fenced or lost weighs as ten seconds without an owner: somebody will ask why."""

WENT_BACK_MS: Final = 120_000
"""An offset that went back weighs as two minutes without an owner: records are read twice, or a lag appears from nowhere."""

WEIGHTS_MS: Final[Mapping[str, int]] = {
    "violation": BROKEN_MS,
    "two_owners": BROKEN_MS,
    "two_clients": REMOVED_MS,
    "removed": REMOVED_MS,
    "fenced": REMOVED_MS,
    "failed_over": REMOVED_MS,
    "coordinator_moved": REMOVED_MS,
    "twin_instance": REMOVED_MS,
    "offset_back": WENT_BACK_MS,
    "offsets_set": WENT_BACK_MS,
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


LEAST_MS: Final[Mapping[str, int]] = {"no_owner": 5_000, "waited_for": 10_000}
"""What is shorter is a hand-over, as it is by design, and no problem: a partition may be unassigned until its next owner's heartbeat, 5 s by Kafka's default."""

TROUBLES_MOST: Final = 1000
"""Problems that one steps through by key; more are a storm, which is one of them."""


SEVERITIES: Final[Mapping[str, int]] = {"warning": 1, "critical": 2}
"""Levels of the severities that findings have; a finding without one, or a harmless one, is on level 0."""

REPEATS: Final = frozenset(
    {"crash_loop", "left_and_back", "rolling_restart", "storm"}
    | {"short_rebalance_timeout", "poll_interval_exceeded", "session_expiry"}
)
"""Findings that each describe several removals at once, ``steps`` where: these removals are one problem, and not many."""

REPEATS_LEAST: Final = 3

UNTIL_REMOVED: Final = frozenset({"silent", "unread", "away"})
"""What begins with a last commit, and shows when the member is removed or comes back."""

LEVEL_MS: Final = 10**13
"""Between two levels: three centuries, longer than any problem of a log."""


PROBLEMS_KEPT: Final = 12
"""Problems of a timeline that lists rank it by, where a cause that many groups share is left out."""


class RankedProblem(TypedDict):
    """A finding that hurts: ``level`` of its severity, ``weight`` in ms, how long it was, whom it names, its first entry."""

    kind: str
    level: int
    weight: int
    from_ms: int
    to_ms: int
    length_ms: int | None
    name: str
    sequence: int


class Weighed(TypedDict):
    """What of a finding its weight is made of."""

    kind: str
    says: str
    sequences: list[int]
    at_ms: NotRequired[int | None]
    from_ms: NotRequired[int]
    length_ms: NotRequired[int | None]
    severity: NotRequired[str]
    steps: NotRequired[list[int]]
    explained_by: NotRequired[str]
    silent_sequence: NotRequired[int | None]
    silent_from_ms: NotRequired[int | None]
    to_ms: NotRequired[int | None]
    name: NotRequired[str | None]


def gravity(findings: Collection[Weighed], severity: str | None) -> int:
    """How grave a timeline is, by which lists rank: first the severity of its headline, then the weight of its gravest problem."""
    gravest = max((weight for weight, _ in _weighed(findings)), default=0)
    # Of two equal ones that with a pattern.
    gravest += max(map(_level, findings), default=0)
    return SEVERITIES.get(severity or "", 0) * LEVEL_MS + min(int(gravest), LEVEL_MS - 1)


def _level(finding: Weighed) -> int:
    broken = WEIGHTS_MS.get(finding["kind"]) == BROKEN_MS
    return SEVERITIES["critical"] if broken else SEVERITIES.get(finding.get("severity", ""), 0)


def ranked_problems(findings: Iterable[Weighed]) -> list[RankedProblem]:
    """The gravest ``PROBLEMS_KEPT`` findings, each by itself. What lasts until a member is removed counts from its end."""
    found = [
        RankedProblem(
            kind=one["kind"],
            level=_level(one),
            weight=int(weight),
            from_ms=to_ms if one["kind"] in UNTIL_REMOVED else from_ms,
            to_ms=to_ms,
            length_ms=one.get("length_ms"),
            name=str(one.get("name") or ""),
            sequence=one["sequences"][0],
        )
        for one in findings
        for weight in (_weight(one),)
        for from_ms, to_ms in (_span(one),)
        if one.get("sequences") and (weight > 0 or _level(one))
    ]
    return sorted(found, key=lambda one: (-one["level"], -one["weight"], one["sequence"]))[:PROBLEMS_KEPT]


def _span(finding: Weighed) -> tuple[int, int]:
    from_ms = finding.get("from_ms", finding.get("at_ms")) or 0
    to_ms = finding.get("to_ms")
    return from_ms, from_ms + (finding.get("length_ms") or 0) if to_ms is None else to_ms


def _weight(finding: Weighed) -> float:
    """What a finding weighs by itself, in ms; 0 for what hurts nobody. An unknown kind weighs as long as its ``length_ms``."""
    kind, length_ms = finding["kind"], finding.get("length_ms") or 0
    if kind in QUIET or (kind in LEAST_MS and length_ms < LEAST_MS[kind]):
        return 0
    by_kind = REMOVED_MS if _is_repeat(finding) else WEIGHTS_MS.get(kind, 0)
    return by_kind + SHARES.get(kind, 1.0) * length_ms


def troubles(findings: Iterable[Weighed]) -> list[Trouble]:
    """What goes wrong, in order, those that begin with the same entry as one; of more than ``TROUBLES_MOST`` the gravest."""
    gravest = sorted(_weighed(_once(findings)), key=lambda one: (-one[0], one[1]["sequence"]))
    return sorted((known for _, known in gravest[:TROUBLES_MOST]), key=lambda known: known["sequence"])


def _once(findings: Iterable[Weighed]) -> list[Weighed]:
    """Without removals that another finding counts, and without what another finding explains."""
    kept = [one for one in findings if not one.get("explained_by")]
    counted = {step for one in kept if _is_repeat(one) for step in one["steps"]}
    return [one for one in kept if one["kind"] != "removed" or one["sequences"][-1] not in counted]


def _is_repeat(finding: Weighed) -> bool:
    return finding["kind"] in REPEATS and len(finding.get("steps", ())) >= REPEATS_LEAST


def _weighed(findings: Iterable[Weighed]) -> Iterable[tuple[float, Trouble]]:
    """Each problem with its weight."""
    weights: dict[int, dict[str, tuple[float, Weighed]]] = {}
    for finding in findings:
        kind, weight = finding["kind"], _weight(finding)
        if weight <= 0 or not finding.get("sequences"):
            continue
        # Of many partitions without an owner at once the longest counts: they are one thing that happened.
        at = weights.setdefault(finding["sequences"][0], {})
        if kind not in at or weight > at[kind][0]:
            at[kind] = (weight, finding)
    for sequence, kinds in weights.items():
        _, gravest = max(kinds.values(), key=lambda one: one[0])
        known = Trouble(sequence=sequence, at_ms=_began(gravest, sequence), says=str(gravest["says"]))
        yield sum(weight for weight, _ in kinds.values()), known


def _began(finding: Weighed, sequence: int) -> int | None:
    """When the entry was with which a problem begins: for a member that was silent before it was removed, its last commit."""
    if finding.get("silent_sequence") == sequence:
        return finding["silent_from_ms"]
    return finding.get("from_ms", finding.get("at_ms"))
