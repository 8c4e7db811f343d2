"""What a headline could be about: each incident of a log with its level, its cost and whether it is over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, cast

from groups.history.findings.finding import Finding
from groups.history.findings.kinds import ByKind, Loop, Removed
from groups.history.findings.patterns.storm import IN_TURN_LEAST
from groups.history.findings.removed import REASONS, unknown_words
from groups.history.findings.repeated import several
from groups.history.verdict.events import OF_SEVERAL, events
from groups.history.verdict.headline.changes import NEWS, WARNINGS, Shown, changes_at_the_end
from groups.history.verdict.headline.fitting import OVER_MS, SLOW_MS, Harm, Level, Span, Subject, who
from groups.history.verdict.headline.harms import of_removals, of_window
from groups.history.verdict.headline.waits import silences, unassigned
from groups.history.verdict.intervals import STILL
from groups.history.verdict.phrases import looping_names
from groups.history.verdict.text import Event, Part
from groups.history.words import counted, listed

AGAIN: Final = 10**7
"""What happens repeatedly weighs more than any one of it."""

COVERED: Final = frozenset(
    {"crash_loop", "session_expiry", "poll_interval_exceeded", "storm", "static_churn"}
)
"""Patterns whose members, times and harm a removal or a loop describes better."""

OWN: Final = frozenset(
    {"removed", "crash_loop", "left_and_back", "twin_instance", "silent", "storm", "two_owners"}
)
"""Events of which a headline has words of its own."""


def subjects(findings: Sequence[Finding], by_kind: ByKind, log: Span) -> list[Subject]:
    """All of them, in any order; none of a log that shows no member."""
    found = [
        *_loops(by_kind, log),
        *_removals(by_kind),
        *_twins(by_kind, log),
        *silences(by_kind),
        *unassigned(by_kind),
        *changes_at_the_end(by_kind),
    ]
    found += [_of_event(event, by_kind, log) for event in events(by_kind) if event.kind not in OWN]
    looping = looping_names(by_kind)
    for one in findings:
        # What another pattern explains is no news.
        if one.get("pattern") and one["severity"] != "harmless" and not one.get("explained_by"):
            names = {str(name) for name in one.get("names") or [one.get("name", "")]}
            level = Level.CRITICAL if one["severity"] == "critical" else Level.WARNING
            one_by_one = names <= looping and len(names) < IN_TURN_LEAST
            covered = one["kind"] in COVERED and (one["kind"] != "storm" or one_by_one)
            same = [each for each in found if covered and each.kind in OWN and each.names & names]
            for each in same:
                _explain(each, one, level)
            if not same:
                found.append(_of_pattern(one, level, log))
    return [*found, *_broken(by_kind)]


def _explain(subject: Subject, pattern: Finding, level: Level) -> None:
    """A leave may be one that nobody wanted."""
    subject.level = max(subject.level, level)
    if subject.stable_ms is not None:
        subject.stable_ms, subject.weight = None, 1
    if pattern["kind"] == "poll_interval_exceeded" and pattern["certain"] and not subject.why:
        subject.why = pattern["title"]


def _broken(by_kind: ByKind) -> Iterator[Subject]:
    for violation in by_kind.get("violation", ())[:1]:
        count = violation["count"]
        often = "" if count == 1 else f", {counted(count, 'time')}"
        forms = [f"{violation['says'].rstrip('.')}{often}", f"An invariant is broken{often}"]
        yield Subject(
            kind="violation",
            sequence=violation["at"],
            level=Level.BROKEN,
            weight=2,
            lead=[[Part(each, violation["at"], violation["steps"])] for each in forms],
            from_ms=violation.get("at_ms"),
        )
    for one in by_kind.get("difference", ())[:1]:
        text = f"The simulated coordinator differs {several(one['count'])}"
        yield Subject(
            kind="difference",
            sequence=one["sequences"][0],
            level=Level.BROKEN,
            weight=1,
            lead=[[Part(text, one["sequences"][0], one["steps"])]],
            from_ms=None,
        )


def _loops(by_kind: ByKind, log: Span) -> Iterator[Subject]:
    for one in (*by_kind.get("crash_loop", ()), *by_kind.get("left_and_back", ())):
        kills = {
            each["killed_sequence"] for each in by_kind.get("removed", ()) if each["lane"] == one["lane"]
        }
        harm = of_window(one["from_ms"], one["to_ms"], kills - {None}, by_kind)
        text, _, every = one["says"].split("; ")[0].partition(", about every ")
        # "… three times in 1 min 9 s": how long it took is seen from since when, and that it is over.
        forms = [*([f"{text}, about every {every},"] if every else []), text, LOOP_TOOK.sub("", text)]
        looks_like = one.get("looks_like")
        yield Subject(
            kind=one["kind"],
            sequence=one["steps"][0],
            level=Level.WARNING,
            weight=AGAIN + (harm.length_ms if harm else 0),
            lead=[[Part(each, one["steps"][0], one["steps"])] for each in forms],
            from_ms=one["from_ms"],
            lasts=True,
            why="" if looks_like is None else f"looks like {LOOP_WORDS[looks_like]}",
            harm=harm,
            still=_loop_is_on(one, harm, log),
            names=frozenset({one["name"]}),
            certain=False,
            extra=len(forms) - 1,
        )


LOOP_TOOK: Final = re.compile(r" in [\d\s.a-z]+$")
LOOP_WORDS: Final = {"poll_overrun": "max.poll.interval.ms exceeded", "stalled": "a pause or a slow poll"}


def _loop_is_on(one: Loop, harm: Harm | None, log: Span) -> bool | None:
    """Over, if it had no further round for as long as two take."""
    if harm is not None and harm.is_open:
        return True
    rounds = max(len(one["steps"]) - 1, 1)
    every_ms = (one["to_ms"] - one["from_ms"]) / rounds
    return False if log.last_ms - one["to_ms"] > max(2 * every_ms, OVER_MS) else None


def _removals(by_kind: ByKind) -> Iterator[Subject]:
    """All removals of the log with one cause as one; those of a loop or a rolling restart are left to its event."""
    looping = {one["lane"] for one in (*by_kind.get("crash_loop", ()), *by_kind.get("left_and_back", ()))}
    looping |= {lane for one in by_kind.get("short_rebalance_timeout", ()) for lane in one["lanes"]}
    rolled = {step for one in by_kind.get("rolling_restart", ()) for step in one["steps"]}
    groups: dict[tuple[str | None, str | None, str], list[Removed]] = {}
    for one in by_kind.get("removed", ()):
        is_rolled = one["sequences"][-1] in rolled and one["silent_from_ms"] is None
        if one["lane"] not in looping and not is_rolled:
            killed = "killed" if one["killed_sequence"] is not None else ""
            groups.setdefault((one["why"], one["looks_like"], killed), []).append(one)
    stable = by_kind.get("stable", ())
    for (why, looks_like, killed), some in groups.items():
        yield _removal(some, why, looks_like, bool(killed), by_kind, stable[0]["from_ms"] if stable else None)


def _removal(
    some: Sequence[Removed],
    why: str | None,
    looks_like: str | None,
    killed: bool,
    by_kind: ByKind,
    stable_ms: int | None,
) -> Subject:
    names = list(dict.fromkeys(one["name"] for one in some))
    steps = [one["sequences"][-1] for one in some]
    several_names = len(names) > 1
    often = f" {several(len(some))}" if len(some) > len(names) else ""
    text = REASONS[why][several_names].words(often)
    short = (some[0]["short"] or "").split(",")[0]
    if killed:
        text, short = f"{'were' if several_names else 'was'} killed{often}", ""
        steps = [step for one in some if (step := one["killed_sequence"]) is not None]
    elif looks_like == "left":
        # The log shows that it is gone; "was removed (looks like it left)" contradicts itself.
        text, short = f"probably left by {'themselves' if several_names else 'itself'}{often}", ""
    leads = [[Part(f"{them} {text}", steps[0], steps)] for them in who(names)]
    looks = (
        "" if why is not None or looks_like is not None or killed else unknown_words(polled=some[0]["polled"])
    )
    harm = of_removals(some, by_kind)
    left = "left" in (why, looks_like)
    for one, of_several in OF_SEVERAL.items() if several_names else ():
        short = short.replace(one, of_several)
    times = [one["killed_ms"] if killed and one["killed_ms"] is not None else one["at_ms"] for one in some]
    harmless = left and _is_short(harm)
    if len(some) == 1 and why is None and looks_like is None and (some[0]["quiet_ms"] or SLOW_MS) < SLOW_MS:
        # Whatever the reason: it committed until it went, and at that time nothing was uncommitted for long.
        harmless = _is_short(harm) and _is_short(of_window(times[0], times[0], (), by_kind))
    level = Level.NEWS if harmless else Level.WARNING
    for emptied in by_kind.get("emptied", ()) if not left else ():
        if emptied["open"] and emptied["from_ms"] == some[-1]["at_ms"]:
            # Nobody left by itself, and nobody is there: no other removal is as bad.
            nobody = Part("; no member is left", emptied["sequences"][0])
            harm = harm or Harm((), 0, "", is_open=True)
            harm = harm._replace(words=(*([*form, nobody] for form in harm.words), [nobody]), is_open=True)
            level = Level.CRITICAL
    return Subject(
        kind="removed",
        sequence=steps[0],
        level=level,
        weight=NEWS["removed"] if harmless else max(harm.length_ms if harm else 0, 1),
        lead=leads,
        from_ms=times[0],
        lasts=len(some) > 1 and times[-1] > times[0],
        why=f"looks like {short}" if short else looks,
        harm=harm,
        still=None if harm is None else harm.is_open,
        names=frozenset(names),
        certain=why is not None or killed,
        stable_ms=stable_ms if harmless else None,
    )


def _is_short(harm: Harm | None) -> bool:
    return harm is None or (not harm.is_open and harm.length_ms < SLOW_MS)


def _twins(by_kind: ByKind, log: Span) -> Iterator[Subject]:
    for one in by_kind.get("twin_instance", ()):
        text = one["says"].split(". ")[0]
        yield Subject(
            kind="twin_instance",
            sequence=one["steps"][0],
            level=Level.WARNING,
            weight=AGAIN + one["to_ms"] - one["from_ms"],
            lead=[[Part(text, one["steps"][0], one["steps"])]],
            from_ms=one["from_ms"],
            lasts=len(one["steps"]) > 1,
            why="looks like two processes with one group.instance.id",
            still=False if log.last_ms - one["to_ms"] > OVER_MS and len(one["steps"]) > 1 else None,
            names=frozenset({cast(Finding, one)["name"]}),
            certain=False,
        )


def _of_event(event: Event, by_kind: ByKind, log: Span) -> Subject:
    """An event in the words that the story has for it."""
    shown = Shown(event, by_kind)
    found = shown.finding
    length_ms = found.get("length_ms") or (event.weight if event.weight < STILL else 0)
    level = Level.WARNING if event.kind in WARNINGS else Level.NEWS
    if event.kind in ("waited_for", "no_owner", "away") and length_ms >= SLOW_MS:
        level = Level.WARNING
    if event.kind == "offsets_set" and event.weight <= 1:
        level = Level.NEWS
    stable = by_kind.get("stable", ())
    news = level is Level.NEWS
    return Subject(
        kind=event.kind,
        sequence=event.sequence,
        level=level,
        weight=NEWS.get(event.kind, 0) if news else length_ms,
        lead=[shown.lead],
        from_ms=shown.from_ms,
        lasts=shown.lasts,
        harm=Harm(
            shown.rest,
            length_ms if event.kind in HURTS else 0,
            str(found.get("partition") or ""),
            is_open=shown.is_open,
        ),
        still=shown.still(log.last_ms),
        names=frozenset({str(found["name"])} if found.get("name") else ()),
        certain=bool(found.get("certain", True)),
        stable_ms=stable[0]["from_ms"] if stable and news else None,
    )


HURTS: Final = frozenset({"waited_for", "no_owner", "unread", "group_stopped"})
"""Events whose length is a wait of somebody."""


WAITS: Final = frozenset(
    {"slow_revocation", "stuck_revocation", "absent_static_member", "sync_never_sent", "limbo"}
)
"""Patterns whose length is a wait of somebody."""


ENDED: Final = frozenset({"two_owners"})
"""Patterns of which the log has the end, if they have one."""

REPEATED: Final = frozenset({"causeless_rebalances", "storm", "short_rebalance_timeout"})
"""Patterns of what happens again and again; within two rounds nothing shows whether that has ended."""


def _leads(one: Finding, text: str, title: str) -> list[str]:
    """With the pattern's title, and shorter: without it, or the title with the first words of the text."""
    if not title:
        return [text]
    titled = f"{title}: {text}"
    if one["kind"] == "short_rebalance_timeout":
        return [titled, titled.split(",")[0]]
    if one["kind"] == "causeless_rebalances":
        return [titled, titled.split(", with")[0]]
    if one["kind"] == "storm":
        return [titled.replace(listed(one["names"]), them) for them in who(one["names"])] + [text]
    return [titled, text]


def _of_pattern(one: Finding, level: Level, log: Span) -> Subject:
    title, _, brief = one["says"].partition(": ")
    looks = f"looks like {title.removeprefix('Looks like ')}" if title != one["title"] else ""
    to_ms = one["to_ms"]
    length_ms = one.get("length_ms") or (0 if to_ms is None else to_ms - one["from_ms"])
    still: bool | None = True if to_ms is None else None
    if to_ms is not None and (one["kind"] in ENDED or (length_ms and log.last_ms - to_ms > OVER_MS)):
        still = False
    first = one["steps"][0] if one.get("steps") else one["sequences"][0]
    clauses = (brief or one["says"]).split("; ")
    leads = list(dict.fromkeys(_leads(one, clauses[0], "" if looks or not brief else title)))
    rounds = len(one.get("steps") or ()) - 1
    return Subject(
        kind=one["kind"],
        sequence=first,
        level=level,
        weight=length_ms,
        lead=[[Part(each, first, one.get("steps") or ())] for each in leads],
        extra=len(leads) - 1,
        from_ms=one["from_ms"],
        lasts=length_ms > 0,
        to_the_end=one["kind"] in REPEATED
        and to_ms is not None
        and rounds > 0
        and log.last_ms - to_ms <= 2 * length_ms / rounds,
        why=looks,
        harm=Harm(
            tuple([Part(f"; {'; '.join(clauses[1:number])}")] for number in range(len(clauses), 1, -1)),
            length_ms if one["kind"] in WAITS else 0,
            "",
            still is True,
        )
        if len(clauses) > 1
        else None,
        still=still,
        names=frozenset(str(name) for name in one.get("names") or [one.get("name", "")]),
        certain=one["certain"],
        length_ms=length_ms or None if one["kind"] in WAITS else None,
    )
