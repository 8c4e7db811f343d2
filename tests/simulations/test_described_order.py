"""The order of topics in a description is that of the hash table in which a broker gathers them."""

from __future__ import annotations

import pytest

from groups.history.state.group import Semantics
from simulations.protocol.assignors.java_orders import HashOrder, uuid_hash
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.groups import Heartbeat
from tests.simulations.broker import Broker

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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("9189iMtAmreF3JJBGX0vWQ", "W83_5wh9OioTyVp5w9-LYQ"),
        ("Savrugp1xW7Cq63oxWNHjw", "bBZZ0XL2KPVImybX1st7wQ"),
        ("eORUkUMxjfS8LGHwHoyI7A", "gINGYc0j8o1y_f5xhUPNoQ"),
    ],
)
def test_a_member_that_gains_of_a_new_topic_and_then_of_an_old_one_has_the_old_one_first(
    old: str, new: str
) -> None:
    """The answer of Kafka's own ``UniformAssignor`` (4.3.1 and 4.4.0): the second gain doubles the table once more."""
    broker = Broker(assignment_interval_ms=0)
    broker.create("old", old)
    broker.join("A", "old", "new")
    broker.create("new", new)
    broker.grow("old", 2)
    broker.heartbeat("A", 2)
    [target] = [record["value"] for record in broker.last.records if record["type"] == 7]
    assert target == {
        "topicPartitions": [{"topicId": old, "partitions": [0, 1]}, {"topicId": new, "partitions": [0]}]
    }
