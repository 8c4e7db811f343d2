"""Versions that Kafka 4.0 ceased to speak (KIP-896), which kio therefore does not have; clients of old sent them.

Source: ``OffsetCommitRequest.json`` and the like, as Kafka 3.9 had them.
"""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields, rows

INT16, INT32, INT64, STRING = Primitive.INT16, Primitive.INT32, Primitive.INT64, Primitive.STRING

_OFFSET_COMMIT_REQUEST: Final = Message(
    "OffsetCommitRequest",
    fields(
        Field("groupId", STRING),
        Field("generationIdOrMemberEpoch", INT32, since=1, default=-1),
        Field("memberId", STRING, since=1),
        rows(
            "topics",
            Field("name", STRING),
            rows(
                "partitions",
                Field("partitionIndex", INT32),
                Field("committedOffset", INT64),
                # The one version in which a client chose the time from which a commit expires.
                Field("commitTimestamp", INT64, since=1, until=1, default=-1),
                Field("committedMetadata", STRING, nullable_since=0),
            ),
        ),
    ),
    newest=1,
)

_OFFSET_COMMIT_RESPONSE: Final = Message(
    "OffsetCommitResponse",
    fields(
        rows(
            "topics",
            Field("name", STRING),
            rows("partitions", Field("partitionIndex", INT32), Field("errorCode", INT16)),
        )
    ),
    newest=1,
)

# Version 0 of a fetch has the fields of version 1, and reads from ZooKeeper.
_OFFSET_FETCH_REQUEST: Final = Message(
    "OffsetFetchRequest",
    fields(
        Field("groupId", STRING),
        rows("topics", Field("name", STRING), Field("partitionIndexes", Array(INT32))),
    ),
)

_OFFSET_FETCH_RESPONSE: Final = Message(
    "OffsetFetchResponse",
    fields(
        rows(
            "topics",
            Field("name", STRING),
            rows(
                "partitions",
                Field("partitionIndex", INT32),
                Field("committedOffset", INT64),
                Field("metadata", STRING, nullable_since=0),
                Field("errorCode", INT16),
            ),
        )
    ),
)

OLDER: Final = (
    _OFFSET_COMMIT_REQUEST,
    _OFFSET_COMMIT_RESPONSE,
    _OFFSET_FETCH_REQUEST,
    _OFFSET_FETCH_RESPONSE,
)
