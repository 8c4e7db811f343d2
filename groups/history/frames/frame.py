"""Frames: the state after an entry, as the board shows it; JSON-ready, and documented for other programs.

Partitions are listed under topic names, ascending. A topic whose name the source does not report is under its id in
Kafka's base64 form, as does the older of two ids of one name. Tasks of a streams group stand under the id of their
subtopology. What is unknown is ``null``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter, is_
from typing import Final, TypeVar, cast

from groups.history.frames.consumption import consumption_part
from groups.history.frames.members import MEMBER_FRAMES, by_name, pending_assignment, rebalance_state
from groups.history.frames.parts import (
    barrier_part,
    classic_member_part,
    client_part,
    coordinator_part,
    timer_part,
    topics_part,
    topology_part,
)
from groups.history.frames.shapes import Frame, MemberFrame, Partitions
from groups.history.frames.shown import Shown
from groups.history.state.consumer import STABLE, STATE_NAMES
from groups.history.state.epochs import ModernMember, Target
from groups.history.state.group import Protocol, Semantics, State
from groups.history.state.identity import changed_keys
from groups.history.state.versions import VersionedMap, drop, put


def frame(state: State) -> Frame:
    """The frame of one state. Where many follow each other, ``FrameMaker`` does the same for less."""
    return FrameMaker().frame(state)


def whole(shared: Frame) -> Frame:
    """A frame in which large parts are plain dicts, too."""
    plain = {name: dict(part) if isinstance(part, VersionedMap) else part for name, part in shared.items()}
    return cast(Frame, plain)


class FrameMaker:
    """Makes the frames of a run of states, and takes over from the last one all parts that did not change.

    The parts are the same objects, and are never changed: ``changes.diff`` passes them over without a look. What a frame
    costs follows what changed since the last one, and not how large the group is.
    """

    def __init__(self) -> None:
        self._state: State | None = None
        self._frame = _NO_FRAME
        self._shown = Shown()
        self.quiet = False
        """Whether the last frame shows nothing else than the one before, but for where and when it is."""

    def frame(self, state: State) -> Frame:
        """The frame of the next state."""
        return whole(self.shared(state))

    def shared(self, state: State) -> Frame:
        """The same; members, targets, clients and timers of a large group are maps with versions."""
        old, last = self._state, self._frame
        self.quiet = old is not None and all(map(is_, _LOOKED_AT(old), _LOOKED_AT(state)))
        if self.quiet:
            self._state = state
            self._frame = {**last, "sequence": state.sequence, "at_ms": state.at_ms}
            return self._frame
        if old is not None and (
            old.semantics is not state.semantics
            or old.names is not state.names
            or old.partial is not state.partial
            or (old.protocol or Protocol.CONSUMER) is not (state.protocol or Protocol.CONSUMER)
        ):
            old = None
        # Filled in below, in the order in which frames are written.
        new = cast(
            Frame,
            {
                "sequence": state.sequence,
                "at_ms": state.at_ms,
                "group": state.group,
                "protocol": str(state.protocol) if state.protocol is not None else None,
            },
        )
        if state.protocol is Protocol.CLASSIC:
            self._classic(new, state, old, last)
        else:
            self._modern(new, state, old, last)
        new["clients"] = _known(
            old.clients if old is not None else None, state.clients, last.get("clients"), client_part
        )
        new["timers"] = _known(
            old.timers if old is not None else None, state.timers, last.get("timers"), timer_part
        )
        if state.coordinator is not None:
            same = old is not None and old.coordinator is state.coordinator
            new["coordinator"] = last["coordinator"] if same else coordinator_part(state.coordinator)
        if state.consumption is not None:
            before = old.consumption if old is not None else None
            known = last.get("consumption")
            same = known is not None and before is state.consumption
            new["consumption"] = (
                known if known is not None and same else consumption_part(state.consumption, before, known)
            )
        self._state, self._frame = state, new
        return new

    def _modern(self, new: Frame, state: State, old: State | None, last: Frame) -> None:
        group = state.modern
        unchanged = old is not None and old.modern is group and _same_topics(old, state)
        members = last["members"] if unchanged else self._members(state, old, last)
        members = self._rejoining(members, state, old)
        new["state"] = group_state(state, members)
        new["group_epoch"] = group.group_epoch if group.epoch_recorded or not state.partial else None
        known = group.target_epoch_recorded or not state.partial
        new["assignment_epoch"] = group.assignment_epoch if known else None
        if unchanged:
            new["target"], new["topics"] = last["target"], last["topics"]
        else:
            targets = old.modern.target if old is not None else None
            new["target"] = _updated(targets, group.target, last.get("target"), _Targets(state))
            new["topics"] = last["topics"] if old and _same_topics(old, state) else topics_part(state)
        if state.consumer.regexes and group is state.consumer:
            same = old is not None and old.consumer.regexes is state.consumer.regexes
            resolved = state.consumer.regexes.items()
            new["regexes"] = (
                last["regexes"] if same else {regex: list(each.topics) for regex, each in resolved}
            )
        if state.protocol is Protocol.SHARE:
            self._share(new, state, last if unchanged else None)
        elif state.protocol is Protocol.STREAMS:
            self._streams(new, state, old, last)
        new["members"] = members

    def _rejoining(
        self, members: Mapping[str, MemberFrame], state: State, old: State | None
    ) -> Mapping[str, MemberFrame]:
        """Classic members of a consumer group rejoin by requests, and for what others release: their records do not show it."""
        classic = self._shown.classic
        if not classic or old is None or state.protocol is not Protocol.CONSUMER:
            return members
        group, before = state.consumer, old.consumer
        asked: set[str] = classic
        if (
            group.assignment_epoch == before.assignment_epoch
            and group.target_epoch_recorded is before.target_epoch_recorded
            and group.partition_epochs is before.partition_epochs
            and group.target is before.target
        ):
            changed: list[str] = changed_keys(old.clients or {}, state.clients or {})
            asked = classic.intersection(changed)
        for member_id in sorted(asked):
            known, part = group.members.get(member_id), members.get(member_id)
            if known is None or part is None:
                continue
            now = rebalance_state(state, known)
            if part["rebalance_state"] != now:
                members = put(members, member_id, cast(MemberFrame, {**part, "rebalance_state": now}))
        return members

    def _share(self, new: Frame, state: State, last: Frame | None) -> None:
        if last is not None:
            new["initializing"], new["initialized"] = last["initializing"], last["initialized"]
            new["deleting"] = last["deleting"]
            return
        group = state.share
        new["initializing"] = by_name(state, group.initializing)
        new["initialized"] = by_name(state, group.initialized)
        new["deleting"] = [state.topic_name(topic_id) for topic_id in group.deleting]

    def _streams(self, new: Frame, state: State, old: State | None, last: Frame) -> None:
        group, before = state.streams, old.streams if old is not None else None
        make = _Targets(state)
        standby, warmup = (before.target_standby, before.target_warmup) if before else (None, None)
        new["target_standby"] = _updated(standby, group.target_standby, last.get("target_standby"), make)
        new["target_warmup"] = _updated(warmup, group.target_warmup, last.get("target_warmup"), make)
        if before is not None and before.topology is group.topology and "topology" in last:
            new["topology"] = last["topology"]
        else:
            new["topology"] = topology_part(group.topology)
        new["validated_topology_epoch"] = group.validated_topology_epoch

    def _members(self, state: State, old: State | None, last: Frame) -> Mapping[str, MemberFrame]:
        group, make, shown = state.modern, _Members(state), self._shown
        if old is None:
            shown.clear()
            parts = {member_id: make(member_id, member) for member_id, member in group.members.items()}
            for member_id, member in group.members.items():
                shown.add(member_id, member, parts[member_id])
            return parts
        before = old.modern
        members: Mapping[str, MemberFrame] = last["members"]
        fresh = changed_keys(before.members, group.members)
        for member_id in fresh:
            shown.remove(member_id, before.members.get(member_id))
            new = group.members.get(member_id)
            if new is None:
                members = drop(members, member_id)
            else:
                part = make(member_id, new)
                members = put(members, member_id, part)
                shown.add(member_id, new, part)
        waits: set[str] = set()
        if before.assignment_epoch != group.assignment_epoch:
            # A member that waits at the target's epoch shows it: those of the old one no longer, those of the new one now.
            waits.update(shown.waiting, shown.at_epoch.get(group.assignment_epoch, ()))
        if before.target is not group.target:
            waits.update(changed_keys(before.target, group.target))
        subscribed: set[str] = set()
        if old.consumer.regexes is not state.consumer.regexes:
            for regex in changed_keys(old.consumer.regexes, state.consumer.regexes):
                subscribed.update(shown.of_regex.get(regex, ()))
        for member_id in (waits | subscribed).difference(fresh):
            known = group.members.get(member_id)
            if known is None:
                continue
            shows = members[member_id]["pending_assignment"]
            if member_id not in subscribed and by_name(state, pending_assignment(state, known)) == shows:
                continue
            part = make(member_id, known)
            if part != members[member_id]:
                members = put(members, member_id, part)
                shown.add(member_id, known, part)
        return members

    def _classic(self, new: Frame, state: State, old: State | None, last: Frame) -> None:
        group = state.classic
        # Commits alone do not show whether a group of which something is missing had members.
        unknown = state.partial and not group.recorded and group.phase is None
        new["state"] = "Dead" if state.deleted else None if unknown else group.state
        new["generation"] = None if unknown else group.known_generation
        new["leader"], new["protocol_name"] = group.leader, group.protocol_name
        new["protocol_type"] = group.protocol_type or None
        new["topics"] = last["topics"] if old is not None and _same_topics(old, state) else topics_part(state)
        new["members"] = _updated(
            old.classic.shown if old else None, group.shown, last.get("members"), classic_member_part
        )
        if group.barrier is not None:
            same = old is not None and old.classic.barrier is group.barrier
            new["barrier"] = last["barrier"] if same else barrier_part(group.barrier)
            new["withheld"] = {
                member_id: {topic: list(numbers) for topic, numbers in partitions.items()}
                for member_id, partitions in group.withheld.items()
            }


_NO_FRAME: Final = cast(Frame, {})
"""Before the first: a frame of which no part can be taken over."""


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

    def __call__(self, _member_id: str, member: ModernMember) -> MemberFrame:
        return self.make(self.state, member)


def group_state(state: State, members: Mapping[str, MemberFrame] | None = None) -> str | None:
    """Kafka's name of the group's state: derived, never stored (Kafka's ``maybeUpdateGroupState`` of each protocol; KIP-848 for ``kip``)."""
    if state.deleted:
        return "Dead"
    if state.protocol is Protocol.CLASSIC:
        return state.classic.state
    group = state.modern
    if state.partial and not group.epoch_recorded:
        # Members, and the epochs to compare theirs with, may have been reported by records that are not there.
        return None
    if not group.members:
        return "Empty"
    if state.protocol is Protocol.SHARE:
        # A share group is never said to assign or to reconcile.
        return "Stable"
    if state.protocol is Protocol.STREAMS and not state.streams.is_ready:
        return "NotReady"
    if state.partial and not group.target_epoch_recorded:
        return None
    if group.group_epoch > group.assignment_epoch:
        return "Assigning"
    if state.semantics is Semantics.KAFKA or state.protocol is Protocol.STREAMS:
        return "Stable" if group.converged else "Reconciling"
    # The proposal's members wait for partitions whether or not a record shows that.
    parts = members if members is not None else frame(state)["members"]
    converged = all(
        part["epoch"] == group.assignment_epoch
        and part["state"] == STATE_NAMES[STABLE]
        and not part["pending_assignment"]
        and not part["pending_revocation"]
        for part in parts.values()
    )
    return "Stable" if converged else "Reconciling"


def _same_topics(old: State, new: State) -> bool:
    return (
        old.topics is new.topics
        and old.names is new.names
        and old.seen_topic_ids is new.seen_topic_ids
        and old.seen_topic_names is new.seen_topic_names
        and old.partitions_by_id is new.partitions_by_id
    )


Part = TypeVar("Part")
K = TypeVar("K")
Value = TypeVar("Value")


def _known(
    old: Mapping[str, Value] | None,
    new: Mapping[str, Value] | None,
    parts: Mapping[str, Part] | None,
    make: Callable[[str, Value], Part],
) -> Mapping[str, Part] | None:
    """``_updated`` for a part that the source may not report: ``None`` stays ``None``."""
    return None if new is None else _updated(old, new, parts, make)


def _updated(
    old: Mapping[str, Value] | None,
    new: Mapping[str, Value],
    parts: Mapping[str, Part] | None,
    make: Callable[[str, Value], Part],
) -> Mapping[str, Part]:
    """``{key: make(key, value)}`` of ``new``, where the parts of values that are the same objects are kept.

    ``parts`` and the result are dicts, or maps with versions where there are many.
    """
    if old is None or parts is None:
        return {key: make(key, value) for key, value in new.items()}
    if old is new:
        return parts
    for key in changed_keys(old, new):
        parts = put(parts, key, make(key, new[key])) if key in new else drop(parts, key)
    return parts


_LOOKED_AT: Final = attrgetter(
    "consumer",
    "classic",
    "share",
    "streams",
    "clients",
    "timers",
    "coordinator",
    "consumption",
    "protocol",
    "deleted",
    "topics",
    "names",
    "former",
    "seen_topic_ids",
    "seen_topic_names",
    "partitions_by_id",
    "partial",
)
"""What of a state a frame shows, next to where and when it is: commits change none of it."""
