"""What a group's assignor gives next, and how that compares with what came: frames in, a comparison out.

A coordinator computes a target from its members, their subscriptions, the topics and the target before. A log, or a description of
a live group, contains all of these but the racks of replicas. So the same assignor, asked in a broker's order, predicts the target;
if another one came, something was different from what the source contains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

import re2

from groups.history.evidence.ownership import by_partition
from groups.history.frames.shapes import Frame, MemberFrame
from groups.history.words import partition_name
from simulations.protocol.assignors import ASSIGNORS
from simulations.protocol.assignors.spec_document import SpecError, answer_to

Target = dict[str, dict[str, list[int]]]
"""Member → topic → partitions, ascending."""

MEMBERS_MOST: Final = 500
PARTITIONS_MOST: Final = 10_000
"""Of a group whose next assignment is asked for: somebody waits for the answer, which takes a second at most."""

DIFFERENCES_SHOWN_MOST: Final = 200

JOINER: Final = "a new member"


class Moved(TypedDict):
    """A partition with two holders: ``before`` and ``after`` are member ids, null for none."""

    partition: str
    before: str | None
    after: str | None


class Comparison(TypedDict):
    """How many partitions have the member that was predicted. ``differences``: the first ones, ``before`` as predicted, ``after`` as
    it came."""

    equal: int
    of: int
    differences: list[Moved]


class _Asks(TypedDict):
    """A member in an assignor's spec (``spec_document``)."""

    subscribed_topics: list[str]
    owned: dict[str, list[int]]
    instance_id: str | None
    rack_id: str | None


class NotPredicted(ValueError):
    """Nothing can be predicted; the message contains why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A target, what it moves, and what had to be assumed for it."""

    assignor: str
    target: Target
    moves: list[Moved]
    assumed: list[str]


def predict(
    frame: Frame,
    before: Frame | None = None,
    *,
    assignor: str | None,
    leaves: str | None = None,
    joins: bool = False,
) -> Prediction:
    """The target that the assignor makes of the members of ``frame``, when that of ``before`` is (null: of ``frame``).

    ``leaves`` is a member's id; with ``joins`` there is one more, which subscribes to what the first one does. ``assignor`` is what
    the source reports; null for none. ``NotPredicted`` where the group is of another kind, or too large, or empty.
    """
    protocol = frame.get("protocol") or ""
    if protocol not in ASSIGNORS:
        raise NotPredicted(
            f"Assignments are predicted for consumer and classic groups; this is {protocol or 'unknown'}."
        )
    name, assumed = _assignor(protocol, assignor)
    members = dict(frame["members"])
    if leaves is not None and members.pop(leaves, None) is None:
        raise NotPredicted(f"No member {leaves} is in the group at this moment.")
    held = holdings(before if before is not None else frame)
    counts, unknown = _partition_counts(frame, held)
    if unknown:
        assumed.append(f"partitions of {_some(unknown)}: as many as are assigned")
    if not members:
        raise NotPredicted("Nobody is in the group: an empty group has no target.")
    if len(members) > MEMBERS_MOST or sum(counts.values()) > PARTITIONS_MOST:
        raise NotPredicted(
            f"Foretold are groups of {MEMBERS_MOST:,} members and {PARTITIONS_MOST:,} partitions at most."
        )
    asks = {
        member: _Asks(
            subscribed_topics=_subscribed(frame, each, counts, assumed),
            owned=held.get(member, {}),
            instance_id=each.get("instance_id"),
            rack_id=each.get("rack_id"),
        )
        for member, each in members.items()
    }
    if joins:
        first = next(iter(asks.values()))
        asks[JOINER] = _Asks(
            subscribed_topics=first["subscribed_topics"], owned={}, instance_id=None, rack_id=None
        )
    # A topic without a known id is keyed by its name.
    ids = {
        topic: facts["id"]
        for topic, facts in (frame.get("topics") or {}).items()
        if facts.get("id") not in (None, topic)
    }
    document = {
        "protocol": protocol,
        "assignor": name,
        "topics": {topic: {"partitions": count, "id": ids.get(topic)} for topic, count in counts.items()},
        "members": asks,
    }
    try:
        answer = answer_to(document, "broker")
    except SpecError as error:
        raise NotPredicted(f"This moment cannot be asked about: {error}.") from None
    if "error" in answer:
        raise NotPredicted(f"The assignor {name} refuses: {answer['error']}.")
    target: Target = answer["assignment"]
    return Prediction(
        assignor=name, target=target, moves=_moves(held, target), assumed=list(dict.fromkeys(assumed))
    )


def follows(before: Frame, after: Frame) -> bool:
    """Whether the target of ``after`` was made of that of ``before``: the next one, and not what a log or a scenario begins with."""
    was, now = before.get("assignment_epoch"), after.get("assignment_epoch")
    if before.get("protocol") not in ("consumer", None) or after.get("protocol") != "consumer":
        return False
    if was is None or now is None or now - was != 1:
        return False
    return not before["members"] or any((before.get("target") or {}).values())


def holdings(frame: Frame) -> Target:
    """The current owners, as an assignor gets them: the target of a consumer group, what the leader gave in a classic one."""
    target = frame.get("target") or {}
    held: Target = {}
    for member, each in frame["members"].items():
        topics = target.get(member, {}) if frame["protocol"] == "consumer" else each.get("assigned") or {}
        held[member] = {topic: sorted(partitions) for topic, partitions in topics.items() if partitions}
    return held


def compare(predicted: Target, came: Target) -> Comparison:
    """Partition by partition; one that is on one side alone differs."""
    was, now = by_partition(predicted), by_partition(came)
    places = sorted(was.keys() | now.keys())
    different = [place for place in places if was.get(place) != now.get(place)]
    return {
        "equal": len(places) - len(different),
        "of": len(places),
        "differences": [
            {"partition": partition_name(place), "before": was.get(place), "after": now.get(place)}
            for place in different[:DIFFERENCES_SHOWN_MOST]
        ],
    }


def _moves(held: Target, target: Target) -> list[Moved]:
    return compare(held, target)["differences"]


def _assignor(protocol: str, reported: str | None) -> tuple[str, list[str]]:
    known = ASSIGNORS[protocol]
    if reported is not None and reported in known:
        return reported, []
    if reported:
        raise NotPredicted(f"The group's assignor is {reported}, which is none of {', '.join(known)}.")
    if protocol == "classic":
        raise NotPredicted("The group's assignor is not known at this moment.")
    return next(iter(known)), [
        f"assignor {next(iter(known))}: the broker's default, as no record tells another"
    ]


def _partition_counts(frame: Frame, held: Target) -> tuple[dict[str, int], list[str]]:
    """Partitions of each topic, and the topics of which they are not reported."""
    counts: dict[str, int] = {}
    unknown: list[str] = []
    seen: dict[str, int] = {}
    for topics in (*held.values(), *holdings(frame).values()):
        for topic, partitions in topics.items():
            seen[topic] = max(seen.get(topic, 0), partitions[-1] + 1)
    known = frame.get("topics") or {}
    for topic in sorted({*known, *seen}):
        given = known[topic].get("partitions") if topic in known else None
        count = given if given is not None else seen.get(topic, 0)
        if given is None and count:
            unknown.append(topic)
        if count:
            counts[topic] = count
    return counts, unknown


def _subscribed(
    frame: Frame, member: MemberFrame, counts: Mapping[str, int], assumed: list[str]
) -> list[str]:
    names = dict.fromkeys(member.get("subscribed") or ())
    pattern = member.get("subscribed_regex")
    if pattern:
        resolved = (frame.get("regexes") or {}).get(pattern)
        if resolved is None:
            resolved = _matching(pattern, counts)
            assumed.append(f"{pattern} matches no topic beyond those that are assigned here")
        names.update(dict.fromkeys(resolved))
    return list(names)


def _matching(pattern: str, topics: Mapping[str, int]) -> list[str]:
    """A broker uses RE2/J, and the whole name must match."""
    try:
        compiled = re2.compile(pattern)
    except re2.error:
        return []
    return [topic for topic in topics if compiled.fullmatch(topic)]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
