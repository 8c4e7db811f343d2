"""Control records: what the broker itself puts into a partition, in batches that consumers never see.

The key is an int16 version and an int16 type. In ``__consumer_offsets`` they are the ends of transactions, whose
value is an int16 version and the transaction coordinator's epoch; ``__cluster_metadata`` has a few more kinds,
which are only named here. Source: ``ControlRecordType`` and ``EndTransactionMarker`` of Kafka's clients module.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from groups.wire.errors import MalformedError, TruncatedError

_TWO_INT16: Final = struct.Struct(">hh")
_MARKER_VALUE: Final = struct.Struct(">hi")


class ControlType(IntEnum):
    """Kafka's ``ControlRecordType``; ``UNKNOWN`` for what a later release may add."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6
    UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecord:
    """A decoded control record; ``coordinator_epoch`` is there for the two ends of a transaction alone."""

    type: ControlType
    coordinator_epoch: int | None = None


def decode_control(key: bytes | None, value: bytes | None) -> ControlRecord:
    """The control record of a control batch; ``RecordError`` for damaged bytes.

    Later versions may only append, so what is behind the known fields is left alone, as Kafka does.
    """
    if key is None:
        raise MalformedError("a control record has no key")
    if len(key) < _TWO_INT16.size:
        raise TruncatedError("the key of a control record", needed=_TWO_INT16.size, left=len(key), offset=0)
    version, number = _TWO_INT16.unpack_from(key)
    if version < 0:
        raise MalformedError(f"the key of a control record has version {version}", offset=0)
    try:
        type_ = ControlType(number)
    except ValueError:
        type_ = ControlType.UNKNOWN
    if type_ not in (ControlType.ABORT, ControlType.COMMIT):
        return ControlRecord(type=type_)
    if value is None or len(value) < _MARKER_VALUE.size:
        raise TruncatedError(
            "the end of a transaction", needed=_MARKER_VALUE.size, left=len(value or b""), offset=0
        )
    version, epoch = _MARKER_VALUE.unpack_from(value)
    if version < 0:
        raise MalformedError(f"the end of a transaction has version {version}", offset=0)
    return ControlRecord(type=type_, coordinator_epoch=epoch)


def encode_control(record: ControlRecord) -> tuple[bytes, bytes]:
    """Key and value of an ``ABORT`` or ``COMMIT`` marker; ``MalformedError`` for another kind."""
    if record.coordinator_epoch is None or record.type not in (ControlType.ABORT, ControlType.COMMIT):
        raise MalformedError(f"{record.type.name} is not the end of a transaction with a coordinator epoch")
    return _TWO_INT16.pack(0, record.type), _MARKER_VALUE.pack(0, record.coordinator_epoch)
