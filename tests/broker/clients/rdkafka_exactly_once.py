"""One member of a group by librdkafka that commits its offsets in transactions, driven by lines on standard input.

Arguments: topics (comma), then key=value settings: ``transactional.id`` and ``transaction.timeout.ms`` are the producer's, the others
the consumer's. A transaction is committed every two seconds, with the offsets of all assigned partitions that moved. "abort 3" aborts the next three,
"hang" sends the offsets of the next and never ends it, "leave" closes and ends. It prints "ready", "assigned ID orders-0", "revoked …", "lost …",
"aborted orders-0 …", "hanging orders-0 …" and "left".
"""

from __future__ import annotations

import sys
import threading
import time
from queue import Empty, Queue

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from rdkafka_member import POLL_S, say

EVERY_S = 2.0
LIMIT_S = 30
OF_PRODUCER = ("transactional.id", "transaction.timeout.ms", "bootstrap.servers")


def main() -> None:
    commands: Queue[str] = Queue()

    def read() -> None:
        for line in sys.stdin:
            commands.put(line.strip())
        commands.put("leave")

    threading.Thread(target=read, daemon=True).start()
    settings = dict(word.split("=", 1) for word in sys.argv[2:])
    producer = Producer({name: value for name, value in settings.items() if name in OF_PRODUCER})
    producer.init_transactions(LIMIT_S)
    of_consumer = {name: value for name, value in settings.items() if name not in OF_PRODUCER[:2]}
    consumer = Consumer({**of_consumer, "enable.auto.commit": "false"})
    say("ready", [])
    joined, hanging, aborts, hang = False, False, 0, False
    sent: dict[tuple[str, int], int] = {}
    last = time.monotonic()
    while True:
        try:
            command = commands.get(block=not joined)
        except Empty:
            command = ""
        if command == "leave":
            break
        if command == "join":
            consumer.subscribe(
                sys.argv[1].split(","),
                on_assign=lambda member, partitions: say(f"assigned {member.memberid()}", partitions),
                on_revoke=lambda _, partitions: say("revoked", partitions),
                on_lost=lambda _, partitions: say("lost", partitions),
            )
            joined = True
        elif command.startswith("abort "):
            aborts = int(command.split()[1])
        elif command == "hang":
            hang = True
        consumer.poll(POLL_S)
        if hanging or time.monotonic() - last < EVERY_S:
            continue
        last = time.monotonic()
        offsets = moved(consumer, sent)
        if not offsets:
            continue
        producer.begin_transaction()
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), LIMIT_S)
        if hang:
            hanging = True
            say("hanging", offsets)
        elif aborts:
            aborts -= 1
            producer.abort_transaction(LIMIT_S)
            say("aborted", offsets)
        else:
            producer.commit_transaction(LIMIT_S)
            sent |= {(each.topic, each.partition): each.offset for each in offsets}
    consumer.close()
    say("left", [])


def moved(consumer: Consumer, sent: dict[tuple[str, int], int]) -> list[TopicPartition]:
    try:
        at = consumer.position(consumer.assignment())
    except KafkaException:
        return []
    return [each for each in at if each.offset >= 0 and sent.get((each.topic, each.partition)) != each.offset]


if __name__ == "__main__":
    main()
