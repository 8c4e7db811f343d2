"""Reads splits into rows: what a reading task does, without Spark."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from groups.pipeline.reading.metadata_split import MetadataReading
from groups.pipeline.reading.offsets_split import OffsetsReading
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.rows import EVERYTHING, Row, Wanted
from groups.pipeline.reading.splitting import Split

PIECE_BYTES: Final = 1024 * 1024


def page_in(split: Split) -> None:
    """Read a split's bytes once, in order, so that the disk is waited for here and not amid decoding."""
    buffer = bytearray(PIECE_BYTES)
    with Path(split.path).open("rb", buffering=0) as opened:
        opened.seek(split.start)
        left = split.end - split.start
        while left > 0 and (read := opened.readinto(memoryview(buffer)[: min(left, PIECE_BYTES)])):
            left -= read


def read_split(number: int, split: Split, wanted: Wanted = EVERYTHING) -> Iterator[Row]:
    """The rows of one split; the last one holds its facts."""
    with (
        Path(split.path).open("rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        whole = memoryview(data)
        part = whole[split.start : split.end]
        try:
            if split.kind is FileKind.METADATA:
                yield from MetadataReading(number, split).rows(part)
            else:
                yield from OffsetsReading(number, split, wanted).rows(part)
        finally:
            part.release()
            whole.release()
