"""The verdict: a headline and, beneath it, a story: sentences made of findings, by time, cause first. It may be "unknown"; it is never typed.

It opens with the name of the incident, where it is a known pattern, and with what the log is and who was there. It shows what
happened in the order of time, and ends with sums and with how the log ends. Of more events than fit (``EVENTS_MAX``) the worst ones stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, cast

from groups.history.findings.finding import Finding
from groups.history.findings.kinds import ByKind
from groups.history.verdict.closing import closing, sums
from groups.history.verdict.events import events
from groups.history.verdict.headline import Size, Span, headline
from groups.history.verdict.opening import broken, differences, lead_times, opening, opening_pattern, start
from groups.history.verdict.text import Event, Part, Text, Verdict, Worst, text_of
from groups.history.words import counted

EVENTS_MAX: Final = 8
"""Sentences about events: more is a list, and the page has one."""

UNKNOWN_SIZE: Final = Size()

UNKNOWN: Final = "Unknown: the log tells nothing of members"


def verdict(
    findings: Sequence[Finding],
    *,
    first_ms: int | None = None,
    last_ms: int = 0,
    size: Size = UNKNOWN_SIZE,
    releases: Sequence[str] = (),
) -> Verdict:
    """Of the findings of a timeline, whose first and last entries are of these times; ``size`` is that of the group at its end,
    ``releases`` are those of the brokers, as far as the records show them."""
    found_of: dict[str, list[Finding]] = {}
    for finding in findings:
        found_of.setdefault(finding["kind"], []).append(finding)
    # What the finders of each kind fill in, a test holds to the shapes.
    by_kind = cast(ByKind, found_of)
    log = Span(last_ms if first_ms is None else first_ms, last_ms)
    text = Text(*log)
    lead = opening_pattern(findings)
    if lead is not None and lead["kind"] == "crash_loop":
        lead = None  # Its event describes it, with what it cost.
    if lead is not None:
        text.sentence([Part(lead["says"], lead["steps"][0], lead["steps"]), *lead_times(lead)])
    for parts in (*broken(by_kind), *differences(by_kind), *opening(by_kind)):
        text.sentence(parts)
    for parts in start(by_kind):
        text.sentence(parts, "start")
    found = sorted(events(by_kind), key=lambda event: (event.at_ms, event.sequence))
    rest = [
        event
        for event in found
        if lead is None or (event.kind, event.sequence) != (lead["kind"], lead["steps"][0])
    ]
    for parts in _sentences(_worst_ones(rest)):
        text.sentence(parts)
    for parts in sums(by_kind):
        text.sentence(parts, "sum")
    for parts in closing(by_kind):
        text.sentence(parts)
    if not text:
        commits = by_kind.get("commits")
        if commits:
            of_commits = Part("Commits only", commits[0]["sequences"][-1])
            text.sentence([of_commits, Part("; the log tells nothing of members")])
        else:
            text.sentence([Part(UNKNOWN)])
    return Verdict(
        text=text_of(text.clauses),
        clauses=text.clauses,
        worst=_worst(found, by_kind),
        headline=headline(findings, by_kind, log, size, releases),
    )


def _sentences(known: Iterable[Event]) -> Iterable[list[Part]]:
    """A sentence each; what happened at the same time is in one."""
    for (at_ms, timed), some in groupby(known, key=lambda event: (event.at_ms, event.timed)):
        if not timed:
            yield from (event.parts for event in some)
            continue
        parts = [Part("at "), Part("", at_ms=at_ms), Part(" ")]
        for number, event in enumerate(some):
            parts += [*([Part("; ")] if number else []), *event.parts]
        yield parts


def _worst_ones(found: list[Event]) -> list[Event]:
    """All, or the worst ones in the order of time, and one that counts and leads through the rest."""
    if len(found) <= EVENTS_MAX:
        return found
    by_weight = sorted(found, key=lambda event: (-event.weight, event.at_ms, event.sequence))
    kept = {id(event) for event in by_weight[: EVENTS_MAX - 1]}
    rest = [event for event in found if id(event) not in kept]
    more = Part(f"{counted(len(rest), 'more event')}", rest[0].sequence, [event.sequence for event in rest])
    last = Event(at_ms=found[-1].at_ms, sequence=found[-1].sequence, parts=[more], timed=False)
    return [event for event in found if id(event) in kept] + [last]


def _worst(found: Sequence[Event], by_kind: ByKind) -> Worst | None:
    if by_kind.get("violation"):
        one = by_kind["violation"][0]
        return Worst(sequence=one["at"], at_ms=one.get("at_ms"), kind="violation")
    bad = [event for event in found if event.weight > 0]
    if not bad:
        return None
    event = max(bad, key=lambda event: (event.weight, -event.at_ms))
    return Worst(sequence=event.sequence, at_ms=event.at_ms, kind=event.kind)
