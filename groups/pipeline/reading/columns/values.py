"""What is read of a segment by columns: a stretch of it, its commits, and whatever else is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groups.wire.logs.batches import BatchProblem
from groups.wire.logs.record_batch import RecordBatch

Int8 = NDArray[np.int8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class CommitKey(NamedTuple):
    """What an offset was committed for."""

    group: str
    topic: str
    partition: int


@dataclass(slots=True)
class Commits:
    """Offset commits (records of type 1) in the order of the log: arrays of one length, an element a commit.

    Times are in milliseconds since the epoch. A field that the value's version does not have is at its default, as
    a tombstone's are: ``committed`` and ``commit_ms`` 0, ``leader_epoch`` and ``expire_ms`` -1, no metadata.
    """

    offset: Int64
    """In the log."""
    batch: Int64
    """The base offset of its batch."""
    at_ms: Int64
    """The record's timestamp."""
    producer: Int64
    """The producer's id where the batch is transactional, else -1."""
    key: Int32
    """Index into ``keys``."""
    version: Int8
    """Of the value, 0 to 4; -1 for a tombstone."""
    committed: Int64
    leader_epoch: Int32
    commit_ms: Int64
    expire_ms: Int64
    metadata: Int32
    """Index into ``texts``."""
    topic_id: Int32
    """Index into ``topic_ids``; -1 if none is given."""
    keys: list[CommitKey]
    texts: list[str]
    topic_ids: list[str]
    """In Kafka's base64."""

    def __len__(self) -> int:
        return len(self.offset)


class Other(NamedTuple):
    """A record that is no commit, or a commit that the columns do not fit: for ``decode_record``.

    ``producer`` is ``None`` outside of transactions.
    """

    offset: int
    batch: int
    at_ms: int
    producer: int | None
    key: bytes | None
    value: bytes | None


class Damage(NamedTuple):
    """Bytes that are no batch.

    ``before`` is the last offset of the nearest batch in front of them, ``after`` the base offset of the batch that
    follows; ``None`` at the ends of the file, and for ``after`` where another damage follows at once.
    """

    problem: BatchProblem
    before: int | None
    after: int | None


@dataclass(slots=True)
class Stretch:
    """A run of whole batches.

    ``records`` counts what the batches that could be read hold, control records among them; ``first_offset`` is the
    base offset of the first of them, ``last_offset`` the last offset of the last one. ``bytes`` is what the stretch
    covers of the file, damage included; those of all stretches come to the whole file. ``leaders`` are the base offsets from
    which on batches are of another leader epoch, each with that epoch, beginning with the file's first.
    """

    commits: Commits
    others: list[Other]
    controls: list[RecordBatch]
    damage: list[Damage]
    records: int
    first_offset: int | None
    last_offset: int | None
    bytes: int
    leaders: list[tuple[int, int]]
