"""Frames: the state after an entry, as the board shows it; JSON-ready, and documented for other programs.

Partitions stand under topic names, ascending. A topic whose name the source does not tell stands under its id in
Kafka's base64 form, as does the older of two ids of one name. What is unknown is ``null``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from groups.history.classic_state import ClassicMember
from groups.history.consumer_state import (
    STABLE,
    STATE_NAMES,
    UNKNOWN_STATE_NAME,
    UNRELEASED_PARTITIONS,
    ConsumerMember,
    Target,
)
from groups.history.identity import changed_keys
from groups.history.state import Client, Protocol, Semantics, State, Timers

Frame = dict[str, Any]
Partitions = dict[str, list[int]]


def frame(state: State) -> Frame:
    """The frame of one state. Where many follow each other, ``FrameMaker`` does the same for less."""
    return FrameMaker().frame(state)


class FrameMaker:
    """Makes the frames of a run of states, and takes over from the last one all parts that did not change.

    The parts are the same objects, and are never changed: ``changes.diff`` passes them over without a look.
    """

    def __init__(self) -> None:
        self._state: State | None = None
        self._frame: Frame = {}

    def frame(self, state: State) -> Frame:
        old, last = self._state, self._frame
        if old is not None and (
            old.semantics is not state.semantics
            or old.names is not state.names
            or (old.protocol is Protocol.CLASSIC) is not (state.protocol is Protocol.CLASSIC)
        ):
            old = None
        new: Frame = {
            "sequence": state.sequence,
            "at_ms": state.at_ms,
            "group": state.group,
            "protocol": str(state.protocol) if state.protocol is not None else None,
        }
        if state.protocol is Protocol.CLASSIC:
            self._classic(new, state, old, last)
        else:
            self._consumer(new, state, old, last)
        new["clients"] = _known(
            old.clients if old is not None else None, state.clients, last.get("clients"), _client
        )
        new["timers"] = _known(
            old.timers if old is not None else None, state.timers, last.get("timers"), _timer
        )
        self._state, self._frame = state, new
        return new

    def _consumer(self, new: Frame, state: State, old: State | None, last: Frame) -> None:
        group = state.consumer
        unchanged = old is not None and old.consumer is group and _same_topics(old, state)
        members = last["members"] if unchanged else self._members(state, old, last)
        new["state"] = group_state(state, members)
        new["group_epoch"], new["assignment_epoch"] = group.group_epoch, group.assignment_epoch
        if unchanged:
            new["target"], new["topics"] = last["target"], last["topics"]
        else:
            targets = old.consumer.target if old is not None else None
            new["target"] = _updated(targets, group.target, last.get("target"), _Targets(state))
            new["topics"] = last["topics"] if old and _same_topics(old, state) else _topics(state)
        new["members"] = members

    def _members(self, state: State, old: State | None, last: Frame) -> Frame:
        group, make = state.consumer, _Members(state)
        if old is None:
            return {member_id: make(member_id, member) for member_id, member in group.members.items()}
        before = old.consumer
        members: Frame = _updated(before.members, group.members, last["members"], make)
        stale: set[str] = set()
        if before.assignment_epoch != group.assignment_epoch:
            epochs = (before.assignment_epoch, group.assignment_epoch)
            stale.update(key for key, member in group.members.items() if member.epoch in epochs)
        if before.target is not group.target:
            stale.update(changed_keys(before.target, group.target))
        if before.regexes is not group.regexes:
            stale.update(group.members)
        stale.intersection_update(group.members)
        if stale:
            members = dict(members) if members is last["members"] else members
            for member_id in stale:
                part = make(member_id, group.members[member_id])
                if part != members[member_id]:
                    members[member_id] = part
        return members

    def _classic(self, new: Frame, state: State, old: State | None, last: Frame) -> None:
        group = state.classic
        new["state"] = "Dead" if state.deleted else group.state
        new["generation"] = group.generation
        new["leader"], new["protocol_name"] = group.leader, group.protocol_name
        new["topics"] = last["topics"] if old is not None and _same_topics(old, state) else _topics(state)
        new["members"] = _updated(
            old.classic.members if old else None, group.members, last.get("members"), _classic_member
        )


class _Targets:
    """Makes the target of one member."""

    def __init__(self, state: State) -> None:
        self.state = state

    def __call__(self, _member_id: str, target: Target) -> Partitions:
        return by_name(self.state, target)


class _Members:
    """Makes the frame of one member of a consumer group."""

    def __init__(self, state: State) -> None:
        self.state = state

    def __call__(self, member_id: str, member: ConsumerMember) -> Frame:
        state = self.state
        pending = by_name(state, pending_assignment(state, member))
        new: Frame = {
            "protocol": "classic" if member.uses_classic else "consumer",
            "epoch": member.epoch,
            "previous_epoch": member.previous_epoch,
            "state": _member_state(member, waits=bool(pending)),
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
        return new


def group_state(state: State, members: Mapping[str, Frame] | None = None) -> str:
    """Kafka's name of the group's state: derived, never stored (released rules 0.5; KIP-848 for ``kip``)."""
    if state.deleted:
        return "Dead"
    if state.protocol is Protocol.CLASSIC:
        return state.classic.state
    group = state.consumer
    if not group.members:
        return "Empty"
    if group.group_epoch > group.assignment_epoch:
        return "Assigning"
    if state.semantics is Semantics.KAFKA:
        stable = group.stable_at.get(group.assignment_epoch, 0)
        return "Stable" if stable == len(group.members) else "Reconciling"
    # The proposal's members wait for partitions whether or not a record says so.
    parts = members if members is not None else frame(state)["members"]
    converged = all(
        part["epoch"] == group.assignment_epoch
        and part["state"] == STATE_NAMES[STABLE]
        and not part["pending_assignment"]
        and not part["pending_revocation"]
        for part in parts.values()
    )
    return "Stable" if converged else "Reconciling"


def pending_assignment(state: State, member: ConsumerMember) -> dict[str, list[int]]:
    """Topic id → partitions of the target that the member, once it is at the target's epoch, still waits for."""
    group = state.consumer
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
    named = {state.topic_name(topic_id): sorted(numbers) for topic_id, numbers in partitions.items()}
    return {name: numbers for name, numbers in named.items() if numbers}


def _member_state(member: ConsumerMember, *, waits: bool) -> str:
    if member.state is None:
        return STATE_NAMES[UNRELEASED_PARTITIONS if waits else STABLE]
    return STATE_NAMES.get(member.state, UNKNOWN_STATE_NAME)


def _classic_member(_member_id: str, member: ClassicMember) -> Frame:
    return {
        "protocol": "classic",
        "client_id": member.client_id,
        "host": member.client_host,
        "instance_id": member.instance_id,
        "rack_id": member.rack_id,
        "subscribed": list(member.subscribed),
        "assigned": {name: sorted(partitions) for name, partitions in member.assigned.items() if partitions},
        "session_timeout_ms": member.session_timeout_ms,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
    }


def _same_topics(old: State, new: State) -> bool:
    return (
        old.topics is new.topics
        and old.names is new.names
        and old.seen_topic_ids is new.seen_topic_ids
        and old.seen_topic_names is new.seen_topic_names
        and old.partitions_by_id is new.partitions_by_id
    )


def _topics(state: State) -> Frame:
    """What topics are called: those that were told, those that records name, those that have an id alone."""
    topics: Frame = {
        name: {"id": topic.topic_id, "partitions": topic.partitions} for name, topic in state.topics.items()
    }
    for name in state.seen_topic_names:
        topics.setdefault(name, {"id": None, "partitions": None})
    for topic_id in state.seen_topic_ids:
        if topic_id not in state.names:
            topics[topic_id] = {"id": topic_id, "partitions": state.partitions_by_id.get(topic_id)}
    return dict(sorted(topics.items()))


def _client(_member_id: str, client: Client) -> Frame:
    return {
        "owned": {name: list(partitions) for name, partitions in client.owned.items()},
        "calling": client.calling,
        "revoking": {name: list(partitions) for name, partitions in client.revoking.items()},
        "heartbeat_ms": client.heartbeat_ms,
    }


def _timer(_member_id: str, timers: Timers) -> Frame:
    return {"session": timers.session, "rebalance": timers.rebalance}


def _known(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, parts: Frame | None, make: Any
) -> Frame | None:
    """``_updated`` of what the source may not tell: ``None`` stays ``None``."""
    return None if new is None else _updated(old, new, parts, make)


def _updated(old: Mapping[str, Any] | None, new: Mapping[str, Any], parts: Frame | None, make: Any) -> Frame:
    """``{key: make(key, value)}`` of ``new``, where the parts of values that are the same objects are kept."""
    if old is None or parts is None:
        return {key: make(key, value) for key, value in new.items()}
    if old is new:
        return parts
    updated = dict(parts)
    for key in changed_keys(old, new):
        if key in new:
            updated[key] = make(key, new[key])
        else:
            del updated[key]
    return updated
