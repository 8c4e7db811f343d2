"""What a leader's client knows of topics and racks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from simulations.protocol.assignors.interface import GroupSpec, MemberSpec, Topic

NO_RACKS: frozenset[str] = frozenset()


def partition_counts(spec: GroupSpec, subscribed: Iterable[str]) -> dict[str, int]:
    """Subscribed topics that exist and have partitions: Kafka's ``partitionsPerTopic``."""
    counts = ((topic, spec.topics[topic].partitions) for topic in subscribed if topic in spec.topics)
    return {topic: count for topic, count in counts if count}


def rack_of(member: MemberSpec) -> str | None:
    """A member's rack; an empty one is none."""
    return member.rack_id or None


def racks_of(topic: Topic) -> list[frozenset[str]]:
    """The racks of each partition's replicas; equal ones are one object."""
    if not topic.racks:
        return [NO_RACKS] * topic.partitions
    same: dict[frozenset[str], frozenset[str]] = {NO_RACKS: NO_RACKS}
    sets = {partition: frozenset(racks) for partition, racks in topic.racks.items()}
    return [
        same.setdefault(racks, racks)
        for racks in (sets.get(partition, NO_RACKS) for partition in range(topic.partitions))
    ]


def racks_help(consumers: Collection[str], partitions: Collection[frozenset[str]]) -> bool:
    """``useRackAwareAssignment``: some racks are shared, and not every partition is on all racks."""
    every = NO_RACKS.union(*set(partitions))
    if every.isdisjoint(consumers):
        return False
    return any(racks != every for racks in set(partitions))


def racks_by_topic(spec: GroupSpec, counts: Mapping[str, int]) -> dict[str, list[frozenset[str]]]:
    """The racks of all partitions of those topics."""
    return {topic: racks_of(spec.topics[topic]) for topic in counts}
