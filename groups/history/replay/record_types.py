"""Record types by meaning: each protocol writes the same kinds of records under numbers of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.wire.generated.consumer import CONSUMER_RECORD_TYPES
from groups.wire.generated.share import SHARE_RECORD_TYPES
from groups.wire.generated.streams import STREAMS_RECORD_TYPES
from groups.wire.record_type import RecordType

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


def _numbers(types: Iterable[RecordType]) -> frozenset[int]:
    return frozenset(each.number for each in types)


CONSUMER_TYPES: Final = _numbers(CONSUMER_RECORD_TYPES)
SHARE_TYPES: Final = _numbers(SHARE_RECORD_TYPES)
STREAMS_TYPES: Final = _numbers(STREAMS_RECORD_TYPES)


def _kind(record_type: RecordType) -> str:
    """The schema's name without the protocol: ``TargetAssignmentMember``."""
    return record_type.message.partition("Group")[2]


_BY_KIND: Final = {_kind(each): each.number for each in CONSUMER_RECORD_TYPES}
_MEANINGS: Final = {
    each.number: _BY_KIND.get(_kind(each), each.number)
    for each in (*SHARE_RECORD_TYPES, *STREAMS_RECORD_TYPES)
}

EPOCH_TYPES: Final = frozenset(
    {GROUP_EPOCH, *(one for one, same in _MEANINGS.items() if same == GROUP_EPOCH)}
)
"""The group epochs of all protocols."""


def meaning(record_type: int) -> int:
    """The consumer protocol's number of a record that means the same; the type itself where there is none."""
    return _MEANINGS.get(record_type, record_type)
