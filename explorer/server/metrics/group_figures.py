"""What a timeline's summary gives for the metrics of its group. Values alone: no database, no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from explorer.server.metrics.table import BLOCKERS_MOST, CAUSES

_OF_KIND: Final = {
    "formed": "formed",
    "began": "formed",
    "midway": "formed",
    "joined": "joined",
    "first_assigned": "topics",
    "partitions_added": "topics",
    "topics_deleted": "topics",
    "topics_remade": "topics",
    "matched": "topics",
    "causeless_rebalances": "none",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """Figures of one timeline up to its last entry. Seconds; ``last_rebalance_s`` is null while the group changes."""

    rebalances: int
    causes: Mapping[str, int]
    unassigned_s: float
    not_read_s: float
    last_rebalance_s: float | None
    blocked_s: Mapping[str, float]


def group_figures(summary: Mapping[str, Any]) -> GroupFigures:
    """The figures of a summary; of one without findings all are 0."""
    findings: Sequence[Mapping[str, Any]] = summary.get("findings", ())
    epochs: Sequence[Mapping[str, Any]] = summary.get("epochs", ())
    causes = _cause_by_sequence(findings)
    return GroupFigures(
        rebalances=next((one["count"] for one in findings if one["kind"] == "epochs"), len(epochs)),
        causes=Counter(causes.get(epoch["sequence"], "other") for epoch in epochs),
        unassigned_s=sum(one["length_ms"] for one in findings if one["kind"] == "no_owner") / 1000,
        not_read_s=sum(_silent_ms(summary)) / 1000,
        last_rebalance_s=_last_rebalance_s(findings, epochs),
        blocked_s=_blocked_s(findings),
    )


def _cause_by_sequence(findings: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Entry → what is found to have happened there; of several the first by the order of ``CAUSES``."""
    found: dict[int, str] = {}
    for one in findings:
        cause = _removed(one) if one["kind"] == "removed" else _OF_KIND.get(one["kind"])
        if cause is None:
            continue
        for sequence in [*one["sequences"], *one.get("steps", ())]:
            if sequence not in found or CAUSES.index(cause) < CAUSES.index(found[sequence]):
                found[sequence] = cause
    return found


def _removed(finding: Mapping[str, Any]) -> str:
    why = finding.get("why") or finding.get("looks_like")
    return why if why in CAUSES else "removed"


def _silent_ms(summary: Mapping[str, Any]) -> Iterator[int]:
    for span in summary.get("silences", ()):
        to_ms = summary["last_ms"] if span["to_ms"] is None else span["to_ms"]
        for partition in span["partitions"]:
            yield max(to_ms - partition["from_ms"], 0)


def _last_rebalance_s(
    findings: Sequence[Mapping[str, Any]], epochs: Sequence[Mapping[str, Any]]
) -> float | None:
    stable = next((one for one in findings if one["kind"] == "stable"), None)
    if stable is None or not epochs or stable["from_ms"] < epochs[-1]["at_ms"]:
        return None
    return float(stable["from_ms"] - epochs[-1]["at_ms"]) / 1000


def _blocked_s(findings: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    blocked: Counter[str] = Counter()
    for one in findings:
        if one["kind"] == "waited_for":
            blocked[one["name"]] += one["length_ms"]
    return {name: length / 1000 for name, length in blocked.most_common(BLOCKERS_MOST)}
