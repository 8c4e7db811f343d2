"""The bytes at hand, and the numbers and names that stand in them at many places at once.

All that is fetched here may lie anywhere: views with a stride of one byte have an item at every place, so that one
index gives thousands of unaligned numbers. Behind the bytes are ``PADDING_BYTES`` zeros: code that keeps to places
that are at most so far behind a record's end needs to ask nothing before he reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
Bools = NDArray[np.bool_]

PADDING_BYTES: Final = 512
"""The widest row that is fetched (``distinct``), twice."""

VARINT_BYTES: Final = 5
VARLONG_BYTES: Final = 10

_ZIGZAG: Final = np.array([(byte >> 1) ^ -(byte & 1) for byte in range(256)], np.int64)
"""The value of a short zigzag varint of one byte; meaningless from 128 on."""


class Window:
    """Pieces of bytes, joined and padded."""

    def __init__(self, pieces: Iterable[bytes | memoryview]) -> None:
        self.raw: Final = b"".join((*pieces, bytes(PADDING_BYTES)))
        self.size: Final = len(self.raw) - PADDING_BYTES
        self.bytes: Final[UInt8] = np.frombuffer(self.raw, np.uint8)
        self._int16: Final = self.items(">i2")
        self._int32: Final = self.items(">i4")
        self._int64: Final = self.items(">i8")

    def items(self, dtype: Any) -> NDArray[Any]:
        """One item at every place."""
        size = np.dtype(dtype).itemsize
        return np.ndarray((len(self.raw) - size + 1,), dtype, self.raw, 0, (1,))

    def int16(self, at: Int64) -> Int64:
        return self._int16[at].astype(np.int64)

    def int32(self, at: Int64) -> Int64:
        return self._int32[at].astype(np.int64)

    def int64(self, at: Int64) -> Int64:
        return self._int64[at].astype(np.int64)

    def zigzags(self, at: Int64, longest: int) -> tuple[Int64, Int64, Bools | None]:
        """Zigzag varints of at most ``longest`` bytes: what they say, where they end, and which go on for longer
        (``None``: none does), whose value means nothing."""
        first = self.bytes[at]
        value = _ZIGZAG[first]
        end = at + 1
        more = np.flatnonzero(first > 0x7F)
        if not more.size:
            return value, end, None
        raw, behind, endless = self._long(at[more], longest)
        value[more] = ((raw >> np.uint64(1)) ^ (np.uint64(0) - (raw & np.uint64(1)))).view(np.int64)
        end[more] = behind
        if not endless.any():
            return value, end, None
        bad = np.zeros(len(at), np.bool_)
        bad[more] = endless
        return value, end, bad

    def varints(self, at: Int64) -> tuple[Int64, Int64]:
        """Unsigned varints: their values, and where they end. One that is too long gives -1."""
        first = self.bytes[at]
        value = first.astype(np.int64)
        end = at + 1
        more = np.flatnonzero(first > 0x7F)
        if more.size:
            raw, behind, endless = self._long(at[more], VARINT_BYTES)
            value[more] = np.where(endless, np.int64(-1), raw.view(np.int64))
            end[more] = behind
        return value, end

    def _long(self, at: Int64, longest: int) -> tuple[NDArray[np.uint64], Int64, Bools]:
        """Varints byte by byte, those that have ended left out."""
        raw = np.zeros(len(at), np.uint64)
        end = at.copy()
        going = np.arange(len(at))
        for index in range(longest):
            byte = self.bytes[end[going]]
            end[going] += 1
            raw[going] |= (byte & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * index)
            going = going[byte > 0x7F]
            if not going.size:
                break
        endless = np.zeros(len(at), np.bool_)
        endless[going] = True
        if longest == VARINT_BYTES:
            # The last byte has bits to spare, which Kafka's shifts drop.
            raw &= np.uint64(0xFFFFFFFF)
        return raw, end, endless
