"""Committed offsets, which groups of every protocol have, and the one record of a classic group."""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields
from groups.wire.coordinator_schema.record_type import RecordType, record_type

INT32, INT64 = Primitive.INT32, Primitive.INT64
STRING, BYTES, UUID = Primitive.STRING, Primitive.BYTES, Primitive.UUID

LEGACY_OFFSET_COMMIT: Final = 0
OFFSET_COMMIT: Final = 1
GROUP_METADATA: Final = 2

_OFFSET_KEY = fields(Field("group", STRING), Field("topic", STRING), Field("partition", INT32))
# Key version 0 is that of the first brokers that kept offsets in a topic. Today's only read it.
_LEGACY_OFFSET_COMMIT = Message(
    "LegacyOffsetCommitValue",
    fields(Field("offset", INT64), Field("metadata", STRING), Field("commitTimestamp", INT64)),
)

_OFFSET_COMMIT = Message(
    "OffsetCommitValue",
    fields(
        Field("offset", INT64),
        Field("leaderEpoch", INT32, since=3, default=-1),
        Field("metadata", STRING),
        Field("commitTimestamp", INT64),
        Field("expireTimestamp", INT64, since=1, until=1, default=-1),
        Field("topicId", UUID, since=4, tag=0),
    ),
    newest=4,
    flexible_since=4,
)

_GROUP_METADATA = Message(
    "GroupMetadataValue",
    fields(
        Field("protocolType", STRING),
        Field("generation", INT32),
        Field("protocol", STRING, nullable_since=0),
        Field("leader", STRING, nullable_since=0),
        Field("currentStateTimestamp", INT64, since=2, default=-1),
        Field(
            "members",
            Array(
                fields(
                    Field("memberId", STRING),
                    Field("groupInstanceId", STRING, since=3, nullable_since=3, default=None),
                    Field("clientId", STRING),
                    Field("clientHost", STRING),
                    Field("rebalanceTimeout", INT32, since=1, default=-1),
                    Field("sessionTimeout", INT32),
                    Field("subscription", BYTES),
                    Field("assignment", BYTES),
                )
            ),
        ),
    ),
    newest=4,
    flexible_since=4,
)

CLASSIC_RECORD_TYPES: Final[tuple[RecordType, ...]] = (
    record_type(LEGACY_OFFSET_COMMIT, "LEGACY_OFFSET_COMMIT", _OFFSET_KEY, _LEGACY_OFFSET_COMMIT),
    record_type(OFFSET_COMMIT, "OFFSET_COMMIT", _OFFSET_KEY, _OFFSET_COMMIT),
    record_type(GROUP_METADATA, "GROUP_METADATA", fields(Field("group", STRING)), _GROUP_METADATA),
)
