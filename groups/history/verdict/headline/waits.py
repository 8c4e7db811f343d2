"""Subjects of partitions that nobody read: members that commit nothing, and partitions without an owner at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groups.history.findings.kinds import ByKind, Happened, Silent
from groups.history.verdict.headline.fitting import OVER_MS, SLOW_MS, Harm, Level, Subject, who
from groups.history.verdict.headline.harms import NAMED_MOST, Hole, no_commit
from groups.history.verdict.phrases import looping_names, small
from groups.history.verdict.text import Part
from groups.history.words import counted, duration, listed_partitions


def silences(by_kind: ByKind) -> Iterator[Subject]:
    """Members that committed nothing, apart from those that were removed for it; with the coordinator away, that is the cause."""
    known = {one["silent_sequence"] for one in by_kind.get("removed", ())}
    looping = looping_names(by_kind)
    for is_open in (True, False):
        some = [
            one
            for one in by_kind.get("silent", ())
            if one["open"] is is_open
            and one["sequences"][0] not in known
            and one["name"] not in looping
            and not _releases_meanwhile(one, by_kind)
        ]
        if not some:
            continue
        moved = _coordinator_meanwhile(some, by_kind)
        longest = max(some, key=lambda one: one["length_ms"])
        first = min(some, key=lambda one: one["sequences"][0])
        names = list(dict.fromkeys(one["name"] for one in some))
        holes = [
            Hole(place, one["length_ms"], one["sequences"][0], is_open)
            for one in some
            for place in one["partitions"]
        ]
        places = sorted({hole.partition for hole in holes})
        harm = no_commit(holes)
        up_to = "up to " if len({duration(one["length_ms"]) for one in some}) > 1 else ""
        steps = [one["sequences"][0] for one in some]
        what = [counted(len(places), "partition") if len(places) > 1 else "one partition"]
        if len(places) <= NAMED_MOST:
            what = [listed_partitions(places), *what]
        text = [
            f"{them} did not commit {each} for {up_to}{duration(longest['length_ms'])}"
            for them in who(names)
            for each in what
        ]
        yield Subject(
            kind="silent",
            sequence=first["sequences"][0],
            level=Level.WARNING,
            weight=longest["length_ms"],
            lead=[[Part(each, longest["sequences"][0], steps)] for each in text]
            if moved is None
            else [
                [
                    Part(
                        small(moved["says"].split(" (")[0]),
                        moved["sequences"][0],
                    )
                ]
            ],
            from_ms=first["from_ms"] if moved is None else moved.get("at_ms"),
            lasts=moved is None,
            harm=harm if moved is not None or harm is None else harm._replace(words=()),
            still=is_open,
            names=frozenset(names),
            certain=False,
        )


def _releases_meanwhile(silent: Silent, by_kind: ByKind) -> bool:
    """Whether it was slow to release partitions all that time: its callback lasts, and until it ends the client does not poll."""
    until_ms = silent["from_ms"] + silent["length_ms"]
    return any(
        one["name"] == silent["name"]
        and one["slow"]
        and silent["open"] is one["open"]
        and abs(one["from_ms"] - silent["from_ms"]) <= OVER_MS
        and until_ms <= one["from_ms"] + (one["length_ms"] or 0) + OVER_MS
        for one in by_kind.get("waited_for", ())
    )


def _coordinator_meanwhile(some: Sequence[Silent], by_kind: ByKind) -> Happened | None:
    """That the coordinator moved while several members did not commit."""
    moves: list[Happened] = [*by_kind.get("coordinator_moved", ()), *by_kind.get("failed_over", ())]
    for one in moves:
        at_ms = one.get("at_ms")
        during = [
            each
            for each in some
            if at_ms is not None and each["from_ms"] <= at_ms <= each["from_ms"] + each["length_ms"] + OVER_MS
        ]
        if len(some) > 1 and len(during) == len(some):
            return one
    return None


def unassigned(by_kind: ByKind) -> Iterator[Subject]:
    still = [one for one in by_kind.get("no_owner", ()) if one["open"]]
    if still:
        longest = max(still, key=lambda one: one["length_ms"])
        places, steps = [one["partition"] for one in still], [one["sequences"][0] for one in still]
        count, noun = max(longest["count"], len(places)), longest["noun"]
        what = [counted(count, noun)] if count > 1 else [places[0]]
        if 1 < count == len(places) <= NAMED_MOST:
            what = [listed_partitions(places, noun), *what]
        up_to = "up to " if len({duration(one["length_ms"]) for one in still}) > 1 else ""
        harm = Harm((), longest["length_ms"], longest["partition"], is_open=True)
        has = "has" if count == 1 else "have"
        yield Subject(
            kind="no_owner",
            sequence=longest["sequences"][0],
            level=Level.CRITICAL if longest["length_ms"] >= SLOW_MS else Level.NEWS,
            weight=longest["length_ms"],
            lead=[
                [
                    Part(
                        f"{each} {has} been unassigned for {up_to}{duration(longest['length_ms'])}",
                        steps[0],
                        steps,
                    )
                ]
                for each in what
            ],
            from_ms=longest["from_ms"],
            lasts=True,
            harm=harm,
            still=True,
        )
