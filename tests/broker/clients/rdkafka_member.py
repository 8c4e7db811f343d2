"""One member of a group by librdkafka, driven by lines on standard input as GroupMember.java is.

Arguments: topics (comma; ``^`` in front makes one a pattern), then key=value settings of the consumer. With the program's own
setting ``member.reads=true`` it prints each record that it reads: "at orders-0 12 1795782607745", with the time.
"""

from __future__ import annotations

import sys
import threading
import time
from queue import Empty, Queue

from confluent_kafka import Consumer, KafkaException, TopicPartition

POLL_S = 0.1


def say(what: str, partitions: list[TopicPartition]) -> None:
    names = sorted(f"{each.topic}-{each.partition}" for each in partitions)
    sys.stdout.write(" ".join([what, *names]) + "\n")
    sys.stdout.flush()


def main() -> None:
    commands: Queue[str] = Queue()

    def read() -> None:
        for line in sys.stdin:
            commands.put(line.strip())
        # Who drove this member is gone.
        commands.put("leave")

    threading.Thread(target=read, daemon=True).start()
    settings = dict(word.split("=", 1) for word in sys.argv[2:])
    prints_reads = settings.pop("member.reads", "") == "true"
    consumer = Consumer(settings)
    say("ready", [])
    joined = False
    commits = read_records = 0
    while True:
        try:
            command = commands.get(block=not joined)
        except Empty:
            command = ""
        if command == "leave":
            break
        if command == "join" or command.startswith("subscribe "):
            topics = command.removeprefix("subscribe ") if command != "join" else sys.argv[1]
            consumer.subscribe(
                topics.split(","),
                on_assign=lambda member, partitions: say(f"assigned {member.memberid()}", partitions),
                on_revoke=lambda _, partitions: say("revoked", partitions),
                on_lost=lambda _, partitions: say("lost", partitions),
            )
            joined = True
        if command == "count":
            say(f"read {read_records}", [])
        commits += command == "commit"
        if commits and committed(consumer):
            commits -= 1
        message = consumer.poll(POLL_S)
        if message is None or message.error() is not None:
            continue
        read_records += 1
        if prints_reads:
            now_ms = time.time_ns() // 1_000_000
            say(f"at {message.topic()}-{message.partition()} {message.offset()} {now_ms}", [])
    consumer.close()
    say("left", [])


def committed(consumer: Consumer) -> bool:
    """A commit may be refused, where the broker stood still for longer than a session: it is tried after the next poll."""
    offsets = [at(each) for each in consumer.assignment()]
    if not offsets:
        return False
    try:
        consumer.commit(asynchronous=False, offsets=offsets)
    except KafkaException:
        say("refused", [])
        return False
    say("committed", [])
    return True


def at(partition: TopicPartition) -> TopicPartition:
    return TopicPartition(partition.topic, partition.partition, 1)


if __name__ == "__main__":
    main()
