"""Both stages of an import in this process, without Spark: what its tasks do, in the order in which Spark has them do it."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import orjson

from groups.child_side import Lines
from groups.packs.blocks import entries_of
from groups.packs.files import Files, Folder, MissingFile, Writing
from groups.packs.index import TimelineIndex, read_index
from groups.packs.packs import Place, read_blob
from groups.pipeline.engine import Engine
from groups.pipeline.folding import tasks as folding
from groups.pipeline.folding.context import Context
from groups.pipeline.folding.tasks import Folding, GroupFolding
from groups.pipeline.job import earlier_of, import_with, scratch_of
from groups.pipeline.local.shuffle import Shuffle
from groups.pipeline.progress import Progress
from groups.pipeline.reading.group_blocks import GroupBlock
from groups.pipeline.reading.rows import EVERYTHING, Row, Wanted
from groups.pipeline.reading.splitting import SPLIT_BYTES, Listing, list_sources
from groups.pipeline.reading.tasks import read_split, tasks_of
from groups.pipeline.report import Findings
from groups.pipeline.times import Times
from groups.pipeline.topics.naming import read_topics_file
from tests.pipeline.segments import Segment

Line = dict[str, Any]

FOLDER = "an-import"


@dataclass(slots=True)
class MemoryFiles:
    """A store that is gone with its test."""

    held: dict[str, bytes] = field(default_factory=dict)

    def begin(self, folder: str) -> Writing:
        return _MemoryWriting(self.held)

    def read(self, name: str, offset: int, length: int) -> bytes:
        if name not in self.held:
            raise MissingFile(name)
        return self.held[name][offset : offset + length]

    def names(self, folder: str = "") -> list[str]:
        return sorted(name for name in self.held if name.startswith(folder))

    def size(self, name: str) -> int:
        return len(self.held[name])

    def remove(self, name: str) -> None:
        self.held.pop(name, None)


@dataclass(slots=True)
class _MemoryWriting:
    held: dict[str, bytes]
    data: bytearray = field(default_factory=bytearray)

    def write(self, data: bytes) -> None:
        self.data += data

    def keep(self, name: str) -> None:
        self.held[name] = bytes(self.data)

    def drop(self) -> None:
        self.data.clear()


@dataclass(frozen=True, slots=True)
class Folds:
    """The lines of an import, and the store in which its timelines are."""

    lines: list[Line]
    files: Files

    def of(self, kind: str) -> list[Line]:
        return [line for line in self.lines if line["type"] == kind]

    @property
    def timelines(self) -> list[str]:
        """``orders#1`` for the first incarnation of the group ``orders``."""
        return [f"{line['group']}#{line['incarnation']}" for line in self.of("timeline")]

    def told(self, timeline: str = "orders#1") -> Line:
        [line] = [
            line for line in self.of("timeline") if f"{line['group']}#{line['incarnation']}" == timeline
        ]
        return line

    def index(self, timeline: str = "orders#1") -> TimelineIndex:
        return read_index(self.files, Place.of(self.told(timeline)["index"]))

    def entries(self, timeline: str = "orders#1") -> list[dict[str, Any]]:
        blocks = [
            read_blob(self.files, Place.of(chunk["entries"])) for chunk in self.index(timeline)["chunks"]
        ]
        return [entry for block in blocks for entry in entries_of(block)]

    def notes(self, timeline: str = "orders#1") -> list[dict[str, Any]]:
        return [entry["payload"] for entry in self.entries(timeline) if entry["kind"] == "note"]


class RecordByRecord(GroupFolding):
    """Folds commits as it folds all other records: the slow way, which needs no columns."""

    def __init__(self, name: str, task: Folding) -> None:
        super().__init__(name, task)
        self.slow = True


def read(listing: Listing, wanted: Wanted = EVERYTHING) -> tuple[list[Row], Findings]:
    """The rows of the reading stage, and what its tasks found beside them."""
    rows = [row for number, split in enumerate(listing.splits) for row in read_split(number, split, wanted)]
    findings = Findings(listing)
    for row in rows:
        if row.kind != "block":
            findings.add(row.kind, row.source, row.payload)
    return [row for row in rows if row.kind == "block"], findings


def blocks_in_order(rows: Sequence[Row], findings: Findings) -> Iterator[GroupBlock]:
    """What the shuffle does between reading and folding."""
    shuffle = Shuffle()
    for row in rows:
        shuffle.add(row)
    if findings.some_partitions_unknown:
        shuffle.fill_partitions()
    for places in shuffle.groups():
        for packed in shuffle.fetch(places):
            yield GroupBlock.unpack(*packed)
    shuffle.close()


def import_without_spark(
    request: Mapping[str, Any],
    files: Files,
    *,
    split_bytes: int = SPLIT_BYTES,
    slow: bool = False,
    **more: Any,
) -> Iterator[Line]:
    """The lines of ``groups.pipeline.job`` without those of progress; ``more`` replaces fields of the context."""
    listing = list_sources(request["paths"], split_bytes=split_bytes, scratch=scratch_of(request))
    groups = request.get("groups")
    wanted = Wanted(groups=None if groups is None else frozenset(groups), until_ms=request.get("until_ms"))
    rows, findings = read(listing, wanted)
    yield {"type": "sources", "sources": [source.to_json() for source in listing.sources]}
    yield {"type": "groups", "groups": findings.group_list(), "found": len(findings.group_hashes)}
    tasks = tasks_of(listing.splits)
    context = Context(
        known=findings.known(read_topics_file(request.get("topics") or {})),
        store=str(request.get("store") or ""),
        folder=str(request.get("folder") or FOLDER),
        lost=findings.lost_offsets(),
        compacted=findings.compacted(tasks),
        leaders=findings.leaders(tasks),
        files=tuple(source.file for source in listing.sources),
        ends=findings.ends(tasks),
        earlier=earlier_of(request.get("earlier") or {}),
        settings=request.get("settings") or {},
        from_ms=request.get("from_ms"),
    )
    way = RecordByRecord if slow else GroupFolding
    with mock.patch.object(folding, "GroupFolding", way):
        for kind, payload in Folding(replace(context, **more), files, Times()).run(
            blocks_in_order(rows, findings)
        ):
            yield {"type": kind, **orjson.loads(payload)}
    yield {"type": "done", "records": findings.records_report()}


def fold(*segments: Segment, partition: int | None = 17, **options: Any) -> Folds:
    """An import of these segments of one partition, each a file; ``options`` as ``import_without_spark`` takes them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(s.write(Path(folder) / str(number), partition)) for number, s in enumerate(segments)]
        return fold_paths(*paths, **options)


def fold_paths(*paths: str, files: Files | None = None, **options: Any) -> Folds:
    asked = {
        name: options.pop(name)
        for name in ("groups", "until_ms", "from_ms", "topics", "settings", "scratch")
        if name in options
    }
    earlier = options.pop("earlier", None)
    files = files or MemoryFiles()
    request = {"paths": list(paths), "earlier": earlier, **asked}
    return Folds(list(import_without_spark(request, files, **options)), files)


def import_with_engine(
    engine: Engine,
    store: Path,
    *paths: Path,
    topics: Mapping[str, Any] | None = None,
    split_bytes: int = 1024,
    **request: Any,
) -> Folds:
    """Both stages of the job on an engine, which is closed; what it reported, and stored in ``store``."""
    listing = list_sources([str(path) for path in paths], split_bytes=split_bytes)
    out = io.BytesIO()
    progress = Progress(Lines(out))
    asked = {"store": str(store), "folder": FOLDER, **request}
    try:
        progress.lines.say(import_with(engine, listing, read_topics_file(topics or {}), asked, progress, 0))
    finally:
        engine.close()
    return Folds([orjson.loads(line) for line in out.getvalue().splitlines()], Folder(store))
