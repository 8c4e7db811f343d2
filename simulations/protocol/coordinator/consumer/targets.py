"""Computes a target assignment with a broker's orders, and what of it has to be written.

Kafka: ``TargetAssignmentBuilder`` and the assignors' own maps. The assignors take what they are given in the order
given; here it is put into the order in which a broker's hash tables would hand it over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from groups.history.state.consumer import ConsumerGroup, ConsumerMember
from simulations.protocol.assignors import SERVER_ASSIGNORS, Assignment, GroupSpec, MemberSpec, Topic
from simulations.protocol.assignors.broker_order import in_memory_target, signed_halves, topics_as_walked
from simulations.protocol.assignors.interface import AssignorError, Change
from simulations.protocol.assignors.interface import Owned as Assigned
from simulations.protocol.assignors.java_orders import (
    LEAST_SLOTS,
    HashOrder,
    TimelineOrder,
    int_hash,
    string_hash,
    uuid_hash,
)
from simulations.protocol.assignors.scripted import SCRIPTED, ScriptedAssignor
from simulations.protocol.assignors.sharing import members_in_order as range_order
from simulations.protocol.coordinator.consumer.subscriptions import all_names
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.messages.groups import Partitions


def timeline_order(group: ConsumerGroup, slots: int = LEAST_SLOTS) -> TimelineOrder[str]:
    """Member ids as the coordinator's own table of ``slots`` slots walks them."""
    return TimelineOrder(string_hash, group.members, slots=slots)


def members_in_order(
    group: ConsumerGroup,
    joiner: str | None,
    replaced: str | None = None,
    *,
    slots: int = LEAST_SLOTS,
    replaced_too: bool = True,
) -> list[str]:
    """Member ids as an assignor gets them: a new ``HashMap``, filled in timeline order, then the joiner.

    The static member whose place it takes is not there. ``replaced_too``: it was put with the others, and the two changes
    are made in the order in which a ``HashMap`` of them has them, so that the table may have grown meanwhile.
    """
    known = timeline_order(group, slots)
    if replaced is None or not replaced_too:
        order = HashOrder.filled(string_hash, (each for each in known if each != replaced))
        if joiner is not None:
            order.put(joiner)
        return list(order)
    order = HashOrder.filled(string_hash, known)
    for changed in HashOrder.filled(string_hash, (each for each in (joiner, replaced) if each is not None)):
        if changed == replaced:
            order.remove(changed)
        else:
            order.put(changed)
    return list(order)


def compute_target(
    assignor_name: str,
    group: ConsumerGroup,
    members: Mapping[str, ConsumerMember],
    targets: Mapping[str, Mapping[str, Iterable[int]]],
    image: Image,
    *,
    homogeneous: bool,
    epoch: int,
    scripted: ScriptedAssignor | None = None,
) -> dict[str, Partitions]:
    """The new target of every member, in the order of ``members``, topics and partitions as a broker holds them.

    ``AssignorError`` if the assignor refuses. Members that it leaves out have nothing. ``epoch`` is the target's.
    """
    old = {member_id: in_memory_target(targets.get(member_id, {})) for member_id in members}
    topic_ids = _subscribed_ids(group, members, image)
    subscribed = image.topic_ids(all_names(group, members))
    first = next(iter(members.values()), None)
    names = len(group.subscribed_topics(first)) if first is not None else 0
    walk = topics_as_walked(names, (*next(iter(topic_ids.values()), ()), *subscribed))
    spec = GroupSpec(
        members={
            member_id: MemberSpec(
                topics=topic_ids[member_id],
                owned=old[member_id],
                instance_id=member.instance_id,
                rack_id=member.rack_id,
            )
            for member_id, member in members.items()
        },
        topics={topic_id: _topic(image.by_id[topic_id]) for topic_id in walk},
        homogeneous=homogeneous,
        topic_ranks=sorted(subscribed, key=signed_halves),
    )
    if assignor_name == SCRIPTED and scripted is not None:
        answer = scripted.assign(epoch, {name: topic.topic_id for name, topic in image.topics.items()})
        changes: Mapping[str, Sequence[Change]] = {}
    else:
        if homogeneous and assignor_name == "range":
            spec = _as_the_first(spec)
        if assignor_name not in SERVER_ASSIGNORS:
            # Members that were written down may ask for one that the broker does not have any more.
            raise AssignorError(f"the broker has no assignor {assignor_name}")
        made = SERVER_ASSIGNORS[assignor_name].assign(spec)
        answer, changes = made.members, made.changes
    ordered: dict[str, Partitions] = {}
    for member_id, member in members.items():
        if assignor_name == "uniform" and member_id in changes:
            ordered[member_id] = _changed_order(
                answer[member_id], changes[member_id], spec, member_id, homogeneous=homogeneous
            )
            continue
        # Names that do not exist count where a table is made for the topics of one member.
        known = len(spec.members[member_id].topics) if homogeneous else len(group.subscribed_topics(member))
        ordered[member_id] = _ordered(assignor_name, spec, member_id, answer, known, homogeneous=homogeneous)
    return ordered


def _as_the_first(spec: GroupSpec) -> GroupSpec:
    """``range`` in a homogeneous group gives every member a part of the first one's topics.

    A joiner of which the group's stored subscription type does not know may subscribe to others, or to none.
    """
    first = next(iter(range_order(spec.members)), None)
    if first is None:
        return spec
    topics = spec.members[first].topics
    if all(member.topics == topics for member in spec.members.values()):
        return spec
    return replace(
        spec, members={other: replace(member, topics=topics) for other, member in spec.members.items()}
    )


def _topic(topic: ImageTopic) -> Topic:
    racks = {p: topic.racks_of(p) for p in range(topic.partitions)} if topic.racks else None
    return Topic(partitions=topic.partitions, racks=racks)


def _subscribed_ids(
    group: ConsumerGroup, members: Mapping[str, ConsumerMember], image: Image
) -> dict[str, tuple[str, ...]]:
    """The topics of each member that exist; equal subscriptions are one object, and cost once."""
    known: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}
    for member in members.values():
        subscription = member.subscribed_topic_names, member.subscribed_topic_regex or ""
        if subscription not in known:
            known[subscription] = image.topic_ids(_names_in_order(group, *subscription))
    return {
        member_id: known[member.subscribed_topic_names, member.subscribed_topic_regex or ""]
        for member_id, member in members.items()
    }


def _names_in_order(group: ConsumerGroup, names: tuple[str, ...], regex: str) -> Iterable[str]:
    """A member's names and those of its resolved expression: of two sets the larger first (``UnionSet``)."""
    resolved = group.regexes.get(regex)
    named = HashOrder.set_copy(string_hash, names)
    if resolved is None:
        return named
    matched = HashOrder.set_copy(string_hash, resolved.topics)
    return dict.fromkeys((*named, *matched) if len(named) > len(matched) else (*matched, *named))


def same_partitions(left: Mapping[str, Iterable[int]], right: Mapping[str, Iterable[int]]) -> bool:
    """Whether two targets hold the same partitions, whatever their order."""
    return {t: frozenset(p) for t, p in left.items() if p} == {t: frozenset(p) for t, p in right.items() if p}


def _ordered(
    assignor_name: str, spec: GroupSpec, member_id: str, answer: Assignment, known: int, *, homogeneous: bool
) -> dict[str, tuple[int, ...]]:
    assigned = {topic_id: numbers for topic_id, numbers in answer.get(member_id, {}).items() if numbers}
    member = spec.members[member_id]
    if assignor_name == "range":
        return _range_order(assigned, member, known)
    return _uniform_order(assigned, spec, member, homogeneous=homogeneous)


def _range_order(
    assigned: Mapping[str, Sequence[int]], member: MemberSpec, known: int
) -> dict[str, tuple[int, ...]]:
    order = HashOrder.with_capacity(
        uuid_hash, int(known / 0.75 + 1), (t for t in member.topics if t in assigned)
    )
    return {topic_id: tuple(assigned[topic_id]) for topic_id in order}


def _uniform_order(
    assigned: Mapping[str, Sequence[int]], spec: GroupSpec, member: MemberSpec, *, homogeneous: bool
) -> dict[str, tuple[int, ...]]:
    """A changed member's maps: all old topics put, emptied ones removed, then one ``computeIfAbsent`` per gain.

    A topic that the member may not have any more is of the old ones, too: to take it away is a change, and the table
    was made for it (``AssignorHelpers.deepCopyAssignment``).
    """
    if same_partitions(member.owned, assigned):
        return {topic_id: tuple(numbers) for topic_id, numbers in member.owned.items() if numbers}
    topics = HashOrder.with_capacity(uuid_hash, len(member.owned), member.owned)
    partitions: dict[str, HashOrder[int]] = {}
    for topic_id, numbers in member.owned.items():
        kept = HashOrder.set_copy(int_hash, numbers)
        for number in set(numbers).difference(assigned.get(topic_id, ())):
            kept.remove(number)
        if len(kept):
            partitions[topic_id] = kept
        else:
            topics.remove(topic_id)
    for topic_id, numbers in assigned.items():
        had = frozenset(member.owned.get(topic_id, ()))
        for number in numbers:
            if number in had:
                continue
            topics.compute(topic_id)
            if topic_id not in partitions:
                partitions[topic_id] = _new_partition_set(spec, topic_id, homogeneous=homogeneous)
            partitions[topic_id].put(number)
    return {topic_id: tuple(partitions[topic_id]) for topic_id in topics}


def _changed_order(
    assigned: Assigned, changes: Sequence[Change], spec: GroupSpec, member_id: str, *, homogeneous: bool
) -> dict[str, tuple[int, ...]]:
    """As ``_uniform_order``, of a member whose changes came in an order that counts: a table does not shrink again."""
    member = spec.members[member_id]
    if same_partitions(member.owned, assigned):
        return {topic_id: tuple(numbers) for topic_id, numbers in member.owned.items() if numbers}
    topics = HashOrder.with_capacity(uuid_hash, len(member.owned), member.owned)
    partitions: dict[str, HashOrder[int]] = {}
    for topic_id, numbers in member.owned.items():
        if numbers and topic_id in member.topics:
            partitions[topic_id] = HashOrder.set_copy(int_hash, numbers)
        else:
            topics.remove(topic_id)
    for topic_id, partition, gained in changes:
        if gained:
            topics.compute(topic_id)
            if topic_id not in partitions:
                partitions[topic_id] = _new_partition_set(spec, topic_id, homogeneous=homogeneous)
            partitions[topic_id].put(partition)
            continue
        partitions[topic_id].remove(partition)
        if not len(partitions[topic_id]):
            topics.remove(topic_id)
            del partitions[topic_id]
    return {topic_id: tuple(partitions[topic_id]) for topic_id in topics}


def _new_partition_set(spec: GroupSpec, topic_id: str, *, homogeneous: bool) -> HashOrder[int]:
    if homogeneous:
        return HashOrder(int_hash)
    subscribers = sum(topic_id in member.topics for member in spec.members.values())
    expected = -(-spec.topics[topic_id].partitions // subscribers)
    return HashOrder.with_capacity(int_hash, int(expected / 0.75 + 1))
