"""Records of ``__cluster_metadata``, as far as they tell which topic has which id, name, partitions and racks, and
which settings brokers and groups were given while they ran.

A value is framed by three unsigned varints: the frame's version, the record's api key, and its version; the
fields follow in flexible form. Only the leading fields are read, which no version may change, so that records of
later releases are understood too. Segments and ``.checkpoint`` snapshots hold the same batches.

Source: ``MetadataRecordSerde`` of Kafka's server-common module; ``TopicRecord.json``, ``PartitionRecord.json``,
``RemoveTopicRecord.json``, ``RegisterBrokerRecord.json``, ``ConfigRecord.json`` and
``PartitionChangeRecord.json`` of its metadata module.
"""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.codec import codec, prefix_reader
from groups.wire.codecs.primitives import read_unsigned_varint
from groups.wire.codecs.schema import Array, Field, Message, Primitive, Struct
from groups.wire.codecs.values import Fields
from groups.wire.errors import RecordError, UnknownVersionError

_FRAME: Final = 1
"""What every release of KRaft writes; 0 was that of its early access, which Kafka refuses too."""

_TOPIC: Final = Message(
    "TopicRecord",
    Struct((Field("name", Primitive.STRING), Field("topicId", Primitive.UUID))),
    flexible_since=0,
)
_PARTITION: Final = Message(
    "PartitionRecord",
    Struct(
        (
            Field("partitionId", Primitive.INT32),
            Field("topicId", Primitive.UUID),
            Field("replicas", Array(Primitive.INT32)),
        )
    ),
    flexible_since=0,
)
_REMOVE_TOPIC: Final = Message(
    "RemoveTopicRecord", Struct((Field("topicId", Primitive.UUID),)), flexible_since=0
)

_END_POINT: Final = Struct(
    (
        Field("name", Primitive.STRING),
        Field("host", Primitive.STRING),
        Field("port", Primitive.UINT16),
        Field("securityProtocol", Primitive.INT16),
    )
)
_FEATURE: Final = Struct(
    (
        Field("name", Primitive.STRING),
        Field("minSupportedVersion", Primitive.INT16),
        Field("maxSupportedVersion", Primitive.INT16),
    )
)


def _register_broker(*more: Field) -> Message:
    return Message(
        "RegisterBrokerRecord",
        Struct(
            (
                Field("brokerId", Primitive.INT32),
                *more,
                Field("incarnationId", Primitive.UUID),
                Field("brokerEpoch", Primitive.INT64),
                Field("endPoints", Array(_END_POINT)),
                Field("features", Array(_FEATURE)),
                Field("rack", Primitive.STRING, nullable_since=0),
            )
        ),
        flexible_since=0,
    )


_REGISTER_BROKER_API_KEY: Final = 0
_OLD_REGISTER_BROKER: Final = _register_broker()
_REGISTER_BROKER: Final = _register_broker(Field("isMigratingZkBroker", Primitive.BOOL))
"""From version 2 on, which put a field in between."""

_CONFIG: Final = Message(
    "ConfigRecord",
    Struct(
        (
            Field("resourceType", Primitive.INT8),
            Field("resourceName", Primitive.STRING),
            Field("name", Primitive.STRING),
            Field("value", Primitive.STRING, nullable_since=0),
        )
    ),
    flexible_since=0,
)

_PARTITION_CHANGE: Final = Message(
    "PartitionChangeRecord",
    Struct(
        (
            Field("partitionId", Primitive.INT32),
            Field("topicId", Primitive.UUID),
            Field("isr", Array(Primitive.INT32), nullable_since=0, tag=0, default=None),
            Field("leader", Primitive.INT32, tag=1, default=-2),
            Field("replicas", Array(Primitive.INT32), nullable_since=0, tag=2, default=None),
        )
    ),
    flexible_since=0,
)

_TOPICS: Final = {2: _TOPIC, 3: _PARTITION, 9: _REMOVE_TOPIC}
_SURROUNDINGS: Final = {4: _CONFIG, 5: _PARTITION_CHANGE, _REGISTER_BROKER_API_KEY: _REGISTER_BROKER}


def decode_metadata_record(value: bytes | None, *, with_environment: bool = False) -> Fields | None:
    """What a record tells about a topic; ``None`` for all other records.

    ``with_surroundings``: also what it tells of brokers' racks, of settings, and of changes of partitions
    (``RegisterBrokerRecord``, ``ConfigRecord``, ``PartitionChangeRecord``), in the same form.

    One of::

        {"type": "TopicRecord", "version": 0, "value": {"name": "foo", "topicId": "…"}}
        {"type": "PartitionRecord", "version": 2, "value": {"partitionId": 0, "topicId": "…", "replicas": [1]}}
        {"type": "RemoveTopicRecord", "version": 0, "value": {"topicId": "…"}}

    Later fields of the record are left out. ``RecordError`` for damaged bytes and for an unknown frame.
    """
    if value is None:
        return None
    frame, at = read_unsigned_varint(value, 0)
    if frame != _FRAME:
        raise UnknownVersionError(f"metadata frame version {frame} is not known here", offset=0)
    api_key, at = read_unsigned_varint(value, at)
    version, at = read_unsigned_varint(value, at)
    message = _TOPICS.get(api_key)
    if message is None and with_environment:
        old = api_key == _REGISTER_BROKER_API_KEY and version < 2
        message = _OLD_REGISTER_BROKER if old else _SURROUNDINGS.get(api_key)
    if message is None:
        return None
    try:
        # What a change tells of a partition stands in tagged fields alone.
        whole = message is _PARTITION_CHANGE
        fields, _ = (codec(message, 0).read if whole else prefix_reader(message))(value, at)
    except RecordError as error:
        error.inside(message.name)
        raise
    return {"type": message.name, "version": version, "value": fields}
