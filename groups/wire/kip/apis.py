"""The proposal's requests and responses, where they differ from the released ones or were never released.

Use them as those of ``groups.wire.rpc``: ``codec(api.request, 0)``, ``decode_request(data, KIP_APIS)``. Source:
KIP-848, "Public Interfaces".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groups.wire.codecs.schema import Array, Field, Message, Primitive, Struct, fields, rows
from groups.wire.kip.records import METADATA, TOPIC_PARTITIONS
from groups.wire.rpc.error_codes import error_name

BOOL, INT8, INT16 = Primitive.BOOL, Primitive.INT8, Primitive.INT16
INT32, INT64 = Primitive.INT32, Primitive.INT64
STRING, BYTES, UUID = Primitive.STRING, Primitive.BYTES, Primitive.UUID

PREPARE_ASSIGNMENT: Final = 10_848
INSTALL_ASSIGNMENT: Final = 10_849
"""API keys that the proposal leaves to be decided and that nobody decided: private ones, which no release will use."""

INVALID_ASSIGNMENT: Final = 10_848
"""The error of an assignment that does not pass validation; Kafka has no number for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KipApi:
    """One API as the proposal has it."""

    key: int
    name: str
    request: Message
    response: Message


def kip_error_name(code: int) -> str | None:
    """As ``error_name``, and the one that was never released."""
    return "INVALID_ASSIGNMENT" if code == INVALID_ASSIGNMENT else error_name(code)


def _api(key: int, name: str, request: Struct, response: Struct, *, version: int = 0) -> KipApi:
    return KipApi(
        key=key,
        name=name,
        request=Message(f"{name}Request", request, oldest=version, newest=version, flexible_since=0),
        response=Message(f"{name}Response", response, oldest=version, newest=version, flexible_since=0),
    )


def _nullable(name: str, type_: Primitive | Array | Struct) -> Field:
    return Field(name, type_, nullable_since=0, default=None)


_ERROR: Final = (Field("throttleTimeMs", INT32), Field("errorCode", INT16), _nullable("errorMessage", STRING))

_HEARTBEAT = _api(
    68,
    "ConsumerGroupHeartbeat",
    fields(
        Field("groupId", STRING),
        Field("memberId", STRING),
        Field("memberEpoch", INT32),
        _nullable("instanceId", STRING),
        _nullable("rackId", STRING),
        Field("rebalanceTimeoutMs", INT32, default=-1),
        _nullable("subscribedTopicNames", Array(STRING)),
        _nullable("subscribedTopicRegex", STRING),
        _nullable("serverAssignor", STRING),
        rows(
            "clientAssignors",
            Field("name", STRING),
            Field("minimumVersion", INT16),
            Field("maximumVersion", INT16),
            Field("reason", INT8),
            *METADATA,
            nullable_since=0,
            default=None,
        ),
        _nullable("topicPartitions", TOPIC_PARTITIONS),
    ),
    fields(
        *_ERROR,
        _nullable("memberId", STRING),
        Field("memberEpoch", INT32),
        Field("shouldComputeAssignment", BOOL),
        Field("heartbeatIntervalMs", INT32),
        _nullable(
            "assignment",
            fields(
                Field("error", INT8),
                Field("assignedTopicPartitions", TOPIC_PARTITIONS),
                # Assigned, and not to be used before their former owners have released them.
                Field("pendingTopicPartitions", TOPIC_PARTITIONS),
                *METADATA,
            ),
        ),
    ),
)

_DESCRIBED_ASSIGNMENT = fields(
    rows("partitions", Field("topicId", UUID), Field("topicName", STRING), Field("partitions", Array(INT32))),
    Field("error", INT8),
    *METADATA,
)

_DESCRIBE = _api(
    69,
    "ConsumerGroupDescribe",
    fields(Field("groupIds", Array(STRING)), Field("includeAuthorizedOperations", BOOL)),
    fields(
        Field("throttleTimeMs", INT32),
        rows(
            "groups",
            Field("errorCode", INT16),
            _nullable("errorMessage", STRING),
            Field("groupId", STRING),
            Field("groupState", STRING),
            Field("groupEpoch", INT32),
            Field("assignmentEpoch", INT32),
            Field("assignorName", STRING),
            rows(
                "members",
                Field("memberId", STRING),
                _nullable("instanceId", STRING),
                _nullable("rackId", STRING),
                Field("memberEpoch", INT32),
                Field("clientId", STRING),
                Field("clientHost", STRING),
                Field("subscribedTopicNames", Array(STRING)),
                _nullable("subscribedTopicRegex", STRING),
                Field("assignment", _DESCRIBED_ASSIGNMENT),
                Field("targetAssignment", _DESCRIBED_ASSIGNMENT),
            ),
            Field("authorizedOperations", INT32, default=-(2**31)),
        ),
    ),
)

_MEMBER = (Field("groupId", STRING), Field("memberId", STRING), Field("memberEpoch", INT32))

_PREPARE = _api(
    PREPARE_ASSIGNMENT,
    "ConsumerGroupPrepareAssignment",
    fields(*_MEMBER),
    fields(
        *_ERROR,
        Field("groupEpoch", INT32),
        Field("assignorName", STRING),
        rows(
            "members",
            Field("memberId", STRING),
            Field("memberEpoch", INT32),
            _nullable("instanceId", STRING),
            _nullable("rackId", STRING),
            Field("subscribedTopicIds", Array(UUID)),
            Field("assignor", fields(Field("reason", INT8), *METADATA)),
            # The member's target, not what it has.
            Field("topicPartitions", TOPIC_PARTITIONS),
        ),
        rows("topics", Field("topicId", UUID), Field("topicName", STRING), Field("numPartitions", INT32)),
    ),
)

_INSTALL = _api(
    INSTALL_ASSIGNMENT,
    "ConsumerGroupInstallAssignment",
    fields(
        *_MEMBER,
        Field("groupEpoch", INT32),
        Field("error", INT8),
        rows("members", Field("memberId", STRING), Field("partitions", TOPIC_PARTITIONS), *METADATA),
    ),
    fields(*_ERROR),
)

# A topic goes by its name or by its id, in the same version; the released Kafka takes ids from version 10 on.
_TOPIC = (_nullable("name", STRING), Field("topicId", UUID))

_OFFSET_COMMIT = _api(
    8,
    "OffsetCommit",
    fields(
        Field("groupId", STRING),
        Field("generationIdOrMemberEpoch", INT32, default=-1),
        Field("memberId", STRING),
        _nullable("groupInstanceId", STRING),
        rows(
            "topics",
            *_TOPIC,
            rows(
                "partitions",
                Field("partitionIndex", INT32),
                Field("committedOffset", INT64),
                Field("committedLeaderEpoch", INT32, default=-1),
                Field("committedMetadata", STRING, nullable_since=0),
            ),
        ),
    ),
    fields(
        Field("throttleTimeMs", INT32),
        rows(
            "topics", *_TOPIC, rows("partitions", Field("partitionIndex", INT32), Field("errorCode", INT16))
        ),
    ),
    version=9,
)

_OFFSET_FETCH = _api(
    9,
    "OffsetFetch",
    fields(
        Field("generationIdOrMemberEpoch", INT32, default=-1),
        Field("memberId", STRING),
        rows(
            "groups",
            Field("groupId", STRING),
            rows("topics", *_TOPIC, Field("partitionIndexes", Array(INT32)), nullable_since=0),
        ),
        Field("requireStable", BOOL, default=False),
    ),
    fields(
        Field("throttleTimeMs", INT32),
        rows(
            "groups",
            Field("groupId", STRING),
            rows(
                "topics",
                *_TOPIC,
                rows(
                    "partitions",
                    Field("partitionIndex", INT32),
                    Field("committedOffset", INT64),
                    Field("committedLeaderEpoch", INT32, default=-1),
                    Field("metadata", STRING, nullable_since=0),
                    Field("errorCode", INT16),
                ),
            ),
            Field("errorCode", INT16, default=0),
        ),
    ),
    version=9,
)

KIP_APIS: Final[dict[int, KipApi]] = {
    api.key: api for api in (_OFFSET_COMMIT, _OFFSET_FETCH, _HEARTBEAT, _DESCRIBE, _PREPARE, _INSTALL)
}
"""By API key: each in the one version that the proposal has of it, 9 of the offset APIs and 0 of the rest."""
