"""Assignors for classic groups that no release of Kafka's clients brings, or none does any more.

``custom-cooperative``
    What a team may have written on ``ConsumerPartitionAssignor`` when KIP-429 was new: every member keeps what it asks to
    own, what is free goes to who has least, and who has too much gives up the rest; a partition that another member
    holds is withheld for a round. It believes what a subscription contains. Since KIP-792 a subscription contains its generation,
    and of two claims the later counts; before, the first member's does.

``stream``
    The part of Kafka Streams' assignor that a group of consumers shows: a task is a partition number of all topics
    together, a task stays where it is as far as the shares allow, and one that moves is withheld for a round. Its
    clients support EAGER, too, which ``upgrade.from`` makes them use. Standby tasks, and what tasks weigh, are left out.

    Each member's assignment carries an ``AssignmentInfo``, as Streams' does; a group whose assignments have user data is not
    converted to the consumer protocol.

``custom-user-data``
    What a team may have written before KIP-429, with data of its own for the members: it assigns as
    ``roundrobin`` does and writes user data into each assignment. It supports EAGER alone.

``sticky`` before 2.3 (``StickyBefore23Assignor``)
    What a leader did with user data of version 0, before KIP-341: two members that claim one partition both keep it
    (KAFKA-7026). Partitions that nobody claims go to who has least, then single ones move from large to small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from groups.wire.embedded.streams_user_data import encode_assignment_info
from groups.wire.embedded.user_data import NO_GENERATION, STICKY
from simulations.protocol.assignors.claims import claims_of
from simulations.protocol.assignors.classic.metadata import partition_counts
from simulations.protocol.assignors.classic.roundrobin import RoundRobinAssignor
from simulations.protocol.assignors.explanation import Explanation
from simulations.protocol.assignors.interface import Assignment, GroupAssignment, GroupSpec, MemberSpec
from simulations.protocol.assignors.sharing import java_sorted, subscribers_of

CUSTOM_COOPERATIVE: Final = "custom-cooperative"
CUSTOM_USER_DATA: Final = "custom-user-data"
STREAM: Final = "stream"

_OF_ITS_OWN: Final = b"version=1"
"""What ``custom-user-data`` sends each member; only the assignor's own class reads it."""

TopicPartition = tuple[str, int]


class CustomCooperativeAssignor:
    name = CUSTOM_COOPERATIVE

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        """Cost: partitions × members."""
        counts = _counts(spec)
        kept = _kept(spec, counts)
        free = [
            (topic, partition)
            for topic, count in counts.items()
            for partition in range(count)
            if not any((topic, partition) in own for own in kept.values())
        ]
        believed = {taken: member_id for member_id, own in kept.items() for taken in own}
        _level(spec, kept, free)
        return _withheld(_assignment(kept), believed)


class StreamAssignor:
    name = STREAM

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        """Cost: tasks × members."""
        counts = _counts(spec)
        tasks = max(counts.values(), default=0)
        owner: dict[int, str] = {}
        for member_id, member in spec.members.items():
            for task in sorted({p for partitions in member.owned.values() for p in partitions}):
                if task < tasks:
                    owner.setdefault(task, member_id)
        least, more = divmod(tasks, len(spec.members))
        had = {m: [task for task, holder in owner.items() if holder == m] for m in spec.members}
        by_size = sorted(spec.members, key=lambda member_id: -len(had[member_id]))
        share = {member_id: least + (place < more) for place, member_id in enumerate(by_size)}
        given = {member_id: had[member_id][: share[member_id]] for member_id in spec.members}
        taken = {task for tasks_of in given.values() for task in tasks_of}
        rest = [task for task in range(tasks) if task not in taken]
        for member_id in spec.members:
            while len(given[member_id]) < share[member_id]:
                given[member_id].append(rest.pop(0))
        plan: Assignment = {
            member_id: {
                topic: sorted(task for task in given[member_id] if task < count)
                for topic, count in counts.items()
                if any(task < count for task in given[member_id])
            }
            for member_id in spec.members
        }
        # Partitions of one task may be at several members, where another assignor gave them: each is given up first.
        believed: dict[TopicPartition, str] = {}
        for member_id, member in spec.members.items():
            for topic, partitions in member.owned.items():
                for p in partitions:
                    believed.setdefault((topic, p), member_id)
        answer = _withheld(plan, believed)
        return replace(
            answer,
            user_data={
                member_id: assignment_info(
                    sorted({task for tasks_of in answer.members[member_id].values() for task in tasks_of})
                )
                for member_id in spec.members
            },
        )


class CustomUserDataAssignor:
    name = CUSTOM_USER_DATA

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        """Cost: as ``roundrobin``."""
        answer = RoundRobinAssignor().assign(spec, explain)
        return replace(answer, user_data=dict.fromkeys(spec.members, _OF_ITS_OWN))


class StickyBefore23Assignor:
    name = STICKY

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        """Cost: partitions × members, for each walk that moves something."""
        counts = _counts(spec)
        own: dict[str, list[TopicPartition]] = {}
        owner: dict[TopicPartition, str] = {}
        for member_id, member in spec.members.items():
            own[member_id] = []
            for topic, partitions in claims_of(STICKY, member).partitions:
                for partition in partitions:
                    if topic in member.topics and partition < counts.get(topic, 0):
                        own[member_id].append((topic, partition))
                        owner[topic, partition] = member_id
        for topic, count in counts.items():
            wants = [member_id for member_id, member in spec.members.items() if topic in member.topics]
            for partition in range(count):
                if (topic, partition) not in owner:
                    least = min(wants, key=lambda member_id: len(own[member_id]))
                    own[least].append((topic, partition))
                    owner[topic, partition] = least
        while self._walk(spec, own, owner):
            pass
        return GroupAssignment(members=_assignment({m: dict.fromkeys(parts) for m, parts in own.items()}))

    def _walk(
        self, spec: GroupSpec, own: dict[str, list[TopicPartition]], owner: dict[TopicPartition, str]
    ) -> bool:
        """Each partition once, by who is noted last as its owner; whether any moved."""
        moved = False
        for taken, holder in list(owner.items()):
            wants = [member_id for member_id, member in spec.members.items() if taken[0] in member.topics]
            least = min(wants, key=lambda member_id: len(own[member_id]))
            if taken in own[holder] and taken not in own[least] and len(own[holder]) > len(own[least]) + 1:
                own[holder].remove(taken)
                own[least].append(taken)
                owner[taken] = least
                moved = True
        return moved


def assignment_info(active: Iterable[int], standby: Iterable[int] = (), topics: Iterable[str] = ()) -> bytes:
    """A member's tasks as Streams writes them: of subtopology 0, as one topology reads all ``topics``."""
    return encode_assignment_info(
        {
            "activeTasks": [{"topicGroupId": 0, "partition": task} for task in active],
            "standbyTasks": [
                {
                    "topicGroupId": 0,
                    "partition": task,
                    "partitions": [{"topic": topic, "partition": task} for topic in topics],
                }
                for task in standby
            ],
        }
    )


def _counts(spec: GroupSpec) -> dict[str, int]:
    return partition_counts(spec, java_sorted(subscribers_of(spec.members.values())))


def _generation(member: MemberSpec) -> int:
    return NO_GENERATION if member.generation is None else member.generation


def _kept(spec: GroupSpec, counts: Mapping[str, int]) -> dict[str, dict[TopicPartition, None]]:
    """What each member asks to own, of which of two claims the later counts, or else the first member's."""
    claims: dict[TopicPartition, str] = {}
    for member_id, member in spec.members.items():
        for topic, partitions in member.owned.items():
            for partition in partitions:
                if topic not in member.topics or partition >= counts.get(topic, 0):
                    continue
                other = claims.get((topic, partition))
                if other is None or _generation(member) > _generation(spec.members[other]):
                    claims[topic, partition] = member_id
    kept: dict[str, dict[TopicPartition, None]] = {member_id: {} for member_id in spec.members}
    for taken, member_id in claims.items():
        kept[member_id][taken] = None
    return kept


def _level(spec: GroupSpec, kept: dict[str, dict[TopicPartition, None]], free: list[TopicPartition]) -> None:
    """Free partitions to who has least, then the last of who has most to who has least, until they differ by one."""

    def least_of(topic: str) -> str:
        wants = [member_id for member_id, member in spec.members.items() if topic in member.topics]
        return min(wants, key=lambda member_id: len(kept[member_id]))

    for taken in free:
        kept[least_of(taken[0])][taken] = None
    moved = True
    while moved:
        moved = False
        for own in kept.values():
            for taken in reversed(own):
                least = least_of(taken[0])
                if len(own) > len(kept[least]) + 1:
                    del own[taken]
                    kept[least][taken] = None
                    moved = True
                    break


def _assignment(own: Mapping[str, Mapping[TopicPartition, None]]) -> Assignment:
    plan: dict[str, dict[str, list[int]]] = {}
    for member_id, parts in own.items():
        by_topic = plan.setdefault(member_id, {})
        for topic, partition in sorted(parts):
            by_topic.setdefault(topic, []).append(partition)
    return {member_id: dict(by_topic) for member_id, by_topic in plan.items()}


def _withheld(plan: Assignment, believed: Mapping[TopicPartition, str]) -> GroupAssignment:
    """The plan without what somebody else is believed to hold, and does not know yet that it is to give up."""
    sent: Assignment = {
        member_id: {
            topic: rest
            for topic, partitions in by_topic.items()
            if (rest := [p for p in partitions if believed.get((topic, p), member_id) == member_id])
        }
        for member_id, by_topic in plan.items()
    }
    return GroupAssignment(members=sent, intended=plan)
