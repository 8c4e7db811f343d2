"""What the log is like: its epochs and commits, how it ends, its gaps, and the rules that it breaks.

Needs: the entries themselves. Claims nothing of why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.story.events import overlap_words
from groups.history.words import counted, duration


def found_epochs(facts: Facts) -> list[Finding]:
    """``epochs``: group epochs and generations, counted apart."""
    epochs, starts = facts.epochs, facts.epochs.to_json()
    if not starts:
        return []
    groups = epochs.count - epochs.generations
    told = [counted(groups, "group epoch")] if groups else []
    told += [counted(epochs.generations, "generation")] if epochs.generations else []
    kind = [start for start in starts if bool(start.get("classic")) is (groups == 0)] or starts
    return [
        finding(
            "epochs",
            " and ".join(told),
            [starts[-1]["sequence"]],
            count=epochs.count,
            generations=epochs.generations,
            first=kind[0]["epoch"],
            last=kind[-1]["epoch"],
            classic=groups == 0,
        )
    ]


def found_commits(count: int, sequence: int) -> list[Finding]:
    return [finding("commits", counted(count, "commit"), [sequence], count=count)] if count else []


def found_end(facts: Facts, deleted: int | None) -> list[Finding]:
    """``deleted``, or ``emptied`` with ``open`` where the group has no member at the end; each earlier ``emptied``."""
    found = []
    for one in facts.lives.emptied:
        length = (facts.last_ms if one.to_ms is None else one.to_ms) - one.from_ms
        says = "The group is empty" if one.to_ms is None else f"The group was empty for {duration(length)}"
        found.append(
            finding(
                "emptied",
                says,
                [one.from_sequence] if one.to_sequence is None else [one.from_sequence, one.to_sequence],
                from_ms=one.from_ms,
                to_ms=one.to_ms,
                length_ms=length,
                open=one.to_ms is None,
            )
        )
    if deleted is not None:
        found.append(finding("deleted", "The group is deleted", [deleted]))
    return found


def found_overlaps(facts: Facts, overlaps: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """``two_clients``: a client began with partitions that another one still had."""
    found = []
    for overlap in overlaps:
        had = [
            (facts.name(member_id), [(name, number) for name, number in owned])
            for member_id, owned in overlap["had"]
        ]
        who = facts.name(overlap["member"])
        found.append(
            finding(
                "two_clients",
                overlap_words(who, had, over=True),
                [overlap["sequence"]],
                needs=["callbacks"],
                member=overlap["member"],
                name=who,
                at_ms=overlap["at_ms"],
                count=len(overlaps),
                steps=[one["sequence"] for one in overlaps],
            )
        )
    return found


def found_anomalies(anomalies: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    return [
        finding(
            "anomaly",
            known["says"],
            sorted({known["first"], known["last"]}),
            anomaly=kind,
            member=known["member"],
            count=known["count"],
            at_ms=known["at_ms"],
        )
        for kind, known in anomalies.items()
    ]


def found_gaps(gaps: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """``gap``: offsets that are missing, or (``compacted``) that compaction went over."""
    return [
        finding(
            "gap",
            gap["says"],
            [gap["sequence"]],
            needs=["notes"],
            compacted=bool(gap.get("compacted")),
            missing=gap.get("missing"),
            offsets=gap.get("offsets"),
            from_offset=gap.get("from_offset"),
            to_offset=gap.get("to_offset"),
            steps=[one["sequence"] for one in gaps],
        )
        for gap in gaps
    ]
