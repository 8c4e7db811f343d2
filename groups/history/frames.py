"""Frames: the state after an entry, as the board shows it; JSON-ready, and documented for other programs.

Partitions stand under topic names, ascending. A topic whose name the source does not tell stands under its id in
Kafka's base64 form, as does the older of two ids of one name. Tasks of a streams group stand under the id of their
subtopology. What is unknown is ``null``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from groups.history.classic_state import ClassicMember
from groups.history.consumer_state import STABLE, STATE_NAMES
from groups.history.identity import changed_keys
from groups.history.member_frames import MEMBER_FRAMES, Frame, Partitions, by_name
from groups.history.modern_state import ModernMember, Target
from groups.history.state import Client, Coordinator, Protocol, Semantics, State, Timers
from groups.history.streams_state import Topology


def frame(state: State) -> Frame:
    """The frame of one state. Where many follow each other, ``FrameMaker`` does the same for less."""
    return FrameMaker().frame(state)


def volatile_parts(state: State) -> Frame:
    """What a frame shows of clients and timers, where both are known."""
    return {
        "clients": {
            member_id: _client(member_id, client) for member_id, client in (state.clients or {}).items()
        },
        "timers": {
            member_id: _timer(member_id, timers) for member_id, timers in (state.timers or {}).items()
        },
    }


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
            or (old.protocol or Protocol.CONSUMER) is not (state.protocol or Protocol.CONSUMER)
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
            self._modern(new, state, old, last)
        new["clients"] = _known(
            old.clients if old is not None else None, state.clients, last.get("clients"), _client
        )
        new["timers"] = _known(
            old.timers if old is not None else None, state.timers, last.get("timers"), _timer
        )
        if state.coordinator is not None:
            same = old is not None and old.coordinator is state.coordinator
            new["coordinator"] = last["coordinator"] if same else _coordinator(state.coordinator)
        self._state, self._frame = state, new
        return new

    def _modern(self, new: Frame, state: State, old: State | None, last: Frame) -> None:
        group = state.modern
        unchanged = old is not None and old.modern is group and _same_topics(old, state)
        members = last["members"] if unchanged else self._members(state, old, last)
        new["state"] = group_state(state, members)
        new["group_epoch"], new["assignment_epoch"] = group.group_epoch, group.assignment_epoch
        if unchanged:
            new["target"], new["topics"] = last["target"], last["topics"]
        else:
            targets = old.modern.target if old is not None else None
            new["target"] = _updated(targets, group.target, last.get("target"), _Targets(state))
            new["topics"] = last["topics"] if old and _same_topics(old, state) else _topics(state)
        if state.consumer.regexes and group is state.consumer:
            same = old is not None and old.consumer.regexes is state.consumer.regexes
            resolved = state.consumer.regexes.items()
            new["regexes"] = (
                last["regexes"] if same else {regex: list(each.topics) for regex, each in resolved}
            )
        if state.protocol is Protocol.SHARE:
            self._share(new, state, last if unchanged else {})
        elif state.protocol is Protocol.STREAMS:
            self._streams(new, state, old, last)
        new["members"] = members

    def _share(self, new: Frame, state: State, last: Frame) -> None:
        group = state.share
        for name, told in (("initializing", group.initializing), ("initialized", group.initialized)):
            new[name] = last[name] if last else by_name(state, told)
        new["deleting"] = (
            last["deleting"] if last else [state.topic_name(topic_id) for topic_id in group.deleting]
        )

    def _streams(self, new: Frame, state: State, old: State | None, last: Frame) -> None:
        group, before = state.streams, old.streams if old is not None else None
        make = _Targets(state)
        for name in ("target_standby", "target_warmup"):
            targets = getattr(before, name) if before is not None else None
            new[name] = _updated(targets, getattr(group, name), last.get(name), make)
        if before is not None and before.topology is group.topology and "topology" in last:
            new["topology"] = last["topology"]
        else:
            new["topology"] = _topology(group.topology)
        new["validated_topology_epoch"] = group.validated_topology_epoch

    def _members(self, state: State, old: State | None, last: Frame) -> Frame:
        group, make = state.modern, _Members(state)
        if old is None:
            return {member_id: make(member_id, member) for member_id, member in group.members.items()}
        before = old.modern
        members: Frame = _updated(before.members, group.members, last["members"], make)
        stale: set[str] = set()
        if before.assignment_epoch != group.assignment_epoch:
            epochs = (before.assignment_epoch, group.assignment_epoch)
            stale.update(key for key, member in group.members.items() if member.epoch in epochs)
        if before.target is not group.target:
            stale.update(changed_keys(before.target, group.target))
        if old.consumer.regexes is not state.consumer.regexes:
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
    """Makes the frame of one member."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.make = MEMBER_FRAMES[state.protocol or Protocol.CONSUMER]

    def __call__(self, _member_id: str, member: ModernMember) -> Frame:
        return self.make(self.state, member)


def group_state(state: State, members: Mapping[str, Frame] | None = None) -> str:
    """Kafka's name of the group's state: derived, never stored (Kafka's ``maybeUpdateGroupState`` of each protocol; KIP-848 for ``kip``)."""
    if state.deleted:
        return "Dead"
    if state.protocol is Protocol.CLASSIC:
        return state.classic.state
    group = state.modern
    if not group.members:
        return "Empty"
    if state.protocol is Protocol.SHARE:
        # A share group is never said to assign or to reconcile.
        return "Stable"
    if state.protocol is Protocol.STREAMS and not state.streams.is_ready:
        return "NotReady"
    if group.group_epoch > group.assignment_epoch:
        return "Assigning"
    if state.semantics is Semantics.KAFKA or state.protocol is Protocol.STREAMS:
        return "Stable" if group.converged else "Reconciling"
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
            if topic_id in state.former:
                topics[topic_id]["was"] = state.former[topic_id]
    return dict(sorted(topics.items()))


def _topology(topology: Topology | None) -> Frame | None:
    """What a streams application does: each subtopology with the topics that it reads, writes and keeps."""
    if topology is None:
        return None
    return {
        "epoch": topology.epoch,
        "subtopologies": {
            subtopology: {
                "source_topics": _strings(told.get("sourceTopics")),
                "source_topic_regex": _strings(told.get("sourceTopicRegex")),
                "repartition_source_topics": _internal(told.get("repartitionSourceTopics")),
                "repartition_sink_topics": _strings(told.get("repartitionSinkTopics")),
                "state_changelog_topics": _internal(told.get("stateChangelogTopics")),
            }
            for subtopology, told in topology.subtopologies.items()
        },
    }


def _strings(names: Iterable[Any] | None) -> list[str]:
    return [str(name) for name in names or ()]


def _internal(topics: Iterable[Mapping[str, Any]] | None) -> list[str]:
    return [str(topic["name"]) for topic in topics or ()]


def _client(_member_id: str, client: Client) -> Frame:
    new: Frame = {
        "owned": {name: list(partitions) for name, partitions in client.owned.items()},
        "calling": client.calling,
        "revoking": {name: list(partitions) for name, partitions in client.revoking.items()},
        "heartbeat_ms": client.heartbeat_ms,
    }
    if client.cut:
        new["cut"] = list(client.cut)
    for name in ("killed", "paused", "fenced", "clock_ms", "computing"):
        if value := getattr(client, name):
            new[name] = value
    return new


def _coordinator(coordinator: Coordinator) -> Frame:
    return {
        "name": coordinator.name,
        "epoch": coordinator.epoch,
        "loading_until_ms": coordinator.loading_until_ms,
        "cut": list(coordinator.cut),
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
