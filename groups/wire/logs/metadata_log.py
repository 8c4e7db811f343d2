"""Records of ``__cluster_metadata``, as far as they contain which topic has which id, name, partitions and racks, and
which settings brokers and groups were given while they ran.

A value is framed by three unsigned varints: the frame's version, the record's api key, and its version; the
fields follow in flexible form. Only the leading fields are read, which no version may change, so that records of
later releases are understood too. Segments and ``.checkpoint`` snapshots hold the same batches.

Source: ``MetadataRecordSerde`` of Kafka's server-common module; the fields are in ``groups.wire.generated``.
"""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.codec import codec, prefix_reader
from groups.wire.codecs.primitives import read_unsigned_varint
from groups.wire.codecs.values import Fields
from groups.wire.errors import RecordError, UnknownVersionError
from groups.wire.generated.metadata import METADATA_RECORDS

_FRAME: Final = 1
"""What every release of KRaft writes; 0 was that of its early access, which Kafka refuses too."""

_REGISTER_BROKER, _TOPIC, _PARTITION, _CONFIG, _PARTITION_CHANGE, _REMOVE_TOPIC = 0, 2, 3, 4, 5, 9
_TOPICS: Final = frozenset({_TOPIC, _PARTITION, _REMOVE_TOPIC})
_ENVIRONMENT: Final = frozenset({_REGISTER_BROKER, _CONFIG, _PARTITION_CHANGE})


def decode_metadata_record(value: bytes | None, *, with_environment: bool = False) -> Fields | None:
    """What a record contains about a topic; ``None`` for all other records.

    ``with_environment``: also the records of brokers' racks, of settings, and of changes of partitions
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
    if api_key not in _TOPICS and not (with_environment and api_key in _ENVIRONMENT):
        return None
    message = METADATA_RECORDS[api_key]
    known = min(version, message.newest)
    try:
        # A change of a partition is in tagged fields alone.
        read = codec(message, known).read if api_key == _PARTITION_CHANGE else prefix_reader(message, known)
        fields, _ = read(value, at)
    except RecordError as error:
        error.inside(message.name)
        raise
    return {"type": message.name, "version": version, "value": fields}
