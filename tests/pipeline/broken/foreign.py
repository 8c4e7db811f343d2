"""Files that are no segment of the offsets topic at all, under a segment's name."""

from __future__ import annotations

import base64
import gzip
import io
import random
import sqlite3
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from groups.wire.logs.compression import Compression, compress
from tests.pipeline.broken.batches import raw_batch, raw_record
from tests.pipeline.broken.case import ANYTHING, AT_MS, Case, good_segment, pairs

NOT: Final = "no log segment|no record batch|not a segment|zeros|empty|another topic|magic"


def cases() -> Iterator[Case]:
    for name, content in FILES.items():
        yield Case(
            name=f"foreign-{name}",
            make=lambda place, content=content: place.put(content()),
            # In a folder, a segment that nothing was written to yet is nothing to speak of.
            reason=ANYTHING if name in UNWRITTEN else NOT,
            alone=2,
        )
    for name, content in TOPICS.items():
        yield Case(
            name=f"topic-{name}",
            make=lambda place, content=content: place.put(content()),
            reason=ANYTHING if name in TELLS_NOTHING else "another topic|key|kept as bytes",
            alone=2,
        )
    for name, content in OLD.items():
        yield Case(
            name=f"old-{name}", make=lambda place, content=content: place.put(content()),
            reason="magic|before 0.11|old", alone=2,
        )  # fmt: skip
    yield Case(
        name="old-messages-before-a-batch-of-today",
        make=lambda place: place.put(old_message(0) * 3 + good_segment(place.name("hit")).bytes()),
        reason="magic|before 0.11|old",
        keeps=("hit",),
    )
    for name, pack in PACKED.items():
        yield Case(
            name=f"packed-{name}-of-a-segment",
            make=lambda place, pack=pack: place.put(pack(good_segment(place.name("hit")).bytes())),
            reason=None,
            keeps=("hit",),
        )
        yield Case(
            name=f"packed-{name}-cut-off",
            make=lambda place, pack=pack: place.put(pack(encrypted(8, 400_000))[:-20_000]),
            reason="damaged or cut short",
            alone=2,
        )
    yield Case(
        name="foreign-segment-with-newlines-translated",
        make=lambda place: place.put(translated(good_segment(place.name("hit")).bytes())),
        reason=NOT,
        alone=2,
    )
    yield Case(
        name="a-metadata-log-under-the-name-of-an-offsets-segment",
        make=lambda place: place.put(pairs(0, (None, bytes([1, 12, 0]) + bytes(8)))),
        reason=ANYTHING,
    )


def segment() -> bytes:
    return good_segment("wrapped").bytes()


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def zipped(segment: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        entry = zipfile.ZipInfo("00000000000000000000.log")
        archive.writestr(entry, segment, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def tarred(segment: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("00000000000000000000.log")
        member.size = len(segment)
        archive.addfile(member, io.BytesIO(segment))
    return out.getvalue()


def translated(segment: bytes) -> bytes:
    """As a transfer in text mode leaves it: the magic of every batch has moved."""
    return segment.replace(b"\n", b"\r\n").replace(b"\x02", b"\r\x02")


def database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.sqlite3"
        connection = sqlite3.connect(path)
        connection.execute("create table some (word text)")
        connection.commit()
        connection.close()
        return path.read_bytes()


def encrypted(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def xor(data: bytes) -> bytes:
    stream = random.Random(3).randbytes(len(data))
    return bytes(a ^ b for a, b in zip(data, stream, strict=True))


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "empty": lambda: b"",
    "one-zero": lambda: b"\0",
    "zeros-of-4-kilobytes": lambda: bytes(4_096),
    "zeros-of-10-megabytes": lambda: bytes(10 << 20),
    "all-ones": lambda: b"\xff" * 4_096,
    "all-twos": lambda: b"\x02" * 4_096,
    "text": lambda: b"hello, this is a note\n" * 40,
    "utf-16-text": lambda: "a note from elsewhere".encode("utf-16") * 40,
    "json": lambda: b'{"groups": [{"id": "orders", "members": []}]}\n' * 20,
    "csv": lambda: b"group,topic,partition,offset\norders,foo,0,17\n" * 20,
    "xml": lambda: b'<?xml version="1.0"?><groups><group id="orders"/></groups>',
    "html": lambda: b"<!doctype html><title>404</title><p>The file was not found.</p>",
    "yaml": lambda: b"name: case\nprotocol: consumer\nmembers: {A: {subscribe: [foo]}}\n",
    "dump-of-kafka-dump-log": lambda: (
        b"Dumping 00000000000000000000.log\nLog starting offset: 0\nbaseOffset: 0\n"
    ),
    "png": png,
    "gif": lambda: b"GIF89a\1\0\1\0\0\0\0;",
    "pdf": lambda: b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n",
    "base64-of-a-segment": lambda: base64.encodebytes(segment()),
    "hex-of-a-segment": lambda: segment().hex().encode(),
    "segment-with-bytes-swapped": lambda: bytes(
        byte for at in range(0, len(segment()) - 1, 2) for byte in (segment()[at + 1], segment()[at])
    ),
    "segment-encrypted": lambda: xor(segment()),
    "openssl-salted": lambda: b"Salted__" + encrypted(1, 2_000),
    "random-4-kilobytes": lambda: encrypted(2, 4_096),
    "random-1-megabyte": lambda: encrypted(4, 1 << 20),
    "elf": lambda: b"\x7fELF\2\1\1" + bytes(200) + encrypted(5, 600),
    "java-class": lambda: b"\xca\xfe\xba\xbe\0\0\0\x41" + encrypted(6, 300),
    "parquet": lambda: b"PAR1" + encrypted(7, 300) + b"PAR1",
    "sqlite": database,
    "pem": lambda: b"-----BEGIN CERTIFICATE-----\n" + b"TUlJ" * 100 + b"\n-----END CERTIFICATE-----\n",
    "offset-index": lambda: b"".join(struct.pack(">ii", at * 40, at * 4_096) for at in range(1, 300)),
    "time-index": lambda: b"".join(struct.pack(">qi", AT_MS + at, at * 40) for at in range(300)),
    "leader-epoch-checkpoint": lambda: b"0\n1\n0 0\n",
    "producer-snapshot": lambda: struct.pack(">hI", 1, 0) + bytes(60),
}


PACKED: Final[dict[str, Callable[[bytes], bytes]]] = {
    "tar": tarred,
    "zip": zipped,
    "gz": lambda data: gzip.compress(data, mtime=0),
    "zst": lambda data: compress(Compression.ZSTD, data),
}

UNWRITTEN: Final = {"empty", "one-zero", "zeros-of-4-kilobytes", "zeros-of-10-megabytes"}


def other_topic(*some: tuple[bytes | None, bytes | None]) -> bytes:
    return pairs(0, *some)


TOPICS: Final[dict[str, Callable[[], bytes]]] = {
    "of-strings": lambda: other_topic((b"user-17", b"clicked"), (b"user-18", b"left")),
    "without-keys": lambda: other_topic((None, b"clicked")),
    "without-keys-and-values": lambda: other_topic((None, None)),
    "of-json": lambda: other_topic((b'{"id":17}', b'{"what":"clicked"}')),
    "of-int64-keys": lambda: other_topic((struct.pack(">q", 17_000_000_000_000), b"x")),
    "of-avro": lambda: other_topic((b"\0\0\0\0\x07\x10user", b"\0\0\0\0\x08\x02\x04")),
    "of-transaction-state": lambda: other_topic(
        (b"\0\0" + struct.pack(">h", 4) + b"tx-1", b"\0\1" + bytes(24))
    ),
    "of-uuid-keys": lambda: other_topic((bytes(range(130, 146)), b"x")),
    "compacted-to-nothing": lambda: raw_batch(0, b"", 0, last_delta=4),
    "of-empty-keys": lambda: raw_batch(0, raw_record(b"", b"value"), 1),
}
TELLS_NOTHING: Final = {"compacted-to-nothing"}
"""Not even another topic can be seen in it."""


def old_message(magic: int, value: bytes = b"x" * 20, offset: int = 0) -> bytes:
    body = struct.pack(">bb", magic, 0) + (struct.pack(">q", AT_MS) if magic else b"")
    body += struct.pack(">i", -1) + struct.pack(">i", len(value)) + value
    return struct.pack(">qi", offset, len(body) + 4) + struct.pack(">I", zlib.crc32(body)) + body


OLD: Final[dict[str, Callable[[], bytes]]] = {
    "message-of-magic-0": lambda: old_message(0),
    "messages-of-magic-1": lambda: b"".join(old_message(1, offset=at) for at in range(5)),
    "messages-of-both": lambda: old_message(0) + old_message(1, offset=1),
}
