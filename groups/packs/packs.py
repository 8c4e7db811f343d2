"""Packs: files of many blobs, named by their content.

A log of 20,000 groups would else be as many small files. A pack closes between two timelines once it is large enough, so
that a large timeline has packs of its own, which go when it goes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import cramjam
import orjson

from groups.packs.files import DamagedFile, Files, Writing

PACK_BYTES: Final = 4 * 1024 * 1024
"""A pack that has come to so much takes no further timeline. Small ones share one; what deleting one of them leaves
behind until the others go is less than this."""

SMALL_BYTES: Final = 64 * 1024
"""A blob up to here is compressed harder: it repeats itself less, and there is little of it. Of 20,000 groups it takes a tenth of
what they are stored in, for some microseconds a record."""

LARGE_BYTES: Final = 1024 * 1024
"""So is one from here on: of a group of thousands of members the same ids stand far from each other, which takes a longer window."""

LEVEL: Final = 1
"""Of checkpoints and entries it makes as little as level 3 does, in three quarters of the time."""

LEVEL_HARD: Final = 7
"""Of small blobs level 9 makes 2 % less, in a third more time."""

SUFFIX: Final = ".pack"

DIGEST_LETTERS: Final = 40
"""160 bits of SHA-256: two packs of different content never meet under one name."""


class Place(NamedTuple):
    """Where a blob stands. ``pack`` is empty while its pack has no name yet."""

    pack: str
    offset: int
    length: int

    @classmethod
    def of(cls, told: Sequence[Any]) -> Place:
        pack, offset, length = told
        return cls(str(pack), int(offset), int(length))

    def told(self) -> tuple[str, int, int]:
        """As JSON takes it."""
        return (self.pack, self.offset, self.length)


class PackWriter:
    """One pack after another in ``folder``. Blobs are compressed here, one by one, so that each is read alone."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder
        self._writing: Writing | None = None
        self._digest = hashlib.sha256()
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether the next timeline should begin another pack."""
        return self._bytes >= PACK_BYTES

    def add(self, blob: bytes) -> Place:
        """Append a blob; its place is whole once ``close`` has told the pack's name."""
        if self._writing is None:
            self._writing = self._files.begin(self._folder)
        hard = len(blob) <= SMALL_BYTES or len(blob) >= LARGE_BYTES
        packed = bytes(cramjam.zstd.compress(blob, level=LEVEL_HARD if hard else LEVEL))
        place = Place("", self._bytes, len(packed))
        self._writing.write(packed)
        self._digest.update(packed)
        self._bytes += len(packed)
        return place

    def nothing(self) -> Place:
        """A place of no blob: what stands there is known without it."""
        return Place("", self._bytes, 0)

    def close(self) -> str:
        """End the pack and give its name; empty where nothing was added. The writer then begins anew."""
        if self._writing is None:
            return ""
        name = f"{self._folder}/{self._digest.hexdigest()[:DIGEST_LETTERS]}{SUFFIX}"
        self._writing.keep(name)
        self._writing, self._bytes, self._digest = None, 0, hashlib.sha256()
        return name

    def drop(self) -> None:
        """Forget what is under way: the work failed."""
        if self._writing is not None:
            self._writing.drop()
            self._writing = None


def read_blob(files: Files, place: Place) -> bytes:
    """A blob as it was added; ``MissingFile`` where it is gone, ``DamagedFile`` where it cannot be read."""
    packed = files.read(place.pack, place.offset, place.length)
    try:
        return bytes(cramjam.zstd.decompress(packed))
    except cramjam.DecompressionError as error:
        raise DamagedFile(f"{place.pack} is damaged at byte {place.offset}: import its log again") from error


def read_json(files: Files, place: Place) -> Any:
    return orjson.loads(read_blob(files, place))
