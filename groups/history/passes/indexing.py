"""The first pass over a log: what the log shows as a whole, and where it can be opened.

It folds state, findings and metrics, and makes no frames, no changes and no moments. Where its checkpoints are taken, the
second pass (``Recorder.from_checkpoint``) makes those of the entries from there on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groups.history.digests.coarse import coarse_members, is_mapped
from groups.history.entries import Entry, Kind, Provenance
from groups.history.evidence.between import step_between
from groups.history.evidence.steps import epoch_of
from groups.history.findings import Counts
from groups.history.frames.frame import frame
from groups.history.frames.shapes import Frame
from groups.history.passes.checkpoints import Checkpoint, Pass
from groups.history.passes.summaries import Summary, summary_of
from groups.history.replay.commit_runs import CommitRun, replay_commits
from groups.history.replay.fold import replay, replay_unit
from groups.history.state.group import Protocol, State
from groups.history.story.entry_groups import EntryGroup

_SIMULATED: Final = Provenance.SIMULATED
_BY_ITSELF: Final = frozenset({Kind.RECORD, Kind.NOTE, Kind.OBSERVATION, Kind.COMMITS})
"""Kinds of which a log from the world holds entries that nothing else belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDigest:
    """The coarsest figures of the entries since a checkpoint; epochs are generations in a classic group.

    ``joined``, ``removed`` and ``moves`` (of partitions) happened in them; ``members`` and ``unassigned`` (partitions that had an owner
    and have none) are as of the last one. Times are ``None`` where there are no entries.
    """

    entries: int
    commits: int
    first_ms: int | None
    last_ms: int | None
    first_epoch: int
    last_epoch: int
    joined: int
    removed: int
    moves: int
    members: int
    unassigned: int
    rows: str | None
    """Each member as of the last entry, where a map is drawn of so many (``coarse_members``)."""


class Indexer(Pass):
    """Takes a timeline's entries in order; ``ValueError`` for a sequence that is not the next one."""

    def _begin(self, start: Checkpoint) -> None:
        super()._begin(start)
        self._last: list[Entry] = []
        self._is_separate = True
        self._cut()

    def _cut(self) -> None:
        self._chunk_begin: tuple[State, Counts] = (self._state, self.finder.counts)
        self._chunk_first_ms: int | None = None

    def add(self, entry: Entry) -> None:
        """Fold one entry."""
        self._require_next(entry)
        self._note_times(entry.at_ms)
        if not self._unit and self._is_separate and _is_separate(entry):
            # Two entries that nothing belongs to: nearly all of a log of records.
            self._exchange = None
        elif (exchange := self._known_exchange()) is not None and exchange.takes(entry):
            exchange.add(entry)
        else:
            self._exchange = EntryGroup(entry)
        self._causes.add(entry, self._state)
        self._state = replay(self._state, entry)
        self._unit.append(entry)
        self._anomalies.extend(self._state.anomalies)
        if entry.settled:
            self._settle()

    def add_unit(self, entries: Sequence[Entry]) -> None:
        """Fold the records of one unit, as ``add`` would one by one."""
        first = entries[0]
        if (
            self._unit
            or not self._is_separate
            or not entries[-1].settled
            or not all(map(_is_separate, entries))
        ):
            for entry in entries:
                self.add(entry)
            return
        self._require_next(first)
        self._note_times(first.at_ms)
        self._exchange = None
        self._state, anomalies = replay_unit(self._state, entries)
        self.finder.add(step_between(self._settled, self._state, tuple(entries), anomalies), None)
        for entry in entries:
            self.metrics.add(entry)
        self._settled = self._state
        self._last = list(entries)

    def _settle(self) -> None:
        self._last = self._unit
        self._find(self._step())
        self._is_separate = _is_separate(self._last[-1])

    def _known_exchange(self) -> EntryGroup | None:
        """The exchange that ends with the last entry; one of a unit that is alone is made when it is asked for."""
        entries = self._unit or self._last
        if self._exchange is None and entries:
            self._exchange = EntryGroup(entries[0])
            for entry in entries[1:]:
                self._exchange.add(entry)
        return self._exchange

    def add_commits(self, commits: CommitRun) -> None:
        """Fold a run of commits at once, as ``add`` would one by one; it is between units."""
        if self._unit:
            raise ValueError(f"commits from entry {commits.first} on came in the middle of a unit")
        before = self._state
        self._state = self._settled = replay_commits(before, commits)
        self._note_times(commits.first_ms)
        self.finder.add_commits(before, self._state, commits)
        self.metrics.add_commits(commits)
        self._exchange, self._is_separate = None, True
        self._last = []

    def _note_times(self, at_ms: int) -> None:
        if self._first_ms is None:
            self._first_ms = at_ms
        if self._chunk_first_ms is None:
            self._chunk_first_ms = at_ms

    @property
    def at_rest(self) -> bool:
        """Whether a chunk may be cut here, whatever comes next: what was added is whole exchanges.

        In a log of records that is so after every settled entry. A simulated exchange may always go on, with a note of
        a proposal's row if nothing else.
        """
        return not self._unit and self._is_separate

    def checkpoint(self) -> bytes:
        """Everything needed to go on from here, as JSON; a new chunk begins. ``RuntimeError`` inside a unit."""
        if self._unit:
            raise RuntimeError(f"entry {self._state.sequence} is inside a unit, where no chunk begins")
        self._cut()
        return self._checkpoint_bytes()

    def frame(self) -> Frame:
        """The whole frame now."""
        return frame(self._state)

    def digest(self) -> ChunkDigest:
        """The figures of the entries since the last checkpoint, or since the beginning."""
        (before, old), after, new = self._chunk_begin, self._state, self.finder.counts
        classic = after.protocol is Protocol.CLASSIC
        entries = after.sequence - before.sequence
        members = len(after.classic.members if classic else after.modern.members)
        return ChunkDigest(
            entries=entries,
            commits=new.commits - old.commits,
            first_ms=self._chunk_first_ms,
            last_ms=after.at_ms if entries else None,
            first_epoch=epoch_of(before),
            last_epoch=epoch_of(after),
            joined=new.joined - old.joined,
            removed=new.removed - old.removed,
            moves=new.moves - old.moves,
            members=members,
            unassigned=new.unassigned,
            rows=coarse_members(self.frame()) if is_mapped(members) else None,
        )

    def summary(self) -> Summary:
        """The whole timeline so far: what ``Batch.summary`` reports after the same entry."""
        return summary_of(self.frame(), self.finder, first_ms=self._first_ms)


def _is_separate(entry: Entry) -> bool:
    """Whether no later entry can belong to the exchange of a settled one: nothing that nobody asked for is answered."""
    return entry.provenance is not _SIMULATED and entry.cause is None and entry.kind in _BY_ITSELF
