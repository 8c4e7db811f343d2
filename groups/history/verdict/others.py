"""Events that no coming or going is: faults, refusals, static members, topics, the coordinator, migrations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from groups.history.findings.kinds import Anomaly, ByKind, Fenced, FirstAssigned, Happened, TopicEvent
from groups.history.findings.repeated import several
from groups.history.verdict.intervals import first_owner_words
from groups.history.verdict.offsets import offsets
from groups.history.verdict.phrases import (
    UNASSIGNED_LEAST_MS,
    small,
    unassigned_words,
    unread_of,
    unread_parts,
)
from groups.history.verdict.text import Event, Part
from groups.history.words import counted, listed, listed_partitions, was_or_were

NAMED_MAX: Final = 3

SHOWN_ANOMALIES: Final = frozenset({"epoch_jump"})

TOGETHER_MS: Final = 10_000
"""New partitions that get owners within so long are of one growth: members of the consumer protocol get them one heartbeat after another."""

NEWS: Final = 1
"""The weight of what is no harm by itself."""


def others(by_kind: ByKind, known: set[int]) -> list[Event]:
    """``known``: steps that a pattern explains."""
    paused, cut_off = by_kind.get("stood_still", ()), by_kind.get("cut_off", ())
    return [
        *_each(by_kind, paused, "{} was paused {:,} times", "consumers were paused {:,} times"),
        *_each(by_kind, cut_off, "{} was cut off {:,} times", "consumers were cut off {:,} times"),
        *_each(by_kind, by_kind.get("feature", ()), "", "group.version was changed {:,} times"),
        *_each(by_kind, by_kind.get("rolled", ()), "", "brokers were rolled {:,} times"),
        *_by_name(by_kind.get("fenced", ()), "fenced", by_error=False),
        *_by_name(_refused(by_kind), "refused", by_error=True),
        *_replaced(by_kind, known),
        *_each(by_kind, by_kind.get("failed_over", ()), "", "the coordinator failed over {:,} times"),
        *_each(by_kind, by_kind.get("coordinator_moved", ()), "", "the coordinator moved {:,} times"),
        *_each(by_kind, by_kind.get("release_changed", ()), "", "the brokers' release changed {:,} times"),
        *_each(by_kind, by_kind.get("lost_batch", ()), "", "batches were lost {:,} times"),
        *_each(by_kind, by_kind.get("strategy_changed", ()), "", "the group's assignor changed {:,} times"),
        *_each(by_kind, by_kind.get("leader_changed", ()), "", "the leader changed {:,} times"),
        *_idled(by_kind),
        *_topics(by_kind),
        *_first_assigned(by_kind),
        *_migrated(by_kind),
        *_first(by_kind.get("two_clients", ())),
        *_anomalies(by_kind),
        *offsets(by_kind),
    ]


def _event(one: Happened | TopicEvent | Anomaly, parts: list[Part], weight: int = NEWS) -> Event:
    return Event(one.get("at_ms") or 0, one["sequences"][0], parts, weight=weight, kind=one["kind"])


def _each(by_kind: ByKind, found: Sequence[Happened], of_one: str, of_many: str) -> Iterable[Event]:
    """A few one by one; more of them as one. ``of_one`` names whom it happened to, where it happened to somebody."""
    if found and found[0]["count"] <= NAMED_MAX:
        for one in found:
            text = small(one["says"])
            unread = unread_of({one["sequences"][0]}, by_kind)
            # That nobody else read on while it was paused needs no words.
            cost, unread_ms = unread_parts([each for each in unread if each["after"] != each["member"]])
            weight = max(one.get("length_ms") or NEWS, unread_ms)
            yield _event(one, [Part(text, one["sequences"][0]), *cost], weight=weight)
        return
    if not found:
        return
    names = {one.get("name") for one in found}
    text = of_many.format(found[0]["count"])
    if len(names) == 1 and of_one:
        text = of_one.format(next(iter(names)), found[0]["count"])
    elif of_one and found[0]["count"] == len(found):
        text = f"{len(names)} {text}"
    yield _event(found[0], [Part(text, found[0]["sequences"][0], found[0]["steps"])])


def _by_name(found: Sequence[Fenced], verb: str, *, by_error: bool) -> Iterable[Event]:
    """Who was fenced; who was refused, by each error."""
    if found and found[0]["count"] > len(found):
        text = f"heartbeats were {verb} {found[0]['count']:,} times"
        yield _event(found[0], [Part(text, found[0]["sequences"][0], found[0]["steps"])])
        return
    groups: dict[str, list[Fenced]] = {}
    for one in found:
        groups.setdefault(one["error"] if by_error else "", []).append(one)
    for error, some in list(groups.items())[:NAMED_MAX]:
        names = list(dict.fromkeys(one["name"] for one in some))
        often = f" {several(len(some))}" if len(some) > 1 and len(names) == 1 and not by_error else ""
        text = f"{listed(names, NAMED_MAX)} {was_or_were(names)} {verb}{often}{f': {error}' if error else ''}"
        steps = [one["sequences"][0] for one in some]
        yield _event(some[0], [Part(text, steps[0], steps)])


def _refused(by_kind: ByKind) -> Sequence[Fenced]:
    """Whom the feature's sentence does not name: while it was off, all that sent heartbeats were refused."""
    known = {step for one in by_kind.get("feature", ()) for step in one["sequences"]}
    refused = by_kind.get("refused", ())
    if not known or (refused and refused[0]["count"] > len(refused)):
        return refused
    rest = [one for one in refused if one["sequences"][0] not in known]
    return [{**one, "count": len(rest)} for one in rest]


def _replaced(by_kind: ByKind, known: set[int]) -> Iterable[Event]:
    found = [one for one in by_kind.get("replaced", ()) if one["sequences"][0] not in known]
    if len(found) <= NAMED_MAX:
        for one in found:
            yield _event(one, [Part(one["says"], one["sequences"][0])])
        return
    steps = [one["sequences"][0] for one in found]
    yield _event(found[0], [Part(f"static members were replaced {len(found):,} times", steps[0], steps)])


def _topics(by_kind: ByKind) -> Iterable[Event]:
    formed_ms = max((one["to_ms"] for one in by_kind.get("formed", ())), default=-1)
    matched = [one for one in by_kind.get("matched", ()) if (one["at_ms"] or 0) > formed_ms]
    for some, parts in _alike(by_kind.get("partitions_added", ()), by_topic=False):
        yield _grown(some[0], parts, by_kind)
    for some, parts in _alike(matched, by_topic=False):
        yield _event(some[0], parts)
    for found in (by_kind.get("topics_deleted", ()), by_kind.get("topics_remade", ())):
        for some, parts in _alike(found, by_topic=True):
            yield _event(some[0], parts)


def _idled(by_kind: ByKind) -> Iterable[Event]:
    """Members that were idle and are not any more: the last ones."""
    for one in [one for one in by_kind.get("idle_members", ()) if not one["open"]][-NAMED_MAX:]:
        parts = [Part(one["says"], one["sequences"][0], one["steps"])]
        yield Event(one["from_ms"], one["sequences"][0], parts, weight=NEWS, kind="idle_members")


def _first_assigned(by_kind: ByKind) -> Iterable[Event]:
    """Who got new partitions, of each growth as one."""
    groups: list[list[FirstAssigned]] = []
    for one in by_kind.get("first_assigned", ()):
        if groups and one["at_ms"] - groups[-1][-1]["at_ms"] <= TOGETHER_MS:
            groups[-1].append(one)
        else:
            groups.append([one])
    for some in groups[-NAMED_MAX:]:
        owners: dict[str, list[str]] = {}
        for one in some:
            owners.setdefault(one["name"], []).extend(one["partitions"])
        steps = [one["sequences"][0] for one in some]
        who = [
            f"{name} got {listed_partitions(sorted(places))}"
            for name, places in list(owners.items())[:NAMED_MAX]
        ]
        more = f", and {counted(len(owners) - NAMED_MAX, 'more member')}" if len(owners) > NAMED_MAX else ""
        topics = sorted({topic for one in some for topic in one["new_topics"]})
        are_new = "is new" if len(topics) == 1 else "are new"
        what = (
            f"{listed(topics, NAMED_MAX)} {are_new} to the group"
            if topics
            else "new partitions were assigned"
        )
        text = f"{what}: {listed(who)}{more}"
        yield Event(
            some[0]["at_ms"], steps[0], [Part(text, steps[0], steps)], weight=NEWS, kind="first_assigned"
        )


def _alike(found: Iterable[TopicEvent], *, by_topic: bool) -> Iterable[tuple[list[TopicEvent], list[Part]]]:
    """Those of each topic, or of one sentence, as one; the last ones."""
    groups: dict[str, list[TopicEvent]] = {}
    for one in found:
        groups.setdefault(one["topic"] if by_topic else one["says"], []).append(one)
    for some in list(groups.values())[-NAMED_MAX:]:
        often = f" {several(len(some))}" if len(some) > 1 else ""
        steps = [one["sequences"][-1] for one in some]
        yield some, [Part(f"{some[0]['says']}{often}", steps[0], steps)]


def _grown(one: TopicEvent, parts: list[Part], by_kind: ByKind) -> Event:
    """A topic that grew, and how long its new partitions had no owner, if that was longer than a hand-over."""
    free = [
        each
        for each in by_kind.get("no_owner", ())
        if each["first"] and not each["open"] and each["sequences"][0] == one["sequences"][0]
    ]
    if not free or free[0]["length_ms"] < UNASSIGNED_LEAST_MS:
        return _event(one, parts)
    alike = [each for each in free if each["length_ms"] == free[0]["length_ms"]]
    cost = [Part("; "), Part(unassigned_words(alike), free[0]["sequences"][0]), *first_owner_words(alike)]
    return _event(one, parts + cost, weight=free[0]["length_ms"])


def _migrated(by_kind: ByKind) -> Iterable[Event]:
    """``Moved to the consumer protocol at 13:12, online; back at 13:20.``"""
    found = by_kind.get("migrated", ())
    if not found:
        return
    first, rest = found[0], found[1:]
    steps = [one["sequences"][0] for one in found]
    parts = [
        Part(f"Moved to the {first['to']} protocol", steps[0], steps),
        Part(" at "),
        Part("", at_ms=first["at_ms"]),
        Part(", online" if first["online"] else ", while it was empty"),
    ]
    for one in rest[:NAMED_MAX]:
        parts += [
            Part("; "),
            Part("back" if one["back"] else f"to the {one['to']} protocol again", one["sequences"][0]),
            Part(" at "),
            Part("", at_ms=one["at_ms"]),
        ]
    yield Event(first["at_ms"], steps[0], parts, weight=NEWS, kind="migrated", timed=False)


def _first(found: Sequence[Happened]) -> Iterable[Event]:
    if found:
        one = found[0]
        yield _event(one, [Part(one["says"].rstrip("."), one["sequences"][-1], one["steps"])])


def _anomalies(by_kind: ByKind) -> Iterable[Event]:
    for one in by_kind.get("anomaly", ()):
        if one["anomaly"] in SHOWN_ANOMALIES:
            yield _event(one, [Part(small(one["says"].rstrip(".")), one["sequences"][0])])
