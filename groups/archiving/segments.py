"""A folder of ``__consumer_offsets`` as a broker's disk has it: whole batches, byte for byte, in segments that grow.

Next to the segments is how far each partition was read (``Position``), which the bytes alone do not show: compaction
leaves offsets out. It is written behind the bytes. What a process that died wrote beyond it is read back, batch by
batch, and a torn one is cut off; so an append that is done again doubles nothing and leaves nothing out.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Final, NamedTuple, Self

import google_crc32c

from groups.clusters.allowed import OFFSETS_TOPIC
from groups.wire.logs.record_batch import CRC_END, HEADER, HEADER_BYTES, LENGTH_END, MAGIC

SEGMENT_BYTES: Final = 100 * 1024 * 1024
"""A segment is not appended to beyond this: ``offsets.topic.segment.bytes`` of a broker without that setting."""

KEEP_BYTES: Final = 16 * 1024 * 1024
"""Where more was written than this, it is put on the disk and said: a process that dies leaves no more to be read back."""

LOG: Final = "log"
"""The folder's part that ``import_log`` takes: nothing but partitions and their segments."""

POSITIONS: Final = "positions"

TOPICS: Final = "topics.json"
"""Names and partition counts by topic id, as ``import_log --topics`` takes them: newer records report ids alone."""


class ArchiveError(Exception):
    """The folder is not what was written there; one sentence for the user."""


class Piece(NamedTuple):
    """What one fetch gave: whole batches from ``start`` on. Offsets up to ``next`` that are not in them are not in the log."""

    start: int
    next: int
    data: bytes


class Batch(NamedTuple):
    """One batch within bytes, by its header."""

    at: int
    end: int
    base_offset: int
    next_offset: int
    leader_epoch: int
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a partition is archived, and what that came to.

    ``next`` is the offset that is asked for next, ``epoch`` the leader epoch of the last batch (-1: none yet), ``segment``
    the offset that names the last file, ``size`` its bytes.
    """

    next: int = 0
    epoch: int = -1
    segment: int = 0
    size: int = 0
    records: int = 0
    bytes: int = 0


def batches_in(data: bytes) -> Iterator[Batch]:
    """The whole batches at the beginning of ``data``; ends before one that is torn. ``ArchiveError`` for bytes that are none."""
    at = 0
    while len(data) - at >= HEADER_BYTES:
        base_offset, length, epoch, magic, crc, _, last_delta, *_, count = HEADER.unpack_from(data, at)
        end = at + LENGTH_END + length
        if magic != MAGIC or base_offset < 0 or length < HEADER_BYTES - LENGTH_END or last_delta < 0:
            raise ArchiveError(f"At byte {at:,} stand bytes that are no record batch.")
        if end > len(data):
            return
        if google_crc32c.value(data[at + CRC_END : end]) != crc:
            raise ArchiveError(f"The checksum of the batch at offset {base_offset:,} is wrong.")
        yield Batch(at, end, base_offset, base_offset + last_delta + 1, epoch, max(0, count))
        at = end


def position_of(folder: Path, partition: int) -> Position | None:
    """How far a partition is archived; null where nothing is."""
    try:
        return Position(**json.loads(_position_file(folder, partition).read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, TypeError, ValueError) as error:
        raise ArchiveError(f"{_position_file(folder, partition)} cannot be read: {error}.") from None


def positions(folder: Path) -> dict[int, Position]:
    """Of all partitions that are archived, by number."""
    found = {}
    for file in (folder / POSITIONS).glob("*.json"):
        name = file.stem
        if (
            name.isascii()
            and name.isdigit()
            and (position := position_of(folder, int(file.stem))) is not None
        ):
            found[int(file.stem)] = position
    return dict(sorted(found.items()))


def _position_file(folder: Path, partition: int) -> Path:
    return folder / POSITIONS / f"{partition}.json"


def write_whole(file: Path, data: bytes) -> None:
    """Replace a file at once: a reader gets the old one or the new one."""
    written = file.with_name(f".{file.name}.writing")
    with written.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    written.replace(file)


class PartitionArchive:
    """One partition's segments, open for appending. A context: what was appended is kept when it is left well.

    Left by an error it is as it was, but for bytes behind its position, which the next process that opens it reads back.
    """

    def __init__(self, folder: Path, partition: int, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.partition = partition
        self.log = folder / LOG / f"{OFFSETS_TOPIC}-{partition}"
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._file: IO[bytes] | None = None
        self._unsaid = 0
        for each in (self.log, folder / POSITIONS):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.position = self._taken_up(position_of(folder, partition) or Position())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.keep()
        if self._file is not None:
            self._file.close()

    def append(self, piece: Piece) -> None:
        """Append what is new in a piece; ``ArchiveError`` where offsets before it are missing, or its bytes are no batches."""
        position = self.position
        if piece.start > position.next:
            raise ArchiveError(
                f"{self.log} ends at offset {position.next:,}, and what follows begins at {piece.start:,}: files are missing."
            )
        for batch in batches_in(piece.data):
            if batch.next_offset > self.position.next:
                self._write(batch, piece.data[batch.at : batch.end])
        if piece.next > self.position.next:
            self.position = replace(self.position, next=piece.next)

    def keep(self) -> None:
        """Have all that was appended on the disk, and say so."""
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._unsaid = 0
        data = json.dumps(asdict(self.position)).encode()
        write_whole(_position_file(self._folder, self.partition), data)

    def _write(self, batch: Batch, data: bytes) -> None:
        position = self.position
        if position.size and position.size + len(data) > self._segment_bytes:
            self.keep()
            self._close()
            position = replace(position, segment=batch.base_offset, size=0)
        elif not position.size:
            position = replace(position, segment=batch.base_offset)
        if self._file is None:
            self._file = self._path(position.segment).open("ab")
        self._file.write(data)
        self.position = _behind(position, batch, len(data))
        self._unsaid += len(data)
        if self._unsaid >= KEEP_BYTES:
            self.keep()

    def _taken_up(self, position: Position) -> Position:
        """The position, behind whatever a process that died had written and not said; a torn batch is cut off."""
        files = sorted(self.log.glob("*.log"))
        stored = self._path(position.segment)
        if position.size and (stored not in files or stored.stat().st_size < position.size):
            raise ArchiveError(
                f"{stored} is missing or shorter than it was written ({position.size:,} bytes)."
            )
        for file in files:
            if position.size and file < stored:
                continue
            behind = position if file == stored else replace(position, segment=int(file.stem), size=0)
            with file.open("r+b") as out:
                out.seek(behind.size)
                with contextlib.suppress(ArchiveError):
                    for batch in batches_in(out.read()):
                        behind = _behind(behind, batch, batch.end - batch.at)
                out.truncate(behind.size)
            if behind.size:
                position = behind
            else:
                file.unlink()
        return position

    def _path(self, segment: int) -> Path:
        return self.log / f"{segment:020d}.log"

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _behind(position: Position, batch: Batch, size: int) -> Position:
    return replace(
        position,
        next=max(position.next, batch.next_offset),
        epoch=batch.leader_epoch,
        size=position.size + size,
        records=position.records + batch.records,
        bytes=position.bytes + size,
    )
