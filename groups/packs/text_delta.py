"""A text as its difference to an earlier one: what both have is copied from there.

The texts are JSON of two states of one thing: most of it is the same and in the same order, with values changed, items added and taken
away. So the earlier text is searched from where the last copy ended, and never as a whole. A difference is::

    the number of copies and of the bytes of the text, three columns of the copies, the bytes that are new

The columns are 32-bit integers, little-endian: how many new bytes stand before a copy, how far behind the last copy's end it begins
in the earlier text, and how long it is.
"""

from __future__ import annotations

import re
import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

HEAD: Final = struct.Struct("<2Q")

KEY_BYTES: Final = 20
"""So many bytes are looked for where both texts may be the same again, and are worth a copy."""

ITEM_BYTES: Final = 28
"""An item that begins with bytes that no other one begins with is found wherever it is: maps change their order."""

ITEM: Final = re.compile(rb"[}\]],")
"""What is before an item."""

ITEM_ENDS: Final = (b"},", b"],")

NEAR_BYTES: Final = 4 * 1024
"""How far the same is looked for behind a value that is new."""

TRUST: Final = 32
"""The farther away, the longer a copy must be: the same words stand in other items."""

NEW_BYTES_MOST: Final = 200
"""Once so much is new, values are passed until an item that is known begins."""

STEP_LEAST: Final = 64
STEP_MOST: Final = 1024 * 1024


def difference(earlier: bytes, text: bytes) -> bytes:
    """What ``restored`` makes ``text`` of, given the same ``earlier``."""
    items = _items(earlier)
    before, skips, lengths = array("i"), array("i"), array("i")
    new: list[bytes] = []
    at = reached = literal = 0
    while at < len(text):
        place = _found(earlier, text, at, reached, at - literal, items)
        length = 0 if place < 0 else _common(earlier, place, text, at)
        if length >= KEY_BYTES:
            new.append(text[literal:at])
            before.append(at - literal)
            skips.append(place - reached)
            lengths.append(length)
            at += length
            reached, literal = place + length, at
            continue
        at = _next(text, at, at - literal)
    new.append(text[literal:])
    columns = (_little(column).tobytes() for column in (before, skips, lengths))
    return b"".join((HEAD.pack(len(before), len(text)), *columns, *new))


def restored(earlier: bytes, difference: bytes) -> bytes:
    """The text of a difference; ``ValueError`` for one that is damaged, or to another text."""
    if len(difference) < HEAD.size:
        raise ValueError(f"a difference has {HEAD.size} bytes at least, this one {len(difference)}")
    copies, size = HEAD.unpack_from(difference)
    ends = [HEAD.size + 4 * copies * number for number in range(4)]
    columns = []
    for begin, end in pairwise(ends):
        column = array("i")
        column.frombytes(difference[begin:end])
        columns.append(_little(column))
    old, new = memoryview(earlier), memoryview(difference)
    parts: list[memoryview] = []
    at, reached = ends[-1], 0
    for before, skip, length in zip(*columns, strict=True):
        reached += skip
        parts += (new[at : at + before], old[reached : reached + length])
        at += before
        reached += length
    text = b"".join((*parts, new[at:]))
    if len(text) != size:
        raise ValueError(f"a difference gave {len(text)} bytes, where {size} were written")
    return text


def _items(text: bytes) -> dict[bytes, int | list[int]]:
    """Where items begin, by their first bytes; of several that begin alike all places, in order."""
    places: dict[bytes, int | list[int]] = {}
    for found in ITEM.finditer(text):
        at = found.end()
        key = text[at : at + ITEM_BYTES]
        known = places.get(key)
        if known is None:
            places[key] = at
        elif isinstance(known, int):
            places[key] = [known, at]
        else:
            known.append(at)
    return places


def _found(
    earlier: bytes, text: bytes, at: int, reached: int, new: int, items: Mapping[bytes, int | list[int]]
) -> int:
    """Where the earlier text goes on as ``text`` does at ``at``; −1 if that is not seen."""
    if text[at - 2 : at] in ITEM_ENDS:
        places = items.get(text[at : at + ITEM_BYTES])
        if isinstance(places, int):
            return places
        if places is not None and (number := bisect_left(places, reached)) < len(places):
            return places[number]
    if new > NEW_BYTES_MOST:
        return -1
    place = earlier.find(text[at : at + KEY_BYTES], reached, reached + NEAR_BYTES)
    least = (place - reached) // TRUST
    return place if earlier.startswith(text[at : at + least], place) else -1


def _next(text: bytes, at: int, new: int) -> int:
    """Behind the value at ``at``; behind the item, where much is new."""
    if new > NEW_BYTES_MOST:
        found = ITEM.search(text, at)
        return found.end() if found else len(text)
    end = text.find(b",", at)
    return len(text) if end < 0 else end + 1


def _common(one: bytes, here: int, other: bytes, there: int) -> int:
    """How many bytes are the same in both from these places on."""
    begin, step = here, STEP_LEAST
    most = min(len(one) - here, len(other) - there)
    while step:
        step = min(step, most - (here - begin))
        if step and one[here : here + step] == other[there : there + step]:
            here += step
            there += step
            step = min(step * 2, STEP_MOST)
        else:
            step //= 2
    return here - begin


def _little(column: array[int]) -> array[int]:
    if sys.byteorder == "big":
        column.byteswap()
    return column
