"""Commits of one group that a transaction still holds back at the end of what was read, and those that were aborted with theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from groups.history.findings.log_notes import ABORTED_MOST
from groups.history.following.transactions import (
    COMMITS_MOST,
    OPEN_LEAST_MS,
    PRODUCERS_MOST,
    OpenTransaction,
    aborted_note,
    open_note,
)
from groups.pipeline.reading.group_blocks import NO_PRODUCER, GroupBlock
from groups.pipeline.reading.transactions import aborted_by
from groups.pipeline.topics.naming import Note


@dataclass(frozen=True, slots=True)
class Held:
    """A commit that is held back."""

    offset: int
    at_ms: int
    place: tuple[str, int]
    committed: int


class Transactions:
    """Those of one group that are not in force, by producer."""

    def __init__(self) -> None:
        self._held: dict[int, list[Held]] = {}
        self._by_source: dict[int, set[int]] = {}
        """By file the offsets that it holds back."""
        self._spans: dict[int, tuple[int, int]] = {}
        """By file the first and the last offset that it has of the group."""
        self._aborted: dict[int, tuple[int, list[Held]]] = {}
        """By request (its batch's offset) the producer and the commits."""
        self._more_aborted: set[int] = set()
        self._partition: int | None = None
        """The group's partition of ``__consumer_offsets``, where the source gives it."""

    def read(self, block: GroupBlock) -> None:
        """Takes in which offsets a file has of the group."""
        self._partition = block.partition if self._partition is None else self._partition
        offsets = [other.offset for other in block.others]
        if len(block.commits):
            offsets += [int(block.commits["offset"].min()), int(block.commits["offset"].max())]
        if offsets:
            first, last = self._spans.get(block.source, (offsets[0], offsets[0]))
            self._spans[block.source] = min(first, *offsets), max(last, *offsets)

    def add(self, block: GroupBlock) -> None:
        """Takes in the commits of a block whose transactions have no end, or were aborted."""
        self._add_aborted(block)
        for row in block.commits[block.commits["producer"] >= 0]:
            producer = int(row["producer"])
            if producer not in self._held and len(self._held) >= PRODUCERS_MOST:
                continue
            held = self._held.setdefault(producer, [])
            if len(held) < COMMITS_MOST:
                place = block.tables.keys[row["key"]]
                held.append(Held(int(row["offset"]), int(row["at_ms"]), place, int(row["committed"])))
                self._by_source.setdefault(block.source, set()).add(int(row["offset"]))

    def _add_aborted(self, block: GroupBlock) -> None:
        for row in block.commits[block.commits["producer"] < NO_PRODUCER]:
            batch = int(row["batch"])
            if batch not in self._aborted and len(self._aborted) >= ABORTED_MOST:
                self._more_aborted.add(batch)
                continue
            _, held = self._aborted.setdefault(batch, (aborted_by(int(row["producer"])), []))
            one = Held(
                int(row["offset"]), int(row["at_ms"]), block.tables.keys[row["key"]], int(row["committed"])
            )
            # Another copy of the log has it, too.
            if len(held) < COMMITS_MOST and one not in held:
                held.append(one)

    def aborted_notes(self) -> Iterator[Note]:
        """A note for each request whose commits were aborted, at its place."""
        for _, (producer, held) in sorted(self._aborted.items()):
            committed = {one.place: one.committed for one in held}
            of = len(self._aborted) + len(self._more_aborted)
            payload = aborted_note(producer, held[0].at_ms, of, committed)
            yield Note(offset=held[0].offset, at_ms=None, topics={}, source="", payload=payload)

    def _is_open(self, offset: int) -> bool:
        """Whether each file that has this offset holds it back: a copy may have been cut before the transaction's end."""
        return all(
            offset in self._by_source.get(source, ()) or not first <= offset <= last
            for source, (first, last) in self._spans.items()
        )

    def notes(self, last_ms: int) -> Iterator[Note]:
        """A note for each that was open for a while when the log ended, at its first record's place."""
        open_ones = []
        for producer, held in self._held.items():
            if left := sorted((one for one in held if self._is_open(one.offset)), key=lambda one: one.offset):
                open_ones.append((left[0].offset, producer, left))
        for first, producer, left in sorted(open_ones, key=lambda each: each[:2]):
            from_ms = min(one.at_ms for one in left)
            if last_ms - from_ms < OPEN_LEAST_MS:
                continue
            committed = {one.place: one.committed for one in left}
            payload = open_note(OpenTransaction(producer, from_ms, first, committed), self._partition)
            yield Note(offset=first, at_ms=None, topics={}, source="", payload=payload)
