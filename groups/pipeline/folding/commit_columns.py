"""Writes the commits of a block by columns; ``groups.packs.blocks`` reads them, and has their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from groups.packs.blocks import BLOCK_FORMAT, COLUMNS, CONSTANT, BlockHeader, block_of
from groups.pipeline.reading.group_blocks import CommitRows, Tables, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIFFERENCE_FITS: Final = 1 << 62
"""Of two values no farther from nought than this the difference has room in 64 bits."""

_WIDTHS: Final = ((np.int8, "b"), (np.int16, "h"), (np.int32, "i"), (np.int64, "q"))


@dataclass(slots=True)
class PlacedCommits:
    """Commits of a run that stand in a block: ``start`` to ``end`` of its rows, with other entries here and there in between.

    Most stand between such entries by twos and threes, so nothing is made an array of before the block is written.
    """

    rows: CommitRows
    begins: NDArray[np.bool_]
    """Of each of the run's rows, whether a request begins with it."""
    partition: int | None
    start: int
    end: int
    firsts: list[int]
    """The sequence of the first of each piece between two other entries, and how many it has."""
    lengths: list[int]


def block(
    group: str,
    first: int,
    last: int,
    commits: Sequence[PlacedCommits],
    tables: Tables,
    others: Sequence[bytes],
) -> bytes:
    """A block of the entries ``first`` to ``last``: commits by columns, the others as their JSON."""
    header = BlockHeader(
        format=BLOCK_FORMAT, first=first, last=last, commits=0, wide=False, group=group, partitions=[], keys=[], texts=[],
        topic_ids=[], columns=[],
    )  # fmt: skip
    if not commits:
        return block_of(header, (), others)
    rows = joined([some.rows[some.start : some.end] for some in commits])
    lengths = np.array([length for some in commits for length in some.lengths])
    firsts = np.array([first for some in commits for first in some.firsts])
    header["commits"] = len(rows)
    header["wide"] = any(
        _is_wide(rows[name]) for name in ("offset", "batch", "at_ms", "committed", "commit_ms")
    )
    partitions = list(dict.fromkeys(some.partition for some in commits))
    header["partitions"] = partitions
    where = np.repeat(
        [partitions.index(some.partition) for some in commits], [some.end - some.start for some in commits]
    )
    keys, key = _used(rows["key"], tables.keys)
    texts, metadata = _used(rows["metadata"], tables.texts)
    topic_ids, topic_id = _used(rows["topic_id"], tables.topic_ids)
    header["keys"], header["texts"], header["topic_ids"] = keys, texts, topic_ids
    sequences = np.arange(len(rows)) + np.repeat(firsts - np.cumsum(lengths) + lengths, lengths)
    begins = np.concatenate([some.begins[some.start : some.end] for some in commits])
    unit = sequences[begins][np.cumsum(begins) - 1]
    ends = np.append(begins[1:], True)
    values: dict[str, Any] = {
        "sequence": np.diff(sequences, prepend=first),
        "unit": sequences - unit,
        "settled": ends,
        "at_ms": np.diff(rows["at_ms"], prepend=0),
        "offset": np.diff(rows["offset"], prepend=0),
        "batch": rows["offset"] - rows["batch"],
        "partition": where,
        "key": key,
        "version": rows["version"],
        "committed": _since_before(rows["committed"], key),
        "leader_epoch": rows["leader_epoch"],
        "commit_ms": rows["at_ms"] - rows["commit_ms"],
        "expire_ms": rows["expire_ms"],
        "metadata": metadata,
        "topic_id": topic_id,
    }
    columns: list[bytes] = []
    for name in COLUMNS:
        code, text, present = _narrow(values[name].astype(np.int64))
        header["columns"].append((name, code, present))
        if code != CONSTANT:
            columns.append(text)
    return block_of(header, columns, others)


def _is_wide(values: NDArray[Any]) -> bool:
    return int(values.min()) < -_DIFFERENCE_FITS or int(values.max()) > _DIFFERENCE_FITS


def _used(indexes: NDArray[Any], table: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """The part of a table that is used, and the indexes into it; −1 stays −1."""
    used, numbers = np.unique(indexes, return_inverse=True)
    absent = int(used[0] < 0)
    return [table[number] for number in used[absent:].tolist()], numbers.reshape(-1).astype(np.int64) - absent


def _since_before(values: NDArray[Any], key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Differences from the value before of the same key; the first as it is."""
    order = np.argsort(key, kind="stable")
    sorted_values = values[order].astype(np.int64)
    steps = np.diff(sorted_values, prepend=0)
    first = np.concatenate(([True], key[order][1:] != key[order][:-1]))
    steps[first] = sorted_values[first]
    out = np.empty_like(steps)
    out[order] = steps
    return out


def _narrow(values: NDArray[np.int64]) -> tuple[str, bytes, int]:
    """The typecode, the bytes, and their number; or the value alone where all are equal."""
    low, high = int(values.min()), int(values.max())
    if low == high:
        return CONSTANT, b"", low
    for kind, code in _WIDTHS:
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            text = values.astype(np.dtype(kind).newbyteorder("<")).tobytes()
            return code, text, len(text)
    raise AssertionError("int64 holds every value")
