"""Records for the benchmark of the decoders: one uncompressed segment for each kind, as a coordinator would fill it.

Ids, names and numbers differ from record to record, as they do in a log; everything comes from one seed.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from groups.wire.codecs.uuids import uuid_to_base64
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from groups.wire.logs.batches import write_segment
from groups.wire.logs.compression import Compression
from groups.wire.logs.record_batch import coordinator_batch
from groups.wire.records import encode_record

GROUPS: Final = 200
TOPICS: Final = 400
BEGIN_MS: Final = 1_760_000_000_000

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A kind of record: how many are decoded in a round, and how many of them stand in a batch.

    A commit of a member has a batch with a record for each of its partitions; what a heartbeat changes has a batch
    of its own.
    """

    name: str
    make: Callable[[random.Random], Payload]
    records: int
    a_batch: int = 1
    goal: int | None = None
    has_blobs: bool = False
    has_columns: bool = False
    share_of_java: float | None = None
    """What commits by columns are to reach of what Kafka's decoder does with the same batches."""
    compression: Compression = Compression.NONE

    def segment(self) -> bytes:
        seeded = random.Random(4)
        pairs = [encode_record(self.make(seeded)) for _ in range(self.records)]
        batches = (
            coordinator_batch(
                base_offset=start, timestamp_ms=BEGIN_MS + start, records=pairs[start : start + self.a_batch]
            )._replace(compression=self.compression)
            for start in range(0, len(pairs), self.a_batch)
        )
        return b"".join(write_segment(batches))


def _member_id(seeded: random.Random) -> str:
    return uuid_to_base64(seeded.randbytes(16))


def _group(seeded: random.Random) -> str:
    return f"service-{seeded.randrange(GROUPS)}-consumers"


_TOPIC_IDS: Final = [uuid_to_base64(random.Random(number).randbytes(16)) for number in range(TOPICS)]


def _member(seeded: random.Random) -> Payload:
    return {
        "type": 5,
        "key": {"groupId": _group(seeded), "memberId": _member_id(seeded)},
        "version": 0,
        "value": {
            "instanceId": None,
            "rackId": seeded.choice([None, "rack-1"]),
            "clientId": f"client-{seeded.randrange(1000)}",
            "clientHost": f"/10.0.0.{seeded.randrange(250)}",
            "subscribedTopicNames": [f"topic-{seeded.randrange(TOPICS)}" for _ in range(2)],
            "subscribedTopicRegex": "",
            "rebalanceTimeoutMs": 300_000,
            "serverAssignor": "uniform",
            # A broker writes the null, as its own default is an empty one.
            "classicMemberMetadata": None,
        },
    }


def _current_assignment(seeded: random.Random) -> Payload:
    """100 partitions of two topics, each with the epoch in which it was assigned."""
    epoch = seeded.randrange(2, 5000)
    return {
        "type": 8,
        "key": {"groupId": _group(seeded), "memberId": _member_id(seeded)},
        "version": 0,
        "value": {
            "memberEpoch": epoch,
            "previousMemberEpoch": epoch - 1,
            "state": 0,
            "assignedPartitions": [
                {
                    "topicId": seeded.choice(_TOPIC_IDS),
                    "partitions": sorted(seeded.sample(range(1000), 50)),
                    "assignmentEpochs": [seeded.randrange(1, epoch) for _ in range(50)],
                }
                for _ in range(2)
            ],
            "partitionsPendingRevocation": [],
        },
    }


def _commit(version: int) -> Callable[[random.Random], Payload]:
    def make(seeded: random.Random) -> Payload:
        topic = seeded.randrange(TOPICS)
        value: Payload = {
            "offset": seeded.randrange(1 << 40),
            "metadata": "",
            "commitTimestamp": BEGIN_MS + seeded.randrange(1 << 30),
        }
        if version == 1:
            value["expireTimestamp"] = value["commitTimestamp"] + 86_400_000
        if version >= 3:
            value["leaderEpoch"] = seeded.randrange(100)
        if version >= 4:
            value["topicId"] = _TOPIC_IDS[topic]
        key = {"group": _group(seeded), "topic": f"topic-{topic}", "partition": seeded.randrange(100)}
        return {"type": 1, "key": key, "version": version, "value": value}

    return make


def _repeated_commit(seeded: random.Random) -> Payload:
    """A commit of today for one of a few thousand partitions, as a log has them again and again."""
    payload = _commit(4)(seeded)
    group = seeded.randrange(GROUPS)
    topic = group * 2 + seeded.randrange(2)
    payload["key"] = {
        "group": f"service-{group}-consumers",
        "topic": f"topic-{topic}",
        "partition": seeded.randrange(10),
    }
    payload["value"]["topicId"] = _TOPIC_IDS[topic]
    return payload


def _columns(a_batch: int, compression: Compression = Compression.NONE) -> Sample:
    packed = "" if compression is Compression.NONE else f"{compression.name.lower()}, "
    return Sample(
        name=f"offset commits v4 that repeat, {packed}{a_batch} in a batch",
        make=_repeated_commit,
        records=200_000 if compression is Compression.NONE else 50_000,
        a_batch=a_batch,
        has_columns=True,
        share_of_java=0.25,
        compression=compression,
    )


def _classic_group(seeded: random.Random) -> Payload:
    """A group of 50 members, each with two topics and four partitions."""

    def members() -> Iterator[Payload]:
        for number in range(50):
            topics = [f"topic-{seeded.randrange(TOPICS)}" for _ in range(2)]
            partitions = [{"topic": topic, "partitions": [number * 2, number * 2 + 1]} for topic in topics]
            subscription = {"topics": topics, "userData": None, "ownedPartitions": partitions}
            assignment = {"assignedPartitions": partitions, "userData": None}
            yield {
                "memberId": f"client-{number}-{_member_id(seeded)}",
                "groupInstanceId": None,
                "clientId": f"client-{number}",
                "clientHost": f"/10.0.0.{number}",
                "rebalanceTimeout": 300_000,
                "sessionTimeout": 45_000,
                "subscription": base64.b64encode(encode_subscription(subscription)).decode(),
                "assignment": base64.b64encode(encode_assignment(assignment)).decode(),
            }

    listed = list(members())
    value = {
        "protocolType": "consumer",
        "generation": seeded.randrange(1000),
        "protocol": "cooperative-sticky",
        "leader": listed[0]["memberId"],
        "currentStateTimestamp": BEGIN_MS,
        "members": listed,
    }
    return {"type": 2, "key": {"group": _group(seeded)}, "version": 3, "value": value}


COMMITS_A_BATCH: Final = 10

SAMPLES: Final = (
    Sample(name="member records", make=_member, records=50_000),
    Sample(name="current assignments, 100 partitions", make=_current_assignment, records=20_000, goal=50_000),
    Sample(name="offset commits v1", make=_commit(1), records=50_000, a_batch=COMMITS_A_BATCH, goal=100_000),
    Sample(name="offset commits v3", make=_commit(3), records=50_000, a_batch=COMMITS_A_BATCH, goal=100_000),
    Sample(name="offset commits v4", make=_commit(4), records=50_000, a_batch=COMMITS_A_BATCH, goal=100_000),
    Sample(name="classic groups, 50 members", make=_classic_group, records=1_000, has_blobs=True),
)

COLUMN_SAMPLES: Final = (
    *(_columns(a_batch) for a_batch in (1, 2, 3, 10, 100)),
    Sample(
        name="offset commits v4, each for a partition of its own, 10 in a batch",
        make=_commit(4),
        records=200_000,
        a_batch=10,
        has_columns=True,
    ),
    *(
        _columns(a_batch, compression)
        for compression in (Compression.LZ4, Compression.ZSTD)
        for a_batch in (1, 10, 100)
    ),
)
