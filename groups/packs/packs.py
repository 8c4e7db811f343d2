"""Packs: files of many blobs, named by their content.

A log of 20,000 groups would else be as many small files. A pack closes between two timelines once it is large enough, so
that a large timeline has packs of its own, which go when it goes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import cramjam

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

SHARED_BYTES: Final = 512 * 1024
"""Small timelines are compressed together until they come to so much: they say the same of other groups. Of 20,000 groups that takes
half of what each by itself does, and a thousandth of a second to read one of them."""

SUFFIX: Final = ".pack"

DIGEST_LETTERS: Final = 40
"""160 bits of SHA-256: two packs of different content never meet under one name."""


PlainPlace: TypeAlias = tuple[str, int, int, int, int]
"""A place as JSON has it; those that were written before blobs were shared end with the length."""


class Place(NamedTuple):
    """Where a blob is: compressed in ``length`` bytes of a pack, alone, or as the ``size`` bytes from ``begin`` on of what several share.

    ``pack`` is empty while its pack has no name yet; of a shared one ``offset`` is then its number, and ``length`` 0.
    """

    pack: str
    offset: int
    length: int
    begin: int = 0
    size: int = 0

    @classmethod
    def of(cls, plain: Sequence[Any]) -> Place:
        pack, *numbers = plain
        return cls(str(pack), *map(int, numbers))

    def plain(self) -> PlainPlace:
        """As JSON takes it."""
        return (self.pack, self.offset, self.length, self.begin, self.size)


class Pack(NamedTuple):
    """A pack that is whole. ``shared`` are the offsets and lengths of the blobs that several share."""

    name: str
    shared: Sequence[tuple[int, int]]

    def place(self, given: Place) -> Place:
        """A place that was given while the pack was written."""
        if given.size:
            offset, length = self.shared[given.offset]
            return Place(self.name, offset, length, given.begin, given.size)
        return given._replace(pack=self.name)


class PackWriter:
    """One pack after another in ``folder``. Blobs are compressed here: large ones one by one, so that each is read alone."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder
        self._writing: Writing | None = None
        self._begin()

    def _begin(self) -> None:
        self._digest = hashlib.sha256()
        self._bytes = 0
        self._shared: list[tuple[int, int]] = []
        self._sharing: list[bytes] = []
        self._sharing_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether the next timeline should begin another pack."""
        return self._bytes >= PACK_BYTES

    def add(self, blob: bytes, *, hard: bool = False) -> Place:
        """Append a blob; its place is whole once ``close`` has given the pack (``Pack.place``)."""
        if self._writing is None:
            self._writing = self._files.begin(self._folder)
        hard = hard or len(blob) <= SMALL_BYTES or len(blob) >= LARGE_BYTES
        packed = bytes(cramjam.zstd.compress(blob, level=LEVEL_HARD if hard else LEVEL))
        place = Place("", self._bytes, len(packed))
        self._writing.write(packed)
        self._digest.update(packed)
        self._bytes += len(packed)
        return place

    def share(self, blob: bytes) -> Place:
        """Append a blob, not empty, to those of other timelines; all until the next ``rest`` stand together."""
        place = Place("", len(self._shared), 0, self._sharing_bytes, len(blob))
        self._sharing.append(blob)
        self._sharing_bytes += len(blob)
        return place

    def rest(self) -> None:
        """Between two timelines: what they share is written once it is large enough."""
        if self._sharing_bytes >= SHARED_BYTES:
            self._write_shared()

    def _write_shared(self) -> None:
        if self._sharing:
            shared = self.add(b"".join(self._sharing), hard=True)
            self._shared.append((shared.offset, shared.length))
            self._sharing, self._sharing_bytes = [], 0

    def nothing(self) -> Place:
        """A place of no blob: what is there is known without it."""
        return Place("", self._bytes, 0)

    def close(self) -> Pack:
        """End the pack; its name is empty where nothing was added. The writer then restarts."""
        self._write_shared()
        if self._writing is None:
            return Pack("", ())
        pack = Pack(f"{self._folder}/{self._digest.hexdigest()[:DIGEST_LETTERS]}{SUFFIX}", self._shared)
        self._writing.keep(pack.name)
        self._writing = None
        self._begin()
        return pack

    def drop(self) -> None:
        """Forget what is under way: the work failed."""
        if self._writing is not None:
            self._writing.drop()
            self._writing = None
        self._begin()


def read_blob(files: Files, place: Place) -> bytes:
    """A blob as it was added; ``MissingFile`` where it is gone, ``DamagedFile`` where it cannot be read."""
    packed = files.read(place.pack, place.offset, place.length)
    try:
        blob = bytes(cramjam.zstd.decompress(packed))
    except cramjam.DecompressionError as error:
        raise DamagedFile(f"{place.pack} is damaged at byte {place.offset}: import its log again") from error
    return blob[place.begin : place.begin + place.size] if place.size else blob
