"""The order in which a ``java.util.HashMap`` of strings is walked: that of answers and records that list members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SMALLEST: Final = 16
"""Buckets of a new table; there are more when three quarters are full, and never fewer again."""


def grown(buckets: int, size: int) -> int:
    """How many buckets a table has once it holds ``size`` entries."""
    while size * 4 > buckets * 3:
        buckets *= 2
    return buckets


def in_table_order(names: Iterable[str], buckets: int) -> list[str]:
    """``names``, in the order in which they were put, bucket by bucket; those of one bucket stay in that order.

    >>> in_table_order(["range", "sticky", "roundrobin", "cooperative-sticky"], 16)
    ['sticky', 'range', 'roundrobin', 'cooperative-sticky']
    """
    return sorted(names, key=lambda name: _spread(name) & (buckets - 1))


def _spread(name: str) -> int:
    """``HashMap.hash(String.hashCode())``: over UTF-16 units, its upper half folded into the lower."""
    value, units = 0, name.encode("utf-16-be")
    for at in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[at : at + 2])) & 0xFFFFFFFF
    return value ^ (value >> 16)
