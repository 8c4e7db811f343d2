"""What lasted: silences, waits, members away, times without a member, without an owner, without a reader."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.findings.kinds import ByKind, NoOwner, Silent, Unread, WaitedFor
from groups.history.findings.repeated import several
from groups.history.verdict.phrases import (
    UNASSIGNED_LEAST_MS,
    is_hand_over,
    looping_names,
    small,
    unassigned_words,
    unread_of,
    unread_parts,
)
from groups.history.verdict.text import Event, Part
from groups.history.words import duration, listed, listed_partitions

NAMED_MAX: Final = 3
"""Members that a clause names; more are counted."""

TOGETHER_MS: Final = 3_000
"""Silences that begin this close to each other are one event: one cause, not two."""

STILL: Final = 10**8
"""The weight of what is not over at the log's end, added to that of its length."""


def silences(by_kind: ByKind, known: set[int | None], lanes: set[str]) -> Iterable[Event]:
    """Silences that no removal contains: each process's as one."""
    by_name: dict[tuple[str, bool], list[Silent]] = {}
    names = looping_names(by_kind)
    for one in by_kind.get("silent", ()):
        if one["sequences"][0] not in known and one["name"] not in names:
            by_name.setdefault((one["name"], one["open"]), []).append(one)
    once: list[Silent] = []
    for (name, is_open), some in by_name.items():
        longest = some[0]
        what, length = listed_partitions(longest["partitions"]), duration(longest["length_ms"])
        some = sorted(some, key=lambda one: (one["from_ms"], one["sequences"][0]))
        steps = [one["sequences"][0] for one in some]
        if is_open:
            parts = [
                Part(f"{name} fell silent", steps[0]),
                Part(f": assigned {what}, and no commit for {length} up to the end"),
            ]
        elif len(some) > 1:
            text = f"{name} was silent {several(len(some))}"
            parts = [Part(text, steps[0], steps), Part(f", the longest {length} ({what})")]
        else:
            once.append(longest)
            continue
        weight = longest["length_ms"] + (STILL if is_open else 0)
        yield Event(some[0]["from_ms"], steps[0], parts, weight=weight, kind="silent")
    yield from _silent_once(once)
    for stop in by_kind.get("group_stopped", ()):
        part = Part(small(stop["says"]), stop["steps"][0], stop["steps"])
        yield Event(stop["from_ms"], stop["steps"][0], [part], weight=stop["length_ms"], kind="group_stopped")


def _silent_once(once: list[Silent]) -> Iterable[Event]:
    """Members that were silent at the same time have one cause, and one sentence."""
    groups: list[list[Silent]] = []
    for one in sorted(once, key=lambda one: (one["from_ms"], one["sequences"][0])):
        if groups and one["from_ms"] - groups[-1][-1]["from_ms"] <= TOGETHER_MS:
            groups[-1].append(one)
        else:
            groups.append([one])
    for group in groups:
        steps = [one["sequences"][0] for one in group]
        longest = max(one["length_ms"] for one in group)
        places = sorted({place for one in group for place in one["partitions"]})
        names = [one["name"] for one in group]
        was, up_to = ("was", "") if len(group) == 1 else ("were", "up to ")
        text = f"{listed(names, NAMED_MAX)} {was} silent for {up_to}{duration(longest)}"
        parts = [Part(text, steps[0], steps), Part(f" while assigned {listed_partitions(places)}")]
        yield Event(group[0]["from_ms"], steps[0], parts, weight=longest, kind="silent")


def slow_waits(by_kind: ByKind) -> list[WaitedFor]:
    """Waits longer than a hand-over; where there is none, the longest if nothing else was as long."""
    looping = looping_names(by_kind)
    waits = [
        one for one in by_kind.get("waited_for", ()) if not one["forming"] and one["name"] not in looping
    ]
    slow = [one for one in waits if one["slow"]]
    longest_free = max(
        (one["length_ms"] for one in by_kind.get("no_owner", ()) if not one["open"] and not one["forming"]),
        default=0,
    )
    if not slow and waits:
        longest = max(waits, key=lambda one: one["length_ms"])
        return [longest] if longest["length_ms"] > max(longest_free, UNASSIGNED_LEAST_MS - 1) else []
    return slow


def waits_for_others(by_kind: ByKind) -> Iterable[Event]:
    """Waits, all of one holder as one; each leads to where it began."""
    slow = slow_waits(by_kind)
    by_holder: dict[tuple[str, bool], list[WaitedFor]] = {}
    for one in slow:
        by_holder.setdefault((one["name"], one["open"]), []).append(one)
    for (name, is_open), some in by_holder.items():
        longest = max(some, key=lambda one: one["length_ms"])
        steps = [one["sequences"][0] for one in some]
        text = longest["says"]
        if len(some) > 1:
            text = f"{name} was waited for {several(len(some))}; {text}, the longest"
        weight = longest["length_ms"] + (STILL if is_open else 0)
        parts = [Part(text, longest["sequences"][0], steps)]
        yield Event(longest["from_ms"], longest["sequences"][0], parts, weight=weight, kind="waited_for")


def aways(by_kind: ByKind) -> Iterable[Event]:
    """Static members that left for now, except those that a rolling restart contains."""
    rolled = {lane for one in by_kind.get("rolling_restart", ()) for lane in one["lanes"]}
    for one in by_kind.get("away", ()):
        if one["lane"] not in rolled:
            weight = one["length_ms"] + (STILL if one["open"] else 0)
            parts = [Part(one["says"], one["sequences"][0])]
            yield Event(one["from_ms"], one["sequences"][0], parts, weight=weight, kind="away")


def emptied(by_kind: ByKind) -> Iterable[Event]:
    """Times without any member that are over."""
    for one in by_kind.get("emptied", ()):
        if not one["open"]:
            parts = [Part(small(one["says"]), one["sequences"][0])]
            yield Event(one["from_ms"], one["sequences"][0], parts, weight=one["length_ms"], kind="emptied")


def unassigned(by_kind: ByKind, known: set[int], steps: set[int]) -> Iterable[Event]:
    """The longest time between two owners, and the longest until a first one, if they were longer than a hand-over.

    The effects of a removal, or of a topic's growth, are in that event.
    """
    grown = {one["sequences"][0] for one in by_kind.get("partitions_added", ())}
    for first in (False, True):
        free = [
            one
            for one in by_kind.get("no_owner", ())
            if one["first"] is first
            and not one["open"]
            and not is_hand_over(one, by_kind)
            and one["sequences"][0] not in (grown if first else known | steps)
        ]
        if not free:
            continue
        longest = free[0]
        alike = [one for one in free if one["sequences"] == longest["sequences"]]
        begin = longest["sequences"][0]
        parts = [Part(unassigned_words(alike), begin), *first_owner_words(alike)]
        yield Event(longest["from_ms"], begin, parts, weight=longest["length_ms"], kind="no_owner")


def first_owner_words(free: list[NoOwner]) -> list[Part]:
    """``, until its first owner``, of intervals before the first one."""
    if not free[0]["first"]:
        return []
    return [Part(f", until {'its first owner' if len(free) == 1 else 'their first owners'}")]


def unread(by_kind: ByKind, known: set[int | None]) -> Iterable[Event]:
    """Processes that were killed and came back before anybody noticed: nobody read what was theirs."""
    by_fault: dict[int, list[Unread]] = {}
    for one in by_kind.get("unread", ()):
        if one["why"] == "killed" and one["sequences"][0] not in known:
            by_fault.setdefault(one["sequences"][0], []).append(one)
    for sequence, some in by_fault.items():
        parts, weight = unread_parts(unread_of({sequence}, by_kind))
        killed = Part(f"{some[0]['name']} was killed", sequence)
        weight += STILL if any(one["open"] for one in some) else 0
        yield Event(some[0]["from_ms"], sequence, [killed, *parts], weight=weight, kind="unread")
