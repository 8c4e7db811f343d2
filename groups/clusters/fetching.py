"""``__consumer_offsets`` by raw Fetch: where its partitions are, and a session of fetches with one broker.

Nobody joins a group for it, and nothing is committed. A session (KIP-227) sends only what changed: of 50 partitions a
request is 98 bytes in place of 1,712 (measured). ``lastFetchedEpoch`` has a log that was truncated answered with the
exact place to cut at (KIP-595), in place of "out of range".
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from groups.clusters.allowed import EARLIEST, FETCH, LATEST, LIST_OFFSETS, METADATA, OFFSETS_TOPIC
from groups.clusters.brokers import Brokers
from groups.clusters.connection import Connection
from groups.clusters.faults import ClusterError, Fault
from groups.history.polls.described_groups import NO_ID
from groups.wire.rpc import error_name

NONE, OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION = 0, 1, 3
TOPIC_AUTHORIZATION_FAILED: Final = 29
SESSION_ERRORS: Final = frozenset({70, 71})
"""FETCH_SESSION_ID_NOT_FOUND (evicted, or the broker is another one now) and INVALID_FETCH_SESSION_EPOCH."""

WAIT_MS: Final = 500
"""How long a broker holds a fetch without news; with news it answers at once."""

FETCH_BYTES_MOST: Final = 2 * 1024 * 1024
"""Of one answer: some 15,000 records, decoded in a fifth of a second."""

PARTITION_BYTES_MOST: Final = 512 * 1024
"""Of one partition in it. The first batch comes whole, however large it is."""

_NO_SESSION: Final = 0
_FIRST_EPOCH: Final = 0
_LAST_EPOCH: Final = 2**31 - 1


class NotReadable(Exception):
    """The topic may not be read: the right READ is missing."""


class From(NamedTuple):
    """Where a partition's fetch begins, and the leader epoch of the batch before that (-1: unknown)."""

    offset: int
    epoch: int


class Replicas(NamedTuple):
    """A partition's leader (-1: none now) and its replicas in sync."""

    leader: int
    in_sync: tuple[int, ...]


class Diverging(NamedTuple):
    """The log was truncated: of ``epoch`` it ends at ``end``."""

    epoch: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A partition in an answer. ``data`` are whole batches, and perhaps the beginning of one more."""

    partition: int
    error: int
    high_watermark: int
    diverging: Diverging | None
    data: bytes


@dataclass(slots=True)
class FetchSession:
    """The partitions that one broker knows to be wanted. A session ends with its connection."""

    connection: Connection
    _id: int = _NO_SESSION
    _epoch: int = _FIRST_EPOCH
    _sent: dict[int, From] = field(default_factory=dict)

    async def fetch(self, wanted: Mapping[int, From], *, wait_ms: int = WAIT_MS) -> list[Fetched]:
        """What is new in these partitions; empty after ``wait_ms`` where nothing is."""
        response = await self.connection.ask(FETCH, self._body(wanted, wait_ms))
        if response.get("errorCode", NONE) in SESSION_ERRORS:
            self._forget()
            response = await self.connection.ask(FETCH, self._body(wanted, wait_ms))
        if code := response.get("errorCode", NONE):
            self._forget()
            raise ClusterError(
                Fault.SILENT,
                f"{self.connection.channel.address} does not serve {OFFSETS_TOPIC} now.",
                seen=error_name(code) or str(code),
            )
        self._id = response.get("sessionId", _NO_SESSION)
        self._epoch = (1 if self._epoch == _LAST_EPOCH else self._epoch + 1) if self._id else _FIRST_EPOCH
        self._sent = dict(wanted) if self._id else {}
        found = [_fetched(row) for topic in response["responses"] for row in topic["partitions"]]
        for each in found:
            if each.error or each.diverging is not None:
                # What a broker refused is asked for again, with or without a session.
                self._sent.pop(each.partition, None)
        return found

    def _forget(self) -> None:
        self._id, self._epoch, self._sent = _NO_SESSION, _FIRST_EPOCH, {}

    def _body(self, wanted: Mapping[int, From], wait_ms: int) -> dict[str, Any]:
        changed = {partition: at for partition, at in wanted.items() if self._sent.get(partition) != at}
        gone = sorted(set(self._sent) - set(wanted))
        return {
            "replicaId": -1,
            "maxWaitMs": wait_ms,
            "minBytes": 1,
            "maxBytes": FETCH_BYTES_MOST,
            # Transactions are settled by their markers: read_committed would stop at the first open one.
            "isolationLevel": 0,
            "sessionId": self._id,
            "sessionEpoch": self._epoch,
            "topics": [
                {
                    "topic": OFFSETS_TOPIC,
                    "partitions": [
                        {
                            "partition": partition,
                            "currentLeaderEpoch": -1,
                            "fetchOffset": at.offset,
                            "lastFetchedEpoch": at.epoch,
                            "logStartOffset": -1,
                            "partitionMaxBytes": PARTITION_BYTES_MOST,
                        }
                        for partition, at in changed.items()
                    ],
                }
            ]
            if changed
            else [],
            "forgottenTopicsData": [{"topic": OFFSETS_TOPIC, "partitions": gone}]
            if gone and self._id
            else [],
            "rackId": "",
        }


def _fetched(row: Mapping[str, Any]) -> Fetched:
    diverging = row.get("divergingEpoch") or {}
    end = diverging.get("endOffset", -1)
    return Fetched(
        partition=row["partitionIndex"],
        error=row["errorCode"],
        high_watermark=row["highWatermark"],
        diverging=Diverging(diverging["epoch"], end) if end >= 0 else None,
        data=base64.b64decode(row["records"] or ""),
    )


async def replicas_of(cluster: Brokers) -> dict[int, Replicas]:
    """Where the topic's partitions are; empty where the cluster has no such topic yet. ``NotReadable`` without rights."""
    response = await cluster.ask_any(
        METADATA,
        {
            "topics": [{"topicId": NO_ID, "name": OFFSETS_TOPIC}],
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
            "includeClusterAuthorizedOperations": False,
        },
    )
    found: dict[int, Replicas] = {}
    for topic in response["topics"]:
        if topic["errorCode"] == TOPIC_AUTHORIZATION_FAILED:
            raise NotReadable
        for row in topic["partitions"]:
            found[row["partitionIndex"]] = Replicas(row["leaderId"], tuple(row["isrNodes"]))
    return found


async def is_readable(cluster: Brokers, found: Mapping[int, Replicas]) -> bool:
    """Whether a fetch is answered. ``ClusterError`` where no partition could be asked."""
    error: ClusterError | None = None
    for partition, replicas in found.items():
        if replicas.leader not in cluster.brokers:
            continue
        try:
            session = FetchSession(await cluster.connection(replicas.leader))
            answers = await session.fetch({partition: From(0, -1)}, wait_ms=0)
        except ClusterError as problem:
            error = problem
            continue
        return all(each.error != TOPIC_AUTHORIZATION_FAILED for each in answers)
    raise error or ClusterError(Fault.UNREACHABLE, f"No partition of {OFFSETS_TOPIC} has a leader now.")


async def bounds_of(connection: Connection, partition: int) -> tuple[int, int]:
    """The first offset of a partition, and its end."""
    found = []
    for timestamp in (EARLIEST, LATEST):
        row = {"partitionIndex": partition, "currentLeaderEpoch": -1, "timestamp": timestamp}
        response = await connection.ask(
            LIST_OFFSETS,
            {
                "replicaId": -1,
                "isolationLevel": 0,
                "topics": [{"name": OFFSETS_TOPIC, "partitions": [row]}],
            },
        )
        [answer] = [each for topic in response["topics"] for each in topic["partitions"]]
        if answer["errorCode"]:
            name = error_name(answer["errorCode"]) or str(answer["errorCode"])
            raise ClusterError(
                Fault.SILENT, f"The bounds of {OFFSETS_TOPIC}-{partition} are not told now.", seen=name
            )
        found.append(answer["offset"])
    return found[0], found[1]
