"""The classic protocol's embedded consumer protocol: what members and their leader say to each other.

The broker carries these blobs without looking inside (``subscription`` and ``assignment`` of a classic group's
record; ``metadata`` of a protocol). A blob is an int16 version and a body without compact forms or tagged fields::

    subscription  topics, user data; v1 + owned partitions (KIP-429); v2 + generation (KIP-792); v3 + rack (KIP-881)
    assignment    assigned partitions, user data: the same in all versions

A version later than 3 may only append, so it is read as version 3 and what follows is left alone.
Source: ``ConsumerProtocolSubscription.json``, ``ConsumerProtocolAssignment.json`` and ``ConsumerProtocol`` of
Kafka's clients module.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final

from groups.wire.codec import codec
from groups.wire.errors import RecordError, TruncatedError, UnencodableError, UnknownVersionError
from groups.wire.schema import Array, Field, Message, Primitive
from groups.wire.schema import struct as fields

NEWEST_VERSION: Final = 3

_INT16: Final = struct.Struct(">h")
_PARTITIONS: Final = Array(
    fields(Field("topic", Primitive.STRING), Field("partitions", Array(Primitive.INT32)))
)

SUBSCRIPTION: Final = Message(
    "ConsumerProtocolSubscription",
    fields(
        Field("topics", Array(Primitive.STRING)),
        Field("userData", Primitive.BYTES, nullable_since=0, default=None),
        Field("ownedPartitions", _PARTITIONS, since=1, default=()),
        Field("generationId", Primitive.INT32, since=2, default=-1),
        Field("rackId", Primitive.STRING, since=3, nullable_since=3, default=None),
    ),
    newest=NEWEST_VERSION,
)

ASSIGNMENT: Final = Message(
    "ConsumerProtocolAssignment",
    fields(
        Field("assignedPartitions", _PARTITIONS),
        Field("userData", Primitive.BYTES, nullable_since=0, default=None),
    ),
    newest=NEWEST_VERSION,
)


def decode_subscription(data: bytes) -> dict[str, Any]:
    """``{"version", "topics", "userData", "ownedPartitions"…}``; ``RecordError`` for damaged bytes.

    ``version`` is the blob's own, fields are those of that version. User data is base64 or null, and opaque.
    """
    return _decode(SUBSCRIPTION, data)


def decode_assignment(data: bytes) -> dict[str, Any]:
    """``{"version", "assignedPartitions": [{"topic", "partitions"}], "userData"}``; ``RecordError`` likewise."""
    return _decode(ASSIGNMENT, data)


def encode_subscription(value: Mapping[str, Any]) -> bytes:
    """The inverse of ``decode_subscription``, in the order given (Kafka's client sorts topics and partitions)."""
    return _encode(SUBSCRIPTION, value)


def encode_assignment(value: Mapping[str, Any]) -> bytes:
    """The inverse of ``decode_assignment``, in the order given."""
    return _encode(ASSIGNMENT, value)


def _decode(message: Message, data: bytes) -> dict[str, Any]:
    if len(data) < _INT16.size:
        raise TruncatedError("a version", needed=_INT16.size, left=len(data), offset=0)
    version = _INT16.unpack_from(data)[0]
    if version < 0:
        raise UnknownVersionError(f"{message.name} has no version {version}", offset=0)
    body, _ = codec(message, min(version, NEWEST_VERSION)).read(data, _INT16.size)
    return {"version": version, **body}


def _encode(message: Message, value: Mapping[str, Any]) -> bytes:
    body = dict(value)
    version = body.pop("version", NEWEST_VERSION)
    if not isinstance(version, int) or not message.knows(version):
        raise UnencodableError(
            f"{message.name} has no version {version!r:.60}; known are 0 to {message.newest}"
        )
    out = bytearray(_INT16.pack(version))
    try:
        codec(message, version).write(out, body)
    except RecordError as error:
        error.inside(message.name)
        raise
    return bytes(out)
