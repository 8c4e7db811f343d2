"""The metadata hash that a consumer group's epoch record carries (``metadataHash`` of type 3).

It is XXH3 (64 bits) over everything of the subscribed topics that matters to an assignment, so that a guess of
names and partition counts is proved, or refuted, by comparing. All integers are little-endian, as hash4j feeds them::

    topic   byte 0, the id's high and low int64, the name in UTF-16LE and its length in UTF-16 units (int32),
            the count of partitions (int32); for each partition its number (int32) and then, for each of its racks in
            their order, the rack's length (int32) and the rack as the name above
    group   the topics' hashes (int64) in the order of the topics' names; 0 without topics

Source: ``Utils.computeTopicHash`` and ``Utils.computeGroupHash`` of Kafka's group-coordinator module.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final

import xxhash

from groups.wire.codecs.java_strings import java_order
from groups.wire.codecs.uuids import base64_to_uuid

MAGIC_BYTE: Final = b"\x00"
"""Kafka's ``TOPIC_HASH_MAGIC_BYTE``; another value would mean another way to compute the hash."""

NO_TOPICS: Final = 0
"""The hash of a group that subscribes to no topic that exists."""


def topic_hash(topic_id: str, name: str, partition_racks: int | Sequence[Sequence[str]]) -> int:
    """The hash of one topic, as a signed int64.

    ``topic_id`` is in Kafka's text form. ``partition_racks`` gives each partition's racks, by partition number; or
    the count of partitions, where the brokers have no racks.
    """
    racks = [()] * partition_racks if isinstance(partition_racks, int) else partition_racks
    high, low = struct.unpack(">qq", base64_to_uuid(topic_id))
    hashed = xxhash.xxh3_64(MAGIC_BYTE + struct.pack("<qq", high, low))
    hashed.update(_text(name))
    hashed.update(struct.pack("<i", len(racks)))
    for partition, of_partition in enumerate(racks):
        hashed.update(struct.pack("<i", partition))
        for rack in sorted(of_partition):
            hashed.update(struct.pack("<i", _length(rack)))
            hashed.update(_text(rack))
    return _signed(hashed.intdigest())


def group_hash(topic_hashes: Mapping[str, int]) -> int:
    """The hash of a group that subscribes to these topics: topic name to ``topic_hash``; a signed int64."""
    if not topic_hashes:
        return NO_TOPICS
    rows = (topic_hashes[name] for name in sorted(topic_hashes, key=java_order))
    return _signed(xxhash.xxh3_64_intdigest(b"".join(struct.pack("<q", row) for row in rows)))


def _text(text: str) -> bytes:
    return text.encode("utf-16-le") + struct.pack("<i", _length(text))


def _length(text: str) -> int:
    """In UTF-16 units, which is what Java counts."""
    return len(text.encode("utf-16-le")) // 2


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
