"""The recorder: entries in, and out come batches of everything that is stored of a timeline.

It folds each entry, takes the difference of frames, reports moments and findings, and cuts chunks. Whatever is stored is
already JSON text, so that a process that only stores it never parses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

import orjson

from groups.history.digests import Digester
from groups.history.digests.levels import levels
from groups.history.digests.packed import Packed
from groups.history.entries import Entry
from groups.history.evidence.holders import Holders
from groups.history.findings.finding import Finding
from groups.history.frames.changes import Change, diff, to_json
from groups.history.frames.frame import FrameMaker, whole
from groups.history.frames.shapes import Frame
from groups.history.passes.checkpoints import Checkpoint, Pass, chunk_limit
from groups.history.passes.summaries import Summary, summary_of
from groups.history.replay.fold import replay
from groups.history.state.declared import document
from groups.history.state.group import Protocol, Semantics
from groups.history.state.plain import from_plain, to_plain
from groups.history.story.entry_groups import EntryGroup

CHUNK_BYTES_LEAST: Final = 128 * 1024
"""A chunk of a small group still holds some hundreds of entries: fewer requests for a browser that plays on."""

BATCH_BYTES_FULL: Final = 1024 * 1024
"""``Recorder.full`` asks for a flush from here on, so that a batch fits in memory and in one row many times over."""


class ChunkStart(TypedDict):
    """What a chunk begins with: the frame after entry ``sequence``, and what finders and metrics remember there."""

    sequence: int
    frame: Frame
    findings: Mapping[str, object]
    metrics: Mapping[str, object]


@document
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBatch:
    """What storage keeps of the entries ``first`` to ``last``; the bytes are JSON.

    ``checkpoint`` is set when a chunk begins with this batch: a ``ChunkStart``.
    ``summary`` reports the whole timeline so far. ``digests``: of the finest level, then of the coarser ones
    (``digests.levels.LEVELS``); the first of a chunk begins with a state of its own.
    """

    first: int
    last: int
    entries: bytes
    changes: bytes
    moments: bytes
    checkpoint: bytes | None
    summary: Summary
    digests: tuple[Packed, ...]

    def to_line(self) -> bytes:
        """One line of JSON, ended, for a child process to write to its parent: its texts, of JSON themselves, as strings."""
        return orjson.dumps({"type": "batch", **to_plain(self)}, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_line(cls, line: Mapping[str, object]) -> RecordedBatch:
        """The inverse of ``to_line``, from the parsed line."""
        return from_plain(cls, {name: known for name, known in line.items() if name != "type"})


class Recorder(Pass):
    """Takes a timeline's entries in order and gives batches.

    Batches end between exchanges, never inside a unit. So the entries of the exchange that is under way stay here
    until the next one begins or ``flush(final=True)`` ends the last one. Batches put together are the same
    whatever the moments of flushing were, but for the places of the cuts.

    ``digests``: whether they are made. Who shows each moment by its frame, as a lesson does, asks for no rows of a map.
    """

    _makes_digests = True

    def __init__(
        self,
        *,
        group: str,
        semantics: Semantics | str = Semantics.KAFKA,
        protocol: Protocol | str | None = None,
        digests: bool = True,
    ) -> None:
        self._makes_digests = digests
        super().__init__(group=group, semantics=semantics, protocol=protocol)

    def _begin(self, start: Checkpoint) -> None:
        super()._begin(start)
        self._holders = Holders()
        self._maker = FrameMaker()
        self._frame: Frame = self._maker.shared(self._state)
        owned = {topic for topic, _ in self.finder.ownership.owner}
        self._digester = Digester(self._frame, owned) if self._makes_digests else None
        self._cut_frame: Frame = self._frame
        # What belongs to the exchange under way, and what can be flushed.
        self._held: tuple[list[bytes], list[Change]] = ([], [])
        self._ready: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])
        self._ready_bytes = 0
        self._first = start.state.sequence + 1
        self._chunk_bytes = 0
        self._chunk_limit = 0
        self._checkpoint = self._make_checkpoint()
        self.findings: Sequence[Finding] = ()
        """Those of the last flush: what a summary has."""

    @property
    def full(self) -> bool:
        """Whether enough waits for a flush."""
        return self._ready_bytes >= BATCH_BYTES_FULL

    @property
    def last(self) -> int:
        """The sequence of the last entry that was flushed."""
        return self._first - 1

    @property
    def frame(self) -> Frame:
        """The frame after the last exchange that was closed; it is not to be changed."""
        return self._cut_frame

    def checkpoint(self) -> bytes:
        """For ``from_checkpoint``: all that is remembered. Right after ``flush(final=True)``, between two exchanges."""
        if self._exchange is not None:
            raise ValueError("an exchange is under way: flush(final=True) comes first")
        return self._checkpoint_bytes()

    def add(self, entry: Entry) -> None:
        """Fold one entry. Sequences are dense from 1; another one is the caller's mistake."""
        self._require_next(entry)
        if self._exchange is not None and not self._exchange.takes(entry):
            self._close()
        if self._exchange is None:
            self._exchange = EntryGroup(entry)
        else:
            self._exchange.add(entry)
        if self._first_ms is None:
            self._first_ms = entry.at_ms
        self._causes.add(entry, self._state)
        self._held[0].append(orjson.dumps(entry.to_json()))
        self._held[1].extend(self._fold(entry))
        self._unit.append(entry)
        self._anomalies.extend(self._state.anomalies)
        if entry.settled:
            self._settle()

    def _fold(self, entry: Entry) -> list[Change]:
        """Takes the entry into the state and the frame; the changes of the frame."""
        self._state = replay(self._state, entry)
        before, self._frame = self._frame, self._maker.shared(self._state)
        if not self._maker.quiet:
            return diff(before, self._frame)
        # Most entries of a log are commits, of which a frame shows that they are there.
        return [
            {"sequence": entry.sequence, "path": [name], "old": before[name], "new": self._frame[name]}
            for name in ("sequence", "at_ms")
            if before[name] != self._frame[name]
        ]

    def flush(self, *, final: bool = False) -> RecordedBatch | None:
        """What can be stored by now, or ``None``; with ``final`` all that is left."""
        if final and self._exchange is not None:
            self._settle()
            self._close()
        entries, changes, moments = self._ready
        if not entries:
            return None
        last = self._first + len(entries) - 1
        starts_chunk = self._chunk_bytes >= self._chunk_limit
        if starts_chunk:
            self._chunk_bytes = 0
            self._chunk_limit = chunk_limit(len(self._checkpoint), CHUNK_BYTES_LEAST)
        self._chunk_bytes += self._ready_bytes
        summary = summary_of(self._cut_frame, self.finder, first_ms=self._first_ms)
        self.findings = summary["findings"]
        batch = RecordedBatch(
            first=self._first,
            last=last,
            entries=_array(entries),
            changes=_array(changes),
            moments=_array(moments),
            checkpoint=self._checkpoint if starts_chunk else None,
            summary=summary,
            digests=tuple(map(Packed.of, levels(*self._digester.take()))) if self._digester else (),
        )
        self._first = last + 1
        self._ready = ([], [], [])
        self._ready_bytes = 0
        if self._chunk_bytes >= self._chunk_limit:
            self._checkpoint = self._make_checkpoint()
            if self._digester is not None:
                self._digester.begin()
        return batch

    def batches(self, entries: Iterable[Entry]) -> Iterator[RecordedBatch]:
        """Fold entries to the last one: the batches, each as soon as it is full."""
        for entry in entries:
            self.add(entry)
            if self.full and (batch := self.flush()) is not None:
                yield batch
        if (batch := self.flush(final=True)) is not None:
            yield batch

    def _settle(self) -> None:
        if not self._unit:
            return
        assert self._exchange is not None
        self._exchange.steps.append(self._step())

    def _close(self) -> None:
        """The exchange is whole: report it, find in it, and make it ready."""
        exchange = self._exchange
        assert exchange is not None
        for step in exchange.steps:
            self._find(step)
        moment = exchange.moment(self.finder.cast, self._causes, self._holders)
        entries, changes, moments = self._ready
        entries.extend(self._held[0])
        changes.extend(map(to_json, self._held[1]))
        if moment is not None:
            moments.append(orjson.dumps(moment))
        if (digester := self._digester) is not None:
            for change in self._held[1]:
                digester.change(change)
            if moment is not None:
                digester.moment(moment)
        self._ready_bytes += sum(map(len, self._held[0]))
        self._held = ([], [])
        self._exchange = None
        self._cut_frame = self._frame

    def _make_checkpoint(self) -> bytes:
        start: ChunkStart = {
            "sequence": self._cut_frame["sequence"],
            "frame": whole(self._cut_frame),
            "findings": to_plain(self.finder),
            "metrics": to_plain(self.metrics),
        }
        return orjson.dumps(start)


def _array(items: list[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"
