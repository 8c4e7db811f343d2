"""What happened, event by event: each a sentence with its cause first, its time, and what it cost.

An event takes in what belongs to it: a removal the silence before it, the partitions that it left unassigned and the return; a
pattern (a crash loop, a storm, a rolling restart) all comings and goings of its processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from groups.history.findings.kinds import ByKind, Joined, Lasting, Loop, Removed, RollingRestart, Stopped
from groups.history.findings.removed import reason_words, timeout_words, unknown_words
from groups.history.verdict.intervals import (
    NAMED_MAX,
    aways,
    emptied,
    silences,
    unassigned,
    unread,
    waits_for_others,
)
from groups.history.verdict.others import others
from groups.history.verdict.phrases import (
    UNASSIGNED_LEAST_MS,
    small,
    unassigned_words,
    unread_of,
    unread_parts,
)
from groups.history.verdict.text import Event, Part
from groups.history.words import duration, listed, listed_partitions

TOGETHER_MS: Final = 3_000
"""Removals for the same reason this close to each other are one event: one cause, not two."""

JOINED_TOGETHER_MS: Final = 30_000
"""Joins this close to each other are one scale-up; if they are further apart than ``TOGETHER_MS``, its length is stated."""

SETTLING_MS: Final = 10_000
"""Partitions go back to a process that was restarted within so long."""

LOOKS: Final = {
    "poll_overrun": "max.poll.interval.ms exceeded",
    "stalled": "a pause, or max.poll.interval.ms exceeded",
}

OF_SEVERAL: Final = {
    "it left by itself": "they left by themselves",
    "its session expired": "their sessions expired",
    "its process ended or froze": "their processes ended or froze",
    "it was frozen or did not poll in time": "they were frozen or did not poll in time",
    "it had no time": "they had no time",
    "its rebalance timeout": "their rebalance timeout",
    "its own record": "their own records",
    "its last commit": "their last commits",
}
"""What a removal looks like, of several members."""

PATTERN: Final = 10**9
"""The weight of a pattern: it stands for many events."""


def events(by_kind: ByKind) -> list[Event]:
    """All of them, in any order."""
    patterns, lanes, steps = _patterns(by_kind)
    removals = [one for one in by_kind.get("removed", ()) if one["lane"] not in lanes]
    rolled = {one["lane"] for one in removals if one["sequences"][-1] in steps}
    removals = [one for one in removals if one["lane"] not in rolled]
    found = [*patterns, *_removals(removals, by_kind)]
    returned_at = {one["back_sequence"] for one in removals}
    joins = [
        one
        for one in by_kind.get("joined", ())
        if not one["forming"] and one["lane"] not in lanes | rolled and one["sequences"][0] not in returned_at
    ]
    found += _joins(joins, [(one["lane"], one["sequences"][-1]) for one in by_kind.get("removed", ())])
    found += silences(by_kind, {one["silent_sequence"] for one in removals}, lanes)
    found += waits_for_others(by_kind)
    found += aways(by_kind)
    found += emptied(by_kind)
    found += unassigned(by_kind, {one["sequences"][-1] for one in removals}, steps)
    found += unread(by_kind, {one["killed_sequence"] for one in by_kind.get("removed", ())})
    return [*found, *others(by_kind, steps)]


def _patterns(by_kind: ByKind) -> tuple[list[Event], set[str], set[int]]:
    """Patterns, the lanes whose comings and goings they explain, and the steps that they explain."""
    loops = [*by_kind.get("crash_loop", ()), *by_kind.get("left_and_back", ())]
    rolled, short = by_kind.get("rolling_restart", ()), by_kind.get("short_rebalance_timeout", ())
    found = [_pattern(one, _loop_parts(one, by_kind)) for one in loops]
    found += [_pattern(one, _rolling_parts(one, by_kind), weight=1) for one in rolled]
    # The effects of one process's loop are in the loop's own event.
    looping = {one["name"] for one in loops} | {name for one in short for name in one["names"]}
    found += [_pattern(one, [Part(one["says"], one["steps"][0], one["steps"])]) for one in short]
    for storm in by_kind.get("storm", ()):
        if not set(storm["names"]) <= looping:
            found.append(_pattern(storm, [Part(small(storm["says"]), storm["steps"][0], storm["steps"])]))
    follows = {moves["follows"] for moves in by_kind.get("moves", ())}
    explained = follows & looping or by_kind.get("migrated")
    flapping = [
        one
        for one in (() if explained else by_kind.get("flapping", ()))
        if not rolled
        or not rolled[0]["from_ms"] <= one["from_ms"] <= one["to_ms"] <= rolled[-1]["to_ms"] + SETTLING_MS
    ]
    for each in (*flapping, *by_kind.get("twin_instance", ())):
        found.append(_pattern(each, [Part(each["says"], each["steps"][0], each["steps"])]))
    for two in by_kind.get("two_owners", ()):
        text = Part(two["says"], two["steps"][0], two["steps"])
        weight = PATTERN + two["length_ms"]
        found.append(Event(two["from_ms"], two["steps"][0], [text], weight=weight, kind="two_owners"))
    known = (*loops, *rolled, *short, *by_kind.get("twin_instance", ()))
    steps = {step for one in known for step in one["steps"]}
    lanes = {one["lane"] for one in loops} | {lane for one in short for lane in one["lanes"]}
    return found, lanes, steps


def _pattern(one: Lasting, parts: list[Part], weight: int = PATTERN) -> Event:
    """A pattern begins with since when it went on."""
    length = one["to_ms"] - one["from_ms"] if weight == PATTERN else 0
    timed = [Part("from "), Part("", at_ms=one["from_ms"]), Part(" on "), *parts]
    return Event(
        one["from_ms"], one["steps"][0], timed, weight=weight + length, kind=one["kind"], timed=False
    )


def _loop_parts(one: Loop, by_kind: ByKind) -> list[Part]:
    parts = [Part(one["says"], one["steps"][0], one["steps"])]
    stops = [
        stop
        for stop in by_kind.get("stopped", ())
        if stop["from_ms"] <= one["to_ms"] and stop["to_ms"] >= one["from_ms"]
    ]
    if stops:
        parts += [
            Part("; "),
            Part(_no_commit(stops), stops[0]["sequences"][0], [stop["sequences"][0] for stop in stops]),
        ]
    free = [
        each
        for each in by_kind.get("no_owner", ())
        if not each["open"] and not each["first"] and one["from_ms"] <= each["from_ms"] <= one["to_ms"]
    ]
    if free and free[0]["length_ms"] >= UNASSIGNED_LEAST_MS:
        text = unassigned_words([each for each in free if each["sequences"] == free[0]["sequences"]])
        parts += [Part("; "), Part(text, free[0]["sequences"][0])]
    kills = {each["killed_sequence"] for each in by_kind.get("removed", ()) if each["lane"] == one["lane"]}
    parts += unread_parts(unread_of(kills - {None}, by_kind))[0]
    looks_like = one.get("looks_like")
    if looks_like is not None:
        parts.append(Part(f". Looks like {LOOKS[looks_like]}"))
    return parts


def _rolling_parts(one: RollingRestart, by_kind: ByKind) -> list[Part]:
    """With how long each was away, where it was a static member that left for now."""
    parts = [Part(one["says"], one["steps"][0], one["steps"])]
    aways = [away for away in by_kind.get("away", ()) if away["lane"] in one["lanes"]]
    if aways:
        longest = max(away["length_ms"] for away in aways)
        steps = [away["sequences"][0] for away in aways]
        parts.append(Part(f", each away for up to {duration(longest)}", steps[0], steps))
    return parts


def _removals(removals: Sequence[Removed], by_kind: ByKind) -> Iterable[Event]:
    groups: list[list[Removed]] = []
    for one in removals:
        last = groups[-1] if groups else None
        alike = last is not None and (one["why"], one["looks_like"]) == (
            last[-1]["why"],
            last[-1]["looks_like"],
        )
        if last is not None and alike and one["at_ms"] - last[-1]["at_ms"] <= TOGETHER_MS:
            last.append(one)
        else:
            groups.append([one])
    for group in groups:
        yield _removal(group, by_kind)


def _removal(group: Sequence[Removed], by_kind: ByKind) -> Event:
    first, several = group[0], len(group) > 1
    names = list(dict.fromkeys(one["name"] for one in group))
    who = listed(names, NAMED_MAX)
    steps = [one["sequences"][-1] for one in group]
    silent = [one for one in group if one["silent_from_ms"] is not None]
    since = [
        (from_ms, at)
        for one in silent
        if (from_ms := one["silent_from_ms"]) is not None and (at := one["silent_sequence"]) is not None
    ]
    parts: list[Part] = []
    at_ms, sequence, weight = first["at_ms"], steps[0], 0
    kills = [one["killed_sequence"] for one in group if one["killed_sequence"] is not None]
    timeouts = {one["timeout_ms"] for one in group}
    timeout = timeout_words(first["why"], timeouts.pop()) if len(timeouts) == 1 else ""
    if len(kills) == len(group):
        at_ms = min(killed_ms for one in group if (killed_ms := one["killed_ms"]) is not None)
        sequence = min(kills)
        parts += [
            Part(f"{who} {'were' if several else 'was'} killed", sequence, kills),
            Part(", and at "),
            Part("", at_ms=first["at_ms"]),
            Part(" "),
            Part(
                f"{'they' if several else 'it'} {reason_words(first['why'], several=several, polled=first['polled'])}{timeout}",
                steps[0],
                steps,
            ),
        ]
    elif silent:
        at_ms, sequence = since[0]
        weight = max(one["at_ms"] - from_ms for one, (from_ms, _) in zip(silent, since, strict=True))
        places = sorted({place for one in silent for place in one["partitions"]})
        parts += [
            Part(f"{who} fell silent", sequence, [at for _, at in since]),
            Part(f" ({listed_partitions(places)}), and at "),
            Part("", at_ms=first["at_ms"]),
            Part(" "),
            Part(f"{'they were' if several else 'it was'} removed", steps[0], steps),
        ]
    elif first["looks_like"] is not None:
        parts.append(Part(f"{who} {'were' if several else 'was'} removed", steps[0], steps))
    else:
        parts.append(
            Part(
                f"{who} {reason_words(first['why'], several=several, polled=first['polled'])}{timeout}",
                steps[0],
                steps,
            )
        )
    if first["looks_like"] is not None:
        short = first["short"] or ""
        for one, of_several in OF_SEVERAL.items() if several else ():
            short = short.replace(one, of_several)
        parts.append(Part(f" (looks like {short})"))
    elif silent and first["why"] is None:
        parts.append(Part(f" ({unknown_words(polled=first['polled'])})"))
    cost, worst_ms = _cost(set(steps), silent, kills, by_kind)
    back = [one for one in group if one["back_ms"] is not None]
    back_ms = back[0]["back_ms"] if len(back) == 1 else None
    if back_ms is not None and back_ms > back[0]["at_ms"]:
        whom = f"{back[0]['name']} " if several else ""
        parts += [
            Part("; "),
            Part(f"{whom}rejoined", back[0]["back_sequence"]),
            Part(" at "),
            Part("", at_ms=back_ms),
        ]
    elif len(back) > 1:
        parts += [
            Part("; "),
            Part(f"{listed([one['name'] for one in back], NAMED_MAX)} rejoined", back[0]["back_sequence"]),
        ]
    return Event(at_ms, sequence, parts + cost, weight=max(weight, worst_ms), kind="removed")


def _cost(
    removed_at: set[int], silent: Sequence[Removed], kills: Sequence[int], by_kind: ByKind
) -> tuple[list[Part], int]:
    """What a removal cost: the longest time without a reader, without a commit, and without an owner."""
    parts, worst_ms = unread_parts(unread_of(kills, by_kind))
    places = {place: one for one in silent for place in one["partitions"]}
    stops = [
        one
        for one in by_kind.get("stopped", ())
        if one["partition"] in places and one["from_ms"] <= places[one["partition"]]["at_ms"] <= one["to_ms"]
    ]
    if stops:
        worst_ms = stops[0]["length_ms"]
        parts.append(Part("; "))
        parts.append(Part(_no_commit(stops), stops[0]["sequences"][0]))
    free = [
        one
        for one in by_kind.get("no_owner", ())
        if not one["open"] and not one["first"] and one["sequences"][0] in removed_at and one["length_ms"] > 0
    ]
    if free:
        longest = free[0]["length_ms"]
        worst_ms = max(worst_ms, longest)
        steps = [one["sequences"][0] for one in free]
        text = unassigned_words([one for one in free if one["length_ms"] == longest])
        parts += [Part("; "), Part(text, free[0]["sequences"][0], steps)]
    return parts, worst_ms


def _no_commit(stops: Sequence[Stopped]) -> str:
    """``no commit of foo-1 for 23.2 s``; of several ``for up to``."""
    if len(stops) == 1:
        return f"no commit of {stops[0]['partition']} for {duration(stops[0]['length_ms'])}"
    names = sorted({one["partition"] for one in stops})
    return f"no commit of {listed_partitions(names)} for up to {duration(stops[0]['length_ms'])}"


def _joins(joins: Sequence[Joined], gone: Sequence[tuple[str, int]]) -> Iterable[Event]:
    """``gone``: lane and step of each removal. Members that were never in the group together did not join together."""
    groups: list[list[Joined]] = []
    for one in joins:
        last = groups[-1] if groups else None
        alike = last is not None and (one["again"] > 1) == (last[-1]["again"] > 1)
        near = last is not None and one["at_ms"] - last[-1]["at_ms"] <= JOINED_TOGETHER_MS
        if last is not None and alike and near and _all_there(last, one["sequences"][0], gone):
            last.append(one)
        else:
            groups.append([one])
    for group in groups:
        names = list(dict.fromkeys(one["name"] for one in group))
        steps = [one["sequences"][0] for one in group]
        verb = "rejoined" if group[0]["again"] > 1 else "joined"
        length_ms = group[-1]["at_ms"] - group[0]["at_ms"]
        within = f" within {duration(length_ms)}" if length_ms > TOGETHER_MS and len(names) > 1 else ""
        text = f"{listed(names)} {verb}{within}"
        yield Event(group[0]["at_ms"], steps[0], [Part(text, steps[0], steps)], kind="joined")


def _all_there(group: Sequence[Joined], step: int, gone: Sequence[tuple[str, int]]) -> bool:
    """Whether all that joined are still members at ``step``."""
    joined = {one["lane"]: one["sequences"][0] for one in group}
    return not any(joined.get(lane, step) < at < step for lane, at in gone)
