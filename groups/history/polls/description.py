"""One form for a coordinator's description of a group, whatever its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from groups.history.polls.describe_shapes import DescribedTopology

Partitions = Mapping[str, tuple[int, ...]]
"""Topic name (of a streams group: subtopology) → partitions, ascending."""


class GroupKind(StrEnum):
    """What Kafka calls the type of a group; a group in migration is a consumer group with classic members."""

    CONSUMER = "consumer"
    CLASSIC = "classic"
    SHARE = "share"
    STREAMS = "streams"


UNSTABLE = frozenset({"Assigning", "Reconciling", "PreparingRebalance", "CompletingRebalance", "NotReady"})
"""States of a group that is rebalancing."""

CLASSIC_MEMBER = 0
"""``memberType`` of a member that speaks the classic protocol; 1 is the consumer protocol, -1 unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsTasks:
    """The tasks of a streams member, by subtopology."""

    active: Partitions = field(default_factory=dict)
    standby: Partitions = field(default_factory=dict)
    warmup: Partitions = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsFacts:
    """What only a streams member has."""

    topology_epoch: int
    process_id: str
    endpoint: tuple[str, int] | None
    tags: tuple[tuple[str, str], ...]
    tasks: StreamsTasks
    target: StreamsTasks


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDescription:
    """A member. ``epoch`` is null in a classic group, ``target`` where the answer has none.

    ``assignment`` of a consumer group includes what is still to be revoked; of a classic group outside Stable it is that
    of the former generation. ``subscription`` and ``assigned`` are a classic member's bytes in base64. ``unreadable`` has
    the reason for each of the two that cannot be decoded: ``subscribed`` or ``assignment`` is then unknown, not empty.
    """

    member_id: str
    client_id: str
    host: str
    instance_id: str | None = None
    rack_id: str | None = None
    epoch: int | None = None
    subscribed: tuple[str, ...] = ()
    regex: str | None = None
    assignment: Partitions = field(default_factory=dict)
    target: Partitions | None = None
    member_type: int = -1
    subscription: str = ""
    assigned: str = ""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    streams: StreamsFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    """A group as its coordinator described it. Epochs are null in a classic group, whose generation no answer reports."""

    group: str
    kind: GroupKind
    state: str
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    assignor: str = ""
    protocol_type: str = ""
    members: tuple[MemberDescription, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """Name → id, of the topics that stand in an assignment."""

    topology: DescribedTopology | None = None
    """Of a streams group: its topology as the answer has it."""

    @property
    def is_rebalancing(self) -> bool:
        """A share group is Stable all the time, so epochs are compared, too."""
        if self.state in UNSTABLE:
            return True
        return self.state != "Empty" and self.group_epoch != self.assignment_epoch


def with_names(description: GroupDescription, names: Mapping[str, str]) -> GroupDescription:
    """The description with topics by their names where the answer has their ids alone. ``names``: by id.

    Kafka leaves the name of a deleted topic out; other brokers leave out all of them.
    """
    unnamed = {
        topic for topic, topic_id in description.topic_ids.items() if topic == topic_id and topic_id in names
    }
    if not unnamed:
        return description

    def named(partitions: Partitions) -> Partitions:
        return {names[topic] if topic in unnamed else topic: some for topic, some in partitions.items()}

    members = tuple(
        replace(
            each,
            assignment=named(each.assignment),
            target=None if each.target is None else named(each.target),
        )
        for each in description.members
    )
    ids = {
        names[topic] if topic in unnamed else topic: topic_id
        for topic, topic_id in description.topic_ids.items()
    }
    return replace(description, members=members, topic_ids=ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undescribed:
    """A group that was asked for and not described; ``code`` is Kafka's."""

    group: str
    code: int
    message: str = ""


DescribedGroup = GroupDescription | Undescribed

GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED = 30, 29
GROUP_ID_NOT_FOUND = 69
COORDINATOR_LOADING, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR = 14, 15, 16
MOVING = frozenset({COORDINATOR_LOADING, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR})
