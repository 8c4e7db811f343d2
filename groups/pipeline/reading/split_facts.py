"""What a reading task found besides records: one row a split, small whatever the split holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final

import orjson

PROBLEMS_A_SPLIT_MOST: Final = 100
"""Damage is listed place by place up to here; a file that is damaged everywhere is shown as one number beyond it."""

GROUPS_A_SPLIT_MOST: Final = 500
"""Groups of one split that are listed with their counts, the largest: the page shows no more while it reads."""


HOLES_A_SPLIT_MOST: Final = 2_000
"""Holes of one split that are listed one by one: 30 KB. Files that do not overlap can be summed up further."""

LEADERS_A_SPLIT_MOST: Final = 1_000
"""A partition's leader changes with its brokers' restarts: a few times a week."""


@dataclass(slots=True, kw_only=True)
class SplitFacts:
    """``holes`` are offsets that no record has: ``[first of the first, last of the last, how many]``.

    ``ends`` are the first markers of each producer, ``open`` the producers whose transactions this split leaves open.
    ``groups`` is ``{group: [records, first_ms, last_ms, types]}``, ``group_hashes`` those of all groups.
    """

    split: int
    read: int = 0
    decoded: int = 0
    bytes_read: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    problems: list[dict[str, Any]] = field(default_factory=list)
    unlisted: int = 0
    names: list[tuple[str, str, str]] = field(default_factory=list)
    """Topic id, name, and the kind of record that contained it."""
    groups: dict[str, list[Any]] = field(default_factory=dict)
    group_hashes: list[int] = field(default_factory=list)
    holes: list[int] | None = None
    hole_ranges: list[tuple[int, int]] = field(default_factory=list)
    """The first and the last of each hole, as far as ``HOLES_A_SPLIT_MOST`` goes: files may overlap, and none counts twice."""
    leaders: list[tuple[int, int]] = field(default_factory=list)
    """Base offsets from which on batches are of another leader epoch, each with that epoch, beginning with the first."""
    ends: list[tuple[int, int, int]] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    aborted: list[int | None] = field(default_factory=lambda: [0, None, None])

    def pack(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def unpack(cls, text: bytes) -> SplitFacts:
        return cls(**orjson.loads(text))
