"""The keys and values of one group's records, encoded as quickly as a file of millions needs.

Rare records go through the product's encoder. The two frequent ones of a rebalance (types 7 and 8) are packed here, and
of an offset commit all but its three numbers is encoded once a partition; both are proven equal to the encoder.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from groups.wire.codecs.uuids import uuid_to_base64
from groups.wire.metadata_hash import group_hash, topic_hash
from groups.wire.records import encode_record

from .segment_files import VARINTS, varint

REBALANCE_TIMEOUT_MS: Final = 300_000
COMMITS_A_REQUEST_MAX: Final = 64
"""So many offset deltas fit one byte each."""

_INT64: Final = struct.Struct(">q").pack
_CURRENT: Final = struct.Struct(">hiib").pack
_OFFSET_MARK: Final = 0x5F0F_F5E7_0FF5_E701
_TIME_MARK: Final = 0x7117_E5AB_7117_E5AB


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic that a group reads; ``topic_id`` are its 16 bytes."""

    name: str
    topic_id: bytes
    partitions: int


class _Commit(NamedTuple):
    """A framed commit record around its offset and its time; ``starts`` by its offset delta in the batch."""

    starts: list[bytes]
    before_time: bytes
    after_time: bytes


class GroupValues:
    """Encodes what one group writes. Its partitions are numbered through: the first topic's, then the next one's."""

    def __init__(
        self, group: str, topics: Sequence[Topic], commits_a_request: int = COMMITS_A_REQUEST_MAX
    ) -> None:
        self.group = group
        self.topics = topics
        self.commits_a_request = commits_a_request
        self.places = [
            (index, number) for index, topic in enumerate(topics) for number in range(topic.partitions)
        ]
        ids = {topic.name: uuid_to_base64(topic.topic_id) for topic in topics}
        self.metadata_hash = group_hash(
            {topic.name: topic_hash(ids[topic.name], topic.name, topic.partitions) for topic in topics}
        )
        self._ids = ids
        self._key = {"groupId": group}
        self._epoch_key = self._record(3, self._key, {"epoch": 2})[0]
        self._target_epoch_key = self._record(6, self._key, {"assignmentEpoch": 2})[0]
        self._commits: list[_Commit | None] = [None] * len(self.places)

    @staticmethod
    def _record(number: int, key: Mapping[str, Any], value: dict[str, Any] | None) -> tuple[bytes, bytes]:
        version = None if value is None else 4 if number == 1 else 0
        made = encode_record({"type": number, "key": dict(key), "version": version, "value": value})
        return made[0] or b"", made[1] or b""

    def member_keys(self, member_id: str) -> tuple[bytes, bytes, bytes]:
        """The keys of types 5, 7 and 8."""
        key = self._key | {"memberId": member_id}
        five, seven, eight = (self._record(number, key, None)[0] for number in (5, 7, 8))
        return five, seven, eight

    def member(self, client_id: str, host: str) -> bytes:
        value = {
            "instanceId": None,
            "rackId": None,
            "clientId": client_id,
            "clientHost": host,
            "subscribedTopicNames": sorted(topic.name for topic in self.topics),
            "subscribedTopicRegex": "",
            "rebalanceTimeoutMs": REBALANCE_TIMEOUT_MS,
            "serverAssignor": None,
            # Kafka writes the null of a member that never used the classic protocol.
            "classicMemberMetadata": None,
        }
        return self._record(5, self._key | {"memberId": ""}, value)[1]

    def epoch(self, epoch: int, *, empty: bool = False) -> tuple[bytes, bytes]:
        """Type 3; an empty group reads no topics, so that its hash is 0, the default, which is not written."""
        hashed = {} if empty else {"metadataHash": self.metadata_hash}
        return self._epoch_key, self._record(3, self._key, {"epoch": epoch, **hashed})[1]

    def target_epoch(self, epoch: int, at_ms: int) -> tuple[bytes, bytes]:
        """Type 6."""
        value = {"assignmentEpoch": epoch, "assignmentTimestamp": at_ms}
        return self._target_epoch_key, self._record(6, self._key, value)[1]

    def target(self, partitions: Iterable[int]) -> bytes:
        """The value of type 7."""
        rows = [
            b"".join((self.topics[index].topic_id, varint_unsigned(len(some) + 1), _int32s(some), b"\0"))
            for index, some, _ in self._by_topic(dict.fromkeys(partitions, 0))
        ]
        return b"".join((b"\0\0", varint_unsigned(len(rows) + 1), *rows, b"\0"))

    def current(
        self, epoch: int, previous: int, state: int, assigned: Mapping[int, int], pending: Mapping[int, int]
    ) -> bytes:
        """The value of type 8; partitions with the epochs at which they were assigned."""
        head = _CURRENT(0, epoch, previous, state)
        return b"".join((head, self._with_epochs(assigned), self._with_epochs(pending), b"\0"))

    def _with_epochs(self, partitions: Mapping[int, int]) -> bytes:
        rows = []
        for index, some, epochs in self._by_topic(partitions):
            size = varint_unsigned(len(some) + 1)
            tagged = size + _int32s(epochs)
            topic_id = self.topics[index].topic_id
            rows.append(
                b"".join((topic_id, size, _int32s(some), b"\1\0", varint_unsigned(len(tagged)), tagged))
            )
        return varint_unsigned(len(rows) + 1) + b"".join(rows)

    def _by_topic(self, partitions: Mapping[int, int]) -> list[tuple[int, list[int], list[int]]]:
        out: list[tuple[int, list[int], list[int]]] = []
        for place in sorted(partitions):
            index, number = self.places[place]
            if not out or out[-1][0] != index:
                out.append((index, [], []))
            out[-1][1].append(number)
            out[-1][2].append(partitions[place])
        return out

    def commits(self, now_ms: int, places: Sequence[int], offsets: Sequence[int]) -> bytes:
        """The framed records of one commit request: at each of ``places`` its part of ``offsets``."""
        at = _INT64(now_ms)
        parts: list[bytes] = []
        for delta, place in enumerate(places):
            starts, before_time, after_time = self._commits[place] or self._cut(place)
            parts += (starts[delta], _INT64(offsets[place]), before_time, at, after_time)
        return b"".join(parts)

    def _cut(self, place: int) -> _Commit:
        index, number = self.places[place]
        topic = self.topics[index]
        key, value = self._record(
            1,
            {"group": self.group, "topic": topic.name, "partition": number},
            {
                "offset": _OFFSET_MARK,
                "leaderEpoch": 0,
                "metadata": "",
                "commitTimestamp": _TIME_MARK,
                "topicId": self._ids[topic.name],
            },
        )
        head, rest = value.split(_INT64(_OFFSET_MARK))
        middle, tail = rest.split(_INT64(_TIME_MARK))
        length = len(b"\0\0") + 1 + len(varint(len(key)) + key + varint(len(value)) + value) + 1
        before, after = varint(length) + b"\0\0", varint(len(key)) + key + varint(len(value)) + head
        most = min(self.commits_a_request, len(self.places))
        cut = _Commit([before + VARINTS[delta] + after for delta in range(most)], middle, tail + b"\0")
        self._commits[place] = cut
        return cut


def varint_unsigned(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _int32s(numbers: Sequence[int]) -> bytes:
    return struct.pack(f">{len(numbers)}i", *numbers)
