"""What is done to valid bytes: single bits, lengths that lie, stretches taken out, repeated, or from elsewhere."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from tests.fuzz.oracle import MOST_INPUT_BYTES

_LENGTHS: Final = tuple(
    bytes.fromhex(text)
    for text in (
        # int16, int32 and varint forms of null, nothing, a little more, and far too much
        "00", "01", "02", "7f", "80", "ff", "0000", "0001", "ffff", "7fff", "8000", "00000000", "00000001",
        "ffffffff", "7fffffff", "80000000", "0000ffff", "00010000", "8001", "ff01", "ff7f", "808001",
        "ffffffff07", "ffffffff0f", "8080808008", "808080808000", "ffffffffff7f",
        "ffffffffffffffffff01", "80808080808080808001", "ffffffffffffffffff7f",
        "7fffffffffffffff", "8000000000000000", "edbfbf", "c080", "f09f98",
    )
)  # fmt: skip


def mutated(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """``data`` with one to four things done to it; ``others`` are there to be mixed in."""
    out = bytearray(data)
    random_ = rng.random
    for _ in range(1 + int(random_() * random_() * 4)):
        length = len(out)
        at = int(random_() * (length + 1))
        what = int(random_() * 10)
        if what <= 1 and at < length:
            out[at] ^= 1 << int(random_() * 8)
        elif what == 2 and at < length:
            out[at] = int(random_() * 256)
        elif what == 3 and at < length:
            out[at] = (out[at] + (1 if random_() < 0.5 else -1)) & 0xFF
        elif what == 4:
            lie = _LENGTHS[int(random_() * len(_LENGTHS))]
            out[at : at + len(lie)] = lie
        elif what == 5:
            out[at:at] = _LENGTHS[int(random_() * len(_LENGTHS))]
        elif what == 6:
            del out[at : at + 1 + int(random_() * random_() * 24)]
        elif what == 7:
            stretch = out[at : at + 1 + int(random_() * random_() * 40)]
            out[at:at] = stretch * (1 + int(random_() ** 8 * 200))
        elif what == 8:
            del out[at:]
        elif others:
            other = others[int(random_() * len(others))]
            begin = int(random_() * (len(other) + 1))
            end = len(other) if random_() < 0.5 else begin + 1 + int(random_() * 24)
            out[at : at + int(random_() * 2) * (end - begin)] = other[begin:end]
    return bytes(out[:MOST_INPUT_BYTES])
