"""The order of topics in a description is that of the hash table in which a broker gathers them."""

from __future__ import annotations

from groups.history.state.group import Semantics
from simulations.protocol.assignors.java_orders import HashOrder, uuid_hash
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.groups import Heartbeat

ONE, TWO = "37xZdyoLRVO_1XWjhRrC8w", "Z1lxJtPlSRiD9wHwFkCaWQ"
"""Two topic ids that a broker's tables keep in one bucket."""


def test_two_topics_of_one_bucket_are_described_the_other_way_round_than_they_are_assigned() -> None:
    topics = {
        name: ImageTopic(name=name, topic_id=topic_id, partitions=1)
        for name, topic_id in (("one", ONE), ("two", TWO))
    }
    shard = Shard("g", Semantics.KAFKA, Settings(), Image(topics=topics))
    joins = Heartbeat(
        group_id="g",
        member_id="A",
        member_epoch=0,
        rebalance_timeout_ms=1000,
        subscribed_topic_names=("one", "two"),
        owned={},
    )
    assigned = shard.heartbeat(joins, 1000).answer.assigned
    assert assigned is not None
    (member,) = shard.describe()["members"]
    described = [each["topicId"] for each in member["assignment"]["topicPartitions"]]
    put = HashOrder.filled(uuid_hash, [ONE, TWO])
    assert list(put) == [ONE, TWO], "they share a bucket, or the first would not stay in front both ways"
    assert list(HashOrder.filled(uuid_hash, [TWO, ONE])) == [TWO, ONE]
    assert described == list(assigned)[::-1]
