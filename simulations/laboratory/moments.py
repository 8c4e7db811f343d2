"""The group of a timeline's moment as a case: a frame in, a case out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from groups.history.frames.shapes import Frame, MemberFrame
from simulations.laboratory.cases import (
    NOBODY,
    Before,
    Case,
    CaseError,
    CaseTopic,
    Event,
    Member,
    check_size,
)

PROTOCOLS: Final = ("consumer", "classic")


def case_of_frame(frame: Frame, cast: Sequence[Mapping[str, str]] = ()) -> Case:
    """The members, their subscriptions and what they own at a moment, before an event of one's choice.

    What counts as owned is what an assignor gets: the current target in a group of the consumer protocol, what the
    leader gave in a classic one. ``cast`` names members by their ids, in order of joining. A topic whose partitions the
    source does not report has as many as are owned. Racks are left out: a log contains the members', and not the replicas'.
    """
    protocol = frame.get("protocol")
    if protocol not in PROTOCOLS:
        kind = f"a {protocol} group" if protocol else "a group that is not known yet"
        raise CaseError(
            f"this moment shows {kind}; the laboratory compares consumer and classic groups", "at"
        )
    order = {each["id"]: place for place, each in enumerate(cast)}
    names = {each["id"]: each["name"] for each in cast}
    members = frame["members"]
    ids = sorted(members, key=lambda member_id: order.get(member_id, len(order)))
    if not ids:
        raise CaseError("nobody is in the group at this moment; choose one with members", "at")
    owned = {member_id: _owned(frame, member_id) for member_id in ids}
    counts = _partition_counts(frame, owned)
    subscribed = {
        topic for member in members.values() for topic in member.get("subscribed") or () if topic in counts
    }
    topics = sorted(subscribed | {topic for each in owned.values() for topic in each if each[topic]})
    if not topics:
        raise CaseError("no topic with partitions is known at this moment; choose a later one", "at")
    # Before anything is made of the numbers: a log may contain any.
    check_size(len(ids), [counts[topic] for topic in topics])
    places = {topic: place for place, topic in enumerate(topics)}
    given = [[NOBODY] * counts[topic] for topic in topics]
    for place, member_id in enumerate(ids):
        for topic, partitions in owned[member_id].items():
            for partition in partitions:
                given[places[topic]][partition] = place
    shown = [names.get(member_id, member_id) for member_id in ids]
    unique = len(set(shown)) == len(shown)
    return Case(
        members=tuple(
            _member(member_id, name if unique else member_id, members[member_id], places)
            for member_id, name in zip(ids, shown, strict=True)
        ),
        topics=tuple(CaseTopic(partitions=counts[topic], name=topic) for topic in topics),
        event=Event.STABLE,
        before=Before.GIVEN,
        given=tuple(tuple(owners) for owners in given),
    )


def _member(member_id: str, name: str, state: MemberFrame, places: Mapping[str, int]) -> Member:
    subscribed = [places[topic] for topic in state.get("subscribed") or () if topic in places]
    return Member(
        topics=tuple(sorted(set(subscribed))), name=name, member_id=member_id if member_id != name else None
    )


def _owned(frame: Frame, member_id: str) -> Mapping[str, Sequence[int]]:
    target = frame.get("target") or {}
    if frame["protocol"] == "consumer" and member_id in target:
        return dict(target[member_id])
    return dict(frame["members"][member_id].get("assigned") or {})


def _partition_counts(frame: Frame, owned: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[str, int]:
    """Partitions of each topic that has any, as far as they are known."""
    counts: dict[str, int] = {}
    for topic, facts in (frame.get("topics") or {}).items():
        counts[topic] = facts.get("partitions") or 0
    for topics in owned.values():
        for topic, partitions in topics.items():
            counts[topic] = max(counts.get(topic, 0), *(partition + 1 for partition in partitions), 0)
    return {topic: count for topic, count in counts.items() if count}
