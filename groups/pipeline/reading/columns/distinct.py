"""Equal stretches of bytes are numbered alike, so that what repeats (keys, topic ids) is decoded once.

A row of words for each stretch, a hash over its columns, and a table of slots in which the last one of a hash stays:
it leads all that are equal to it. That they are equal is compared, word by word; those that are not look for a
leader again, by other bits of their hash. Nothing rests on the hash being a good one: what finds no leader within
``ROUNDS`` goes through a dict.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from groups.pipeline.reading.columns.window import Bools, Int64, Window

UInt64 = NDArray[np.uint64]

WIDTHS: Final = (16, 32, 48, 64, 96, 128, 256)
"""Rows are this many bytes wide; a stretch goes into the narrowest that holds it, a longer one through a dict."""

ROUNDS: Final = 8
"""With four slots a row each round leaves at most a fifth of the distinct ones over."""

_SLOTS_A_ROW: Final = 4
_MULTIPLIERS: Final[UInt64] = np.random.default_rng(848).integers(
    2**63, 2**64, max(WIDTHS) // 8 + 1 + ROUNDS, np.uint64
) | np.uint64(1)


def _masks(width: int) -> UInt64:
    """For each length up to ``width`` the words that keep so many bytes."""
    kept = np.arange(width) < np.arange(width + 1)[:, np.newaxis]
    return np.where(kept, np.uint8(255), np.uint8(0)).view(np.uint64)


_MASKS: Final = {width: _masks(width) for width in WIDTHS}


def distinct(window: Window, at: Int64, lengths: Int64) -> tuple[Int64, Int64]:
    """Which stretches are equal: the indices of one of each, and for every stretch the number of its own in those.

    Each begins at ``at`` and has as many bytes as in ``lengths``, none below 0.
    """
    numbers = np.empty(len(at), np.int64)
    leaders: list[Int64] = []
    count = 0
    below = -1
    for width in WIDTHS:
        chosen = np.flatnonzero((lengths > below) & (lengths <= width))
        below = width
        if not chosen.size:
            continue
        sizes = lengths[chosen]
        led_by = _leaders(_columns(window, at[chosen], sizes, width), sizes)
        found = np.flatnonzero(led_by == np.arange(len(led_by)))
        order = np.empty(len(led_by), np.int64)
        order[found] = np.arange(count, count + len(found))
        numbers[chosen] = order[led_by]
        leaders.append(chosen[found])
        count += len(found)
    longer = np.flatnonzero(lengths > below)
    if longer.size:
        known: dict[bytes, int] = {}
        first: list[int] = []
        for index in longer.tolist():
            begin = int(at[index])
            raw = window.raw[begin : begin + int(lengths[index])]
            number = known.setdefault(raw, count + len(first))
            if number == count + len(first):
                first.append(index)
            numbers[index] = number
        leaders.append(np.array(first, np.int64))
    return (np.concatenate(leaders) if leaders else np.empty(0, np.int64)), numbers


def _columns(window: Window, at: Int64, lengths: Int64, width: int) -> UInt64:
    """The words of each stretch, zero behind its end; a row for each word, as it is words that are worked on."""
    rows: UInt64 = window.items(f"V{width}")[at].view(np.uint64).reshape(len(at), width // 8)
    rows &= _MASKS[width][lengths]
    return np.ascontiguousarray(rows.T)


def _leaders(columns: UInt64, lengths: Int64) -> Int64:
    """For each stretch the index of the one that leads all equal ones, itself included."""
    hashes = lengths.view(np.uint64) * _MULTIPLIERS[-1 - ROUNDS]
    for words, multiplier in zip(columns, _MULTIPLIERS, strict=False):
        hashes += words * multiplier
    count = len(lengths)
    bits = _bits(count)
    # The highest bits of a product are those that all bits of its factors come to.
    slots = (hashes >> np.uint64(64 - bits)).view(np.int64)
    table = np.empty(1 << bits, np.int64)
    table[slots] = np.arange(count)
    led_by: Int64 = table[slots]
    left = np.flatnonzero(_differing(columns, lengths, led_by, slice(None)))
    for multiplier in _MULTIPLIERS[-ROUNDS:]:
        if not left.size:
            break
        bits = _bits(len(left))
        mixed = hashes[left]
        mixed = (mixed ^ (mixed >> np.uint64(29))) * multiplier
        slots = (mixed >> np.uint64(64 - bits)).view(np.int64)
        table = np.empty(1 << bits, np.int64)
        table[slots] = left
        leaders = table[slots]
        led_by[left] = leaders
        left = left[_differing(columns, lengths, leaders, left)]
    known: dict[bytes, int] = {}
    for index in left.tolist():
        led_by[index] = known.setdefault(int(lengths[index]).to_bytes(2) + columns[:, index].tobytes(), index)
    return led_by


def _bits(count: int) -> int:
    return max((count * _SLOTS_A_ROW).bit_length(), 8)


def _differing(columns: UInt64, lengths: Int64, leaders: Int64, own: Int64 | slice) -> Bools:
    """Which of ``own`` are not equal to their leaders."""
    differing = (lengths[own] ^ lengths[leaders]).view(np.uint64)
    for words in columns:
        differing |= words[own] ^ words[leaders]
    found: Bools = differing != 0
    return found
