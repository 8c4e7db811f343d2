"""Subscribed and assigned, compared while the group is at rest: what nobody was given, and what a member did not subscribe to.

Needs: records of members and assignments; of a topic's number of partitions a source that has it (the metadata log, a
description of the cluster, a hash that proves it). Claims: topics and partitions that no member has, and partitions of topics to
which their member does not subscribe, at the log's end.
Cannot know: whether a topic exists that no source names; what a member subscribes to whose subscription, expression or assignment
is not in the log or is unreadable; names of topics that the log has as ids alone. Then nothing is claimed of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from groups.history.evidence.steps import Key, keys
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.frames.shapes import MemberFrame
from groups.history.state.group import UNREADABLE, Protocol
from groups.history.words import counted, is_or_are, lasting, listed, listed_partitions

REST_LEAST_MS: Final = 20_000
"""A group has just been changed for some heartbeats, and a classic leader needs a second generation to hand partitions over."""

NAMED_MAX: Final = 20
"""Topics, or members, of which each kind has a finding; a group that has more shows the same with each."""

CLASSIC_LOOKS: Final = (
    "a client of the classic protocol looks for new partitions every metadata.max.age.ms, 5 min by default"
)


def found_differences(facts: Facts) -> list[Finding]:
    """``topic_not_assigned``, ``partitions_not_assigned`` and ``assigned_unsubscribed``: each topic, or member, by itself."""
    frame = facts.frame
    if frame["state"] != "Stable" or frame["protocol"] not in (Protocol.CONSUMER, Protocol.CLASSIC):
        return []
    changed_ms = facts.lives.changed_ms
    if changed_ms is None or facts.last_ms - changed_ms < REST_LEAST_MS or UNREADABLE in facts.anomalies:
        return []
    return [*_unassigned(facts, changed_ms), *_unsubscribed(facts, changed_ms)]


def _unassigned(facts: Facts, changed_ms: int) -> Iterator[Finding]:
    """Topics and partitions that somebody subscribes to and nobody was given, now or by the target."""
    frame = facts.frame
    given = {place for member in facts.members.values() for place in _held(member)}
    given |= {place for target in (frame.get("target") or {}).values() for place in keys(target)}
    if any(_is_nameless(facts, topic) for topic, _ in given):
        return
    subscribers: dict[str, list[str]] = {}
    for member_id, member in facts.members.items():
        for topic in member.get("subscribed", ()):
            subscribers.setdefault(topic, []).append(member_id)
    topics = {topic for topic, _ in given}
    shown_count = 0
    for topic, members in sorted(subscribers.items()):
        known = frame["topics"].get(topic)
        count = known["partitions"] if known is not None else None
        if topic not in topics:
            found = _topic(facts, topic, members, count, changed_ms)
        else:
            missing = [(topic, number) for number in range(count or 0) if (topic, number) not in given]
            if not missing:
                continue
            found = _partitions(facts, topic, missing, count or 0, changed_ms)
        if found is not None:
            yield found
            shown_count += 1
        if shown_count >= NAMED_MAX:
            return


def _topic(
    facts: Facts, topic: str, members: list[str], count: int | None, changed_ms: int
) -> Finding | None:
    names = sorted({facts.name(each) for each in members})
    text = f"Nobody was given a partition of {topic}, to which {listed(names)} subscribe{'s' if len(names) == 1 else ''}"
    left_open, needs = "", ["records", "notes"]
    if count == 0:
        return None
    if any(one["topic"] == topic for one in facts.troubles.kept["topics_deleted"]) and count is None:
        text += ", and which was deleted"
    elif count is not None:
        text += f", though it has {counted(count, 'partition')}"
    elif facts.frame["protocol"] == Protocol.CLASSIC:
        needs = ["records"]
        left_open = "whether the topic exists: either the leader's client knew no such topic, or its assignor left it out"
    else:
        needs = ["records"]
        left_open = "why: the assignors of Kafka's brokers give out every topic that exists, so there was probably none of this name"
    return _finding(
        facts,
        "topic_not_assigned",
        text,
        [facts.lives.changed_sequence],
        changed_ms,
        needs=needs,
        left_open=left_open,
        names=names,
        members=members,
        topic=topic,
    )


def _partitions(facts: Facts, topic: str, missing: list[Key], count: int, changed_ms: int) -> Finding | None:
    """Of a topic that grew, since then; a group that noticed has another epoch or generation, with these partitions in it."""
    grown = [one for one in facts.notes.grown if one["topic"] == topic and one["after"] == count]
    since_ms, sequences = changed_ms, [facts.lives.changed_sequence]
    named = listed_partitions([facts.partition(*place) for place in missing])
    text = f"{topic} has {counted(count, 'partition')}, and nobody was given {named}"
    if grown and grown[-1]["sequence"] > facts.lives.changed_sequence:
        growth = grown[-1]
        since_ms, sequences = growth["at_ms"], [growth["sequence"]]
        if facts.last_ms - since_ms < REST_LEAST_MS:
            return None
        classic = facts.frame["protocol"] == Protocol.CLASSIC
        text = (
            f"The group has not noticed that {topic} grew from {growth['before']} to {counted(count, 'partition')}: {named} "
            f"{is_or_are(missing)} nobody's, and no {'generation' if classic else 'group epoch'} followed"
        )
        if classic:
            text += f" ({CLASSIC_LOOKS})"
    return _finding(
        facts,
        "partitions_not_assigned",
        text,
        sequences,
        since_ms,
        needs=["records", "notes"],
        left_open="",
        names=[facts.partition(*place) for place in missing[:NAMED_MAX]],
        topic=topic,
        count=len(missing),
    )


def _unsubscribed(facts: Facts, changed_ms: int) -> Iterator[Finding]:
    count = 0
    for member_id, member in facts.members.items():
        subscribed = member.get("subscribed")
        expression = member.get("subscribed_regex")
        if not subscribed or (expression and expression not in (facts.frame.get("regexes") or {})):
            continue
        strange = [
            place
            for place in sorted(_held(member))
            if place[0] not in subscribed and not _is_nameless(facts, place[0])
        ]
        if not strange:
            continue
        named = listed_partitions([facts.partition(*place) for place in strange])
        topics = sorted({topic for topic, _ in strange})
        which = listed(topics) if len(topics) <= NAMED_MAX else f"{len(topics)} topics"
        yield _finding(
            facts,
            "assigned_unsubscribed",
            f"{facts.name(member_id)} has {named}, and does not subscribe to {which}",
            [facts.lives.changed_sequence],
            changed_ms,
            needs=["records"],
            left_open="",
            names=[facts.name(member_id)],
            member=member_id,
            partitions=[facts.partition(*place) for place in strange[:NAMED_MAX]],
        )
        count += 1
        if count >= NAMED_MAX:
            return


def _finding(
    facts: Facts,
    kind: str,
    text: str,
    sequences: list[int],
    since_ms: int,
    *,
    needs: list[str],
    left_open: str,
    **data: object,
) -> Finding:
    """A finding that holds up to the log's end, and is inferred of a consumer group whose log lacks records of its members."""
    classic = facts.frame["protocol"] == Protocol.CLASSIC
    lacks = not classic and (facts.midway is not None or bool(facts.notes.gaps))
    if lacks:
        left_open = "whether other members have them: the log does not hold all of the group's past"
    length_ms = facts.last_ms - since_ms
    more = {"cannot_know": left_open} if left_open else {}
    return finding(
        kind,
        f"{text}{lasting(length_ms, ', for ')}"
        + (f" (the log cannot show {left_open})" if left_open else ""),
        sequences,
        needs=needs,
        certain=not lacks,
        more=more,
        from_ms=since_ms,
        to_ms=None,
        length_ms=length_ms,
        steps=sequences,
        **data,
    )


def _held(member: MemberFrame) -> frozenset[Key]:
    return keys(member["assigned"] or {})


def _is_nameless(facts: Facts, topic: str) -> bool:
    """Whether only the id of a topic is known, or it was deleted: then no subscription can name it."""
    known: Mapping[str, object] = facts.frame["topics"].get(topic) or {}
    return known.get("id") == topic


FINDER: Final = Declared(
    place=185,
    find=found_differences,
    rows=(
        Row(kinds=("topic_not_assigned", "assigned_unsubscribed"), incident=True),
        Row(kinds=("partitions_not_assigned",), needs="the number of the topic's partitions", incident=True),
    ),
)
