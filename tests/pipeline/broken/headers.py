"""Files that end too early, and batches whose header says something else than what follows."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final

from tests.pipeline.broken.case import ANYTHING, Case, three

BEGINNINGS: Final = (1, 7, 8, 11, 12, 16, 17, 20, 21, 23, 27, 35, 43, 51, 53, 57, 60, 61, 62, 70)
"""Bytes of a batch that are left: inside and at the end of each field of its header, and in its first record."""

DAMAGE = "CRC|damaged|no record batch|leads beyond|cut short|magic|offsets? "
WORDS: Final = ("before", "hit", "after")

FIELDS: Final[dict[str, tuple[int, bytes]]] = {
    "base-offset-negative": (0, b"\xff" * 8),
    "base-offset-huge": (0, b"\x7f" + b"\xff" * 7),
    "length-zero": (8, struct.pack(">i", 0)),
    "length-one": (8, struct.pack(">i", 1)),
    "length-negative": (8, struct.pack(">i", -1)),
    "length-least": (8, struct.pack(">i", -(1 << 31))),
    "length-huge": (8, struct.pack(">i", (1 << 31) - 1)),
    "length-too-short": (8, struct.pack(">i", 60)),
    "magic-three": (16, b"\x03"),
    "magic-negative": (16, b"\xff"),
    "crc": (17, b"\x00\x00\x00\x00"),
    "attributes": (21, b"\xff\xff"),
    "last-offset-delta": (23, struct.pack(">i", 1_000_000)),
    "base-timestamp": (27, b"\xff" * 8),
    "max-timestamp": (35, b"\x00" * 8),
    "producer-id": (43, b"\x00" * 8),
    "producer-epoch": (51, b"\x00\x07"),
    "base-sequence": (53, b"\x7f\xff\xff\xff"),
    "count": (57, struct.pack(">i", 3)),
}


def cases() -> Iterator[Case]:
    yield from truncated()
    yield from overwritten()
    yield from shifted()


def truncated() -> Iterator[Case]:
    for left in BEGINNINGS:
        yield Case(
            name=f"only-{left}-bytes-of-a-batch",
            make=lambda place, left=left: place.put(three(place)[0][:left]),
            # The first eight bytes are zeros: a segment that was preallocated, which is passed over without a word.
            reason=ANYTHING if left <= 8 else "cut short|no log segment|no record batch",
            alone=2,
        )
    for left in BEGINNINGS:
        yield Case(
            name=f"last-batch-cut-to-{left}-bytes",
            make=lambda place, left=left: place.put(b"".join(three(place)[:2]) + three(place)[2][:left]),
            reason="cut short|still being written",
            keeps=("before", "hit"),
        )
    yield Case(
        name="last-byte-missing",
        make=lambda place: place.put(b"".join(three(place))[:-1]),
        reason="cut short|still being written",
        keeps=("before", "hit"),
    )
    yield Case(
        name="first-byte-missing",
        make=lambda place: place.put(b"".join(three(place))[1:]),
        reason=DAMAGE,
        keeps=("hit", "after"),
    )


def overwritten() -> Iterator[Case]:
    """Each field of the header, in the first, the middle and the last batch; all but the leader epoch are noticed."""
    for field, (at, content) in FIELDS.items():
        for index, word in enumerate(WORDS):
            rest = tuple(other for other in WORDS if other != word)
            yield Case(
                name=f"{field}-in-batch-{index}",
                make=lambda place, at=at, content=content, index=index: place.put(
                    overwrite(three(place), index, at, content)
                ),
                reason=DAMAGE,
                keeps=rest,
            )
    yield Case(
        name="leader-epoch-which-no-checksum-covers",
        make=lambda place: place.put(overwrite(three(place), 1, 12, struct.pack(">i", -7))),
        reason=None,
        keeps=WORDS,
    )
    for bit in (0, 3, 7):
        yield Case(
            name=f"bit-{bit}-of-a-value-flipped",
            make=lambda place, bit=bit: place.put(flip(three(place), 1, 90, bit)),
            reason="CRC|damaged",
            keeps=("before", "after"),
        )


def shifted() -> Iterator[Case]:
    between: dict[str, Callable[[], bytes]] = {
        "garbage": lambda: b"\xff garbage \xff" * 9,
        "zeros": lambda: bytes(300),
        "one-byte": lambda: b"\x01",
        "magic-twos": lambda: b"\x02" * 200,
    }
    for what, content in between.items():
        yield Case(
            name=f"{what}-between-batches",
            make=lambda place, content=content: place.put(content().join(three(place))),
            reason=DAMAGE,
            keeps=WORDS,
        )
        yield Case(
            name=f"{what}-before-the-first-batch",
            make=lambda place, content=content: place.put(content() + b"".join(three(place))),
            reason=DAMAGE,
            keeps=WORDS,
        )
    yield Case(
        name="zeros-behind-the-last-batch",
        make=lambda place: place.put(b"".join(three(place)) + bytes(4096)),
        reason="zeros|preallocated",
        keeps=WORDS,
    )
    yield Case(
        name="garbage-behind-the-last-batch",
        make=lambda place: place.put(b"".join(three(place)) + b"\xee" * 500),
        reason=ANYTHING,
        keeps=WORDS,
    )
    yield Case(
        name="a-batch-missing-in-the-middle",
        make=lambda place: place.put(three(place)[0] + three(place)[2]),
        reason=None,
        keeps=("before", "after"),
    )


def overwrite(some: list[bytes], index: int, at: int, content: bytes) -> bytes:
    old = some[index]
    return b"".join([*some[:index], old[:at] + content + old[at + len(content) :], *some[index + 1 :]])


def flip(some: list[bytes], index: int, at: int, bit: int) -> bytes:
    return overwrite(some, index, at, bytes([some[index][at] ^ 1 << bit]))
