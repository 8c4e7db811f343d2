"""The records that lead from one description of a group to the next.

They are inferred: what a coordinator really wrote between two polls is known only where one change lies between them.
The state that they lead to is the described one, with three things that no description contains:

* the state of a member whose epoch is behind the assignment epoch (it may not have seen, or be revoking): unknown;
* what it is revoking: ``assignment`` of a consumer group includes it, so it stays assigned until it is given up;
* a classic group's generation: unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from groups.history.entries import RecordKey, RecordPayload
from groups.history.polls.describe_shapes import DescribedTopology
from groups.history.polls.description import (
    CLASSIC_MEMBER,
    GroupDescription,
    GroupKind,
    MemberDescription,
    Partitions,
    StreamsTasks,
)
from groups.history.state.classic_group import UNKNOWN_GENERATION
from groups.history.state.streams import NOT_VALIDATED

Value = dict[str, object]
"""A record's value, by Kafka's own field names."""

STABLE, UNRELEASED = 0, 2
_STREAMS_STATES: Final = {STABLE: 1, UNRELEASED: 3}
"""Type 22 counts the same states from 1."""

NOT_READY: Final = "NotReady"
"""State of a streams group whose topology lacks topics."""

SETTLED_CLASSIC: Final = frozenset({"Stable", "Empty"})
"""States in which a classic group's answer reports the assignment of now; in the others it is the former one."""


def records_between(before: GroupDescription | None, after: GroupDescription) -> list[RecordPayload]:
    """The records by which ``after`` follows on ``before``, as payloads of entries; none where nothing changed.

    With no ``before`` they make the whole group. A classic group that is joining or syncing makes none.
    """
    if after.kind is GroupKind.CLASSIC and after.state not in SETTLED_CLASSIC:
        return []
    ended: list[RecordPayload] = []
    if before is not None and before.kind is not after.kind:
        # A migration: the one group ends where the other begins, in one unit.
        ended, before = records_of_end(before), None
    if after.kind is GroupKind.CLASSIC:
        return ended + _classic(before, after)
    return ended + list(_modern(before, after))


def records_of_end(group: GroupDescription) -> list[RecordPayload]:
    """The tombstones by which a group ends."""
    if group.kind is GroupKind.CLASSIC:
        return [_tombstone(2, {"group": group.group})]
    emptied = replace(group, members=())
    return [*_gone(group, emptied), _of(group, 6, None), _of(group, 3, None)]


def _classic(before: GroupDescription | None, after: GroupDescription) -> list[RecordPayload]:
    value = _classic_value(after)
    if before is not None and _classic_value(before) == value:
        return []
    return [{"type": 2, "key": {"group": after.group}, "version": 4, "value": value}]


def _classic_value(group: GroupDescription) -> Value:
    return {
        "protocolType": group.protocol_type,
        "generation": UNKNOWN_GENERATION,
        "protocol": group.assignor or None,
        "leader": None,
        "currentStateTimestamp": -1,
        "members": [
            {
                "memberId": member.member_id,
                "groupInstanceId": member.instance_id,
                "clientId": member.client_id,
                "clientHost": member.host,
                "rebalanceTimeout": -1,
                "sessionTimeout": -1,
                "subscription": member.subscription,
                "assignment": member.assigned,
            }
            for member in sorted(group.members, key=lambda member: member.member_id)
        ],
    }


def _modern(before: GroupDescription | None, after: GroupDescription) -> Iterator[RecordPayload]:
    """In the order in which a heartbeat writes them: who goes, metadata, epoch, target, assignments."""
    known = {member.member_id: member for member in before.members} if before is not None else {}
    if before is not None:
        yield from _gone(before, after)
    for member in after.members:
        old = known.get(member.member_id)
        if old is None or _metadata(after, member) != _metadata(after, old):
            yield _of_member(after, member, 5, _metadata(after, member))
    if after.topology is not None and (before is None or before.topology != after.topology):
        yield {"type": 23, "key": {"groupId": after.group}, "version": 0, "value": _topology(after.topology)}
    if before is None or _epoch(before) != _epoch(after):
        yield _of(after, 3, _epoch(after))
    if after.kind is not GroupKind.SHARE:
        for member in after.members:
            old = known.get(member.member_id)
            target = _target(after, member)
            # Of a group whose assignment epoch is 0 no target was ever made.
            if after.assignment_epoch and (old is None or before is None or _target(before, old) != target):
                yield _of_member(after, member, 7, target)
    if before is None or before.assignment_epoch != after.assignment_epoch:
        yield _of(after, 6, {"assignmentEpoch": after.assignment_epoch})
    for member in after.members:
        old = known.get(member.member_id)
        value = _current(after, member, old, joined=before is not None and old is None)
        if (
            old is None
            or before is None
            or _without_previous(_current(before, old, None)) != _without_previous(value)
        ):
            yield _of_member(after, member, 8, value)


def _gone(before: GroupDescription, after: GroupDescription) -> Iterator[RecordPayload]:
    stay = {member.member_id for member in after.members}
    for member in before.members:
        if member.member_id not in stay:
            for number in (8, 7, 5):
                if number != 7 or before.kind is not GroupKind.SHARE:
                    yield _of_member(before, member, number, None)


def _epoch(group: GroupDescription) -> Value:
    """The group's metadata; a streams group's report, too, whether its topology has all of its topics."""
    value: Value = {"epoch": group.group_epoch, "metadataHash": 0}
    if group.kind is not GroupKind.STREAMS:
        return value
    topology_epoch = group.topology["epoch"] if group.topology is not None else 0
    return value | {"validatedTopologyEpoch": NOT_VALIDATED if group.state == NOT_READY else topology_epoch}


def _metadata(group: GroupDescription, member: MemberDescription) -> Value:
    value: Value = {
        "rackId": member.rack_id,
        "clientId": member.client_id,
        "clientHost": member.host,
    }
    if group.kind is GroupKind.SHARE:
        return value | {"subscribedTopicNames": list(member.subscribed)}
    value |= {"instanceId": member.instance_id, "rebalanceTimeoutMs": -1}
    if member.streams is not None:
        facts = member.streams
        return value | {
            "topologyEpoch": facts.topology_epoch,
            "processId": facts.process_id,
            "userEndpoint": {"host": facts.endpoint[0], "port": facts.endpoint[1]}
            if facts.endpoint
            else None,
            "clientTags": [{"key": key, "value": tag} for key, tag in facts.tags],
        }
    classic: Value | None = (
        {"sessionTimeoutMs": -1, "supportedProtocols": []} if member.member_type == CLASSIC_MEMBER else None
    )
    return value | {
        "subscribedTopicNames": list(member.subscribed),
        "subscribedTopicRegex": member.regex,
        "serverAssignor": group.assignor or None,
        "classicMemberMetadata": classic,
    }


def _target(group: GroupDescription, member: MemberDescription) -> Value:
    if member.streams is not None:
        return _tasks(member.streams.target)
    return {"topicPartitions": _by_id(group, member.target or {})}


def _current(
    group: GroupDescription, member: MemberDescription, old: MemberDescription | None, *, joined: bool = False
) -> Value:
    previous = old.epoch if old is not None and old.epoch != member.epoch else member.epoch
    if joined:
        # A member that joins begins at epoch 0.
        previous = 0
    state = _state(group, member)
    value: Value = {"memberEpoch": member.epoch, "previousMemberEpoch": previous}
    if member.streams is not None:
        tasks = _tasks(member.streams.tasks)
        return (
            value
            | {"state": None if state is None else _STREAMS_STATES[state]}
            | tasks
            | {f"{name}PendingRevocation": [] for name in tasks}
        )
    value |= {"state": state, "assignedPartitions": _by_id(group, member.assignment)}
    return value if group.kind is GroupKind.SHARE else value | {"partitionsPendingRevocation": []}


def _state(group: GroupDescription, member: MemberDescription) -> int | None:
    """Of a member that is at the assignment epoch its state follows from its target; of another one it is unknown."""
    if group.kind is GroupKind.SHARE:
        return STABLE
    if member.epoch != group.assignment_epoch:
        return None
    if member.streams is not None:
        return STABLE if member.streams.tasks == member.streams.target else UNRELEASED
    return STABLE if _same(member.assignment, member.target or {}) else UNRELEASED


def _same(one: Partitions, other: Partitions) -> bool:
    return {topic: each for topic, each in one.items() if each} == {
        topic: each for topic, each in other.items() if each
    }


def _without_previous(value: Value) -> Value:
    return {name: each for name, each in value.items() if name != "previousMemberEpoch"}


def _by_id(group: GroupDescription, partitions: Partitions) -> list[Value]:
    return [
        {"topicId": group.topic_ids.get(topic, topic), "partitions": list(each)}
        for topic, each in sorted(partitions.items())
    ]


def _tasks(tasks: StreamsTasks) -> Value:
    def of(each: Partitions) -> list[Value]:
        return [
            {"subtopologyId": name, "partitions": list(numbers)} for name, numbers in sorted(each.items())
        ]

    return {
        "activeTasks": of(tasks.active),
        "standbyTasks": of(tasks.standby),
        "warmupTasks": of(tasks.warmup),
    }


def _topology(known: DescribedTopology) -> Value:
    """A described topology, which names the topics that a regular expression found and has no copartition groups."""
    return {
        "epoch": known["epoch"],
        "subtopologies": [
            {**subtopology, "sourceTopicRegex": [], "copartitionGroups": []}
            for subtopology in known.get("subtopologies") or ()
        ],
    }


_NUMBERS: Final[Mapping[GroupKind, Mapping[int, int]]] = {
    GroupKind.CONSUMER: {number: number for number in (3, 5, 6, 7, 8)},
    GroupKind.SHARE: {3: 11, 5: 10, 6: 12, 7: 13, 8: 14},
    GroupKind.STREAMS: {3: 17, 5: 19, 6: 20, 7: 21, 8: 22},
}
"""A kind's numbers of the records that mean what the consumer protocol's mean."""


def _of(group: GroupDescription, number: int, value: Value | None) -> RecordPayload:
    return _record(_NUMBERS[group.kind][number], {"groupId": group.group}, value)


def _of_member(
    group: GroupDescription, member: MemberDescription, number: int, value: Value | None
) -> RecordPayload:
    key: RecordKey = {"groupId": group.group, "memberId": member.member_id}
    return _record(_NUMBERS[group.kind][number], key, value)


def _record(number: int, key: RecordKey, value: Value | None) -> RecordPayload:
    return {"type": number, "key": key, "version": None if value is None else 0, "value": value}


def _tombstone(number: int, key: RecordKey) -> RecordPayload:
    return _record(number, key, None)
