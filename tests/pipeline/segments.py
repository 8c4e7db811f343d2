"""Segments written by hand, batch by batch, with the product's own encoder (which is held against Kafka's elsewhere)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from groups.wire.logs.batches import write_segment
from groups.wire.logs.compression import Compression
from groups.wire.logs.control import ControlRecord, ControlType, encode_control
from groups.wire.logs.record_batch import RecordBatch, coordinator_batch
from groups.wire.metadata_hash import group_hash, topic_hash
from groups.wire.records import encode_record

FOO = "cLledStpRu6ixDUvA4jVgA"
BAR = "mQnGqXwYTz2Yt0a0h8s8nQ"
START_MS = 1_700_000_000_000

Payload = dict[str, Any]

UNKNOWN_KEY = bytes.fromhex("001f0006")
"""How the key of a record of an unknown type begins, for groups whose names have six letters."""


def record(number: int, key: Mapping[str, Any], value: Mapping[str, Any] | None, version: int = 0) -> Payload:
    return {"type": number, "key": dict(key), "version": None if value is None else version, "value": value}


def hash_of(names: Mapping[str, tuple[str, int]]) -> int:
    return group_hash({name: topic_hash(topic_id, name, count) for name, (topic_id, count) in names.items()})


class Group:
    """The records that the coordinator writes for one group, a list for each request."""

    def __init__(self, name: str = "orders", topics: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.topics = dict(topics or {"foo": FOO})
        self.epoch = 1

    def key(self, **more: str) -> dict[str, str]:
        return {"groupId": self.name, **more}

    def join(
        self, member: str, assigned: Mapping[str, Sequence[int]], metadata_hash: int = 0
    ) -> list[Payload]:
        self.epoch += 1
        partitions = [{"topicId": topic_id, "partitions": list(some)} for topic_id, some in assigned.items()]
        epoch: dict[str, Any] = {"epoch": self.epoch}
        if metadata_hash:
            epoch["metadataHash"] = metadata_hash
        return [
            record(5, self.key(memberId=member), self.member(member)),
            record(3, self.key(), epoch),
            record(7, self.key(memberId=member), {"topicPartitions": partitions}),
            record(6, self.key(), {"assignmentEpoch": self.epoch}),
            record(8, self.key(memberId=member), self.current(partitions)),
        ]

    def advance(self, member: str, assigned: Mapping[str, Sequence[int]]) -> list[Payload]:
        partitions = [{"topicId": topic_id, "partitions": list(some)} for topic_id, some in assigned.items()]
        return [record(8, self.key(memberId=member), self.current(partitions))]

    def leave(self, member: str) -> list[Payload]:
        self.epoch += 1
        gone = [record(number, self.key(memberId=member), None) for number in (8, 7, 5)]
        return [*gone, record(3, self.key(), {"epoch": self.epoch})]

    def delete(self) -> list[Payload]:
        self.epoch = 1
        return [record(number, self.key(), None) for number in (6, 4, 3)]

    def commit(
        self, topic: str = "foo", partition: int = 0, offset: int = 1, with_id: bool = True
    ) -> list[Payload]:
        value: dict[str, Any] = {
            "offset": offset,
            "leaderEpoch": -1,
            "metadata": "",
            "commitTimestamp": START_MS,
        }
        if with_id:
            value["topicId"] = self.topics[topic]
        key = {"group": self.name, "topic": topic, "partition": partition}
        return [record(1, key, value, version=4)]

    def member(self, member: str) -> dict[str, Any]:
        return {
            "instanceId": None,
            "rackId": None,
            "clientId": member,
            "clientHost": "/127.0.0.1",
            "subscribedTopicNames": sorted(self.topics),
            "subscribedTopicRegex": "",
            "rebalanceTimeoutMs": 300_000,
            "serverAssignor": None,
        }

    def current(self, partitions: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "memberEpoch": self.epoch,
            "previousMemberEpoch": 0,
            "state": 0,
            "assignedPartitions": partitions,
            "partitionsPendingRevocation": [],
        }

    def classic(self, generation: int, members: Sequence[str] = ()) -> list[Payload]:
        value = {
            "protocolType": "consumer",
            "generation": generation,
            "protocol": "range" if members else None,
            "leader": members[0] if members else None,
            "currentStateTimestamp": START_MS,
            "members": [
                {
                    "memberId": member,
                    "groupInstanceId": None,
                    "clientId": member,
                    "clientHost": "/127.0.0.1",
                    "rebalanceTimeout": 300_000,
                    "sessionTimeout": 45_000,
                    "subscription": "",
                    "assignment": "",
                }
                for member in members
            ],
        }
        return [record(2, {"group": self.name}, value, version=3)]


class Segment:
    """A segment in the making: each call is a batch, a second after the last one."""

    def __init__(self, first_offset: int = 0) -> None:
        self.batches: list[RecordBatch] = []
        self.next_offset = first_offset
        self.now_ms = START_MS

    def add(self, *requests: list[Payload], compression: Compression = Compression.NONE) -> Segment:
        """One batch that holds these requests."""
        self.raw(*(encode_record(payload) for request in requests for payload in request))
        self.batches[-1] = self.batches[-1]._replace(compression=compression)
        return self

    def mixed(
        self, payloads: Sequence[Payload], *, compression: Compression, producer: int | None = None
    ) -> Segment:
        """One batch of these records, ``{"unknown": group}`` for one that nobody understands; in a transaction or not."""
        self.raw(
            *(
                (UNKNOWN_KEY + payload["unknown"].encode(), b"\x00\x00")
                if "unknown" in payload
                else encode_record(payload)
                for payload in payloads
            )
        )
        facts: dict[str, Any] = {"compression": compression}
        if producer is not None:
            facts |= {"is_transactional": True, "producer_id": producer, "producer_epoch": 0}
        self.batches[-1] = self.batches[-1]._replace(**facts)
        return self

    def part(self, first: int, last: int) -> Segment:
        """A file of its batches ``first`` to ``last - 1``."""
        found = Segment()
        found.batches = self.batches[first:last]
        return found

    def raw(self, *pairs: tuple[bytes | None, bytes | None]) -> Segment:
        self.now_ms += 1000
        batch = coordinator_batch(base_offset=self.next_offset, timestamp_ms=self.now_ms, records=pairs)
        self.batches.append(batch)
        self.next_offset = batch.next_offset
        return self

    def transaction(self, producer: int, *requests: list[Payload]) -> Segment:
        """One batch of a transaction that is still open."""
        self.add(*requests)
        self.batches[-1] = self.batches[-1]._replace(
            is_transactional=True, producer_id=producer, producer_epoch=0
        )
        return self

    def marker(self, producer: int, kind: ControlType) -> Segment:
        """The end of a transaction."""
        self.raw(encode_control(ControlRecord(type=kind, coordinator_epoch=0)))
        self.batches[-1] = self.batches[-1]._replace(
            is_transactional=True, is_control=True, producer_id=producer, producer_epoch=0
        )
        return self

    def led(self, epoch: int) -> Segment:
        """The last batch was written under this leader epoch."""
        self.batches[-1] = self.batches[-1]._replace(partition_leader_epoch=epoch)
        return self

    def skip(self, offsets: int) -> Segment:
        """Offsets that compaction took away."""
        self.next_offset += offsets
        return self

    def bytes(self) -> bytes:
        return b"".join(write_segment(self.batches))

    def write(self, folder: Path, partition: int | None = 17) -> Path:
        """The segment as a file, in the folder that names its partition."""
        under = folder if partition is None else folder / f"__consumer_offsets-{partition}"
        under.mkdir(parents=True, exist_ok=True)
        path = under / f"{self.batches[0].base_offset:020d}.log"
        path.write_bytes(self.bytes())
        return path


def metadata_segment(folder: Path, records: Iterable[tuple[int, bytes]]) -> Path:
    """A ``__cluster_metadata`` segment of framed records at their times."""
    under = folder / "__cluster_metadata-0"
    under.mkdir(parents=True, exist_ok=True)
    batches = [
        coordinator_batch(base_offset=offset, timestamp_ms=at_ms, records=[(None, value)])
        for offset, (at_ms, value) in enumerate(records)
    ]
    path = under / "00000000000000000000.log"
    path.write_bytes(b"".join(write_segment(batches)))
    return path


def sample_group() -> Segment:
    """A joins foo's three partitions, B takes one, a commit, B leaves."""
    group = Group()
    return (
        Segment()
        .add(group.join("A", {FOO: [0, 1, 2]}, hash_of({"foo": (FOO, 3)})))
        .add(group.join("B", {FOO: []}, hash_of({"foo": (FOO, 3)})))
        .add(group.advance("A", {FOO: [0, 1]}))
        .add(group.advance("B", {FOO: [2]}))
        .add(group.leave("B"))
        .add(group.advance("A", {FOO: [0, 1, 2]}))
    )
