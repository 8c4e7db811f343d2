"""A timeline whose entries stand in packs: an import. It is whole; its chunks are opened when somebody looks at them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
from django.conf import settings

from groups.history.digests import Digest, joined
from groups.history.digests.packed import Packed
from groups.history.entries import EntryLine
from groups.history.evidence.committed import Committed, TopicPartition
from groups.history.replay.fold import FOLD_VERSION
from groups.history.state.plain import from_plain
from groups.models import Timeline
from groups.packs.blocks import committed_of, entries_of
from groups.packs.files import MissingFile, open_files
from groups.packs.index import StoredChunk, TimelineIndex, read_checkpoint, read_index
from groups.packs.opening import OpenedChunk
from groups.packs.packs import Place, PlainPlace, read_blob
from groups.storage.chunk import Chunk
from groups.storage.digests import Stretch, Wanted, level_for, only, unknown
from groups.storage.errors import CannotOpen, NotReady
from groups.storage.opened import look, opened

OPENED_FOR_ONE_ANSWER: Final = 2
"""Chunks that a question for a digest opens, some tenths of a second each: who asks again gets the next ones."""

INDEXES_IN_MEMORY: Final = 64
"""Indexes of the timelines that were looked at last: some hundred kilobytes each at most."""


@dataclass(frozen=True, slots=True)
class StoredLog:
    """Reads the packs of one timeline."""

    timeline: Timeline

    @property
    def index(self) -> TimelineIndex:
        if self.timeline.fold_version != FOLD_VERSION:
            raise NotReady(self.timeline.id, is_newer=self.timeline.fold_version > FOLD_VERSION)
        return index_at(settings.STORE_URL, Place.of(self.timeline.index_place or ()))

    def chunks(self) -> list[Chunk]:
        return [
            Chunk(number=number, first=chunk["first"], last=chunk["last"])
            for number, chunk in enumerate(self.index["chunks"])
        ]

    def summary(self) -> dict[str, Any]:
        return dict(self.index["summary"])

    def opened(self, first: int) -> tuple[OpenedChunk, Chunk, bool] | None:
        """The chunk that begins with ``first``; it is always closed."""
        number, chunk = self._chunk(first)
        if chunk is None or chunk["first"] != first:
            return None
        place = Chunk(number=number, first=chunk["first"], last=chunk["last"])
        return opened(self.timeline, chunk), place, True

    def before(self, sequence: int) -> tuple[OpenedChunk, Chunk] | None:
        """The chunk in which entry ``sequence`` is."""
        number, chunk = self._chunk(max(1, sequence))
        if chunk is None:
            return None
        return opened(self.timeline, chunk), Chunk(number=number, first=chunk["first"], last=chunk["last"])

    def changes_after(self, after: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """``first, last, changes, moments`` of the chunks that hold what follows on ``after``."""
        for chunk in self._chunks_from(after + 1):
            found = opened(self.timeline, chunk)
            yield chunk["first"], chunk["last"], found.changes, found.moments

    def members_most(self) -> int:
        """As many members as were there at once, or a few more: of a chunk the index shows who was there at its end, and who joined."""
        return max(
            (chunk["digest"]["members"] + chunk["digest"]["removed"] for chunk in self.index["chunks"]),
            default=0,
        )

    def digest(self, first: int, last: int, columns: int, wanted: Wanted) -> Digest | None:
        """As ``RowsLog.digest``. Chunks that nobody has opened are opened here, a few; the others are shown as unknown."""
        chunks = [
            chunk for chunk in self.index["chunks"] if chunk["last"] >= first and chunk["first"] <= last
        ]
        if not chunks:
            return None
        found: dict[int, list[Packed]] = {}
        left = OPENED_FOR_ONE_ANSWER
        for number, chunk in enumerate(chunks):
            there = look(self.timeline, chunk)
            if there is None and left:
                left -= 1
                there = opened(self.timeline, chunk)
            if there is not None:
                found[number] = [from_plain(Packed, known) for known in orjson.loads(there.digests)]
        level = level_for(
            (
                Stretch(
                    level, chunks[number]["first"], chunks[number]["last"], True, each.columns, each.moments
                )
                for number, packed in found.items()
                for level, each in enumerate(packed)
            ),
            columns * len(found) // len(chunks),
        )
        parts = []
        for number, chunk in enumerate(chunks):
            if number in found:
                parts.append(only(found[number][level], wanted).unpack())
            else:
                place, _ = self._chunk(chunk["first"])
                before = self.index["chunks"][place - 1]["digest"] if place else None
                parts.append(unknown(chunk["first"], chunk["last"], chunk["digest"], before))
        return joined(parts)

    def entries_between(self, first: int, last: int) -> Iterator[EntryLine]:
        for chunk in self._chunks_from(first):
            if chunk["first"] > last:
                return
            for entry in self._entries(chunk):
                if first <= entry["sequence"] <= last:
                    yield entry

    def committed_between(
        self, first: int, last: int, wanted: frozenset[TopicPartition] | None
    ) -> Iterator[tuple[TopicPartition, Committed]]:
        """The commits of entries ``first`` to ``last``, of these partitions or of all."""
        for chunk in self._chunks_from(first):
            if chunk["first"] > last:
                return
            for found in committed_of(self._blob(chunk["entries"]), wanted):
                if first <= found[1].sequence <= last:
                    yield found

    def every_entry(self) -> Iterator[EntryLine]:
        """All entries in order, a chunk at a time."""
        for chunk in self.index["chunks"]:
            yield from self._entries(chunk)

    def entries_before(self, sequence: int) -> Iterator[EntryLine]:
        """The entries before ``sequence``, the nearest first, a chunk at a time."""
        for chunk in reversed(self.index["chunks"]):
            if chunk["first"] < sequence:
                for entry in reversed(self._entries(chunk)):
                    if entry["sequence"] < sequence:
                        yield entry

    def checkpoint_before(self, sequence: int) -> tuple[bytes, StoredChunk] | None:
        """The fold's state before the chunk in which ``sequence`` is."""
        _, chunk = self._chunk(max(1, sequence))
        if chunk is None:
            return None
        try:
            return read_checkpoint(open_files(settings.STORE_URL), chunk), chunk
        except MissingFile as error:
            raise CannotOpen(f"{error}.") from error

    def _entries(self, chunk: StoredChunk) -> list[EntryLine]:
        return entries_of(self._blob(chunk["entries"]))

    def _blob(self, place: PlainPlace) -> bytes:
        try:
            return read_blob(open_files(settings.STORE_URL), Place.of(place))
        except MissingFile as error:
            raise CannotOpen(f"{error}.") from error

    def _chunk(self, sequence: int) -> tuple[int, StoredChunk | None]:
        chunks = self.index["chunks"]
        number = bisect_right(chunks, sequence, key=lambda chunk: chunk["first"]) - 1
        if number < 0 or sequence > chunks[number]["last"]:
            return 0, None
        return number, chunks[number]

    def _chunks_from(self, sequence: int) -> list[StoredChunk]:
        return [chunk for chunk in self.index["chunks"] if chunk["last"] >= sequence]


@lru_cache(maxsize=INDEXES_IN_MEMORY)
def index_at(store: str, place: Place) -> TimelineIndex:
    """Packs never change, so that an index that was read stays right."""
    try:
        return read_index(open_files(store), place)
    except MissingFile as error:
        raise CannotOpen(f"{error}.") from error
