"""Record batches of magic 2 (KIP-98): the values, one batch from its bytes, and a batch's bytes.

A batch is a header of 61 bytes and, possibly compressed, its records::

    base offset int64, length int32 (of all that follows), partition leader epoch int32, magic int8, CRC uint32,
    attributes int16, last offset delta int32, base timestamp int64, max timestamp int64,
    producer id int64, producer epoch int16, base sequence int32, count int32, records…

The CRC-32C covers everything from the attributes on. A whole segment, with whatever is wrong in it, is read by
``groups.wire.logs.batches``.

Source: ``DefaultRecordBatch`` and ``DefaultRecord`` of Kafka's clients module.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

import google_crc32c

from groups.wire.codecs.primitives import read_varint, read_varlong, write_varlong
from groups.wire.errors import BatchError, CompressionError, RecordError, UnwritableBatchError
from groups.wire.logs.compression import Compression, compress, decompress

MAGIC: Final = 2
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES: Final = 61
LENGTH_END: Final = 12
"""Where the bytes begin that the length field counts."""
MAGIC_AT: Final = 16
CRC_END: Final = 21
"""Where the bytes begin that the CRC covers."""

LEAST_RECORD_BYTES: Final = 7
"""Length, attributes, two deltas, two lengths of key and value, count of headers: a byte each at least."""
_LEAST_LENGTH: Final = LEAST_RECORD_BYTES - 1

GREATEST_BASE_OFFSET: Final = 2**63 - 2**32
"""The base offset is the one field that no checksum covers. Beyond this the offsets of a batch would not fit an int64; no log
comes even near."""

_COMPRESSIONS: Final = {int(compression): compression for compression in Compression}

MOST_RECORDS: Final = 250_000
"""Records of one batch, each of their headers counted too. A broker's limit for a batch (1 MiB unless it was raised)
has room for 35,000 of the coordinator's smallest records; 64 MiB of nothing but lengths, which compress to a few
kilobytes, would take a minute to read and a gigabyte to keep."""

COMPRESSION_BITS: Final = 0x07
LOG_APPEND_TIME_BIT: Final = 0x08
TRANSACTIONAL_BIT: Final = 0x10
CONTROL_BIT: Final = 0x20
DELETE_HORIZON_BIT: Final = 0x40


class TimestampType(IntEnum):
    """Who set the timestamps (Kafka's ``message.timestamp.type``)."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


# Looking a member up takes longer than what is done with it.
_CREATE_TIME: Final = TimestampType.CREATE_TIME
_LOG_APPEND_TIME: Final = TimestampType.LOG_APPEND_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header of one record; the value may be null."""

    key: str
    value: bytes | None


class Record(NamedTuple):
    """One record of a batch, at its offset in the partition; a value of ``None`` is a tombstone.

    A tuple, as the batch is, because a log has millions of them, and a frozen dataclass takes five times as long to
    make.
    """

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


class RecordBatch(NamedTuple):
    """One batch.

    ``base_timestamp_ms`` is what the records' timestamps are relative to; where ``has_delete_horizon`` is set (by the
    log cleaner) it is also the time after which tombstones and markers may go. Compaction removes records but keeps
    the batch's bounds, so that ``last_offset_delta`` may reach beyond the last record, and a batch may be empty.
    """

    base_offset: int
    records: tuple[Record, ...]
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    partition_leader_epoch: int = 0
    compression: Compression = Compression.NONE
    timestamp_type: TimestampType = TimestampType.CREATE_TIME
    is_transactional: bool = False
    is_control: bool = False
    has_delete_horizon: bool = False
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.last_offset + 1


def coordinator_batch(
    *,
    base_offset: int,
    timestamp_ms: int,
    records: Iterable[tuple[bytes | None, bytes | None]],
    partition_leader_epoch: int = 0,
) -> RecordBatch:
    """A batch as Kafka's group coordinator appends one: keys and values, all at one time.

    The broker writes without a producer, yet with a base sequence of 0 (an ordinary producer that is not
    idempotent leaves -1).
    """
    rows = tuple(
        Record(offset=base_offset + index, timestamp_ms=timestamp_ms, key=key, value=value)
        for index, (key, value) in enumerate(records)
    )
    return RecordBatch(
        base_offset=base_offset,
        records=rows,
        partition_leader_epoch=partition_leader_epoch,
        last_offset_delta=max(len(rows) - 1, 0),
        base_timestamp_ms=timestamp_ms,
        max_timestamp_ms=timestamp_ms,
        base_sequence=0,
    )


Unpack = Callable[[Compression, bytes], bytes]
"""Gives what a batch's records are when they are decompressed; ``CompressionError`` where it cannot, or will not."""


def parse_batch(data: bytes, unpack: Unpack = decompress) -> RecordBatch:
    """The one batch that ``data`` is, from base offset to last record; ``BatchError`` for anything else."""
    if len(data) < HEADER_BYTES:
        raise BatchError(
            f"a batch has a header of {HEADER_BYTES} bytes, {len(data)} are here", offset=len(data)
        )
    (
        base_offset, length, leader_epoch, magic, crc, attributes, last_offset_delta, base_timestamp, max_timestamp,
        producer_id, producer_epoch, base_sequence, count,
    ) = HEADER.unpack_from(data)  # fmt: skip
    if magic != MAGIC:
        raise BatchError(f"a batch of magic {magic}; only magic {MAGIC} is read", offset=16)
    if length != len(data) - LENGTH_END:
        raise BatchError(f"the batch says that {length} bytes follow, {len(data) - LENGTH_END} do", offset=8)
    # google_crc32c takes bytes alone, hence the copy.
    checked = data[CRC_END:]
    if (found := google_crc32c.value(checked)) != crc:
        raise BatchError(f"the CRC-32C is {found:08x}, the header says {crc:08x}: damaged bytes", offset=17)
    if base_offset > GREATEST_BASE_OFFSET:
        raise BatchError(f"its base offset {base_offset} is beyond what a log can hold", offset=0)
    number = attributes & COMPRESSION_BITS
    compression = _COMPRESSIONS.get(number)
    if compression is None:
        raise BatchError(f"compression {number} is not known here; Kafka has 0 to 4", offset=CRC_END)
    append_time = max_timestamp if attributes & LOG_APPEND_TIME_BIT else None
    try:
        body = data[HEADER_BYTES:]
        if attributes & COMPRESSION_BITS:
            body = unpack(compression, body)
        records = _parse_records(body, count, base_offset, base_timestamp, append_time)
    except CompressionError as error:
        error.offset = HEADER_BYTES
        raise
    except RecordError as error:
        raise BatchError(f"its records are damaged ({error})", offset=HEADER_BYTES) from None
    return RecordBatch(
        base_offset,
        records,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        leader_epoch,
        compression,
        _CREATE_TIME if append_time is None else _LOG_APPEND_TIME,
        attributes & TRANSACTIONAL_BIT != 0,
        attributes & CONTROL_BIT != 0,
        attributes & DELETE_HORIZON_BIT != 0,
        producer_id,
        producer_epoch,
        base_sequence,
    )


def _parse_records(
    body: bytes, count: int, base_offset: int, base_timestamp: int, append_time: int | None
) -> tuple[Record, ...]:
    if not 0 <= count <= len(body) // LEAST_RECORD_BYTES:
        raise BatchError(f"it says that it has {count} records, in {len(body)} bytes", offset=57)
    room = MOST_RECORDS - count
    if room < 0:
        raise BatchError(f"{count} records in one batch; at most {MOST_RECORDS} are read", offset=57)
    records = []
    size = len(body)
    at = 0
    # Numbers are zigzag varints. Most fit one byte, which is read here: a call for each would take half of the time.
    for _ in range(count):
        start = at
        if at < size and (byte := body[at]) < 0x80:
            length, at = (byte >> 1) ^ -(byte & 1), at + 1
        else:
            length, at = read_varint(body, at)
        end = at + length
        if not at + _LEAST_LENGTH <= end <= size:
            raise BatchError(f"a record of {length} bytes at byte {start} of the {size} of all records")
        # The attributes of a record are a byte that no version uses.
        if (byte := body[at + 1]) < 0x80:
            timestamp_delta, at = (byte >> 1) ^ -(byte & 1), at + 2
        else:
            timestamp_delta, at = read_varlong(body, at + 1)
        if at < end and (byte := body[at]) < 0x80:
            offset_delta, at = (byte >> 1) ^ -(byte & 1), at + 1
        else:
            offset_delta, at = read_varint(body, at)
        key, at = _parse_bytes(body, at, end)
        value, at = _parse_bytes(body, at, end)
        headers: tuple[Header, ...] = ()
        if at < end and body[at] == 0:
            at += 1
        else:
            headers, at = _parse_headers(body, at, end, room)
            room -= len(headers)
        if at != end:
            raise BatchError(
                f"the record at byte {start} of its batch's records does not fill its {length} bytes"
            )
        timestamp = base_timestamp + timestamp_delta if append_time is None else append_time
        records.append(Record(base_offset + offset_delta, timestamp, key, value, headers))
    if at != len(body):
        raise BatchError(f"{len(body) - at} bytes are left behind the last of {count} records")
    return tuple(records)


def _parse_bytes(body: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    # Most lengths fit one byte; a zigzag of 1 is -1, which is null.
    if at < end and (byte := body[at]) < 0x80:
        at += 1
        length = (byte >> 1) ^ -(byte & 1)
    else:
        length, at = read_varint(body, at)
    if length < 0:
        return None, at
    after = at + length
    if after > end:
        raise BatchError(f"a key or value of {length} bytes reaches {after - end} bytes beyond its record")
    return body[at:after], after


def _parse_headers(body: bytes, at: int, end: int, most: int) -> tuple[tuple[Header, ...], int]:
    count, at = read_varint(body, at)
    # A header has two lengths of at least a byte each.
    if not 0 <= count <= (end - at) // 2:
        raise BatchError(f"a record says that it has {count} headers, in {end - at} bytes")
    if count > most:
        raise BatchError(f"a record with {count} headers; at most {MOST_RECORDS} are read in one batch")
    headers = []
    for _ in range(count):
        key, at = _parse_bytes(body, at, end)
        value, at = _parse_bytes(body, at, end)
        if key is None:
            raise BatchError("a header without a key")
        headers.append(Header(key=key.decode(errors="replace"), value=value))
    return tuple(headers), at


def write_batch(batch: RecordBatch) -> bytes:
    """The bytes of a batch, CRC included; ``UnwritableBatchError`` if a value does not fit its field."""
    body = bytearray()
    for record in batch.records:
        _write_record(body, record, batch)
    attributes = (
        batch.compression
        | (LOG_APPEND_TIME_BIT if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else 0)
        | (TRANSACTIONAL_BIT if batch.is_transactional else 0)
        | (CONTROL_BIT if batch.is_control else 0)
        | (DELETE_HORIZON_BIT if batch.has_delete_horizon else 0)
    )
    packed = compress(batch.compression, bytes(body))
    try:
        checked = (
            HEADER.pack(
                0, 0, 0, MAGIC, 0, attributes, batch.last_offset_delta, batch.base_timestamp_ms, batch.max_timestamp_ms,
                batch.producer_id, batch.producer_epoch, batch.base_sequence, len(batch.records),
            )[CRC_END:]
            + packed
        )  # fmt: skip
        head = struct.pack(
            ">qiibI",
            batch.base_offset,
            CRC_END - LENGTH_END + len(checked),
            batch.partition_leader_epoch,
            MAGIC,
            google_crc32c.value(checked),
        )
    except struct.error as error:
        raise UnwritableBatchError(
            f"the header of the batch at offset {batch.base_offset}: {error}"
        ) from None
    return head + checked


def _write_record(out: bytearray, record: Record, batch: RecordBatch) -> None:
    offset_delta = record.offset - batch.base_offset
    if not 0 <= offset_delta <= batch.last_offset_delta:
        raise UnwritableBatchError(
            f"the record at offset {record.offset} lies outside its batch, "
            f"which is {batch.base_offset} to {batch.last_offset}"
        )
    # The delta of a batch with append time is not read back, and Kafka leaves whatever the producer wrote.
    timestamp_delta = record.timestamp_ms - batch.base_timestamp_ms
    inner = bytearray(1)
    write_varlong(inner, timestamp_delta)
    write_varlong(inner, offset_delta)
    _write_bytes(inner, record.key)
    _write_bytes(inner, record.value)
    write_varlong(inner, len(record.headers))
    for header in record.headers:
        _write_bytes(inner, header.key.encode())
        _write_bytes(inner, header.value)
    write_varlong(out, len(inner))
    out += inner


def _write_bytes(out: bytearray, value: bytes | None) -> None:
    if value is None:
        out.append(1)
    else:
        write_varlong(out, len(value))
        out += value
