"""An assignor as Kafka Streams would bring it to a client: tasks, metadata with a version, and errors for everybody.

What Streams kept inside the bytes of the classic protocol are fields of the proposal's protocol:

=============================  ======================================================================================
in Streams                     in the proposal
=============================  ======================================================================================
version of the subscription    ``MetadataVersion``; the range that an instance reads is ``MinimumVersion``..``Maximum``
version probing                none: the member that computes reads what all write, and writes to each in that one's version
error of the assignment        ``Error`` of the installed assignment, sent to every member with its partitions
"please rebalance"             ``Reason`` with changed metadata, which bumps the group epoch
task lags                      in the metadata, and sent again only with a reason: each change of them is a rebalance
=============================  ======================================================================================

A task means one partition number of all its source topics: who has it is assigned that partition of each. Standby
tasks are only in the metadata, which may name what the member was not given yet: its partitions are the truth.
The metadata's bytes are JSON here; what Streams writes is its own affair.

While an application is upgraded its instances of the classic protocol have metadata of version -1: the ``AssignmentInfo`` that
Streams wrote. An instance that reads that version (``minimum_version`` -1) computes for them, too, and takes the topology
for its own, since the old format does not name it.

Source: KIP-848, "Kafka Streams", "Assignment Metadata Errors", "Kafka Streams Migration".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypedDict

from simulations.protocol.assignors.classic.custom import STREAM, assignment_info
from simulations.protocol.assignors.client_side import (
    FROM_CLASSIC,
    ClientAnswer,
    ClientAssignor,
    ClientGroup,
    ClientMember,
    MemberAnswer,
    Metadata,
    unchanged,
)

STANDBY_VERSION: Final = 2
"""From this version of the metadata on an instance reads which standby tasks it has."""

OLDEST_VERSION: Final = 1
"""Of the metadata that an instance writes; one that is used in an upgrade also reads ``FROM_CLASSIC``."""

STREAMS_LIKE: Final = "streams"
"""By this name a scenario brings it; on the wire it has the name of the classic assignor, so that both can be of one group."""


class StreamsError(IntEnum):
    """What an assignment may contain besides partitions (the proposal's numbers)."""

    NONE = 0
    SHUTDOWN = 1
    ASSIGNMENT_ERROR = 2
    INCONSISTENT_TOPOLOGY = 3


class Reason(IntEnum):
    """Why an instance wants another assignment. The numbers are the assignor's own."""

    NONE = 0
    CAUGHT_UP = 1
    """A standby's lag is within ``acceptable.recovery.lag``."""
    LAG_GROWS = 2
    """A standby's lag has grown for some time."""
    SHUT_DOWN = 3
    """The application is to be shut down, everywhere."""


@dataclass(kw_only=True)
class StreamsLike(ClientAssignor):
    """One instance's assignor. ``topics`` are its source topics; ``lags`` those of its standby tasks, by partition."""

    topology: str
    topics: tuple[str, ...]
    maximum_version: int = STANDBY_VERSION
    minimum_version: int = OLDEST_VERSION
    standbys: int = 1
    wants: Reason = Reason.NONE
    lags: Mapping[int, int] | None = None
    name: str = STREAM

    def reason(self) -> int:
        return int(self.wants)

    def metadata(self) -> Metadata:
        return _written(
            self.maximum_version,
            {
                "topology": self.topology,
                "lags": {str(task): lag for task, lag in sorted((self.lags or {}).items())},
            },
        )

    def assign(self, group: ClientGroup) -> ClientAnswer:
        """A stable assignment of the tasks, or an error for all: the first that there is reason for."""
        if any(member.reason == Reason.SHUT_DOWN for member in group.members.values()):
            return unchanged(group, int(StreamsError.SHUTDOWN))
        by_member = {member_id: read(member.metadata) for member_id, member in group.members.items()}
        # Instances of one topology read the same topics, so a member that subscribes to others is none of it.
        subscribed = {frozenset(member.topics) for member in group.members.values()}
        topologies = {
            by_member[member_id].get("topology")
            for member_id, member in group.members.items()
            if member.metadata.version != FROM_CLASSIC
        }
        if len(subscribed) > 1 or len(topologies) > 1:
            return unchanged(group, int(StreamsError.INCONSISTENT_TOPOLOGY))
        known = {topic.name for topic in group.topics.values()}
        if not known.issuperset(self.topics) or not known:
            return unchanged(group, int(StreamsError.ASSIGNMENT_ERROR))
        tasks = max(topic.partitions for topic in group.topics.values())
        active = _shared(group.members, tasks)
        caught_up = {
            member_id: {int(task) for task in by_member[member_id].get("lags", {})}
            for member_id, member in group.members.items()
            if member.reason == Reason.CAUGHT_UP
        }
        _hand_over(active, caught_up)
        standby = _standbys(active, tasks, self.standbys)
        return ClientAnswer(
            members={
                member_id: MemberAnswer(
                    partitions={
                        topic_id: tuple(task for task in active[member_id] if task < topic.partitions)
                        for topic_id, topic in group.topics.items()
                    },
                    metadata=_assignment(member, active[member_id], standby[member_id], sorted(known)),
                )
                for member_id, member in group.members.items()
            }
        )


class StreamsPlan(TypedDict, total=False):
    """An instance reports its topology and the lags of its standby tasks, an assignment contains an instance's tasks."""

    topology: str
    lags: Mapping[str, int]
    active: list[int]
    standby: list[int]


def read(metadata: Metadata) -> StreamsPlan:
    """The metadata's fields; none if it is empty, or of the classic protocol, which names no topology and no lags here."""
    parsed: StreamsPlan = (
        json.loads(metadata.data) if metadata.data and metadata.version != FROM_CLASSIC else {}
    )
    return parsed


def _written(version: int, parsed: StreamsPlan) -> Metadata:
    return Metadata(version, json.dumps(parsed, separators=(",", ":"), sort_keys=True).encode())


def _assignment(member: ClientMember, active: list[int], standby: list[int], topics: list[str]) -> Metadata:
    """In the version in which the member itself writes, which it reads for certain."""
    version = member.metadata.version
    if version == FROM_CLASSIC:
        return Metadata(version, assignment_info(active, standby, topics))
    plan: StreamsPlan = {"active": active}
    if version >= STANDBY_VERSION:
        plan["standby"] = standby
    return _written(version, plan)


def _shared(members: Mapping[str, ClientMember], tasks: int) -> dict[str, list[int]]:
    """Every task once, as many to each as to any other but for one, where they were as far as that goes."""
    least, more = divmod(tasks, len(members))
    had = {
        member_id: sorted({p for numbers in member.target.values() for p in numbers if p < tasks})
        for member_id, member in members.items()
    }
    # Who has more keeps more: the greater shares go to those, then to the first.
    by_size = sorted(members, key=lambda member_id: -len(had[member_id]))
    share = {member_id: least + (place < more) for place, member_id in enumerate(by_size)}
    taken: set[int] = set()
    given: dict[str, list[int]] = {}
    for member_id in members:
        kept = [task for task in had[member_id] if task not in taken][: share[member_id]]
        given[member_id] = kept
        taken |= set(kept)
    free = iter(task for task in range(tasks) if task not in taken)
    for member_id, own in given.items():
        own += [next(free) for _ in range(share[member_id] - len(own))]
        own.sort()
    return given


def _hand_over(active: dict[str, list[int]], caught_up: Mapping[str, set[int]]) -> None:
    """A task goes to the standby that has caught up with it, in exchange for another one."""
    owners = {task: member_id for member_id, own in active.items() for task in own}
    for member_id, tasks in caught_up.items():
        for task in sorted(tasks):
            owner = owners.get(task)
            spare = [own for own in active[member_id] if own not in tasks]
            if owner is None or owner == member_id or not spare:
                continue
            active[owner].remove(task)
            active[member_id].remove(spare[0])
            active[owner] = sorted((*active[owner], spare[0]))
            active[member_id] = sorted((*active[member_id], task))
            owners[task], owners[spare[0]] = member_id, owner


def _standbys(active: Mapping[str, list[int]], tasks: int, copies: int) -> dict[str, list[int]]:
    """The next members after a task's owner, each task's copies at different ones."""
    ids = list(active)
    owner = {task: place for place, member_id in enumerate(ids) for task in active[member_id]}
    standby: dict[str, list[int]] = {member_id: [] for member_id in ids}
    for task in range(tasks):
        for step in range(1, min(copies, len(ids) - 1) + 1):
            standby[ids[(owner[task] + step) % len(ids)]].append(task)
    return standby
