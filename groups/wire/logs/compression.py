"""The compressions that a record batch can have, in the framings that Kafka gives them.

=======  ==========================================================================================
number   framing
=======  ==========================================================================================
0        none
1        gzip (RFC 1952), members one after the other
2        snappy: the xerial stream (``\\x82SNAPPY\\0``, two int32 versions, then blocks of int32 length and
         raw snappy); a bare raw snappy block is read too, since other clients write it
3        LZ4 frame; Kafka's reader takes independent blocks only, so those are written
4        Zstandard frames
=======  ==========================================================================================

``decompress`` never gives more than ``MOST_DECOMPRESSED_BYTES``; an ``Allowance`` bounds what all batches of one file
come to.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from enum import IntEnum
from typing import Final

import cramjam

from groups.wire.errors import CompressionError

MOST_DECOMPRESSED_BYTES: Final = 64 * 1024 * 1024
"""A broker bounds a batch of the offsets topic by ``max.message.bytes`` (1 MiB unless it was raised) before it
compresses, so 64 times that leaves room for a tuned cluster, and a few bytes of a hostile file cannot fill memory."""

_GZIP_WINDOW: Final = 31
"""zlib's way to say: a window of 32 KiB, in a gzip wrapper."""

MOST_EXPANSION: Final = 100
"""What all compressed batches of a file may come to, in bytes for each byte of the file. Offsets topics of real
clusters compress up to 30 times or so, since each batch is compressed by itself. 300 batches of 2 KB that each
decompress to 64 MiB would else cost a minute, and a file of 100 MB of them days."""

MOST_GZIP_MEMBERS: Final = 100
"""A producer writes one. Each costs a copy of all that follows it, so that a megabyte of empty ones, 20 bytes each,
would cost gigabytes of copying."""

_MOST_DEFLATE_EXPANSION: Final = 1032
"""A pair of bits for the longest match, 258 bytes."""

_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_VERSIONS: Final = struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES: Final = 32 * 1024
"""Kafka's own block size (``Snappy`` of the clients module gives xerial's default)."""

_INT32: Final = struct.Struct(">i")


class Compression(IntEnum):
    """The number in the lowest three bits of a batch's attributes (Kafka's ``CompressionType``)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(compression: Compression, data: bytes) -> bytes:
    """``data`` in the framing that Kafka's own reader takes."""
    match compression:
        case Compression.NONE:
            return data
        case Compression.GZIP:
            return bytes(cramjam.gzip.compress(data))
        case Compression.SNAPPY:
            return _compress_xerial(data)
        case Compression.LZ4:
            # Kafka refuses blocks that refer to earlier ones.
            stream = cramjam.lz4.Compressor(content_checksum=False, block_linked=False)
            stream.compress(data)
            return bytes(stream.finish())
        case Compression.ZSTD:
            return bytes(cramjam.zstd.compress(data))


def decompress(compression: Compression, data: bytes) -> bytes:
    """The inverse of ``compress``; ``CompressionError`` for damaged bytes and for more than is allowed."""
    match compression:
        case Compression.NONE:
            return data
        case Compression.GZIP:
            return _decompress_gzip(data)
        case Compression.SNAPPY:
            framed = data.startswith(_XERIAL_MAGIC)
            return (
                _decompress_xerial(data)
                if framed
                else _decompress_snappy_block(data, MOST_DECOMPRESSED_BYTES)
            )
        case Compression.LZ4:
            return _decompress_into_growing(cramjam.lz4.decompress_into, data, "lz4")
        case Compression.ZSTD:
            return _decompress_into_growing(cramjam.zstd.decompress_into, data, "zstd")


class Allowance:
    """What may still come out of the compressed batches of one file (or of a part of one)."""

    def __init__(self, file_bytes: int) -> None:
        self.file_bytes: Final = file_bytes
        self.most_bytes: Final = max(MOST_EXPANSION * file_bytes, MOST_DECOMPRESSED_BYTES)
        """Whatever its size, a file may have one batch as large as a batch can be."""
        self.left_bytes = self.most_bytes

    def decompress(self, compression: Compression, data: bytes) -> bytes:
        """As the function of that name, as long as anything is left; else ``CompressionError`` without a try.

        A batch that begins within the allowance is read whole, so that at most one batch goes beyond it.
        """
        if self.left_bytes <= 0:
            self.refuse(compression, data)
        try:
            found = decompress(compression, data)
        except CompressionError as error:
            self.left_bytes -= error.decompressed_bytes
            raise
        self.left_bytes -= len(found)
        return found

    def refuse(self, compression: Compression, data: bytes) -> bytes:
        """Marks that nothing is left."""
        raise CompressionError(
            f"its {len(data)} bytes of {compression.name.lower()} are not decompressed: the compressed batches before it came "
            f"to {self.most_bytes - self.left_bytes} bytes, and a file of {self.file_bytes} bytes may come to {self.most_bytes}"
        )


def _too_much(name: str) -> CompressionError:
    return CompressionError(
        f"the {name} data decompresses to more than {MOST_DECOMPRESSED_BYTES} bytes",
        decompressed_bytes=MOST_DECOMPRESSED_BYTES,
    )


def _damaged(name: str, decompressed_bytes: int = 0) -> CompressionError:
    return CompressionError(f"the {name} data is damaged or cut short", decompressed_bytes=decompressed_bytes)


def _decompress_gzip(data: bytes) -> bytes:
    out = bytearray()
    rest = data
    members = 0
    while rest:
        members += 1
        if members > MOST_GZIP_MEMBERS:
            raise CompressionError(f"the gzip data has more than {MOST_GZIP_MEMBERS} members")
        member = zlib.decompressobj(_GZIP_WINDOW)
        try:
            out += member.decompress(rest, MOST_DECOMPRESSED_BYTES - len(out) + 1)
        except zlib.error:
            # What came out before the fault is not kept.
            most = min(len(out) + len(rest) * _MOST_DEFLATE_EXPANSION, MOST_DECOMPRESSED_BYTES)
            raise _damaged("gzip", most) from None
        if len(out) > MOST_DECOMPRESSED_BYTES:
            raise _too_much("gzip")
        if not member.eof:
            raise _damaged("gzip", len(out))
        rest = member.unused_data
    return bytes(out)


def _compress_xerial(data: bytes) -> bytes:
    out = bytearray(_XERIAL_MAGIC + _XERIAL_VERSIONS)
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        out += _INT32.pack(len(block)) + block
    return bytes(out)


def _decompress_xerial(data: bytes) -> bytes:
    out = bytearray()
    at = len(_XERIAL_MAGIC) + len(_XERIAL_VERSIONS)
    if len(data) < at:
        raise _damaged("snappy")
    while at < len(data):
        if len(data) - at < _INT32.size:
            raise _damaged("snappy", len(out))
        length = _INT32.unpack_from(data, at)[0]
        at += _INT32.size
        if not 0 <= length <= len(data) - at:
            raise _damaged("snappy", len(out))
        out += _decompress_snappy_block(data[at : at + length], MOST_DECOMPRESSED_BYTES - len(out))
        at += length
    return bytes(out)


def _decompress_snappy_block(data: bytes, most: int) -> bytes:
    try:
        # A raw block begins with its decompressed length, which the decoder then keeps to.
        if cramjam.snappy.decompress_raw_len(data) > most:
            raise _too_much("snappy")
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError:
        raise _damaged("snappy") from None


_FIRST_GUESS: Final = 8
_LEAST_BUFFER_BYTES: Final = 4 * 1024
"""A batch of the coordinator's has a few records. A larger buffer takes longer to clear than they to decompress."""

_BUFFER_IS_FULL: Final = "failed to write whole buffer"
"""Cramjam's message that the buffer was too small (the text of Rust's own ``WriteZero``); it has no type for it."""


def _decompress_into_growing(
    decompress_into: Callable[[bytes, bytearray], int], data: bytes, name: str
) -> bytes:
    """Decompress into a buffer of a bounded size, and into a larger one as long as it proves too small.

    The formats do not say reliably how much will come out.
    """
    size = max(len(data) * _FIRST_GUESS, _LEAST_BUFFER_BYTES)
    while True:
        size = min(size, MOST_DECOMPRESSED_BYTES)
        buffer = bytearray(size)
        try:
            length = decompress_into(data, buffer)
        except (cramjam.DecompressionError, OSError, ValueError) as error:
            if _BUFFER_IS_FULL not in str(error):
                raise _damaged(name, size) from None
            if size == MOST_DECOMPRESSED_BYTES:
                raise _too_much(name) from None
            # Let go of it before there is a larger one.
            del buffer
            size *= _FIRST_GUESS
        else:
            return bytes(memoryview(buffer)[:length])
