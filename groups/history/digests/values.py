"""What the rows of the map show: of a member bits and three counts, of a partition its owner and a mode.

Bits and modes are ordered by how bad they are, so that a coarser column can hold the worst of the finer ones: bits by
"or", modes and counts by the greatest. The browser's twin is ``static/js/source/flags.js``.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

MEMBER: Final = 1
BEHIND: Final = 2
"""Its member epoch is older than the group epoch."""
LEAVING: Final = 4
"""It owns partitions whose target owner is another, and was not asked to revoke them yet."""
WAITS: Final = 8
"""It is the target owner of partitions that it does not own yet."""
REVOKING: Final = 16
TWICE: Final = 32
CUT: Final = 64
PAUSED: Final = 128
KILLED: Final = 256
FENCED: Final = 512
OUTSIDE: Final = 1024
"""It is no member, and its client still reads."""

ABSENT, OWN, MODE_LEAVING, MODE_REVOKING, FREE, MODE_TWICE = range(6)
"""Modes of a partition: it does not exist, is owned, …, is nobody's, has two owners."""


class MemberValue(NamedTuple):
    """``flags``: bits. ``owned``: partitions at the end of a column; ``revoking``, ``wanted``: the most within it."""

    flags: int
    owned: int
    revoking: int
    wanted: int

    def merged(self, later: MemberValue) -> MemberValue:
        return MemberValue(
            self.flags | later.flags,
            later.owned,
            max(self.revoking, later.revoking),
            max(self.wanted, later.wanted),
        )


class PartitionValue(NamedTuple):
    """``owner``: the member at the end of a column, if any. ``mode``: the worst within it."""

    owner: str | None
    mode: int

    def merged(self, later: PartitionValue) -> PartitionValue:
        return PartitionValue(later.owner, max(self.mode, later.mode))


NOBODY: Final = MemberValue(0, 0, 0, 0)
NOWHERE: Final = PartitionValue(None, ABSENT)

PartitionKey = tuple[str, int]
"""Topic and partition number."""

Key = TypeVar("Key", str, PartitionKey)
Value = TypeVar("Value", MemberValue, PartitionValue)
