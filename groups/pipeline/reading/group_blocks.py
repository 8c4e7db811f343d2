"""Group blocks: what a reading task hands on of one group, from one split of a log, through Spark's shuffle.

Offset commits are rows of an array (``COMMIT``), all other records their decoded payloads as JSON, and all of it is
compressed. A split with 200 groups is 200 rows of a DataFrame, not 140,000.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import cramjam
import numpy as np
from numpy.typing import NDArray

CommitRows = NDArray[Any]
"""Rows of ``COMMIT``."""

COMMIT: Final = np.dtype(
    [
        ("offset", "<i8"),
        ("batch", "<i8"),
        ("at_ms", "<i8"),
        ("producer", "<i8"),
        ("committed", "<i8"),
        ("commit_ms", "<i8"),
        ("expire_ms", "<i8"),
        ("leader_epoch", "<i4"),
        ("key", "<i4"),
        ("metadata", "<i4"),
        ("topic_id", "<i4"),
        ("version", "i1"),
    ]
)
"""A commit; ``key``, ``metadata`` and ``topic_id`` are indexes into the tables next to it (−1: there is no topic id),
``producer`` is −1 (``NO_PRODUCER``) where a commit is in force, below it where it was aborted, and above where its transaction's end is still
to be found."""


def joined(parts: Sequence[CommitRows]) -> CommitRows:
    """The rows of all parts; ``np.concatenate`` compares the fields of each part with those of the one before, name by name."""
    if len(parts) == 1:
        return parts[0]
    return np.frombuffer(b"".join([part.tobytes() for part in parts]), COMMIT)


BLOCK_COMMITS_MOST: Final = 8_192
"""Commits of one block: half a megabyte, so that a handful of rows in memory at once is small."""

BLOCK_OTHERS_BYTES_MOST: Final = 4 * 1024 * 1024
"""What the other records of one block come to, and a batch more."""

PACKED_LEVEL: Final = 1

NO_PRODUCER: Final = -1


class OtherRecord(NamedTuple):
    """A record that is no offset commit; ``payload`` is its entry payload as JSON."""

    offset: int
    batch: int
    at_ms: int
    producer: int
    type: int | None
    payload: bytes


@dataclass(slots=True)
class Tables:
    """What the indexes of commits mean."""

    keys: list[tuple[str, int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    topic_ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class GroupBlock:
    """Records of one group from one file, each part in the order of its offsets."""

    group: str
    partition: int | None
    source: int
    split: int
    commits: CommitRows
    tables: Tables
    others: list[OtherRecord]
    lines: list[bytes] = field(default_factory=list)
    """Entries and events of texts (``entry_lines``), in place of records."""

    @property
    def first_batch(self) -> int:
        """The base offset of its first batch."""
        return min(
            int(self.commits["batch"][0]) if len(self.commits) else self.others[0].batch,
            self.others[0].batch if self.others else int(self.commits["batch"][0]),
        )

    @property
    def records(self) -> int:
        return len(self.commits) + len(self.others)

    def pack(self) -> bytes:
        """The block for another task of the same job."""
        tables = self.tables
        # The same byte of all commits together: most of them are alike, and so it takes a tenth.
        planes = self.commits.view(np.uint8).reshape(-1, COMMIT.itemsize).T.tobytes()
        packed = pickle.dumps(
            (
                planes,
                tables.keys,
                tables.texts,
                tables.topic_ids,
                [tuple(other) for other in self.others],
                self.lines,
            ),
            protocol=pickle.HIGHEST_PROTOCOL,
        )
        # What goes through Java is copied there some ten times.
        return bytes(cramjam.zstd.compress(packed, level=PACKED_LEVEL))

    @classmethod
    def unpack(cls, group: str, partition: int | None, source: int, split: int, packed: bytes) -> GroupBlock:
        # What a task of this very job wrote, as Spark's own rows are pickled.
        planes, keys, texts, topic_ids, others, lines = pickle.loads(cramjam.zstd.decompress(packed))  # noqa: S301
        commits = np.frombuffer(planes, np.uint8).reshape(COMMIT.itemsize, -1).T.tobytes()
        return cls(
            group=group,
            partition=partition,
            source=source,
            split=split,
            commits=np.frombuffer(commits, COMMIT),
            tables=Tables(keys, texts, topic_ids),
            others=[OtherRecord(*other) for other in others],
            lines=lines,
        )


def cut(block: GroupBlock) -> Iterator[GroupBlock]:
    """The block in pieces of ``BLOCK_COMMITS_MOST`` and ``BLOCK_OTHERS_BYTES_MOST``, each of whole batches; a batch is never torn."""
    while (next_batch := _next_piece(block)) is not None:
        at = int(np.searchsorted(block.commits["batch"], next_batch))
        others = [other for other in block.others if other.batch < next_batch]
        yield _part(block, block.commits[:at], others)
        block = _part(block, block.commits[at:], block.others[len(others) :])
    yield block


def _next_piece(block: GroupBlock) -> int | None:
    """The batch with which the next piece begins; ``None`` where this is the last one."""
    found: list[int] = []
    batches = block.commits["batch"]
    if len(batches) > BLOCK_COMMITS_MOST:
        found += batches[np.searchsorted(batches, batches[BLOCK_COMMITS_MOST - 1], "right") :][:1].tolist()
    size = 0
    full: int | None = None
    for other in block.others:
        size += len(other.payload)
        if full is None:
            full = other.batch if size > BLOCK_OTHERS_BYTES_MOST else None
        elif other.batch > full:
            found.append(other.batch)
            break
    return min(found, default=None)


def _part(block: GroupBlock, commits: CommitRows, others: list[OtherRecord]) -> GroupBlock:
    return GroupBlock(block.group, block.partition, block.source, block.split, commits, block.tables, others)
