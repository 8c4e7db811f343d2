"""One member of a group by aiokafka or confluent-kafka (librdkafka). It leaves cleanly at SIGTERM.

Arguments: library (aiokafka, rdkafka, rdkafka-next), bootstrap, group, topic, client id. It runs in an environment of its own,
with the two packages from their registry.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

SESSION_MS = 6000
BEAT_MS = 1000


async def by_aiokafka(bootstrap: str, group: str, topic: str, client: str) -> None:
    import aiokafka  # type: ignore[import-not-found]
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor  # type: ignore[import-not-found]

    consumer = aiokafka.AIOKafkaConsumer(
        topic, bootstrap_servers=bootstrap, group_id=group, client_id=client,
        session_timeout_ms=SESSION_MS, heartbeat_interval_ms=BEAT_MS, rebalance_timeout_ms=SESSION_MS,
        partition_assignment_strategy=(RangePartitionAssignor,),
    )  # fmt: skip
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await consumer.start()
    try:
        while not ended.is_set():
            await consumer.getmany(timeout_ms=200)
    finally:
        await consumer.stop()


def by_rdkafka(bootstrap: str, group: str, topic: str, client: str, is_next: bool) -> None:
    from confluent_kafka import Consumer

    how: dict[str, Any] = {"group.protocol": "consumer"}
    if not is_next:
        how = {
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": BEAT_MS,
        }
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "client.id": client} | how)
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    consumer.subscribe([topic])
    while not ended:
        consumer.poll(0.2)
    consumer.close()


if __name__ == "__main__":
    library, *words = sys.argv[1:]
    if library == "aiokafka":
        asyncio.run(by_aiokafka(*words))
    else:
        by_rdkafka(*words, library == "rdkafka-next")
