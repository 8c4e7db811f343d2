"""What was given to an import, told by content: which files are segments of which log, and where to cut them.

Only headers are read here, on the driver. ``list_sources`` walks files and folders, looks into each file, hops over
the headers of its batches, and gives back what is worth reading (cut into splits, a task each) and a word on
everything that is not.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from groups.pipeline.reading.recognising import HEADER_BYTES, LOOK_BYTES, FileKind, recognise

FILES_MOST = 100_000
"""Files of one import: a broker's whole disk has fewer; a mistaken ``/`` has more."""

SPLIT_BYTES = 16 * 1024 * 1024
"""Bytes per reading task: less than a second of work, so that progress moves and a small log is one task."""

COMPANIONS = (".index", ".timeindex", ".txnindex", ".snapshot", ".deleted", ".cleaned", ".swap")
COMPANION_NAMES = {
    "leader-epoch-checkpoint",
    "partition.metadata",
    "quorum-state",
    "quorum-state.lock",
    "manifest.json",
}
"""Files that Kafka keeps beside its segments: in a folder they are passed over without a word."""

_HEADER = struct.Struct(">qi4xb4xhi30xi")
"""Of a batch: base offset, length, magic, attributes, last offset delta, number of records."""
_COMPRESSIONS = ("", "gzip", "snappy", "lz4", "zstd")


READ = {FileKind.OFFSETS, FileKind.METADATA}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file. ``file`` is how it is shown; ``partition`` is None where no folder name tells it."""

    number: int
    path: str
    file: str
    kind: FileKind
    bytes: int
    partition: int | None = None
    compression: str = ""
    first_offset: int | None = None
    last_offset: int | None = None
    records: int = 0
    """Records that the headers count; control markers are among them."""
    state: str = ""
    repeats: str | None = None
    """The file whose offsets these are again, where one was given twice."""

    @property
    def missing_offsets(self) -> int:
        """Offsets within the file that no record has: compacted away, which is normal for this topic."""
        if self.first_offset is None or self.last_offset is None:
            return 0
        return max(0, self.last_offset - self.first_offset + 1 - self.records)

    def words(self) -> str:
        """What the file is, as the page says it."""
        if self.kind is FileKind.OFFSETS:
            return f"segment, {self.compression}" if self.compression else "segment"
        return {
            FileKind.METADATA: "cluster metadata",
            FileKind.OTHER_TOPIC: "another topic's segment",
            FileKind.NO_RECORDS: "segment without records",
            FileKind.EMPTY: "empty",
        }.get(self.kind, "no segment")

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "is": self.words(),
            "kind": str(self.kind),
            "partition": self.partition,
            "first_offset": self.first_offset,
            "last_offset": self.last_offset,
            "bytes": self.bytes,
            "records": self.records,
            "compacted": self.missing_offsets if self.kind is FileKind.OFFSETS else 0,
            "state": self.state,
            "repeats": self.repeats,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A stretch of whole batches of one file: what one task reads.

    ``before`` is the last offset in front of it and ``after`` the first one behind it (None at the file's ends):
    where batches cannot be read, they tell which offsets are lost.
    """

    source: int
    path: str
    kind: FileKind
    partition: int | None
    start: int
    end: int
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that was not read: the file, the offset where one is known, and the reason in words."""

    file: str
    offset: int | None
    reason: str
    records: int = 0
    last_offset: int | None = None
    normal: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "offset": self.offset,
            "reason": self.reason,
            "records": self.records,
            "last_offset": self.last_offset,
            "normal": self.normal,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Offsets of a partition that none of the files holds, between two files that do."""

    partition: int
    from_offset: int
    to_offset: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    sources: tuple[Source, ...]
    splits: tuple[Split, ...]
    problems: tuple[Problem, ...]
    gaps: tuple[Gap, ...]


def list_sources(paths: Sequence[str], *, split_bytes: int = SPLIT_BYTES) -> Listing:
    """Everything under ``paths`` (files or folders), recognised by content."""
    sources: list[Source] = []
    splits: list[Split] = []
    problems: list[Problem] = []
    for file, shown, named in _files(paths):
        if isinstance(file, str):
            problems.append(Problem(file=shown, offset=None, reason=file))
            continue
        try:
            source, cut, why = look_into(file, shown, number=len(sources), split_bytes=split_bytes)
        except OSError as error:
            problems.append(
                Problem(file=shown, offset=None, reason=f"cannot be read: {error.strerror or error}")
            )
            continue
        if source.kind not in READ and not named and source.kind is FileKind.EMPTY:
            # A fresh segment that nothing was written to yet is part of every folder that a broker keeps.
            why = None
        sources.append(source)
        splits += cut
        if why is not None:
            problems.append(why)
    sources = mark_repeats(sources)
    return Listing(
        sources=tuple(sources),
        splits=tuple(splits),
        problems=tuple(problems),
        gaps=tuple(gaps_between(sources)),
    )


def look_into(
    path: Path, shown: str, *, number: int, split_bytes: int = SPLIT_BYTES
) -> tuple[Source, list[Split], Problem | None]:
    """One file: what it is, its splits if it is to be read, and why not if it is not."""
    size = path.stat().st_size
    partition = partition_of(path)
    if size == 0:
        source = Source(
            number=number,
            path=str(path),
            file=shown,
            kind=FileKind.EMPTY,
            bytes=0,
            partition=partition,
            state="empty",
        )
        return source, [], Problem(file=shown, offset=None, reason="the file is empty", normal=True)
    with path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        kind, reason = recognise(data, path.parent.name)
        source = Source(
            number=number,
            path=str(path),
            file=shown,
            kind=kind,
            bytes=size,
            partition=partition,
            state=reason,
        )
        if kind not in READ:
            return (
                source,
                [],
                Problem(file=shown, offset=None, reason=reason, normal=kind is FileKind.NO_RECORDS),
            )
        source, splits = hop(data, source, split_bytes)
        return source, splits, None


def hop(data: mmap.mmap | bytes, source: Source, split_bytes: int) -> tuple[Source, list[Split]]:
    """Goes from header to header: first and last offset, number of records, and the file cut between batches.

    Stops at the first header that leads nowhere; the rest of the file is then one split, in which the reader
    searches for batches byte by byte.
    """
    size = len(data)
    at = cut_at = records = 0
    first: int | None = None
    last: int | None = None
    cut_last: int | None = None
    compression = ""
    splits: list[Split] = []
    unpack = _HEADER.unpack_from
    while at + HEADER_BYTES <= size:
        base, length, magic, attributes, delta, count = unpack(data, at)
        end = at + 12 + length
        if (
            magic != 2
            or length < HEADER_BYTES - 12
            or end > size
            or base < 0
            or (last is not None and base <= last)
        ):
            break
        if at - cut_at >= split_bytes:
            splits.append(_split(source, cut_at, at, before=cut_last, after=base))
            cut_at, cut_last = at, last
        records += count
        if attributes & 7 and not compression:
            compression = _compression(attributes)
        first = base if first is None else first
        last = base + delta
        at = end
    if cut_at < size:
        splits.append(_split(source, cut_at, size, before=cut_last, after=None))
    whole = replace(
        source,
        first_offset=first,
        last_offset=last,
        records=records,
        compression=compression,
        state=_ending(data, at),
    )
    return whole, splits


def partition_of(path: Path) -> int | None:
    """The partition that a folder like ``__consumer_offsets-17`` names; None where no folder does.

    >>> partition_of(Path("backup/__consumer_offsets-17/00000000000000000000.log"))
    17
    >>> partition_of(Path("00000000000000000000.log")) is None
    True
    """
    found = re.fullmatch(
        r"__(?:consumer_offsets|cluster_metadata)-(\d{1,9})(?:\..*|-delete)?", path.parent.name
    )
    return int(found[1]) if found else None


def mark_repeats(sources: Sequence[Source]) -> list[Source]:
    """Says of each file whose offsets stand in another one already which one that is."""
    marked: list[Source] = []
    for source in sources:
        if source.kind is FileKind.OFFSETS and source.first_offset is not None:
            twin = next((other for other in marked if _same_content(source, other)), None)
            if twin is not None:
                source = replace(source, repeats=twin.file)
        marked.append(source)
    return marked


def gaps_between(sources: Sequence[Source]) -> Iterator[Gap]:
    """Offsets that lie between two files of one partition and are in neither."""
    partitions: dict[int, list[Source]] = {}
    for source in sources:
        if (
            source.kind is FileKind.OFFSETS
            and source.partition is not None
            and source.first_offset is not None
        ):
            partitions.setdefault(source.partition, []).append(source)
    for partition, files in sorted(partitions.items()):
        reached: int | None = None
        for file in sorted(files, key=lambda one: (one.first_offset or 0, one.last_offset or 0)):
            assert file.first_offset is not None
            assert file.last_offset is not None
            if reached is not None and file.first_offset > reached + 1:
                yield Gap(
                    partition=partition,
                    from_offset=reached + 1,
                    to_offset=file.first_offset - 1,
                    reason="these offsets are in none of the files: compacted away, or a segment is missing",
                )
            reached = file.last_offset if reached is None else max(reached, file.last_offset)


def _files(paths: Sequence[str]) -> Iterator[tuple[Path | str, str, bool]]:
    """Each file (or, in its place, the reason why there is none), how to show it, and whether it was named itself."""
    seen: set[str] = set()
    count = 0
    for given in paths:
        path = Path(given)
        if not path.exists():
            yield "no such file or folder", given.encode(errors="replace").decode(), True
            continue
        if not path.is_dir():
            found: list[tuple[Path, bool]] = [(path, True)]
        else:
            found = [(file, False) for file in _walk(path)]
            if not found:
                yield "the folder holds no file that could be a segment", given, True
        for file, named in found:
            real = os.path.realpath(file)
            if real in seen:
                continue
            seen.add(real)
            if not _is_text(str(file)):
                yield "its name is no UTF-8, so that no report can show it: rename it", _shown(file), named
                continue
            count += 1
            if count > FILES_MOST:
                yield (
                    f"more than {FILES_MOST} files; name the folders of the offsets topic alone",
                    given,
                    True,
                )
                return
            yield file, _shown(file), named


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.startswith(".") or name in COMPANION_NAMES or name.endswith((*COMPANIONS, ".md")):
                continue
            yield Path(parent) / name


def _shown(file: Path) -> str:
    """The file with its folder, which is how Kafka's segments are told apart."""
    shown = f"{file.parent.name}/{file.name}" if file.parent.name else file.name
    return shown.encode(errors="replace").decode()


def _is_text(path: str) -> bool:
    """Whether the path can be written as UTF-8; names on a disk are bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _split(source: Source, start: int, end: int, *, before: int | None, after: int | None) -> Split:
    return Split(
        source=source.number,
        path=source.path,
        kind=source.kind,
        partition=source.partition,
        start=start,
        end=end,
        before=before,
        after=after,
    )


def _same_content(one: Source, other: Source) -> bool:
    offsets = (one.first_offset, one.last_offset, one.records, one.bytes)
    if offsets != (other.first_offset, other.last_offset, other.records, other.bytes):
        return False
    with Path(one.path).open("rb") as first, Path(other.path).open("rb") as second:
        while piece := first.read(LOOK_BYTES):
            if piece != second.read(LOOK_BYTES):
                return False
    return True


def _compression(low_attributes: int) -> str:
    code = low_attributes & 0x07
    return _COMPRESSIONS[code] if code < len(_COMPRESSIONS) else ""


def _ending(data: mmap.mmap | bytes, at: int) -> str:
    if at == len(data) or not any(data[at : at + HEADER_BYTES]):
        return "read"
    return "to the last whole batch"
