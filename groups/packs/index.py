"""What the first pass over a log stores of a timeline, in addition to its entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict

import orjson

from groups.history.passes.indexing import Indexer
from groups.packs.blocks import group_of
from groups.packs.chained import read_chained
from groups.packs.files import Files
from groups.packs.packs import Place, PlainPlace, read_blob

INDEX_FORMAT: Final = 3
"""2: of the first chunk no checkpoint is stored. 3: the entries of a small timeline stand in the blob of its index, and
large checkpoints stand in chains. Earlier ones are read as before."""


class StoredChunk(TypedDict):
    """Entries ``first`` to ``last``. Places are those of ``packs.Place``; an empty pack means the index's own, and of a shared blob the
    one in which the index is.

    ``checkpoint`` is the fold's state before ``first``, so that the chunk is made without those before it (``read_checkpoint``), and
    ``chain`` what it is read from where it is large (``chained.Chained``);
    ``digest`` is the coarsest view of it (``groups.history.passes.indexing.ChunkDigest``).
    """

    first: int
    last: int
    entries: PlainPlace
    checkpoint: PlainPlace
    chain: list[PlainPlace]
    digest: dict[str, Any]


class PartitionCommits(TypedDict):
    """Commits of one partition in sum. ``silence_ms`` is the longest time between two of them, from ``silence_from_ms`` on."""

    topic: str
    partition: int
    commits: int
    first_ms: int
    last_ms: int
    first_offset: int
    last_offset: int
    silence_ms: int
    silence_from_ms: int


class TimelineIndex(TypedDict):
    """The index blob of a timeline."""

    format: int
    fold_version: int
    summary: Mapping[str, Any]
    chunks: list[StoredChunk]
    commits: list[PartitionCommits]


def read_index(files: Files, place: Place) -> TimelineIndex:
    """The index with every place whole."""
    index: TimelineIndex = orjson.loads(read_blob(files, place))
    for chunk in index["chunks"]:
        chunk["entries"] = _whole(chunk["entries"], place)
        chunk["checkpoint"] = _whole(chunk["checkpoint"], place)
        chunk["chain"] = [_whole(plain, place) for plain in chunk.get("chain", ())]
    return index


def read_checkpoint(files: Files, chunk: StoredChunk) -> bytes:
    """The fold's state before a chunk.

    Before the first one nothing is known but the group's name. Of a log of many small groups, where it is all that there is of
    checkpoints, that would be a sixth of what is stored.
    """
    if chunk["chain"]:
        return read_chained(files, chunk["chain"])
    place = Place.of(chunk["checkpoint"])
    if place.length:
        return read_blob(files, place)
    return Indexer(group=group_of(read_blob(files, Place.of(chunk["entries"])))).checkpoint()


def _whole(plain: PlainPlace, index: Place) -> PlainPlace:
    place = Place.of(plain)
    if not place.pack and place.size:
        place = index._replace(begin=place.begin, size=place.size)
    return place._replace(pack=place.pack or index.pack).plain()
