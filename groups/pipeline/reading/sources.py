"""What each file of an import is, and how files stand to each other: the same offsets twice, or offsets in none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from groups.pipeline.reading.recognising import LOOK_BYTES, FileKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file. ``file`` is how it is shown; ``partition`` is None if no folder name contains it."""

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
    origin: str = ""
    """What the file was made of before it could be read, for people; empty for one that was given as it is."""

    @property
    def missing_offsets(self) -> int:
        """Offsets within the file that no record has: compacted away, which is normal for this topic."""
        if self.first_offset is None or self.last_offset is None:
            return 0
        return max(0, self.last_offset - self.first_offset + 1 - self.records)

    def words(self) -> str:
        """What the file is, as the page shows it."""
        return ", ".join(part for part in (self._kind_words(), self.compression, self.origin) if part)

    def _kind_words(self) -> str:
        return {
            FileKind.OFFSETS: "segment",
            FileKind.METADATA: "cluster metadata",
            FileKind.ENTRIES: "text",
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
class Problem:
    """Something that was not read: the file, the offset where one is known, and the reason in words."""

    file: str
    offset: int | None
    reason: str
    records: int = 0
    last_offset: int | None = None
    normal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Offsets of a partition that none of the files holds. ``partition`` is None if it is unknown."""

    partition: int | None
    from_offset: int
    to_offset: int
    reason: str


def mark_repeats(sources: Sequence[Source]) -> list[Source]:
    """Names, for each file whose offsets are in another one already, that other one."""
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


def _same_content(one: Source, other: Source) -> bool:
    offsets = (one.first_offset, one.last_offset, one.records, one.bytes)
    if offsets != (other.first_offset, other.last_offset, other.records, other.bytes):
        return False
    with Path(one.path).open("rb") as first, Path(other.path).open("rb") as second:
        while piece := first.read(LOOK_BYTES):
            if piece != second.read(LOOK_BYTES):
                return False
    return True
