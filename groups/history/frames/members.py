"""The members' part of frames: what one member of each protocol that has epochs shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from groups.history.frames.shapes import MemberFrame, Partitions
from groups.history.state.classic_group import COMPLETING_REBALANCE, PREPARING_REBALANCE
from groups.history.state.consumer import STABLE, STATE_NAMES, UNRELEASED_PARTITIONS, ConsumerMember
from groups.history.state.epochs import UNKNOWN_STATE_NAME, ModernMember
from groups.history.state.group import Protocol, Semantics, State
from groups.history.state.share import ShareMember
from groups.history.state.streams import StreamsMember


class _Epochs(NamedTuple):
    epoch: int | None
    previous_epoch: int | None
    state: str | None


def consumer_member(state: State, member: ConsumerMember) -> MemberFrame:
    pending = by_name(state, pending_assignment(state, member))
    epochs = _epochs(state, member, waits=bool(pending))
    new: MemberFrame = {
        "protocol": "classic" if member.uses_classic else "consumer",
        "epoch": epochs.epoch,
        "previous_epoch": epochs.previous_epoch,
        "state": epochs.state,
        "client_id": member.client_id,
        "host": member.client_host,
        "instance_id": member.instance_id,
        "rack_id": member.rack_id,
        "subscribed": list(state.consumer.subscribed_topics(member)),
        "assigned": by_name(state, member.assigned),
        "pending_revocation": by_name(state, member.pending_revocation),
        "pending_assignment": pending,
    }
    if member.subscribed_topic_regex:
        new["subscribed_regex"] = member.subscribed_topic_regex
    if member.uses_classic:
        new["rebalance_state"] = rebalance_state(state, member)
    return new


def rebalance_state(state: State, member: ConsumerMember) -> str | None:
    """How far a classic member of a consumer group is with joining again (KIP-848, online migration)."""
    group = state.consumer
    if _is_unknown(state, member) or (state.partial and not group.target_epoch_recorded):
        return None
    # By the proposal's text, a member that joined after the last target has nothing to join again for.
    has_target = state.semantics is not Semantics.KIP or member.member_id in group.target
    if member.epoch < group.assignment_epoch and has_target:
        return PREPARING_REBALANCE
    client = (state.clients or {}).get(member.member_id)
    if client is not None and client.rejoined == "JoinGroup":
        return COMPLETING_REBALANCE
    waits = [
        group.is_held(topic_id, partition)
        for topic_id, partitions in pending_assignment(state, member).items()
        for partition in partitions
    ]
    if member.pending_revocation or (waits and not any(waits)):
        return PREPARING_REBALANCE
    return "Stable" if client is not None and client.rejoined == "SyncGroup" else None


def share_member(state: State, member: ShareMember) -> MemberFrame:
    """A share group's member has no instance, and never has anything to give up."""
    epochs = _epochs(state, member)
    return {
        "protocol": "share",
        "epoch": epochs.epoch,
        "previous_epoch": epochs.previous_epoch,
        "state": epochs.state,
        "client_id": member.client_id,
        "host": member.client_host,
        "rack_id": member.rack_id,
        "subscribed": list(member.subscribed_topic_names),
        "assigned": by_name(state, member.assigned),
        "pending_assignment": by_name(state, pending_assignment(state, member)),
    }


def streams_member(state: State, member: StreamsMember) -> MemberFrame:
    """``assigned``, ``pending_revocation`` and ``pending_assignment`` are of active tasks; the copies stand apart."""
    epochs = _epochs(state, member)
    return {
        "protocol": "streams",
        "epoch": epochs.epoch,
        "previous_epoch": epochs.previous_epoch,
        "state": epochs.state,
        "client_id": member.client_id,
        "host": member.client_host,
        "instance_id": member.instance_id,
        "rack_id": member.rack_id,
        "process_id": member.process_id,
        "endpoint": member.endpoint,
        "tags": dict(member.tags),
        "topology_epoch": member.topology_epoch,
        "assigned": by_name(state, member.assigned),
        "pending_revocation": by_name(state, member.pending_revocation),
        "pending_assignment": by_name(state, pending_assignment(state, member)),
        "standby": by_name(state, member.standby),
        "standby_pending_revocation": by_name(state, member.standby_pending_revocation),
        "warmup": by_name(state, member.warmup),
        "warmup_pending_revocation": by_name(state, member.warmup_pending_revocation),
    }


# ``Any``: each makes frames of its own protocol's members.
MEMBER_FRAMES: Final[Mapping[Protocol, Callable[[State, Any], MemberFrame]]] = {
    Protocol.CONSUMER: consumer_member,
    Protocol.SHARE: share_member,
    Protocol.STREAMS: streams_member,
}


def pending_assignment(state: State, member: ModernMember) -> dict[str, list[int]]:
    """Topic id → partitions of the target that the member, once it is at the target's epoch, still waits for."""
    group = state.modern
    if member.epoch != group.assignment_epoch:
        return {}
    pending: dict[str, list[int]] = {}
    for topic_id, partitions in group.target.get(member.member_id, {}).items():
        assigned = member.assigned.get(topic_id, {})
        missing = [partition for partition in partitions if partition not in assigned]
        if missing:
            pending[topic_id] = missing
    return pending


def by_name(state: State, partitions: Mapping[str, Iterable[int]]) -> Partitions:
    """Topic id → partitions as topic name → sorted list; topics without a partition fall out."""
    if not partitions:
        return {}
    names = state.names
    named = {names.get(topic_id, topic_id): sorted(numbers) for topic_id, numbers in partitions.items()}
    return named if all(named.values()) else {name: numbers for name, numbers in named.items() if numbers}


def _epochs(state: State, member: ModernMember, *, waits: bool = False) -> _Epochs:
    if _is_unknown(state, member):
        return _Epochs(epoch=None, previous_epoch=None, state=None)
    known = _member_state(member, waits=waits)
    return _Epochs(epoch=member.epoch, previous_epoch=member.previous_epoch, state=known)


def _is_unknown(state: State, member: ModernMember) -> bool:
    """Whether only the metadata of a member was seen in a log that does not hold the group's past."""
    return state.partial and not member.current_recorded and member.epoch == FRESH_EPOCH


FRESH_EPOCH: Final = 0
"""The epoch of a member without a current assignment."""


def _member_state(member: ModernMember, *, waits: bool = False) -> str:
    if member.state is None:
        return STATE_NAMES[UNRELEASED_PARTITIONS if waits else STABLE]
    return member.STATE_NAMES.get(member.state, UNKNOWN_STATE_NAME)
