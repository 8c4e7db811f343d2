"""Notes that stand between a timeline's records: what is missing, who leads the partition, what topics are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from groups.history.following.life import COMPACTED, gap_note
from groups.pipeline.folding.context import Compaction, LostOffsets
from groups.pipeline.topics.naming import Note


def compaction_note(some: Compaction, partition: int | None) -> dict[str, Any]:
    """From here on records may be missing that compaction took."""
    counts = {"missing": some.missing, "offsets": some.offsets} if some.missing else {}
    return gap_note(partition, some.first, some.last, COMPACTED, compacted=True, **counts)


def leader_note(led: Iterable[tuple[int, int]], reached: int | None, offset: int) -> dict[str, Any] | None:
    """Another broker, or the same one after a restart, leads the partition since a record behind ``reached``.

    ``led`` has offsets, each with the leader epoch from there on.
    """
    epochs = [epoch for at, epoch in led if reached is not None and reached < at <= offset]
    return {"note": "coordinator", "leader_epoch": epochs[-1]} if epochs else None


def lost_between(lost: Iterable[LostOffsets], reached: int | None, offset: int) -> Iterator[LostOffsets]:
    """What is missing behind ``reached`` and up to ``offset``; nothing before a partition's first record."""
    return (one for one in lost if reached is not None and reached < one.from_offset <= offset)


def split_due(notes: Sequence[Note], offset: int, at_ms: int) -> tuple[list[Note], list[Note]]:
    """The notes about topics that hold from this record on, and those that come later."""
    due: list[Note] = []
    later: list[Note] = []
    for note in notes:
        by_offset = note.offset is not None and note.offset <= offset
        (due if by_offset or (note.at_ms is not None and note.at_ms <= at_ms) else later).append(note)
    return due, later
