"""Opens a chunk: makes its frame, changes and moments, which is the cache that they are.

It starts from the state that the first pass left before the chunk, so that no other chunk is needed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import cramjam
import orjson

from groups.history.entries import Entry
from groups.history.passes.recorder import Recorder
from groups.history.state.plain import Plain, to_plain
from groups.packs.blocks import entries_of
from groups.packs.files import Files
from groups.packs.index import StoredChunk, read_checkpoint
from groups.packs.packs import Place, read_blob

_LENGTHS: Final = struct.Struct("<5Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedChunk:
    """JSON texts: the frame before the chunk and the metrics there, and the chunk's changes and moments.

    ``digests``: what the map shows of it, from the finest level to the coarsest (``Packed``).
    """

    frame: bytes
    metrics: bytes
    changes: bytes
    moments: bytes
    digests: bytes

    def pack(self) -> bytes:
        parts = (self.frame, self.metrics, self.changes, self.moments, self.digests)
        return _LENGTHS.pack(*map(len, parts)) + bytes(cramjam.zstd.compress(b"".join(parts)))

    @classmethod
    def unpack(cls, packed: bytes) -> OpenedChunk:
        """``ValueError`` for bytes that ``pack`` did not give."""
        try:
            lengths = _LENGTHS.unpack_from(packed)
            text = bytes(cramjam.zstd.decompress(packed[_LENGTHS.size :]))
        except (struct.error, cramjam.DecompressionError) as error:
            raise ValueError(f"no opened chunk: {error}") from error
        if sum(lengths) != len(text):
            raise ValueError(f"an opened chunk of {len(text)} bytes, where {sum(lengths)} were written")
        parts, at = [], 0
        for length in lengths:
            parts.append(text[at : at + length])
            at += length
        frame, metrics, changes, moments, digests = parts
        return cls(frame=frame, metrics=metrics, changes=changes, moments=moments, digests=digests)


def open_chunk(files: Files, chunk: StoredChunk) -> OpenedChunk:
    """``MissingFile`` where a pack is gone."""
    recorder = Recorder.from_checkpoint(read_checkpoint(files, chunk))
    before: dict[str, bytes] = {}
    changes: list[bytes] = []
    moments: list[bytes] = []
    digests: list[Plain] = []
    for entry in entries_of(read_blob(files, Place.of(chunk["entries"]))):
        recorder.add(Entry.from_json(entry))
    batch = recorder.flush(final=True)
    if batch is not None:
        assert batch.checkpoint is not None
        begun = orjson.loads(batch.checkpoint)
        before = {name: orjson.dumps(begun[name]) for name in ("frame", "metrics")}
        changes.append(batch.changes)
        moments.append(batch.moments)
        digests = [to_plain(digest) for digest in batch.digests]
    return OpenedChunk(
        frame=before["frame"],
        metrics=before["metrics"],
        changes=join(changes),
        moments=join(moments),
        digests=orjson.dumps(digests),
    )


def join(arrays: list[bytes]) -> bytes:
    """One JSON array of several, by their text."""
    inner = [text for text in (array.strip()[1:-1] for array in arrays) if text]
    return b"[" + b",".join(inner) + b"]"
