"""The summary of a timeline: what lists and heads of pages show, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from groups.history.evidence.display_names import NamedMember
from groups.history.findings import Finder
from groups.history.findings.finder import Untold
from groups.history.findings.finding import Finding
from groups.history.findings.log_notes import Gap
from groups.history.findings.silent import SilentSpan
from groups.history.frames.consumption import totals
from groups.history.frames.shapes import ConsumptionSummary, Frame, TopicFrame
from groups.history.story.epochs import EpochStart
from groups.history.verdict import Size, Verdict, verdict


class Summary(TypedDict):
    """A timeline up to an entry, as lists and heads of pages show it."""

    group: str
    protocol: str | None
    state: str | None
    first_ms: int | None
    last_ms: int
    entries: int
    last: int
    """The sequence of that entry."""
    cast: Sequence[NamedMember]
    hosts: NotRequired[Sequence[str]]
    """The first hosts that members joined from. Absent of summaries from before they were kept."""
    topics: Mapping[str, TopicFrame]
    partitions_most: NotRequired[int]
    """As many partitions as the topics have, and at least as many as were named: a log need not show how many a topic has.
    Absent of summaries from before it was counted."""
    epochs: Sequence[EpochStart]
    gaps: Sequence[Gap]
    findings: Sequence[Finding]
    cannot_tell: Sequence[Untold]
    """Patterns that the log neither shows nor rules out."""
    silences: Sequence[SilentSpan]
    consumption: NotRequired[ConsumptionSummary]
    """Absent where no source reports at what rate records are written."""
    verdict: Verdict | None


def summary_of(shown: Frame, finder: Finder, *, first_ms: int | None) -> Summary:
    """Of the entries up to that of the frame ``shown``; the finder has folded the same."""
    findings = finder.findings(shown)
    most = _partitions_most(shown, finder.ownership.extents)
    summary: Summary = {
        "group": shown["group"],
        "protocol": shown["protocol"],
        "state": shown["state"],
        "first_ms": first_ms,
        "last_ms": shown["at_ms"],
        "entries": shown["sequence"],
        "last": shown["sequence"],
        "cast": finder.cast.members(),
        "hosts": finder.cast.hosts(),
        "topics": shown["topics"],
        "partitions_most": most,
        "epochs": list(finder.epochs.starts),
        "gaps": finder.notes.gaps,
        "findings": findings,
        "cannot_tell": finder.undecided(findings),
        "silences": finder.silences(),
        "verdict": verdict(
            findings,
            first_ms=first_ms,
            last_ms=shown["at_ms"],
            size=Size(members=len(shown["members"]), partitions=most or None),
            releases=finder.releases(),
        ),
    }
    if "consumption" in shown:
        summary["consumption"] = totals(shown["consumption"], shown["at_ms"])
    return summary


def _partitions_most(shown: Frame, extents: Mapping[str, int]) -> int:
    """Columns that a board of it would have."""
    known: dict[str, int] = {}
    for name, topic in shown["topics"].items():
        known[topic["id"] or name] = topic["partitions"] or 0
    return sum(max(known.get(topic, 0), extents.get(topic, 0)) for topic in {**known, **extents})
