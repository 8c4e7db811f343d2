"""How a verdict opens: broken invariants, differences, what the log is, who was there and who joined first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groups.history.findings.finding import Finding
from groups.history.findings.kinds import ByKind
from groups.history.findings.repeated import several
from groups.history.verdict.text import Part
from groups.history.words import CLOCK_LEAST_MS, counted, listed


def opening_pattern(findings: Sequence[Finding]) -> Finding | None:
    """The incident's name, which explains most of what follows: of several patterns the one of the lowest rank, the first of it."""
    patterns = [one for one in findings if one.get("pattern") and one["severity"] != "harmless"]
    patterns = patterns or [one for one in findings if one.get("pattern")]
    return min(patterns, key=lambda one: (one["rank"], not one["certain"], one["from_ms"]), default=None)


def lead_times(lead: Finding) -> list[Part]:
    """Since when until when a partition had two owners: what was read in between was read twice."""
    if lead["kind"] != "two_owners":
        return []
    to_ms = lead["to_ms"]
    until = [Part(", to the end")] if to_ms is None else [Part(" to "), Part("", at_ms=to_ms)]
    return [Part(", from "), Part("", at_ms=lead["from_ms"]), *until]


def broken(by_kind: ByKind) -> Iterable[list[Part]]:
    """A run in which an invariant is broken is not one to learn from: that comes first."""
    found = by_kind.get("violation", ())
    if found:
        first, count = found[0], found[0]["count"]
        more = f", the first of {count:,}" if count > 1 else ""
        yield [Part(f"{first['says'].rstrip('.')}{more}", first["at"], first["steps"])]


def differences(by_kind: ByKind) -> Iterable[list[Part]]:
    """A recording that was put to the simulated coordinator was put to it to learn this."""
    found = by_kind.get("difference", ())
    if found:
        count = found[0]["count"]
        often = several(count)
        yield [
            Part(f"The simulated coordinator differs {often}", found[0]["sequences"][0], found[0]["steps"])
        ]


def opening(by_kind: ByKind) -> Iterable[list[Part]]:
    """What the log lacks, and what kind of group it is, where it is no consumer group."""
    yield from _log(by_kind)
    for one in by_kind.get("group_type", ()):
        yield [Part(one["says"], one["sequences"][0])]


def start(by_kind: ByKind) -> Iterable[list[Part]]:
    """Who was there already, and how the group formed."""
    began = by_kind.get("began", ())
    midway = by_kind.get("midway", ())
    there = [Part(began[0]["says"], began[0]["sequences"][0])] if began else []
    if midway:
        there = [Part(midway[0]["says"], midway[0]["sequences"][0]), *([Part("; "), *there] if there else [])]
    yield there
    yield from _formed(by_kind)


def _log(by_kind: ByKind) -> Iterable[list[Part]]:
    """What is missing colours all that follows."""
    gaps = by_kind.get("gap", ())
    continued = [gap for gap in gaps if gap.get("continued")]
    if continued:
        text = "An earlier timeline of the group has what was before"
        yield [Part(text, continued[0]["sequences"][0])]
    compacted = [gap for gap in gaps if gap["compacted"] and not gap.get("continued")]
    if compacted:
        missing = sum(gap.get("missing") or 0 for gap in compacted)
        whole = sum(gap.get("offsets") or 0 for gap in compacted)
        text = (
            f"The log is compacted: {missing:,} of {whole:,} offsets are gone"
            if missing
            else "The log is compacted"
        )
        yield [Part(text, compacted[0]["sequences"][0], [gap["sequences"][0] for gap in compacted])]
    lost = [gap for gap in gaps if not gap["compacted"]]
    if lost:
        text = "The log has a gap" if len(lost) == 1 else f"The log has {len(lost):,} gaps"
        yield [Part(text, lost[0]["sequences"][0], [gap["sequences"][0] for gap in lost])]


def _formed(by_kind: ByKind) -> Iterable[list[Part]]:
    for formed in by_kind.get("formed", ()):
        names, steps = formed["names"], formed["steps"]
        if not names:
            return
        after = " one after another" if len(set(steps)) > 1 and len(names) > 1 else ""
        whom = listed(names) if formed["joined"] == len(names) else counted(formed["joined"], "member")
        parts = [Part(f"{whom} joined{after}", steps[0] if steps else formed["sequences"][0], steps)]
        if formed["from_ms"] >= CLOCK_LEAST_MS:
            parts = [Part("from "), Part("", at_ms=formed["from_ms"]), Part(" on "), *parts]
        if formed["first"] is not None:
            parts.append(Part(f" ({epochs_words(formed['first'], formed['last'], formed['classic'])})"))
        yield parts


def epochs_words(first: int, last: int | None, classic: bool) -> str:
    """``group epochs 2–4``, ``generation 1``."""
    word = "generation" if classic else "group epoch"
    return f"{word} {first}" if first == last else f"{word}s {first}–{last}"
