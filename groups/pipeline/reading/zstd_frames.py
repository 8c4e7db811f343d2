"""How much a Zstandard file can come to, by the headers of its blocks (RFC 8878): nothing is decompressed for it.

The decompressor writes on until its input ends, whatever that comes to. A block never holds more than 128 KiB, so the number of
blocks is a bound that no file can lie about.
"""

from __future__ import annotations

import mmap
import struct
from typing import Final

MAGIC: Final = b"\x28\xb5\x2f\xfd"

_SKIPPABLE: Final = range(0x184D2A50, 0x184D2A60)
_BLOCK_BYTES_MOST: Final = 128 * 1024
_DICTIONARY_BYTES: Final = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES: Final = (0, 2, 4, 8)
_RAW, _RLE = 0, 1


def most_bytes(data: mmap.mmap | bytes) -> int:
    """The most that the whole frames of ``data`` can decompress to; what is cut short or damaged counts up to there."""
    at = most = 0
    size = len(data)
    while at + 8 <= size:
        (magic,) = struct.unpack_from("<I", data, at)
        if magic in _SKIPPABLE:
            at += 8 + struct.unpack_from("<I", data, at + 4)[0]
            continue
        if data[at : at + 4] != MAGIC:
            break
        descriptor = data[at + 4]
        single, checksum = bool(descriptor & 0x20), bool(descriptor & 0x04)
        at += 5 + (not single) + _DICTIONARY_BYTES[descriptor & 3]
        at += _CONTENT_SIZE_BYTES[descriptor >> 6] or single
        last = False
        while not last and at + 3 <= size:
            header = int.from_bytes(data[at : at + 3], "little")
            last, kind, length = bool(header & 1), header >> 1 & 3, header >> 3
            most += length if kind in (_RAW, _RLE) else _BLOCK_BYTES_MOST
            at += 3 + (1 if kind == _RLE else length)
        at += 4 * checksum
    return most
