"""How a verdict ends: sums, what still is so at the end, and how the log ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.findings.kinds import ByKind, WaitedFor
from groups.history.verdict.intervals import slow_waits
from groups.history.verdict.phrases import is_hand_over, looping_names, unassigned_words
from groups.history.verdict.text import Part
from groups.history.words import counted, duration, listed_partitions

SHOWN_LEAST_MS = 100
"""What rounds to 0.1 s."""

BLOCKED_LEAST_MS: Final = 2_000
"""A shorter wait is no more than two heartbeats that happened to fit."""

BLOCKED_MAX: Final = 3
"""Pairs of who blocked whom that are listed; more are counted."""


def sums(by_kind: ByKind) -> Iterable[list[Part]]:
    """Moves, the longest hand-over, and who waited for whom."""
    moves, free = _moves(by_kind), _longest_unassigned(by_kind)
    yield [*moves, *([Part("; ")] if moves and free else []), *free]
    yield _blocked(by_kind)


def closing(by_kind: ByKind) -> Iterable[list[Part]]:
    """What still is so at the end, and how the log ends."""
    yield _still_unassigned(by_kind)
    for one in (
        *by_kind.get("eager_rebalance", ()),
        *(each for each in by_kind.get("idle_members", ()) if each["open"]),
        *by_kind.get("topic_not_assigned", ()),
        *by_kind.get("partitions_not_assigned", ()),
        *by_kind.get("assigned_unsubscribed", ()),
    ):
        inferred = "" if one["certain"] else " (inferred)"
        yield [Part(one["says"], one["sequences"][0], one["steps"]), Part(inferred)]
    for stable in by_kind.get("stable", ()):
        since = (
            []
            if stable["throughout"]
            else [Part("no change in the group since "), Part("", at_ms=stable["from_ms"]), Part(": ")]
        )
        text = stable["says"] if stable["throughout"] else stable["says"].lower()
        yield [*since, Part(text, stable["sequences"][0])]
    for deleted in by_kind.get("deleted", ()):
        yield [Part("The group is deleted at the end", deleted["sequences"][-1])]
    for emptied in by_kind.get("emptied", ()):
        if emptied["open"]:
            yield [Part("The group is empty at the end", emptied["sequences"][-1])]


def _moves(by_kind: ByKind) -> list[Part]:
    found = by_kind.get("moves", ())
    if not found:
        return []
    moves = found[0]
    known = any(
        one["says"].endswith(f"follow {moves['follows']}") for one in by_kind.get("left_and_back", ())
    )
    if known:
        return []
    in_forming = not moves["after_forming"]
    parts = [
        Part(
            f"{moves['says']}{' while the group formed' if in_forming else ''}",
            moves["sequences"][-1],
            moves["steps"],
        )
    ]
    if moves["released_before_taken"]:
        each = "each released before it was taken" if moves["count"] > 1 else "released before it was taken"
        parts.append(Part(f", {each}"))
    if moves["follows"] is not None:
        parts.append(Part(f"; all follow {moves['follows']}"))
    return parts


def _longest_unassigned(by_kind: ByKind) -> list[Part]:
    """What hand-overs took at most, if no event has a longer time."""
    if not by_kind.get("moves"):
        return []
    after = by_kind["moves"][0]["after_forming"]
    free = [
        one
        for one in by_kind.get("no_owner", ())
        if not one["open"]
        and not one["first"]
        and one["length_ms"] >= SHOWN_LEAST_MS
        and not (after and one["forming"])
    ]
    if not free or not is_hand_over(free[0], by_kind):
        # An event contains it.
        return []
    text = unassigned_words([one for one in free if one["sequences"] == free[0]["sequences"]])
    if free[0]["sequences"][0] in {one["sequences"][-1] for one in by_kind.get("removed", ())}:
        # The removal contains it.
        return []
    parts = [Part(text, free[0]["sequences"][0], [one["sequences"][0] for one in free])]
    return [*parts, Part(", the longest hand-over")] if len(free) > 1 else parts


def _blocked(by_kind: ByKind) -> list[Part]:
    """Who blocked whom for how long on what, if no event contains it: each leads to where the wait began."""
    known = {id(one) for one in slow_waits(by_kind)}
    looping = looping_names(by_kind)
    waits = [
        one
        for one in by_kind.get("waited_for", ())
        if id(one) not in known and one["length_ms"] >= BLOCKED_LEAST_MS and one["name"] not in looping
    ]
    pairs: dict[tuple[str, str], WaitedFor] = {}
    for one in sorted(waits, key=lambda one: -one["length_ms"]):
        pairs.setdefault((one["name"], one["waiter_name"]), one)
    shown = sorted(list(pairs.values())[:BLOCKED_MAX], key=lambda one: (one["name"], one["from_ms"]))
    parts: list[Part] = []
    before = None
    for one in shown:
        if before != one["name"]:
            parts.append(Part("; " if parts else ""))
            text = f"{one['name']} blocked {one['waiter_name']} for {duration(one['length_ms'])}"
        else:
            parts.append(Part(" and "))
            text = f"{one['waiter_name']} for {duration(one['length_ms'])}"
        parts += [Part(text, one["sequences"][0]), Part(f" ({listed_partitions(one['partitions'])})")]
        before = one["name"]
    rest = list(pairs.values())[BLOCKED_MAX:]
    if rest:
        steps = [one["sequences"][0] for one in rest]
        parts += [Part("; "), Part(counted(len(rest), "more wait"), steps[0], steps)]
    return parts


def _still_unassigned(by_kind: ByKind) -> list[Part]:
    still = [one for one in by_kind.get("no_owner", ()) if one["open"]]
    if not still:
        return []
    steps = [one["sequences"][0] for one in still]
    count = still[0]["count"]
    text = still[0]["says"] if count == 1 else f"{count:,} {still[0]['noun']}s are unassigned at the end"
    return [Part(text, steps[0], steps)]
