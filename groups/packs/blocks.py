"""Blocks: the entries of one chunk as they stand in a pack, offset commits by columns.

Commits are nearly nine tenths of a real log, and as JSON they would be most of what is stored. A block is::

    header as a line of JSON, the columns one after another, the other entries as a JSON array

A column holds small differences (``COLUMNS`` lists of what), in the narrowest integers that take them, little-endian, or a
single value where all are equal. Reading needs nothing beyond the standard library; the writer is
``groups.pipeline.folding.commit_columns``, which has numpy.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, repeat
from typing import Any, Final, TypedDict

import orjson

from groups.history.entries import EntryLine
from groups.history.evidence.committed import Committed, TopicPartition, committed_in
from groups.wire.commit_payloads import TOMBSTONE, commit_payload

BLOCK_FORMAT: Final = 1
"""Raised when a reader of the old form would misread the new one."""

CONSTANT: Final = "="

COLUMNS: Final = (
    "sequence",  # difference from the commit before; the first from the block's first sequence
    "unit",  # sequence − sequence of the first commit of its request
    "settled",  # 1 on the last commit of a request
    "at_ms",  # difference from the commit before
    "offset",  # difference from the commit before
    "batch",  # offset − base offset of its batch
    "partition",  # index into the header's partitions
    "key",  # index into the header's keys
    "version",  # of the value
    "committed",  # difference from the commit before of the same key
    "leader_epoch",
    "commit_ms",  # at_ms − commit timestamp
    "expire_ms",
    "metadata",  # index into the header's texts
    "topic_id",  # index into the header's topic ids, −1 where the record has none
)


class BlockHeader(TypedDict):
    """``columns`` is ``[name, typecode of the array module or "=", bytes or value]``.

    ``wide``: some value is so far from nought that differences ran over 64 bits, as only a hostile log has it.
    """

    format: int
    first: int
    last: int
    commits: int
    wide: bool
    group: str
    partitions: list[int | None]
    keys: list[tuple[str, int]]
    texts: list[str]
    topic_ids: list[str]
    columns: list[tuple[str, str, int]]


def block_of(header: BlockHeader, columns: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """The block's bytes; ``others`` are entries in their JSON form."""
    return b"".join((orjson.dumps(header), b"\n", *columns, b"[", b",".join(others), b"]"))


def entries_of(block: bytes) -> list[EntryLine]:
    """Every entry of a block in its JSON form, by sequence."""
    header, columns, others = _parts(block)
    if not header["commits"]:
        return others
    entries = list(_commits(header, columns))
    if header["wide"]:
        for entry in entries:
            entry["at_ms"] = _wrapped(entry["at_ms"])
            offset, batch = entry["offset"], entry["batch"]
            assert offset is not None
            assert batch is not None
            entry["offset"], entry["batch"] = _wrapped(offset), _wrapped(batch)
            _wrap(entry["payload"]["value"], ("offset", "commitTimestamp"))
    if others:
        entries += others
        entries.sort(key=lambda entry: entry["sequence"])
    return entries


def group_of(block: bytes) -> str:
    """The group whose entries a block holds."""
    header: BlockHeader = orjson.loads(block[: block.index(b"\n")])
    return header["group"]


def _parts(block: bytes) -> tuple[BlockHeader, dict[str, Any], list[EntryLine]]:
    """The header, the commits by columns, and the other entries."""
    end = block.index(b"\n")
    header: BlockHeader = orjson.loads(block[:end])
    if header["format"] != BLOCK_FORMAT:
        raise ValueError(
            f"the entries are stored in format {header['format']}; this version reads format {BLOCK_FORMAT}"
        )
    columns, at = _columns(header, memoryview(block), end + 1)
    return header, columns, orjson.loads(block[at:])


def committed_of(
    block: bytes, wanted: frozenset[TopicPartition] | None
) -> list[tuple[TopicPartition, Committed]]:
    """The commits of a block, by sequence, of these partitions or of all: columns are walked, and no entry is made."""
    header, columns, others = _parts(block)
    found = [each for each in committed_in(others) if wanted is None or each[0] in wanted]
    if not header["commits"]:
        return found
    keys = [(topic, number) for topic, number in header["keys"]]
    asked = [wanted is None or key in wanted for key in keys]
    if not any(asked):
        return found
    wide, reached = header["wide"], [0] * len(keys)
    sequences = accumulate(columns["sequence"], initial=header["first"])
    times = accumulate(columns["at_ms"], initial=0)
    next(sequences), next(times)
    names = ("key", "version", "committed")
    for sequence, at_ms, key, version, step in zip(
        sequences, times, *(columns[name] for name in names), strict=True
    ):
        committed = reached[key] = reached[key] + step
        if asked[key]:
            offset = None if version == TOMBSTONE else _wrapped(committed) if wide else committed
            found.append((keys[key], Committed(sequence, _wrapped(at_ms) if wide else at_ms, offset)))
    if others:
        found.sort(key=lambda each: each[1].sequence)
    return found


def _columns(header: BlockHeader, view: memoryview, at: int) -> tuple[dict[str, Any], int]:
    columns: dict[str, Any] = {}
    for name, code, size in header["columns"]:
        if code == CONSTANT:
            columns[name] = repeat(size, header["commits"])
            continue
        values = array(code)
        values.frombytes(view[at : at + size])
        if sys.byteorder == "big":
            values.byteswap()
        columns[name] = values
        at += size
    return columns, at


def _commits(header: BlockHeader, columns: dict[str, Any]) -> Iterator[EntryLine]:
    group, partitions, keys = header["group"], header["partitions"], header["keys"]
    texts, topic_ids = header["texts"], header["topic_ids"]
    reached: dict[int, int] = {}
    running = (
        accumulate(columns["sequence"], initial=header["first"]),
        accumulate(columns["at_ms"], initial=0),
        accumulate(columns["offset"], initial=0),
    )
    for values in running:
        next(values)
    rest = (columns[name] for name in COLUMNS if name not in ("sequence", "at_ms", "offset"))
    for (
        sequence, at_ms, offset, unit, settled, batch, partition, key, version, committed, leader_epoch,
        commit_ms, expire_ms, metadata, topic_id,
    ) in zip(*running, *rest, strict=True):  # fmt: skip
        committed = reached[key] = reached.get(key, 0) + committed
        topic, number = keys[key]
        yield {
            "sequence": sequence,
            "at_ms": at_ms,
            "kind": "record",
            "actor": "coordinator",
            "cause": None,
            "provenance": "recorded",
            "partition": partitions[partition],
            "offset": offset,
            "batch": offset - batch,
            "unit": sequence - unit,
            "settled": bool(settled),
            "payload": commit_payload(
                group=group,
                topic=topic,
                partition=number,
                version=version,
                committed=committed,
                leader_epoch=leader_epoch,
                metadata=texts[metadata],
                commit_ms=at_ms - commit_ms,
                expire_ms=expire_ms,
                topic_id=topic_ids[topic_id] if topic_id >= 0 else None,
            ),
        }


def _wrap(fields: dict[str, Any], names: Sequence[str]) -> None:
    """Sums of differences that ran over are the values again, modulo 2^64."""
    for name in names:
        fields[name] = _wrapped(fields[name])


def _wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
