"""Which topics a classic group subscribes to, as far as its coordinator can read it.

Kafka: ``ClassicGroup.computeSubscribedTopics``. Only the first field of a subscription is read, which every version has.
"""

from __future__ import annotations

from groups.wire.embedded.consumer_protocol import read_blob
from groups.wire.errors import RecordError
from groups.wire.generated.embedded import SUBSCRIPTION
from simulations.protocol.coordinator.classic.group import Group


def subscribed_topics(group: Group) -> frozenset[str] | None:
    """The topics of all members; ``None`` where they are not known: no consumers, or bytes that cannot be read."""
    if not group.is_consumer:
        return None
    if not group.members:
        return frozenset()
    if group.protocol_name is None:
        return None
    topics: set[str] = set()
    try:
        for data in {member.metadata(group.protocol_name) for member in group.members.values()}:
            topics.update(read_blob(SUBSCRIPTION, data, newest_known=0)[0]["topics"])
    except RecordError:
        return None
    return frozenset(topics)


def is_subscribed(group: Group, topic: str) -> bool:
    """Whether the topic is subscribed to; of a consumer group whose topics are not known every one is."""
    return group.is_consumer if group.subscribed is None else topic in group.subscribed
