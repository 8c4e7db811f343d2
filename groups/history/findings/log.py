"""What the log is like: its epochs and commits, how it ends, its gaps, and the rules that it breaks.

Needs: the entries themselves. Claims nothing of why.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row, each_of
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.story.events import overlap_words
from groups.history.words import counted, lasting


def found_epochs(facts: Facts) -> Iterator[Finding]:
    """``epochs``: group epochs and generations, counted apart."""
    epochs, starts = facts.epochs, facts.epochs.starts
    if not starts:
        return
    groups = epochs.count - epochs.generations
    counts = [counted(groups, "group epoch")] if groups else []
    counts += [counted(epochs.generations, "generation")] if epochs.generations else []
    kind = [start for start in starts if bool(start.get("classic")) is (groups == 0)] or starts
    yield finding(
        "epochs",
        " and ".join(counts),
        [starts[-1]["sequence"]],
        count=epochs.count,
        generations=epochs.generations,
        first=kind[0]["epoch"],
        last=kind[-1]["epoch"],
        classic=groups == 0,
    )


def found_commits(facts: Facts) -> list[Finding]:
    count, sequence = facts.notes.commits, facts.notes.commits_sequence
    return [finding("commits", counted(count, "commit"), [sequence], count=count)] if count else []


def found_end(facts: Facts) -> Iterator[Finding]:
    """``deleted``, or ``emptied`` with ``open`` where the group has no member at the end; each earlier ``emptied``."""
    for one in facts.lives.emptied:
        length = (facts.last_ms if one.to_ms is None else one.to_ms) - one.from_ms
        text = "The group is empty" if one.to_ms is None else f"The group was empty{lasting(length)}"
        yield finding(
            "emptied",
            text,
            [one.from_sequence] if one.to_sequence is None else [one.from_sequence, one.to_sequence],
            from_ms=one.from_ms,
            to_ms=one.to_ms,
            length_ms=length,
            open=one.to_ms is None,
        )
    if facts.deleted is not None:
        yield finding("deleted", "The group is deleted", [facts.deleted])


def found_overlaps(facts: Facts) -> Iterator[Finding]:
    """``two_clients``: a client began with partitions that another one still had."""
    overlaps = facts.notes.overlaps
    for overlap in overlaps:
        had = [
            (facts.name(member_id), [(name, number) for name, number in owned])
            for member_id, owned in overlap["had"]
        ]
        who = facts.name(overlap["member"])
        yield finding(
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


def found_anomalies(facts: Facts) -> list[Finding]:
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
        for kind, known in facts.anomalies.items()
    ]


def found_gaps(facts: Facts) -> list[Finding]:
    """``gap``: offsets that are missing, or (``compacted``) that compaction went over."""
    gaps = facts.notes.gaps
    return [
        finding(
            "gap",
            gap["says"],
            [gap["sequence"]],
            needs=["notes"],
            more={"continued": True} if gap.get("continued") else None,
            compacted=bool(gap.get("compacted")),
            missing=gap.get("missing"),
            offsets=gap.get("offsets"),
            from_offset=gap.get("from_offset"),
            to_offset=gap.get("to_offset"),
            steps=[one["sequence"] for one in gaps],
        )
        for gap in gaps
    ]


FINDER: Final = Declared(
    place=900,
    find=each_of(found_epochs, found_commits, found_end, found_overlaps, found_anomalies, found_gaps),
    rows=(
        Row(kinds=("emptied", "deleted"), needs="records"),
        Row(kinds=("two_clients", "epochs", "commits", "anomaly", "gap")),
    ),
)
