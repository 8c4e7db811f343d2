"""What the members of a Kafka Streams group of the classic protocol send in user data, and what their leader answers.

A subscription carries the member's process, the tasks that it had and how far their state is; an assignment carries
its active tasks, one for each assigned partition, its standby tasks, and which host has which partitions. Both begin
with an int32, the version, which is a field of the message here; 1 to 11 are known. Of a later subscription only the
version and the newest version that the member knows are read (version probing); a later assignment is refused.

Kafka declares ``SubscriptionInfoData`` and writes ``AssignmentInfo`` by hand, whose names are those of its fields.
What lies behind the last field is ignored in both. Source: the classes ``SubscriptionInfo``, ``AssignmentInfo`` and
``ConsumerProtocolUtils`` of Kafka's streams module.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from groups.wire.codecs.codec import codec, encode
from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields, rows
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import (
    MalformedError,
    TruncatedError,
    UnencodableError,
    UnknownVersionError,
)

NEWEST_VERSION: Final = 11
UNKNOWN_VERSION: Final = -1
"""The newest version of a member that did not send it: those of versions 1 and 2."""

RUNNING: Final = -2
"""The offset sum of a task that ran actively: ``Task.LATEST_OFFSET``."""
UNKNOWN_OFFSET_SUM: Final = -3

_INT32: Final = struct.Struct(">i")
_TASK: Final = fields(Field("topicGroupId", Primitive.INT32), Field("partition", Primitive.INT32))

SUBSCRIPTION_INFO: Final = Message(
    "SubscriptionInfoData",
    fields(
        Field("version", Primitive.INT32),
        Field("latestSupportedVersion", Primitive.INT32, since=3, default=UNKNOWN_VERSION),
        Field("processId", Primitive.UUID),
        Field("prevTasks", Array(_TASK), until=6, default=()),
        Field("standbyTasks", Array(_TASK), until=6, default=()),
        Field("userEndPoint", Primitive.BYTES, since=2, default=""),
        rows(
            "taskOffsetSums",
            Field("topicGroupId", Primitive.INT32),
            Field("partition", Primitive.INT32, since=10),
            Field("offsetSum", Primitive.INT64, since=10),
            Field("namedTopology", Primitive.STRING, since=10, nullable_since=10, default=None),
            rows(
                "partitionToOffsetSum",
                Field("partition", Primitive.INT32),
                Field("offsetSum", Primitive.INT64),
                until=9,
            ),
            since=7,
            default=(),
        ),
        Field("uniqueField", Primitive.INT8, since=8, default=0),
        Field("errorCode", Primitive.INT32, since=9, default=0),
        rows(
            "clientTags", Field("key", Primitive.BYTES), Field("value", Primitive.BYTES), since=11, default=()
        ),
    ),
    oldest=1,
    newest=NEWEST_VERSION,
)

VERSION_PROBE: Final = Message(
    "SubscriptionInfoData",
    fields(Field("version", Primitive.INT32), Field("latestSupportedVersion", Primitive.INT32)),
)
"""All that is read of a subscription whose version is not known."""

_ASSIGNED_TASK: Final = (*_TASK.fields, Field("namedTopology", Primitive.CHARS, since=10, default=None))
_PARTITIONS: Final = Array(
    fields(Field("topic", Primitive.MODIFIED_UTF8), Field("partition", Primitive.INT32))
)
_INDEXED_PARTITIONS: Final = Array(
    fields(Field("topicIndex", Primitive.INT32), Field("partition", Primitive.INT32))
)


def _by_host(partitions: Array) -> Array:
    return Array(
        fields(
            Field("host", Primitive.MODIFIED_UTF8),
            Field("port", Primitive.INT32),
            Field("partitions", partitions),
        )
    )


ASSIGNMENT_INFO: Final = Message(
    "AssignmentInfo",
    fields(
        Field("version", Primitive.INT32),
        Field("commonlySupportedVersion", Primitive.INT32, since=3, default=UNKNOWN_VERSION),
        rows("activeTasks", *_ASSIGNED_TASK, default=()),
        rows("standbyTasks", *_ASSIGNED_TASK, Field("partitions", _PARTITIONS), default=()),
        Field("partitionsByHost", _by_host(_PARTITIONS), since=2, until=4, default=()),
        # From version 5 on each topic's name is there once, and partitions have its index.
        rows(
            "topicNames",
            Field("index", Primitive.INT32),
            Field("topic", Primitive.MODIFIED_UTF8),
            since=5,
            default=(),
        ),
        Field("partitionsByHost", _by_host(_INDEXED_PARTITIONS), since=5, default=()),
        Field("standbyPartitionsByHost", _by_host(_INDEXED_PARTITIONS), since=6, default=()),
        Field("errCode", Primitive.INT32, since=4, default=0),
        Field("nextRebalanceMs", Primitive.INT64, since=7, default=(1 << 63) - 1),
    ),
    oldest=1,
    newest=NEWEST_VERSION,
)

TopicPartition = tuple[str | None, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousTasks:
    """The tasks that a member reports to have had, in Kafka's text form (``task_text``)."""

    active: tuple[str, ...]
    standby: tuple[str, ...]
    offset_sums: Mapping[str, int]
    """Of each task, how many records its state has taken in; ``RUNNING`` and ``UNKNOWN_OFFSET_SUM`` are no sums."""


def subscription_info_message(version: int) -> tuple[Message, int]:
    """The declaration, and the version of it, that a subscription info of ``version`` is read with."""
    return (VERSION_PROBE, 0) if version > NEWEST_VERSION else (SUBSCRIPTION_INFO, version)


def read_subscription_info(data: bytes) -> tuple[Fields, int]:
    """The fields of ``SUBSCRIPTION_INFO``, or those of ``VERSION_PROBE``, and where reading ended; ``RecordError`` for
    damaged bytes."""
    message, version = subscription_info_message(_version(SUBSCRIPTION_INFO, data))
    value, end = codec(message, version).read(data, 0)
    if (fault := _newest_known_fault(value)) is not None:
        raise MalformedError(fault, offset=_INT32.size)
    return value, end


def encode_subscription_info(value: Mapping[str, Value]) -> bytes:
    """The inverse of ``read_subscription_info``; version 11 if none is named."""
    version = value.get("version", NEWEST_VERSION)
    # Kafka's class fills in the newest version that it knows.
    newest_known = {} if version in (1, 2) else {"latestSupportedVersion": NEWEST_VERSION}
    whole = {"version": version, **newest_known, **value}
    message, used = subscription_info_message(version) if isinstance(version, int) else (SUBSCRIPTION_INFO, 0)
    data = encode(message, used, whole)
    if (fault := _newest_known_fault(whole)) is not None:
        raise UnencodableError(fault)
    return data


def read_assignment_info(data: bytes) -> tuple[Fields, int]:
    """The fields of ``ASSIGNMENT_INFO``, and where reading ended; ``RecordError`` for damaged bytes and for versions that
    are not known."""
    return codec(ASSIGNMENT_INFO, _version(ASSIGNMENT_INFO, data, newest=NEWEST_VERSION)).read(data, 0)


def encode_assignment_info(value: Mapping[str, Value]) -> bytes:
    """The inverse of ``read_assignment_info``; version 11 if none is named."""
    version = value.get("version", NEWEST_VERSION)
    newest = {} if version in (1, 2) else {"commonlySupportedVersion": NEWEST_VERSION}
    return encode(ASSIGNMENT_INFO, version, {"version": version, **newest, **value})


def task_text(task: Mapping[str, Value]) -> str:
    """A task in Kafka's text form: subtopology and partition, ``0_1``, or ``topology__0_1``."""
    topology = task.get("namedTopology")
    text = f"{task['topicGroupId']}_{task['partition']}"
    return text if topology is None else f"{topology}__{text}"


def previous_tasks(info: Mapping[str, Value]) -> PreviousTasks:
    """The tasks in a decoded subscription info, the same for all versions; none of a version probe."""
    if "taskOffsetSums" in info:
        sums = {task_text(task): offset_sum for task, offset_sum in _offset_sums(info["taskOffsetSums"])}
    else:
        sums = {task_text(task): RUNNING for task in info.get("prevTasks", ())}
        sums |= {task_text(task): UNKNOWN_OFFSET_SUM for task in info.get("standbyTasks", ())}
    return PreviousTasks(
        active=tuple(task for task, offset_sum in sums.items() if offset_sum == RUNNING),
        standby=tuple(task for task, offset_sum in sums.items() if offset_sum != RUNNING),
        offset_sums=sums,
    )


def _offset_sums(sums: Iterable[Mapping[str, Value]]) -> Iterable[tuple[Mapping[str, Value], int]]:
    for task in sums:
        if "partitionToOffsetSum" in task:
            for partition in task["partitionToOffsetSum"]:
                yield {**task, "partition": partition["partition"]}, partition["offsetSum"]
        else:
            yield task, task["offsetSum"]


def _newest_known_fault(info: Mapping[str, Value]) -> str | None:
    """Why Kafka refuses the pair of versions, if it does: a member cannot use a version that it does not know."""
    version, newest_known = info["version"], info.get("latestSupportedVersion", UNKNOWN_VERSION)
    if newest_known == UNKNOWN_VERSION:
        return (
            None if version in (1, 2) else f"version {version} tells no newest version that its member knows"
        )
    if version > newest_known:
        return f"version {version} of a member that knows {newest_known} as its newest"
    return None


def _version(message: Message, data: bytes, newest: int | None = None) -> int:
    if len(data) < _INT32.size:
        raise TruncatedError("a version", needed=_INT32.size, left=len(data), offset=0)
    version: int = _INT32.unpack_from(data)[0]
    if version < message.oldest or (newest is not None and version > newest):
        raise UnknownVersionError(
            f"{message.name} has no version {version} here; known are {message.oldest} to {message.newest}",
            offset=0,
        )
    return version
