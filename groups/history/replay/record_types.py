"""Record types by meaning: each protocol writes the same kinds of records under numbers of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CLASSIC_GROUP: Final = 2
GROUP_EPOCH: Final = 3
MEMBER_METADATA: Final = 5
TARGET_EPOCH: Final = 6
TARGET_MEMBER: Final = 7
CURRENT_ASSIGNMENT: Final = 8
"""Numbers of the consumer protocol, which stand for those of the others too."""

SHARE_STATE: Final = 15
"""Which partitions of a share group have their share state; no other protocol has the like."""

TOPOLOGY: Final = 23
"""The topology of a streams group."""

OFFSET_TYPES: Final = frozenset({0, 1})
CONSUMER_TYPES: Final = frozenset({3, 4, 5, 6, 7, 8, 16})
SHARE_TYPES: Final = frozenset({10, 11, 12, 13, 14, SHARE_STATE})
STREAMS_TYPES: Final = frozenset({17, 19, 20, 21, 22, TOPOLOGY})

_MEANINGS: Final[Mapping[int, int]] = {
    10: MEMBER_METADATA,
    11: GROUP_EPOCH,
    12: TARGET_EPOCH,
    13: TARGET_MEMBER,
    14: CURRENT_ASSIGNMENT,
    17: GROUP_EPOCH,
    19: MEMBER_METADATA,
    20: TARGET_EPOCH,
    21: TARGET_MEMBER,
    22: CURRENT_ASSIGNMENT,
}

EPOCH_TYPES: Final = frozenset(
    {GROUP_EPOCH, *(one for one, same in _MEANINGS.items() if same == GROUP_EPOCH)}
)
"""The group epochs of all protocols."""


def meaning(record_type: int) -> int:
    """The consumer protocol's number of a record that means the same; the type itself where there is none."""
    return _MEANINGS.get(record_type, record_type)
