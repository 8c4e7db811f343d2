"""Where the records of many batches begin and end, and where their keys and values do.

The lengths of a batch's records are a chain, which only one behind the other can be followed. So the chains of all
batches are followed at once, the k-th record of each in one step. Where few batches have so many records, a step
costs more than a loop over their records, which then takes the rest. What is in a record is read for all records
of all batches at once.

Only what the one reader of batches (``groups.wire.logs.record_batch``) takes passes here; a batch with anything unusual in it
(headers, a length that leads astray, numbers near the end of an int64) is named, to be read by that reader whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from groups.pipeline.reading.columns.window import VARINT_BYTES, VARLONG_BYTES, Bools, Int64, Window
from groups.wire.codecs.primitives import read_varint
from groups.wire.logs.record_batch import LEAST_RECORD_BYTES, MOST_RECORDS

LEAST_BATCHES_A_STEP: Final = 128
"""A step over arrays costs as much as about so many records of a loop."""

_LEAST_LENGTH: Final = LEAST_RECORD_BYTES - 1
_USUAL: Final = 1 << 62
"""Sums of two numbers below it are numbers of 64 bits."""


@dataclass(slots=True)
class Records:
    """Records of batches, in their order, an element each; places are those in the window.

    ``batch`` is the number of its batch, a length of -1 is a null key or value, and ``end`` the first byte behind it.
    """

    batch: Int64
    timestamp_delta: Int64
    offset_delta: Int64
    key_at: Int64
    key_length: Int64
    value_at: Int64
    value_length: Int64

    def __len__(self) -> int:
        return len(self.batch)

    def at(self, chosen: Int64) -> Records:
        return Records(
            self.batch[chosen],
            self.timestamp_delta[chosen],
            self.offset_delta[chosen],
            self.key_at[chosen],
            self.key_length[chosen],
            self.value_at[chosen],
            self.value_length[chosen],
        )


def frame(window: Window, begin: Int64, end: Int64, counts: Int64) -> tuple[Records, Bools]:
    """The records of all batches whose records lie from ``begin`` to ``end``, and which batches are unusual; of
    those there are no records."""
    unusual = (counts < 0) | (counts > np.minimum((end - begin) // LEAST_RECORD_BYTES, MOST_RECORDS))
    counts = np.where(unusual, 0, counts)
    start, after = _chains(window, begin, end, counts, unusual)
    batch = np.repeat(np.arange(len(counts)), counts)
    if unusual.any():
        kept = np.flatnonzero(~unusual[batch])
        start, after, batch = start[kept], after[kept], batch[kept]
    records, bad = _insides(window, start, after, batch)
    if bad.any():
        unusual[batch[bad]] = True
        records = records.at(np.flatnonzero(~unusual[batch]))
    return records, unusual


def _chains(window: Window, begin: Int64, end: Int64, counts: Int64, unusual: Bools) -> tuple[Int64, Int64]:
    """For each record the place behind its length, and the end that its length gives."""
    total = int(counts.sum())
    starts, ends = np.empty(total, np.int64), np.empty(total, np.int64)
    # Those with the most records first, so that those that have a k-th one are always the first so many.
    order = np.argsort(-counts, kind="stable")
    row = (np.cumsum(counts) - counts)[order]
    at, last, left = begin[order], end[order], counts[order]
    astray = np.zeros(len(order), np.bool_)
    steps = int(left[0]) if len(left) else 0
    # How many batches have more than k records, for each k.
    active = len(left) - np.searchsorted(left[::-1], np.arange(steps), side="right")
    step = 0
    while step < steps and (many := int(active[step])) >= (LEAST_BATCHES_A_STEP if step else 1):
        length, start, endless = window.zigzags(at[:many], VARINT_BYTES)
        after = start + length
        wrong = (length < _LEAST_LENGTH) | (after > last[:many])
        if endless is not None:
            wrong |= endless
        if wrong.any():
            astray[:many] |= wrong
            after = np.where(wrong, last[:many], after)
            start = np.minimum(start, after)
        starts[row[:many] + step] = start
        ends[row[:many] + step] = after
        at[:many] = after
        step += 1
    if step < steps:
        for number in range(int(active[step])):
            first, count = int(row[number]), int(left[number])
            found = _chain(window.raw, int(at[number]), int(last[number]), count - step)
            if found is None:
                astray[number] = True
                starts[first + step : first + count] = ends[first + step : first + count] = last[number]
            else:
                starts[first + step : first + count] = found[0]
                ends[first + step : first + count] = found[1]
                at[number] = found[1][-1]
    # Nothing may be left behind the last record.
    unusual[order] |= astray | (at != last)
    return starts, ends


def _chain(raw: bytes, at: int, last: int, count: int) -> tuple[list[int], list[int]] | None:
    """The same for the next ``count`` records of one batch; ``None`` where they lead astray."""
    starts, ends = [], []
    for _ in range(count):
        if (byte := raw[at]) < 0x80:
            length, at = (byte >> 1) ^ -(byte & 1), at + 1
        elif (high := raw[at + 1]) < 0x80:
            length, at = (byte & 0x7F | high << 7) >> 1 if not byte & 1 else -1, at + 2
        else:
            try:
                length, at = read_varint(raw, at)
            except ValueError:
                return None
        starts.append(at)
        at += length
        if length < _LEAST_LENGTH or at > last:
            return None
        ends.append(at)
    return starts, ends


def _insides(window: Window, start: Int64, after: Int64, batch: Int64) -> tuple[Records, Bools]:
    """What is in each record, and which of them are not usual."""
    # The attributes of a record are a byte that no version uses.
    timestamp_delta, at, endless = window.zigzags(start + 1, VARLONG_BYTES)
    bad = (timestamp_delta >= _USUAL) | (timestamp_delta <= -_USUAL)
    if endless is not None:
        bad |= endless
    # A number may reach beyond its record, a length far beyond the window: places are kept near the record's end,
    # and that it is met exactly is asked at the end.
    offset_delta, at, endless = window.zigzags(at, VARINT_BYTES)
    if endless is not None:
        bad |= endless
    key_length, key_at, endless = window.zigzags(at, VARINT_BYTES)
    if endless is not None:
        bad |= endless
    at = key_at + np.maximum(key_length, 0)
    bad |= at > after
    value_length, value_at, endless = window.zigzags(np.minimum(at, after), VARINT_BYTES)
    if endless is not None:
        bad |= endless
    at = value_at + np.maximum(value_length, 0)
    bad |= at + 1 != after
    bad |= window.bytes[np.minimum(at, after)] != 0
    records = Records(
        batch,
        timestamp_delta,
        offset_delta,
        key_at,
        np.maximum(key_length, -1),
        value_at,
        np.maximum(value_length, -1),
    )
    return records, bad
