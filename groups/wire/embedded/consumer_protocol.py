"""The classic protocol's embedded consumer protocol: what members and their leader say to each other.

The broker carries these blobs without looking inside (``subscription`` and ``assignment`` of a classic group's
record; ``metadata`` of a protocol). A blob is an int16 version and a body without compact forms or tagged fields::

    subscription  topics, user data; v1 + owned partitions (KIP-429); v2 + generation (KIP-792); v3 + rack (KIP-881)
    assignment    assigned partitions, user data: the same in all versions

A version later than 3 may only append, so it is read as version 3 and what follows is left alone; a client of old
does the same with the last version that it knows (``groups.wire.embedded.older_clients``).
Source: ``ConsumerProtocolSubscription.json``, ``ConsumerProtocolAssignment.json`` and ``ConsumerProtocol`` of
Kafka's clients module.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Final, NotRequired, TypedDict, cast

from groups.wire.codecs.codec import codec, encode_versioned
from groups.wire.codecs.java_strings import java_order
from groups.wire.codecs.schema import Message
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import TruncatedError, UnknownVersionError
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION

NEWEST_VERSION: Final = SUBSCRIPTION.newest

VERSION_BYTES: Final = struct.Struct(">h")


class TopicPartition(TypedDict):
    """Partitions of a topic, by its name."""

    topic: str
    partitions: list[int]


class Subscription(TypedDict):
    """``version`` is the blob's own; user data is base64 or null, and opaque."""

    version: int
    topics: list[str]
    userData: str | None
    ownedPartitions: NotRequired[list[TopicPartition]]
    """From version 1 on."""
    generationId: NotRequired[int]
    """From version 2 on."""
    rackId: NotRequired[str | None]
    """From version 3 on."""


class Assignment(TypedDict):
    """``version`` is the blob's own; user data is base64 or null, and opaque."""

    version: int
    assignedPartitions: list[TopicPartition]
    userData: str | None


def decode_subscription(data: bytes) -> Subscription:
    """The contents of a subscription's bytes, the fields of their version; ``RecordError`` for damaged bytes.

    The schema that they are read by has just these fields, which no type checker can see.
    """
    return cast(Subscription, read_blob(SUBSCRIPTION, data)[0])


def decode_assignment(data: bytes) -> Assignment:
    """The contents of an assignment's bytes; ``RecordError`` likewise."""
    return cast(Assignment, read_blob(ASSIGNMENT, data)[0])


def encode_subscription(value: Mapping[str, Value]) -> bytes:
    """The inverse of ``decode_subscription``, in the order given (see ``as_the_client_writes``)."""
    return _encode(SUBSCRIPTION, value)


def encode_assignment(value: Mapping[str, Value]) -> bytes:
    """The inverse of ``decode_assignment``, in the order given."""
    return _encode(ASSIGNMENT, value)


def read_blob(message: Message, data: bytes, newest_known: int = NEWEST_VERSION) -> tuple[Fields, int]:
    """A blob as a client reads it that knows versions up to ``newest_known``, and where its reading ends.

    What lies behind is ignored: the fields of later versions, or bytes that no version has.
    """
    if len(data) < VERSION_BYTES.size:
        raise TruncatedError("a version", needed=VERSION_BYTES.size, left=len(data), offset=0)
    version = VERSION_BYTES.unpack_from(data)[0]
    if version < 0:
        raise UnknownVersionError(f"{message.name} has no version {version}", offset=0)
    body, end = codec(message, min(version, newest_known)).read(data, VERSION_BYTES.size)
    return {"version": version, **body}, end


def as_the_client_writes(subscription: Mapping[str, Value]) -> Fields:
    """The same subscription in the order of Kafka's client: topics by name, owned partitions by topic and number,
    one entry for each topic."""
    ordered = dict(subscription) | {"topics": sorted(subscription["topics"], key=java_order)}
    if "ownedPartitions" in ordered:
        grouped = _by_topic(ordered["ownedPartitions"])
        ordered["ownedPartitions"] = [
            {"topic": topic, "partitions": sorted(grouped[topic])}
            for topic in sorted(grouped, key=java_order)
        ]
    return ordered


def _by_topic(entries: Iterable[Mapping[str, Value]]) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for entry in entries:
        grouped.setdefault(entry["topic"], []).extend(entry["partitions"])
    return grouped


def _encode(message: Message, value: Mapping[str, Value]) -> bytes:
    version, body = encode_versioned(message, value)
    return VERSION_BYTES.pack(version) + body
