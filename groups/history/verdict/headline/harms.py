"""What an incident cost, for a headline: the longest time in which partitions were not read, not committed, or had no owner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from groups.history.findings.kinds import ByKind, Removed
from groups.history.verdict.headline.fitting import Harm, Words
from groups.history.verdict.phrases import UNASSIGNED_LEAST_MS, unread_of
from groups.history.verdict.text import Part
from groups.history.words import counted, duration, listed_partitions

NAMED_MOST: Final = 3
"""Partitions that a headline names; of more it has the number."""


class Hole(NamedTuple):
    """One partition for a while."""

    partition: str
    length_ms: int
    sequence: int
    is_open: bool


def of_removals(removals: Sequence[Removed], by_kind: ByKind) -> Harm | None:
    """By what is known best: nobody read it (a run reports this), no commit of it (a log has those), nobody had it."""
    kills = {one["killed_sequence"] for one in removals} - {None}
    owned = [
        (place, one) for one in removals if one["silent_from_ms"] is not None for place in one["partitions"]
    ]
    stopped = [
        Hole(stop["partition"], stop["length_ms"], stop["sequences"][0], stop["to_ms"] is None)
        for stop in by_kind.get("stopped", ())
        if any(
            stop["partition"] == place
            and stop["from_ms"] <= one["at_ms"]
            and (stop["to_ms"] is None or one["at_ms"] <= stop["to_ms"])
            for place, one in owned
        )
    ]
    removed_at = {one["sequences"][-1] for one in removals}
    return nobody_read(kills, by_kind) or no_commit(stopped) or _unassigned(removed_at, by_kind)


def of_window(from_ms: int, to_ms: int, kills: Collection[int | None], by_kind: ByKind) -> Harm | None:
    """Of all partitions between two times, as of a process that comes and goes."""
    stopped = [
        Hole(stop["partition"], stop["length_ms"], stop["sequences"][0], stop["to_ms"] is None)
        for stop in by_kind.get("stopped", ())
        if stop["from_ms"] <= to_ms and (stop["to_ms"] is None or stop["to_ms"] >= from_ms)
    ]
    free = {
        one["sequences"][0]
        for one in by_kind.get("no_owner", ())
        if not one["first"] and from_ms <= one["from_ms"] <= to_ms
    }
    return nobody_read(kills, by_kind) or no_commit(stopped) or _unassigned(free, by_kind)


def nobody_read(faults: Collection[int | None], by_kind: ByKind) -> Harm | None:
    holes = [
        Hole(one["partition"], one["length_ms"], one["sequences"][0], one["open"])
        for one in unread_of(faults, by_kind)
    ]
    return _harm(holes, "nobody read {}")


def no_commit(holes: Iterable[Hole]) -> Harm | None:
    return _harm(list(holes), "no commit of {}")


def _unassigned(steps: Collection[int], by_kind: ByKind) -> Harm | None:
    """Longer than a hand-over takes."""
    found = [one for one in by_kind.get("no_owner", ()) if not one["first"] and one["sequences"][0] in steps]
    holes = [
        Hole(one["partition"], one["length_ms"], one["sequences"][0], one["open"])
        for one in found
        if one["open"] or one["length_ms"] >= UNASSIGNED_LEAST_MS
    ]
    return _harm(holes, "{} unassigned", found[0]["noun"]) if holes else None


def _harm(holes: Sequence[Hole], text: str, noun: str = "partition") -> Harm | None:
    if not holes:
        return None
    worst = max(holes, key=lambda one: (one.length_ms, -one.sequence))
    places = sorted({one.partition for one in holes})
    up_to = "up to " if len({duration(one.length_ms) for one in holes}) > 1 else ""
    long = f" for {up_to}{duration(worst.length_ms)}" if worst.length_ms else ""
    steps = [one.sequence for one in holes]
    what = [counted(len(places), noun)] if len(places) > 1 else [f"one {noun}"]
    if len(places) <= NAMED_MOST:
        what = [listed_partitions(places, noun), *what]
    forms: list[Words] = [
        [
            Part("; "),
            Part(f"{text.format(each)}{long}", worst.sequence, steps),
        ]
        for each in what
    ]
    return Harm(tuple(forms), worst.length_ms, worst.partition, any(one.is_open for one in holes))
