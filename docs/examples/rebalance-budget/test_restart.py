"""A rolling restart of two consumers stays within its budget."""

import os
import time
import uuid

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

KAFKA = os.environ["KAFKA"]


def joined(topic: str, group: str) -> Consumer:
    consumer = Consumer({"bootstrap.servers": KAFKA, "group.id": group, "group.protocol": "consumer"})
    consumer.subscribe([topic])
    deadline = time.monotonic() + 30
    while not consumer.assignment() and time.monotonic() < deadline:
        consumer.poll(0.1)
    return consumer


def test_a_rolling_restart_stays_within_its_budget(rebalance_budget):
    topic = group = f"orders-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": KAFKA})
    admin.create_topics([NewTopic(topic, 4)])[topic].result()
    with rebalance_budget(
        KAFKA,
        group,
        max_rebalances=int(os.environ.get("MAX_REBALANCES", "8")),
        max_unassigned="60s",
    ) as recorded:
        consumers = [joined(topic, group) for _ in range(2)]
        for place in range(2):
            consumers[place].close()
            consumers[place] = joined(topic, group)
        for consumer in consumers:
            consumer.close()
    assert recorded.figures["rebalances"] > 1
