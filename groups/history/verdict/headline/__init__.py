"""The headline of a timeline: at most 25 words on its worst incident.

Who, what, since when, why as far as that is inferred, what it cost, and whether it is over. The story (``verdict``) has all else.
``subjects`` finds what it could be about, ``harms`` what that cost, ``changes`` what is news without harm, ``fitting`` makes it short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from groups.history.findings.finding import Finding
from groups.history.findings.kinds import ByKind
from groups.history.verdict.headline.changes import NEWS
from groups.history.verdict.headline.fitting import (
    QUIET_WORDS_MOST,
    WORDS_MOST,
    Level,
    Span,
    Subject,
    fitted,
)
from groups.history.verdict.headline.subjects import subjects
from groups.history.verdict.text import Figures, Headline, Part, text_of
from groups.history.words import counted

SEVERITIES: Final = {
    Level.NEWS: None,
    Level.WARNING: "warning",
    Level.CRITICAL: "critical",
    Level.BROKEN: "critical",
}


class Size(NamedTuple):
    """What the group has at the end, as far as that is known."""

    members: int | None = None
    partitions: int | None = None


def headline(
    findings: Sequence[Finding], by_kind: ByKind, log: Span, size: Size, releases: Sequence[str]
) -> Headline:
    found = subjects(findings, by_kind, log)
    worst = max(found, key=lambda one: one.urgency, default=None)
    stable = by_kind.get("stable", ())
    throughout = any(one["throughout"] for one in stable)
    quiet = worst is None or worst.kind == "formed" or (throughout and _is_quiet(worst))
    if quiet and stable:
        since = stable[0]
        lead = [Part("Stable", since["sequences"][0]), Part(" since "), Part("", at_ms=since["from_ms"])]
        worst = Subject(
            kind="stable",
            sequence=since["sequences"][0],
            level=Level.NEWS,
            weight=0,
            lead=[[*lead, Part(each)] for each in _sizes(size)],
            from_ms=None,
            limit=QUIET_WORDS_MOST,
        )
        since_ms: int | None = since["from_ms"]
    elif worst is None:
        commits = by_kind.get("commits")
        step = commits[0]["sequences"][-1] if commits else None
        if size.members:
            # As of a group that was described, and had the same members each time.
            leads = [
                [Part(each.removeprefix(": ")), Part(" in the last state")] for each in _sizes(size) if each
            ]
        else:
            text = "Commits only" if commits else "Unknown"
            leads = [[Part(text, step), Part(": the log has no record of members")]]
        worst = Subject(
            kind="unknown", sequence=step or 0, level=Level.NEWS, weight=0, lead=leads, from_ms=None
        )
        since_ms = None
    else:
        since_ms = worst.from_ms
    clauses = log.clauses(fitted(worst, log))
    return Headline(
        text=text_of(clauses),
        clauses=clauses,
        severity=SEVERITIES[worst.level],
        certain=worst.certain,
        figures=_figures(worst, since_ms, by_kind, size, releases),
    )


def _is_quiet(worst: Subject) -> bool:
    """Whether this is only how the group formed."""
    return worst.level is Level.NEWS and worst.weight <= NEWS["first_assigned"] and worst.still is not True


def _sizes(size: Size) -> list[str]:
    """``: 3 members, 6 partitions``, and shorter."""
    members = counted(size.members, "member") if size.members else ""
    partitions = counted(size.partitions, "partition") if size.partitions else ""
    forms = [", ".join(each for each in (members, partitions) if each), members]
    return [*(f": {each}" for each in dict.fromkeys(forms) if each), ""]


def _figures(
    worst: Subject, since_ms: int | None, by_kind: ByKind, size: Size, releases: Sequence[str]
) -> Figures:
    free = {one["partition"]: one["count"] for one in by_kind.get("no_owner", ()) if one["open"]}
    silent = {place for one in by_kind.get("silent", ()) if one["open"] for place in one["partitions"]}
    unread = {one["partition"] for one in by_kind.get("unread", ()) if one["open"]}
    count = max([len(free), *free.values()]) + len((silent | unread) - set(free))
    is_trouble = worst.level is not Level.NEWS and worst.still
    if is_trouble and any(one["open"] for one in by_kind.get("emptied", ())):
        # Of a group that was shut down nobody expects a reader.
        count = size.partitions or count
    return Figures(
        since_ms=since_ms,
        unread=count,
        partitions=size.partitions,
        longest_ms=(worst.harm.length_ms or None) if worst.harm else worst.length_ms,
        longest=worst.harm.partition or None if worst.harm else None,
        still=worst.still,
        releases=list(releases),
    )
