"""Batches with a right checksum over wrong content: records, counts, compressions, transactions, bombs."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Iterator
from typing import Final

import cramjam
import google_crc32c

from groups.wire.codecs.primitives import write_varlong
from groups.wire.logs.compression import Compression, compress
from groups.wire.logs.record_batch import CRC_END, HEADER, LENGTH_END
from groups.wire.records import encode_record
from tests.pipeline.broken.case import ANYTHING, AT_MS, Case, Place, requests, three

KEEPS: Final = ("before", "after")
DAMAGED: Final = "damaged|record|compress|length|bytes|count|offset|header|members"
BOMB_BYTES: Final = 65 * 1024 * 1024
"""A mebibyte more than a batch may decompress to."""


def cases() -> Iterator[Case]:
    yield from records()
    yield from headers()
    yield from compressions()
    yield from bombs()


def varint(number: int) -> bytes:
    out = bytearray()
    write_varlong(out, number)
    return bytes(out)


def raw_record(
    key: bytes | None, value: bytes | None, *, delta: int = 0, time_delta: int = 0, attributes: int = 0,
    length: int | None = None, key_length: int | None = None, value_length: int | None = None,
    headers: bytes = b"\0",
) -> bytes:  # fmt: skip
    """A record whose lengths may lie."""
    sizes = (
        (-1 if key is None else len(key)) if key_length is None else key_length,
        (-1 if value is None else len(value)) if value_length is None else value_length,
    )
    inner = bytes([attributes]) + varint(time_delta) + varint(delta)
    inner += varint(sizes[0]) + (key or b"") + varint(sizes[1]) + (value or b"") + headers
    return varint(len(inner) if length is None else length) + inner


def raw_batch(
    base_offset: int, body: bytes, count: int, *, attributes: int = 0, last_delta: int | None = None,
    base_ms: int = AT_MS, max_ms: int = AT_MS, producer: tuple[int, int, int] = (-1, -1, 0),
) -> bytes:  # fmt: skip
    """A batch with a right length and checksum around whatever is said inside."""
    last = count - 1 if last_delta is None else last_delta
    head = HEADER.pack(0, 0, 0, 2, 0, attributes, last, base_ms, max_ms, *producer, count)
    checked = head[CRC_END:] + body
    return (
        struct.pack(
            ">qiibI",
            base_offset,
            CRC_END - LENGTH_END + len(checked),
            0,
            2,
            google_crc32c.value(checked),
        )
        + checked
    )


def hit_pairs(place: Place) -> list[tuple[bytes | None, bytes | None]]:
    return [encode_record(payload) for payload in requests(place.group("hit"))]


def good_body(place: Place) -> bytes:
    return b"".join(
        raw_record(key, value, delta=index) for index, (key, value) in enumerate(hit_pairs(place))
    )


def between(place: Place, middle: bytes) -> None:
    before, _, after = three(place)
    place.put(before + middle + after)


def in_the_middle(
    name: str, middle: Callable[[Place], bytes], reason: str | None = DAMAGED, *, keeps: tuple[str, ...] = KEEPS,
    slow: bool = False,
) -> Case:  # fmt: skip
    """A case whose second batch is ``middle`` (offsets 5 to 9)."""
    return Case(
        name=name,
        make=lambda place: between(place, middle(place)),
        reason=reason,
        keeps=keeps,
        slow=slow,
    )


def records() -> Iterator[Case]:
    lies: dict[str, dict[str, int | bytes]] = {
        "record-longer-than-its-batch": {"length": 10_000},
        "record-shorter-than-its-fields": {"length": 12},
        "record-of-negative-length": {"length": -5},
        "record-of-length-zero": {"length": 0},
        "record-of-2-gigabytes": {"length": (1 << 31) - 1},
        "key-beyond-its-record": {"key_length": 5_000},
        "key-of-length-minus-two": {"key_length": -2},
        "value-beyond-its-record": {"value_length": 5_000},
        "value-of-length-minus-two": {"value_length": -2},
        "headers-a-billion": {"headers": varint(1_000_000_000)},
        "headers-a-negative-count": {"headers": varint(-3)},
        "header-without-a-key": {"headers": varint(1) + varint(-1) + varint(0)},
        "varint-of-eleven-bytes": {"headers": b"\xff" * 11},
    }
    for name, lie in lies.items():
        yield in_the_middle(
            name,
            lambda place, lie=lie: raw_batch(5, raw_record(*hit_pairs(place)[1], **lie), 1, last_delta=4),
        )
    yield in_the_middle("length-varint-never-ends", lambda place: raw_batch(5, b"\xff" * 40, 1, last_delta=4))
    yield in_the_middle(
        "bytes-left-behind-the-records",
        lambda place: raw_batch(5, good_body(place) + b"\0\0\0\0\0\0\0\0", 5),
    )
    yield in_the_middle(
        "record-attributes-that-nobody-knows",
        lambda place: raw_batch(5, raw_record(*hit_pairs(place)[1], attributes=0x7F), 1, last_delta=4),
        None,
        keeps=("before", "hit", "after"),
    )
    yield in_the_middle(
        "record-without-a-key",
        lambda place: raw_batch(5, raw_record(None, b"value") + good_body(place)[0:0], 1, last_delta=4),
        "key",
    )
    yield in_the_middle(
        "record-without-key-and-value",
        lambda place: raw_batch(5, raw_record(None, None), 1, last_delta=4),
        "key",
    )


def headers() -> Iterator[Case]:
    for name, count in {
        "count-one-too-many": 6,
        "count-one-too-few": 4,
        "count-negative": -1,
        "count-two-billion": (1 << 31) - 1,
        "count-zero-over-five-records": 0,
    }.items():
        yield in_the_middle(
            name, lambda place, count=count: raw_batch(5, good_body(place), count, last_delta=4)
        )
    for name, last in {
        "last-offset-before-its-records": 1,
        "last-offset-delta-negative": -1,
        "last-offset-delta-two-billion": (1 << 31) - 1,
    }.items():
        yield in_the_middle(
            name,
            lambda place, last=last: raw_batch(5, good_body(place), 5, last_delta=last),
            ANYTHING,
            keeps=("before", "after"),
        )
    for name, delta in {"offset-delta-beyond-its-batch": 100, "offset-delta-negative": -3}.items():
        yield in_the_middle(
            name,
            lambda place, delta=delta: raw_batch(
                5, raw_record(*hit_pairs(place)[1], delta=delta), 1, last_delta=4
            ),
            ANYTHING,
        )
    for name, base_ms in {
        "timestamp-least": -(1 << 63),
        "timestamp-greatest": (1 << 63) - 1,
        "timestamp-minus-one": -1,
        "timestamp-year-10000": 253_402_300_800_000,
    }.items():
        yield in_the_middle(
            name,
            lambda place, base_ms=base_ms: raw_batch(5, good_body(place), 5, base_ms=base_ms, max_ms=base_ms),
            ANYTHING,
        )
    yield in_the_middle(
        "timestamp-delta-beyond-int64",
        lambda place: raw_batch(
            5, raw_record(*hit_pairs(place)[1], time_delta=(1 << 63) - 1), 1, last_delta=4
        ),
        ANYTHING,
    )
    yield in_the_middle("batch-without-records", lambda place: raw_batch(5, b"", 0, last_delta=4), None)
    yield in_the_middle(
        "control-batch-of-ordinary-records",
        lambda place: raw_batch(5, good_body(place), 5, attributes=0x30, producer=(7, 0, -1)),
        ANYTHING,
    )
    yield in_the_middle(
        "control-batch-with-an-empty-key",
        lambda place: raw_batch(
            5, raw_record(b"", b""), 1, attributes=0x30, last_delta=4, producer=(7, 0, -1)
        ),
        ANYTHING,
    )
    yield in_the_middle(
        "control-type-of-a-later-release",
        lambda place: raw_batch(
            5, raw_record(b"\0\0\0\x63", b"\0\0"), 1, attributes=0x30, last_delta=4, producer=(7, 0, -1)
        ),
        ANYTHING,
    )
    yield in_the_middle(
        "marker-of-two-bytes",
        lambda place: raw_batch(
            5, raw_record(b"\0\0\0\1", b"\0\0"), 1, attributes=0x30, last_delta=4, producer=(7, 0, -1)
        ),
        ANYTHING,
    )
    yield in_the_middle(
        "transactional-without-a-producer",
        lambda place: raw_batch(5, good_body(place), 5, attributes=0x10),
        ANYTHING,
    )


def compressions() -> Iterator[Case]:
    for number in (5, 6, 7):
        yield in_the_middle(
            f"compression-{number}-that-kafka-has-not",
            lambda place, number=number: raw_batch(5, good_body(place), 5, attributes=number),
            "compression",
        )
    for kind in Compression:
        if kind is Compression.NONE:
            continue
        word = kind.name.lower()
        yield in_the_middle(
            f"{word}-that-is-none",
            lambda place, kind=kind: raw_batch(5, good_body(place), 5, attributes=int(kind)),
        )
        yield in_the_middle(
            f"{word}-cut-short",
            lambda place, kind=kind: raw_batch(
                5, compress(kind, good_body(place))[:-9], 5, attributes=int(kind)
            ),
        )
        yield in_the_middle(
            f"{word}-with-a-byte-changed",
            lambda place, kind=kind: raw_batch(
                5, changed_byte(compress(kind, good_body(place))), 5, attributes=int(kind)
            ),
            ANYTHING,
        )
        yield in_the_middle(
            f"{word}-of-nothing",
            lambda place, kind=kind: raw_batch(5, compress(kind, b""), 5, attributes=int(kind)),
        )
        yield in_the_middle(
            f"{word}-without-a-byte",
            lambda place, kind=kind: raw_batch(5, b"", 5, attributes=int(kind)),
        )


def bombs() -> Iterator[Case]:
    packed: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
        "gzip": (1, lambda data: gzip.compress(data, 9, mtime=0)),
        "snappy": (2, lambda data: bytes(cramjam.snappy.compress_raw(data))),
        "lz4": (3, lambda data: compress(Compression.LZ4, data)),
        "zstd": (4, lambda data: bytes(cramjam.zstd.compress(data))),
    }
    for word, (number, pack) in packed.items():
        yield in_the_middle(
            f"{word}-bomb",
            lambda _, number=number, pack=pack: raw_batch(5, pack(bytes(BOMB_BYTES)), 5, attributes=number),
            "decompress",
        )
    yield in_the_middle(
        "gzip-of-a-thousand-empty-members",
        lambda _: raw_batch(5, gzip.compress(b"", mtime=0) * 1_000, 5, attributes=1),
    )
    yield in_the_middle(
        "a-million-least-records-in-a-few-kilobytes",
        lambda _: raw_batch(
            5, compress(Compression.ZSTD, b"\x0c\0\0\0\1\1\0" * 1_000_000), 1_000_000, attributes=4
        ),
        "records in one batch",
    )
    yield in_the_middle(
        "half-a-million-headers",
        lambda place: raw_batch(
            5,
            compress(
                Compression.ZSTD,
                raw_record(*hit_pairs(place)[1], headers=varint(500_000) + b"\0\0" * 500_000),
            ),
            1,
            attributes=4,
            last_delta=4,
        ),
        "headers",
    )
    for number, slow in ((20, False), (300, True)):
        yield Case(
            name=f"{number}-bombs-of-two-kilobytes",
            make=lambda place, number=number: place.put(many_bombs(place, number)),
            reason="decompress",
            keeps=("before",),
            slow=slow,
        )


def many_bombs(place: Place, number: int) -> bytes:
    bomb = compress(Compression.ZSTD, bytes(BOMB_BYTES))
    rest = [raw_batch(5 + index, bomb, 1, attributes=4) for index in range(number)]
    return b"".join([three(place)[0], *rest])


def changed_byte(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
