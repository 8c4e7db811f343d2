"""Offsets that are committed in transactions."""

from __future__ import annotations

from ..acting import Group
from ..producing import Transactions, newest_version, until_stable
from .table import after_restart, exchange

ABOUT = "transactions"

OFFSET_METADATA_TOO_LARGE, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID = 12, 3, 100
UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, GROUP_ID_NOT_FOUND, ILLEGAL_GENERATION = 25, 113, 69, 22
NON_EMPTY_GROUP = 68
UNSTABLE_OFFSET_COMMIT = 88
NOBODYS_ID = "AAAAAAAAAAAAAAAAAAAAQQ"


def by_epoch(group: Group) -> int:
    """What the broker's newest version answers of another epoch."""
    return STALE_MEMBER_EPOCH if newest_version(group) >= 6 else ILLEGAL_GENERATION


def held(group: Group, topic: str, partitions: list[int], pending: set[int], **fields: int) -> None:
    """Who asks for stable offsets gets none of what a transaction holds; who does not gets what was before."""
    for version in (10, 9):
        told = group.fetch(None, -1, {topic: partitions}, stable=True, version=version)
        codes = {each["partitionIndex"]: each["errorCode"] for each in told["topics"][0]["partitions"]}
        assert codes == {number: UNSTABLE_OFFSET_COMMIT * (number in pending) for number in partitions}
    group.fetch(None, -1, {topic: partitions}, **fields)


@exchange(ABOUT, "txn-committed", "A member's offsets hold when the transaction is committed, not before")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.join("A", ["foo"])
    group.commit("A", None, "foo", {0: 5, 1: 6})
    producer = Transactions(group, "p")
    producer.commit("A", None, "foo", {1: 7, 2: 8}, metadata="m")
    held(group, "foo", [0, 1, 2, 3], {1, 2})
    group.fetch("A", group.epochs["A"], None, stable=True)
    producer.commit("A", None, "foo", {1: 9})
    producer.end(committed=True)
    until_stable(group, "foo", [0, 1, 2, 3])
    group.fetch("A", group.epochs["A"], None, stable=True)
    producer.commit("A", None, "foo", {3: 1})
    held(group, "foo", [3], {3})
    producer.end(committed=False)
    until_stable(group, "foo", [3])
    group.fetch(None, -1, None)


@exchange(ABOUT, "txn-older-protocol", "The same where the producer adds the group to its transaction itself")
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.join("A", ["foo"])
    producer = Transactions(group, "p", version=3)
    producer.commit("A", None, "foo", {0: 5}, metadata=None)
    held(group, "foo", [0, 1], {0})
    producer.end(committed=True)
    until_stable(group, "foo", [0])
    producer.commit("A", None, "foo", {0: 6, 1: 1})
    producer.end(committed=False)
    until_stable(group, "foo", [0, 1])
    group.fetch(None, -1, {"foo": [0, 1]})


@exchange(ABOUT, "txn-overtaken", "What is committed outside, or deleted, while a transaction is open")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.topic("bar", 4)
    group.join("A", ["foo"])
    first, second = Transactions(group, "p"), Transactions(group, "q")
    first.commit("A", None, "foo", {0: 1, 1: 1})
    first.commit("A", None, "bar", {0: 1, 1: 1})
    group.commit("A", None, "foo", {0: 2})
    second.commit("A", None, "foo", {1: 3, 2: 3})
    group.delete_offsets("bar", [1, 2])
    held(group, "foo", [0, 1, 2], {0, 1, 2})
    held(group, "bar", [0, 1], {0})
    second.end(committed=True)
    until_stable(group, "foo", [2])
    held(group, "foo", [0, 1, 2], {0, 1})
    first.end(committed=True)
    until_stable(group, "foo", [0, 1])
    group.fetch(None, -1, None)


@exchange(ABOUT, "txn-refused", "Who may not commit in a transaction: by group, member, epoch, partition")
def _(group: Group) -> None:
    group.topic("foo", 4)
    producer = Transactions(group, "p")
    by_name = newest_version(group) < 6
    missing = ILLEGAL_GENERATION if by_name else GROUP_ID_NOT_FOUND
    producer.commit("A", 3, "foo", {0: 1}, codes=[missing])
    producer.commit("A", 3, "foo", {0: 1}, codes=[ILLEGAL_GENERATION], version=5)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    epoch = group.epochs["A"]
    (kept,) = list(group.owned["A"].values())
    gone = next(n for n in range(4) if n not in kept)
    producer.commit("C", epoch, "foo", {0: 1}, codes=[UNKNOWN_MEMBER_ID])
    producer.commit("", 1, "foo", {0: 1}, codes=[UNKNOWN_MEMBER_ID])
    producer.commit("A", epoch + 1, "foo", {kept[0]: 1}, codes=[by_epoch(group)])
    producer.commit("A", epoch + 1, "foo", {kept[0]: 1}, codes=[ILLEGAL_GENERATION], version=5)
    producer.commit("A", epoch - 1, "foo", {kept[0]: 2})
    producer.commit("A", epoch - 1, "foo", {kept[0]: 3, gone: 3}, codes=[by_epoch(group)] * 2)
    producer.commit("", -1, "foo", {kept[0]: 4})
    long = "x" * 4097
    producer.commit("A", None, "foo", {0: 1}, metadata=long, codes=[OFFSET_METADATA_TOO_LARGE])
    producer.commit("A", None, "foo", {0: 3, 7: 1, 1: 4}, codes=[UNKNOWN_TOPIC_OR_PARTITION, 0, 0])
    if by_name:
        producer.commit("A", None, "none", {0: 1}, codes=[UNKNOWN_TOPIC_OR_PARTITION])
    else:
        producer.commit("A", None, "foo", {0: 1}, codes=[UNKNOWN_TOPIC_ID], topic_id=NOBODYS_ID)
    producer.end(committed=True)
    until_stable(group, "foo", [0, 1, *kept])
    group.fetch(None, -1, None)


@exchange(ABOUT, "txn-alone", "A group of pending offsets alone; what its deletion writes")
def _(group: Group) -> None:
    group.topic("foo", 8)
    producer = Transactions(group, "p")
    producer.commit("", -1, "foo", {0: 1, 5: 1})
    group.fetch(None, -1, None)
    held(group, "foo", [0, 5], {0, 5})
    group.commit("", -1, "foo", {5: 2, 7: 2})
    group.delete()
    producer.end(committed=True)
    until_stable(group, "foo", [0, 5])
    group.fetch(None, -1, None)


@exchange(ABOUT, "txn-deleted", "A group with pending offsets of several producers is deleted")
def _(group: Group) -> None:
    group.topic("foo", 12)
    group.topic("bar", 12)
    group.join("A", ["foo"])
    producers = [Transactions(group, name) for name in "pqr"]
    for number, producer in enumerate(producers):
        producer.commit("A", None, "foo", {number: 1, 4 + number: 1, 11: number})
        producer.commit("A", None, "bar", {number: 1, 9: 1})
    group.commit("A", None, "foo", {4: 4})
    group.delete(error=NON_EMPTY_GROUP)
    group.leave("A")
    group.delete()
    for producer in producers:
        producer.end(committed=True)
    group.fetch(None, -1, None)


@exchange(ABOUT, "txn-topic-deleted", "A topic with committed and pending offsets is deleted")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.topic("bar", 6)
    group.join("A", ["foo"])
    producers = [Transactions(group, name) for name in "pq"]
    group.commit("A", None, "bar", {1: 1, 2: 1})
    for number, producer in enumerate(producers):
        producer.commit("A", None, "bar", {number: 2, 2: 2, 5 - number: 2})
    group.remove_topic("bar")
    group.beat("A")
    for producer in producers:
        producer.end(committed=True)
    group.fetch(None, -1, None)


@exchange(ABOUT, "txn-open-at-restart", "A new coordinator knows of the transactions that are open")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.join("A", ["foo"])
    group.commit("A", None, "foo", {0: 1})
    Transactions(group, "p").commit("A", None, "foo", {0: 2, 1: 2})
    producer = Transactions(group, "q")
    producer.commit("A", None, "foo", {2: 3})
    producer.end(committed=True)
    until_stable(group, "foo", [2])


@after_restart("txn-open-at-restart")
def _(group: Group) -> None:
    held(group, "foo", [0, 1, 2, 3], {0, 1})
    # The transactional id is taken over, which aborts what it had begun.
    Transactions(group, "p")
    until_stable(group, "foo", [0, 1, 2, 3])
    group.fetch(None, -1, None)
