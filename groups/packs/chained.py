"""Checkpoints of one timeline, large ones as the difference to the one before: of a group of thousands of members most of it is the same.

Ids, hosts and names of fields are the most of a checkpoint, and stand in it many times, too far from each other for a compressor. So a
chain of checkpoints has a table of them, to which each adds what is new, and the text has their numbers. Every so many is whole,
so that a chunk is opened without those before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import cramjam

from groups.packs.files import DamagedFile, Files
from groups.packs.packs import PackWriter, Place, PlainPlace, read_blob
from groups.packs.text_delta import difference, restored

LARGE_BYTES: Final = 512 * 1024
"""Smaller ones are a small part of what their chunks take."""

CHAIN_MOST: Final = 8
"""Checkpoints from a whole one on: what is read for the last of them, some hundredths of a second each."""

STRING: Final = re.compile(rb'"([\w./+=-]{10,})"')
"""What goes into the table: nothing that is between two strings, and nothing that JSON escapes."""

NUMBER: Final = re.compile(rb"\x01(\d+)\x02")
"""Its place in the table. JSON has neither byte: it escapes them."""

WINDOW_BYTES: Final = 1024 * 1024
"""What is gone through at once: a substitution holds each piece between two finds until it is done."""

ENDS: Final = b"\n\n"
"""Follows the strings that are new, which are lines."""


class Chained(NamedTuple):
    """Where a checkpoint is; ``chain``: from a whole one to this one, empty where it is plain JSON by itself."""

    place: PlainPlace
    chain: list[PlainPlace]


class CheckpointWriter:
    """Adds the checkpoints of one timeline to a pack, in order."""

    def __init__(self, packs: PackWriter) -> None:
        self._packs = packs
        self._begin()

    def _begin(self) -> None:
        self._chain: list[PlainPlace] = []
        self._table: dict[bytes, int] = {}
        self._before = b""
        """The text of the one before, with numbers, and compressed: it is megabytes, and is needed once a chunk."""

    def nothing(self) -> Chained:
        """Of the first chunk, before which nothing is known."""
        return Chained(self._packs.nothing().plain(), [])

    def add(self, checkpoint: bytes) -> Chained:
        if len(self._chain) >= CHAIN_MOST or len(checkpoint) < LARGE_BYTES:
            self._begin()
        if len(checkpoint) < LARGE_BYTES:
            return Chained(self._packs.add(checkpoint).plain(), [])
        known = len(self._table)
        text = self._numbered(checkpoint)
        stored = difference(bytes(cramjam.zstd.decompress(self._before)), text) if self._chain else text
        self._before = bytes(cramjam.zstd.compress(text, level=1))
        place = self._packs.add(b"\n".join(list(self._table)[known:]) + ENDS + stored, hard=True).plain()
        self._chain = [*self._chain, place]
        return Chained(place, self._chain)

    def _numbered(self, text: bytes) -> bytes:
        table = self._table

        def number(found: re.Match[bytes]) -> bytes:
            return b"\x01%d\x02" % table.setdefault(found[1], len(table))

        return b"".join(STRING.sub(number, window) for window in _windows(text))


def read_chained(files: Files, chain: Sequence[PlainPlace]) -> bytes:
    """The last checkpoint of a chain; ``MissingFile`` where the pack is gone, ``DamagedFile`` where it cannot be read."""
    table: list[bytes] = []
    text: bytes | None = None
    for place in map(Place.of, chain):
        fresh, _, stored = read_blob(files, place).partition(ENDS)
        table += fresh.split(b"\n") if fresh else []
        try:
            text = stored if text is None else restored(text, stored)
        except ValueError as error:
            raise DamagedFile(f"{place.pack} is damaged at byte {place.offset}: {error}") from error

    def string(found: re.Match[bytes]) -> bytes:
        return b'"%b"' % table[int(found[1])]

    return b"".join(NUMBER.sub(string, window) for window in _windows(text or b""))


def _windows(text: bytes) -> Iterator[bytes]:
    """``text`` in parts, cut behind a comma: neither pattern has one, so nothing that is looked for is cut."""
    begins = 0
    while begins < len(text):
        ends = text.find(b",", begins + WINDOW_BYTES) + 1 or len(text)
        yield text[begins:ends]
        begins = ends
