"""A case as each assignor sees it: who is there, what they subscribe to, what they claim."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulations.laboratory.cases import NOBODY, RACKS, REPLICAS, Before, Case, Event
from simulations.protocol.assignors import ASSIGNORS
from simulations.protocol.assignors.interface import (
    Assignor,
    GroupAssignment,
    GroupSpec,
    MemberSpec,
    Owned,
    Topic,
    all_subscribe_alike,
)

CHURNS: Final = 2
"""Times that somebody comes and goes, or goes and comes back, before the event, where each assignor left the group
itself: four rebalances, which is enough for those that remember to differ from those that do not."""

GENERATION: Final = 1
NEWCOMER: Final = -1
"""The generation of a classic member that was in no group yet."""

Owners = Mapping[str, Owned]
"""Member id → topic → partitions."""


@dataclass(slots=True, kw_only=True)
class Standing:
    """A group between two rebalances."""

    owned: Owners = field(default_factory=dict)
    generation: int = 0


def before_of(case: Case, protocol: str, assignor: str) -> Owners:
    """What the members own when the event comes, by the ids of members and names of topics."""
    if case.event is Event.FULL:
        return {}
    if case.before is Before.GIVEN:
        return _given(case)
    if case.before is Before.RANGE:
        return _settled(
            case, ASSIGNORS["classic"]["range"](), "classic", range(len(case.members)), Standing()
        ).owned
    return _left_by(case, protocol, assignor)


def spec_of(case: Case, protocol: str, owned: Owners) -> GroupSpec:
    """The group at the event's rebalance."""
    return _spec(case, protocol, case.present, case.sizes, Standing(owned=owned, generation=GENERATION))


def _spec(
    case: Case, protocol: str, places: Sequence[int], sizes: Sequence[int], standing: Standing
) -> GroupSpec:
    names, ids, topic_names = case.names, case.ids, case.topic_names
    subscriptions: dict[tuple[int, ...], tuple[str, ...]] = {}
    members = {}
    for place in places:
        # Beyond the case's own members there are strangers, who subscribe as the first one does.
        member = case.everybody[place] if place < len(names) else case.members[0]
        member_id = ids[place] if place < len(names) else _stranger(place)
        topics = subscriptions.setdefault(member.topics, tuple(topic_names[at] for at in member.topics))
        owned = standing.owned.get(member_id, {})
        generation = None
        if protocol == "classic":
            generation = standing.generation if member_id in standing.owned else NEWCOMER
        members[member_id] = MemberSpec(
            topics=topics, owned=owned, rack_id=member.rack, generation=generation
        )
    racks = replica_racks(sizes, case.sizes_before) if case.has_racks else None
    topics_of_group = {
        name: Topic(partitions=sizes[place], racks=None if racks is None else dict(enumerate(racks[place])))
        for place, name in enumerate(topic_names)
    }
    return GroupSpec(members=members, topics=topics_of_group, homogeneous=all_subscribe_alike(members))


def replica_racks(sizes: Sequence[int], before: Sequence[int]) -> list[list[tuple[str, ...]]]:
    """The racks of each partition's replicas: two of the three in turn, on through all topics.

    Partitions that are added go on where their topic ended, and turn nobody else's.
    """
    starts = itertools.accumulate(before, initial=0)
    return [
        [
            tuple(RACKS[(start + partition + replica) % len(RACKS)] for replica in range(REPLICAS))
            for partition in range(size)
        ]
        for start, size in zip(starts, sizes, strict=False)
    ]


def _given(case: Case) -> Owners:
    assert case.given is not None
    ids, owned = case.ids, {place: dict[str, list[int]]() for place in range(len(case.members))}
    for name, owners in zip(case.topic_names, case.given, strict=True):
        for partition, owner in enumerate(owners):
            if owner != NOBODY:
                owned[owner].setdefault(name, []).append(partition)
    return {ids[place]: topics for place, topics in owned.items()}


def _left_by(case: Case, protocol: str, assignor: str) -> Owners:
    """What the assignor itself made of the group while some came and went; drawn from the seed."""
    draw = random.Random(case.seed)
    there = list(range(len(case.members)))
    asked = ASSIGNORS[protocol][assignor]()
    standing = _settled(case, asked, protocol, there, Standing())
    strangers = itertools.count(len(case.everybody))
    goes_back: list[tuple[str, int]] = []
    for _ in range(CHURNS):
        own = [place for place in there if place < len(case.members)]
        if own and len(there) > 1 and draw.random() < 0.5:
            place = own[int(draw.random() * len(own))]
            there.remove(place)
            goes_back.append(("join", place))
        else:
            place = next(strangers)
            there.append(place)
            goes_back.append(("leave", place))
        standing = _settled(case, asked, protocol, there, standing)
    for what, place in reversed(goes_back):
        if what == "join":
            there.append(place)
        else:
            there.remove(place)
        standing = _settled(case, asked, protocol, there, standing)
    return standing.owned


def _settled(
    case: Case, asked: Assignor, protocol: str, places: Sequence[int], standing: Standing
) -> Standing:
    """The group after a rebalance, and after the second one where the first withheld partitions."""
    spec = _spec(case, protocol, places, case.sizes_before, standing)
    answer = asked.assign(spec)
    owned = answer.members if answer.intended is None else answer.intended
    return Standing(owned=_ascending(spec, owned), generation=standing.generation + 1)


def _ascending(spec: GroupSpec, owned: Owners) -> Owners:
    """Topics in the order of the group, partitions ascending: as clients and coordinators hold them."""
    return {
        member_id: {
            topic: sorted(owned[member_id][topic])
            for topic in spec.topics
            if member_id in owned and owned[member_id].get(topic)
        }
        for member_id in spec.members
    }


def _stranger(place: int) -> str:
    return f"zz-{place}"


def goal_of(answer: GroupAssignment) -> Owners:
    """Where the group ends, after a second round if there is one."""
    return answer.members if answer.intended is None else answer.intended
