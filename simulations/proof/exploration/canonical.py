"""What decides the future of a value, with epochs that are distinguished by their order alone.

Epochs are compared with each other, and the next one is greater than all there are; nothing else is done with them.
So they may be replaced by their ranks among all epochs of a world: two worlds that differ by more than that take the
same steps. -2, -1 and 0 have meanings of their own and stay. The clock does not move, so times decide nothing.

``FIELDS`` judges each field of each type that is part of a world. A field that it does not know is an error and no
guess: an epoch that were left as it is would make unlike worlds look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields
from enum import Enum, auto
from typing import Final

from groups.history.state.consumer import ConsumerGroup, ConsumerMember, ResolvedRegex
from simulations.protocol.assignors.client_side import (
    ClientAnswer,
    ClientGroup,
    ClientMember,
    ClientTopic,
    MemberAnswer,
)
from simulations.protocol.client.classic.untimed import plain
from simulations.protocol.coordinator.consumer.choosing import Chosen
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.groups import (
    CommitAnswer,
    CommittedOffset,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
)

Rename = Callable[[int], int]


class EpochKind(Enum):
    """How a field counts: an epoch, a mapping whose numbers are epochs, as it is, by its own fields (``ORDERED``: with the
    order of its keys), or not at all."""

    EPOCH = auto()
    EPOCHS = auto()
    PLAIN = auto()
    INNER = auto()
    ORDERED = auto()
    NOTHING = auto()


_E, _M, _P, _I, _N = EpochKind.EPOCH, EpochKind.EPOCHS, EpochKind.PLAIN, EpochKind.INNER, EpochKind.NOTHING

FIELDS: Final[dict[type, dict[str, EpochKind]]] = {
    ConsumerGroup: {
        "group_epoch": _E,
        "assignment_epoch": _E,
        "metadata_hash": _P,
        "target_epoch_recorded": _N,  # What a frame may say of it; a coordinator's own log always has it.
        "assignment_timestamp_ms": _N,  # The clock does not move, and the interval between targets is 0.
        "members": _I,
        "target": _P,
        "partition_epochs": _M,
        "instances": _P,
        "stable_at": _N,  # Counted from the members, like the next.
        "named": _N,
        "epoch_recorded": _P,
        "_cache": _N,
        "regexes": _I,
        "has_partition_metadata": _P,
        "partition_counts": _P,
        "target_notes": _P,
    },
    ConsumerMember: {
        "member_id": _P,
        "epoch": _E,
        "previous_epoch": _E,
        "state": _P,
        "assigned": _M,
        "pending_revocation": _M,
        "subscribed_topic_names": _P,
        "client_id": _N,  # Names for people; no rule reads them.
        "client_host": _N,
        "instance_id": _P,
        "rack_id": _P,
        "subscribed_topic_regex": _P,
        "rebalance_timeout_ms": _P,
        "server_assignor": _P,
        "classic": _P,
        "client_assignors": _P,
        "note": _P,
        "current_recorded": _N,  # What a frame may say of it.
    },
    ResolvedRegex: {"topics": _P, "version": _P, "timestamp_ms": _N},
    Heartbeat: {
        "group_id": _N,
        "member_id": _P,
        "member_epoch": _E,
        "instance_id": _P,
        "rack_id": _P,
        "rebalance_timeout_ms": _P,
        "subscribed_topic_names": _P,
        "subscribed_topic_regex": _P,
        "server_assignor": _P,
        "client_assignors": _P,
        "owned": _P,
        "client_id": _N,
        "client_host": _N,
        "version": _P,
    },
    HeartbeatAnswer: {
        "error_code": _P,
        "error_message": _N,
        "member_id": _P,
        "member_epoch": _E,
        "heartbeat_interval_ms": _P,
        "assigned": _P,
        "pending": _P,
        "note": _P,
        "compute": _P,
    },
    OffsetCommit: {
        "group_id": _N,
        "member_id": _P,
        "member_epoch": _E,
        "offsets": _P,
        "version": _P,
        "retention_ms": _P,
        "instance_id": _P,
    },
    CommittedOffset: {
        "topic": _P,
        "topic_id": _P,
        "partition": _P,
        "offset": _P,
        "leader_epoch": _P,
        "named": _P,
        "metadata": _P,
    },
    CommitAnswer: {"error_codes": _P, "names": _P},
    PrepareAssignment: {"group_id": _N, "member_id": _P, "member_epoch": _E, "version": _P},
    PrepareAnswer: {"error_code": _P, "error_message": _N, "assignor": _P, "group": _I},
    InstallAssignment: {
        "group_id": _N,
        "member_id": _P,
        "member_epoch": _E,
        "group_epoch": _E,
        "answer": _I,
        "version": _P,
    },
    InstallAnswer: {"error_code": _P, "error_message": _N},
    # Assignors may go by the order of the members.
    ClientGroup: {"members": EpochKind.ORDERED, "topics": _I, "epoch": _E},
    ClientMember: {
        "topics": _P,
        "target": _P,
        "epoch": _E,
        "instance_id": _P,
        "rack_id": _P,
        "reason": _P,
        "metadata": _P,
    },
    ClientTopic: {"name": _P, "partitions": _P},
    ClientAnswer: {"members": _I, "error": _P},
    MemberAnswer: {"partitions": _P, "metadata": _P},
    Chosen: {
        "member_id": _P,
        "assignor": _P,
        "notified": _P,
        "group": _I,
        "offers": _P,
        "tried": _P,
    },
}


def unjudged() -> list[str]:
    """Fields of these types that ``FIELDS`` does not know."""
    return [
        f"{kind.__name__}.{field.name}"
        for kind, known in FIELDS.items()
        for field in fields(kind)
        if field.name not in known
    ]


_JUDGED: Final = {
    kind: tuple(
        (field.name, FIELDS[kind][field.name])
        for field in fields(kind)
        if field.name in FIELDS[kind] and FIELDS[kind][field.name] is not _N
    )
    for kind in FIELDS
}


def canonical(value: object, rename: Rename) -> Hashable:
    """The value by the fields that count; mappings sorted by their keys."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return tuple(sorted((key, canonical(inner, rename)) for key, inner in value.items()))
    found: list[Hashable] = []
    for name, kind in _JUDGED[type(value)]:
        field = getattr(value, name)
        if kind is _E:
            found.append(rename(field) if field is not None else None)
        elif kind is _M:
            found.append(_epochs(field, rename))
        elif kind is _I:
            found.append(canonical(field, rename))
        elif kind is EpochKind.ORDERED:
            found.append(tuple((key, canonical(inner, rename)) for key, inner in field.items()))
        else:
            found.append(frozen(field))
    return tuple(found)


def of_message(message: object, rename: Rename) -> Hashable:
    """A request or an answer by what decides something; of the classic protocol generations count as they are."""
    return canonical(message, rename) if type(message) in FIELDS else plain(message)


def frozen(value: object) -> Hashable:
    """The value in a form that can be hashed; mappings sorted by their keys, lists in their order."""
    if isinstance(value, Mapping):
        return tuple(sorted((key, frozen(inner)) for key, inner in value.items()))
    if isinstance(value, list | tuple):
        return tuple(frozen(inner) for inner in value)
    return value


def _epochs(value: Mapping[str, Mapping[int, int]], rename: Rename) -> Hashable:
    return tuple(
        sorted(
            (topic, tuple(sorted((partition, rename(epoch)) for partition, epoch in epochs.items())))
            for topic, epochs in value.items()
        )
    )


class EpochsSeen:
    """A ``Rename`` that changes nothing and keeps account of the epochs in ``mask``, a bit for each."""

    def __init__(self) -> None:
        self.mask = 0

    def __call__(self, epoch: int) -> int:
        if epoch > 0:
            self.mask |= 1 << epoch
        return epoch


def ranks(mask: int) -> Rename:
    """Each epoch becomes its rank, from 1, among those of the mask."""

    def rank(epoch: int) -> int:
        return (mask & ((2 << epoch) - 1)).bit_count() if epoch > 0 else epoch

    return rank


def as_they_are(epoch: int) -> int:
    """The ``Rename`` of an exploration without canonical epochs, which ends only if the epochs do."""
    return epoch
