"""Puts members and topics into the order in which a real broker, or a real group leader, hands them to an assignor.

Kafka: ``TargetAssignmentBuilder`` and ``UniformAssignor`` for the consumer protocol, ``ConsumerCoordinator``'s map of
subscriptions for the classic one. A broker's order also depends on the history of its tables, in ties inside a hash
bucket; here every table is fresh, as after a fail-over.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from simulations.protocol.assignors.interface import GroupSpec
from simulations.protocol.assignors.java_orders import (
    HashOrder,
    TimelineOrder,
    int_hash,
    string_hash,
    uuid_hash,
)

LEAST_SET: Final = 16
"""Slots of a ``HashSet`` that is made as a copy, however small."""


def topic_id_of(name: str) -> str:
    """An id for a topic whose id nobody knows: the version 3 UUID of its name, in Kafka's base64 form."""
    raw = bytearray(hashlib.md5(name.encode(), usedforsecurity=False).digest())
    raw[6] = raw[6] & 0x0F | 0x30
    raw[8] = raw[8] & 0x3F | 0x80
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed_halves(topic_id: str) -> tuple[int, int]:
    """How Kafka compares topic ids: by their two halves as signed 64-bit numbers."""
    raw = base64.urlsafe_b64decode(topic_id + "==")
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:], "big", signed=True)


def in_memory_target(
    target: Mapping[str, Iterable[int]], ids: Mapping[str, str] | None = None
) -> dict[str, tuple[int, ...]]:
    """A target as a broker holds it after replay; topics are their ids, or ``ids`` has those."""
    order = HashOrder.filled(uuid_hash if ids is None else lambda topic: uuid_hash(ids[topic]), target)
    return {topic: tuple(HashOrder.set_copy(int_hash, target[topic])) for topic in order}


def topics_as_walked(
    names: int, subscribed: Iterable[str], ids: Mapping[str, str] | None = None
) -> HashOrder[str]:
    """Subscribed topics as ``uniform`` walks them: a set sized by the number of names, whether or not they exist."""
    hash_of = uuid_hash if ids is None else lambda topic: uuid_hash(ids[topic])
    return HashOrder.with_capacity(hash_of, max(int(names / 0.75) + 1, LEAST_SET), dict.fromkeys(subscribed))


def classic_in_broker_order(spec: GroupSpec) -> GroupSpec:
    """Members as the leader of a classic group gets them: a ``HashMap`` by member id."""
    order = HashOrder.filled(string_hash, spec.members)
    return replace(spec, members={member_id: spec.members[member_id] for member_id in order})


def consumer_in_broker_order(
    spec: GroupSpec, names: Mapping[str, Collection[str]], ids: Mapping[str, str]
) -> GroupSpec:
    """Members, their topics and targets, and the group's topics as a broker hands them over.

    ``names`` are the subscribed names of each member, existing or not; ``ids`` the ids of all topics of the spec,
    those that are only owned included.
    """
    order = HashOrder.filled(string_hash, TimelineOrder(string_hash, spec.members))
    members = {}
    # Equal subscriptions stay one object, by which assignors recognise equal members.
    ordered: dict[tuple[str, ...], tuple[str, ...]] = {}
    for member_id in order:
        member = spec.members[member_id]
        listed = tuple(names[member_id])
        if listed not in ordered:
            subscribed = HashOrder.set_copy(string_hash, listed)
            ordered[listed] = tuple(topic for topic in subscribed if topic in spec.topics)
        members[member_id] = replace(
            member,
            topics=ordered[listed],
            owned=in_memory_target(member.owned, ids),
        )
    first = next(iter(members), None)
    walked: Iterable[str] = ()
    if first is not None:
        everything = [*members[first].topics, *(t for member in members.values() for t in member.topics)]
        walked = topics_as_walked(len(names[first]), everything, ids)
    topics = {topic: spec.topics[topic] for topic in walked}
    ranks = sorted(spec.topics, key=lambda topic: signed_halves(ids[topic]))
    return replace(spec, members=members, topics=topics, topic_ranks=ranks)
