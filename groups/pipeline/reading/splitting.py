"""The files of an import, recognised by content: which files are segments of which log, and where to cut them.

Only headers are read here, on the driver. ``list_sources`` walks files and folders, looks into each file, hops over
the headers of its batches, and gives back what is worth reading (cut into splits, a task each) and a word on
everything that is not.
"""

from __future__ import annotations

import mmap
import re
import shutil
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from groups.pipeline.reading.archives import HEAD_BYTES, Unpacking, packing_of, why_not_opened
from groups.pipeline.reading.given_files import given_files
from groups.pipeline.reading.printed_logs import EntriesFile, PrintedLogs, formats_in
from groups.pipeline.reading.recognising import HEADER_BYTES, READ, FileKind, recognise
from groups.pipeline.reading.sources import Gap, Problem, Source, gaps_between, mark_repeats


class OpenedFile(NamedTuple):
    """A file that can be looked into. ``origin`` is what it was made of, for people; ``named``: it was named itself."""

    path: Path
    shown: str
    named: bool
    origin: str = ""
    entries: int | None = None
    """How many entries it has, where it is a file of entries."""


Opened = OpenedFile | Problem | Gap


def opened_files(paths: Sequence[str], scratch: Path | None) -> Iterator[Opened]:
    """Each file under ``paths``, or why there is none. ``scratch`` is emptied, and holds what was made; without it archives and
    texts stay as they are."""
    if scratch is None:
        yield from _given(paths, None)
        return
    shutil.rmtree(scratch, ignore_errors=True)
    texts = PrintedLogs(scratch)
    for file in _given(paths, Unpacking(scratch)):
        formats = formats_in(file.path) if isinstance(file, OpenedFile) else ()
        if not isinstance(file, OpenedFile) or not formats:
            yield file
            continue
        made_of = f"made of {' and '.join(each.name for each in formats)}"
        for found in texts.open(file.path, file.shown, formats):
            if isinstance(found, EntriesFile):
                names = " and ".join(each.name for each in formats)
                yield OpenedFile(found.path, file.shown, False, names, found.entries)
            elif isinstance(found, Path):
                origin = ", ".join(part for part in (made_of, file.origin) if part)
                yield OpenedFile(found, file.shown, False, origin)
            else:
                yield found


def _given(paths: Sequence[str], unpacking: Unpacking | None) -> Iterator[OpenedFile | Problem]:
    for path, shown, named in given_files(paths):
        if isinstance(path, str):
            yield Problem(file=shown, offset=None, reason=path)
            continue
        try:
            # A named pipe, which has no bytes either, is never opened: that waits for somebody who writes.
            head = b""
            if path.stat().st_size:
                with path.open("rb") as opened:
                    head = opened.read(HEAD_BYTES)
        except OSError as error:
            yield Problem(file=shown, offset=None, reason=f"cannot be read: {error.strerror or error}")
            continue
        packing = packing_of(head)
        if reason := why_not_opened(head):
            yield Problem(file=shown, offset=None, reason=reason)
        elif packing is None or unpacking is None:
            yield OpenedFile(path, shown, named)
        else:
            for member in unpacking.unpack(path, packing):
                place = f"{shown}: {member.name}" if member.name else shown
                if member.path is None:
                    yield Problem(file=place, offset=None, reason=member.reason)
                else:
                    yield OpenedFile(member.path, place, False, f"unpacked from {member.packing}")


SPLIT_BYTES = 16 * 1024 * 1024
"""Bytes per reading task: less than a second of work, so that progress moves and a small log is one task."""


_HEADER = struct.Struct(">qi4xb4xhi30xi")
"""Of a batch: base offset, length, magic, attributes, last offset delta, number of records."""
_COMPRESSIONS = ("", "gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A stretch of whole batches of one file: what one task reads.

    ``before`` is the last offset in front of it and ``after`` the first one behind it (None at the file's ends):
    where batches cannot be read, they show which offsets are lost.
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
class Listing:
    sources: tuple[Source, ...]
    splits: tuple[Split, ...]
    problems: tuple[Problem, ...]
    gaps: tuple[Gap, ...]


def list_sources(
    paths: Sequence[str], *, split_bytes: int = SPLIT_BYTES, scratch: Path | None = None
) -> Listing:
    """Everything under ``paths`` (files, folders, archives), recognised by content; archives are unpacked into ``scratch``."""
    sources: list[Source] = []
    splits: list[Split] = []
    problems: list[Problem] = []
    gaps: list[Gap] = []
    for file in opened_files(paths, scratch):
        if isinstance(file, Problem):
            problems.append(file)
            continue
        if isinstance(file, Gap):
            gaps.append(file)
            continue
        if file.entries is not None:
            source = _of_entries(file, len(sources))
            sources.append(source)
            splits.append(_split(source, 0, source.bytes, before=None, after=None))
            continue
        try:
            source, cut, why = look_into(file.path, file.shown, number=len(sources), split_bytes=split_bytes)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            problems.append(Problem(file=file.shown, offset=None, reason=reason))
            continue
        if source.kind not in READ and not file.named and source.kind is FileKind.EMPTY:
            # A fresh segment that nothing was written to yet is part of every folder that a broker keeps.
            why = None
        sources.append(replace(source, origin=file.origin))
        splits += cut
        if why is not None:
            problems.append(why)
    sources = mark_repeats(sources)
    return Listing(
        sources=tuple(sources),
        splits=tuple(splits),
        problems=tuple(problems),
        gaps=(*gaps, *gaps_between(sources)),
    )


def _of_entries(file: OpenedFile, number: int) -> Source:
    return Source(
        number=number,
        path=str(file.path),
        file=file.shown,
        kind=FileKind.ENTRIES,
        bytes=file.path.stat().st_size,
        records=file.entries or 0,
        state="read",
        origin=file.origin,
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


def _compression(low_attributes: int) -> str:
    code = low_attributes & 0x07
    return _COMPRESSIONS[code] if code < len(_COMPRESSIONS) else ""


def _ending(data: mmap.mmap | bytes, at: int) -> str:
    if at == len(data) or not any(data[at : at + HEADER_BYTES]):
        return "read"
    return "to the last whole batch"
