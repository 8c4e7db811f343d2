"""Assignors that run on a client: KIP-848's proposal, which was never built.

The coordinator picks a member and hands it the group as it is at some epoch (``ConsumerGroupPrepareAssignment``); the
member's assignor answers; the member installs the answer (``ConsumerGroupInstallAssignment``), and the coordinator checks it
against the same state. What assignors send each other in bytes of their own, the *metadata*, is no affair of
the coordinator's, but has a version: every member states which versions it reads, so that the one that computes writes
to each in a version that it knows.

Source: KIP-848, "PartitionAssignor", "Client Side Assignor", "Assignor Selection".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from simulations.protocol.assignors.classic import (
    CooperativeStickyAssignor,
    RangeAssignor,
    RoundRobinAssignor,
    StickyAssignor,
)
from simulations.protocol.assignors.explanation import Explanation
from simulations.protocol.assignors.interface import (
    Assignor,
    AssignorError,
    GroupAssignment,
    GroupSpec,
    MemberSpec,
    Owned,
    Topic,
)
from simulations.protocol.assignors.validation import Problem, problems

FROM_CLASSIC: Final = -1
"""Version of metadata that the coordinator made of a classic member's user data."""

NO_ERROR: Final = 0
ASSIGNMENT_ERROR: Final = 2
"""The assignor could not assign. An error's meaning is the assignor's own; this is the number that Streams gives it."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Bytes for the assignor alone, and the version that they are written in."""

    version: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An assignor as a member's heartbeat lists it: its versions, and what it reports to the member that computes.

    ``reason`` is the assignor's own code for why it wants a new assignment; 0 for none.
    """

    name: str
    minimum_version: int = 0
    maximum_version: int = 0
    reason: int = 0
    metadata: Metadata = field(default_factory=Metadata)

    def problem(self) -> str | None:
        """Why a heartbeat that lists it is an INVALID_REQUEST; None if it is not."""
        if not self.name:
            return "an assignor's name must not be empty"
        if self.minimum_version < FROM_CLASSIC:
            return f"{self.name}: the minimum version {self.minimum_version} is below {FROM_CLASSIC}"
        if self.maximum_version < max(self.minimum_version, 0):
            least = "0" if self.minimum_version < 0 else f"the minimum version {self.minimum_version}"
            return f"{self.name}: the maximum version {self.maximum_version} is below {least}"
        if not self.reads(self.metadata.version):
            return (
                f"{self.name}: the metadata's version {self.metadata.version} is not one of "
                f"{self.minimum_version} to {self.maximum_version}"
            )
        return None

    def reads(self, version: int) -> bool:
        return self.minimum_version <= version <= self.maximum_version


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMember:
    """A member as the one that computes gets it. ``target`` is its current target, topic id → partitions."""

    topics: tuple[str, ...]
    target: Owned = field(default_factory=dict)
    epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    reason: int = 0
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTopic:
    name: str
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientGroup:
    """The answer of ConsumerGroupPrepareAssignment: the group at ``epoch``, topics by id."""

    members: Mapping[str, ClientMember]
    topics: Mapping[str, ClientTopic]
    epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAnswer:
    """A member's new target, topic id → partitions, and what the assignor sends the member's own."""

    partitions: Owned = field(default_factory=dict)
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAnswer:
    """What ConsumerGroupInstallAssignment carries. ``error`` other than 0 is handed on to the members."""

    members: Mapping[str, MemberAnswer]
    error: int = NO_ERROR


class ClientAssignor(ABC):
    """The base of a client-side assignor: give it a ``name`` and an ``assign``, and what of the rest differs."""

    name: str
    minimum_version: int = 0
    maximum_version: int = 0

    def reason(self) -> int:
        """Why a new assignment is wanted: any number but 0 has the coordinator raise the group's epoch."""
        return 0

    def metadata(self) -> Metadata:
        """What this member reports to the one that computes; a change of it raises the group's epoch too."""
        return Metadata(version=self.maximum_version)

    @abstractmethod
    def assign(self, group: ClientGroup) -> ClientAnswer:
        """The new target of every member. Runs on the member that the coordinator picked."""

    def on_assignment(self, answer: MemberAnswer, error: int, epoch: int) -> None:  # noqa: B027 (most keep nothing)
        """What this member was assigned at an epoch, some of it perhaps not released by others yet."""

    def offer(self) -> Offer:
        """How a heartbeat lists this assignor."""
        return Offer(
            name=self.name,
            minimum_version=self.minimum_version,
            maximum_version=self.maximum_version,
            reason=self.reason(),
            metadata=self.metadata(),
        )


class Adapted(ClientAssignor):
    """An assignor of classic groups, on a client of the new protocol.

    It gets targets where it got owned partitions, and needs no metadata: it accepts those of classic members and
    leaves them unread. Members that subscribe to nothing are left out: with such a member first, the sticky assignors
    take all subscriptions for equal and give it partitions. The plan of ``cooperative-sticky`` is installed whole, since the coordinator itself sees to it that a
    partition is released before it is given. KIP-848 sends a client no racks of partitions, so racks play no part.
    """

    minimum_version = FROM_CLASSIC

    def __init__(self, make: Callable[[], Assignor]) -> None:
        self._assignor = make()
        self.name = self._assignor.name

    def assign(self, group: ClientGroup) -> ClientAnswer:
        names = {topic_id: topic.name for topic_id, topic in group.topics.items()}
        ids = {name: topic_id for topic_id, name in names.items()}
        spec = GroupSpec(
            members={
                member_id: MemberSpec(
                    topics=tuple(names[topic_id] for topic_id in member.topics if topic_id in names),
                    owned={names[t]: partitions for t, partitions in member.target.items() if t in names},
                    instance_id=member.instance_id,
                    rack_id=member.rack_id,
                )
                for member_id, member in group.members.items()
                if member.topics
            },
            topics={topic.name: Topic(partitions=topic.partitions) for topic in group.topics.values()},
        )
        try:
            answer = self._assignor.assign(spec)
        except AssignorError:
            return unchanged(group, ASSIGNMENT_ERROR)
        planned = answer.members if answer.intended is None else answer.intended
        return ClientAnswer(
            members={
                member_id: MemberAnswer(
                    partitions={ids[name]: numbers for name, numbers in planned.get(member_id, {}).items()},
                    metadata=Metadata(version=member.metadata.version),
                )
                for member_id, member in group.members.items()
            }
        )


CLIENT_ASSIGNORS: Final[Mapping[str, Callable[[], ClientAssignor]]] = {
    make.name: partial(Adapted, make)
    for make in (RangeAssignor, RoundRobinAssignor, StickyAssignor, CooperativeStickyAssignor)
}
"""The classic assignors by name, each to run on a client."""


def unchanged(group: ClientGroup, error: int) -> ClientAnswer:
    """Every member keeps what it still subscribes to of its target, and receives an error.

    A deleted topic's partitions are not kept: the coordinator would refuse the answer each time.
    """
    return ClientAnswer(
        members={
            member_id: MemberAnswer(
                partitions={
                    topic_id: numbers
                    for topic_id, numbers in member.target.items()
                    if topic_id in member.topics
                },
                metadata=Metadata(version=member.metadata.version),
            )
            for member_id, member in group.members.items()
        },
        error=error,
    )


NOT_ASKED_BY_THE_TEXT: Final = "not-subscribed"


def install_problems(
    group: ClientGroup, answer: ClientAnswer, offers: Mapping[str, Offer] | None = None
) -> list[Problem]:
    """Why an answer is an INVALID_ASSIGNMENT; empty if it may be installed.

    The text asks that each partition is assigned, none twice, and all member ids are known, judged by the group that was
    handed out. It does not ask whether a member subscribes to what it is given, and neither does this: the invariants of
    a run do. ``offers``, where given, are what each member listed for this assignor: metadata in a version
    that it does not read are refused.
    """
    names = {topic_id: topic.name for topic_id, topic in group.topics.items()}
    spec = GroupSpec(
        members={
            member_id: MemberSpec(topics=tuple(names.get(topic_id, topic_id) for topic_id in member.topics))
            for member_id, member in group.members.items()
        },
        topics={topic.name: Topic(partitions=topic.partitions) for topic in group.topics.values()},
    )
    assigned = {
        member_id: {names.get(topic_id, topic_id): owned for topic_id, owned in member.partitions.items()}
        for member_id, member in answer.members.items()
    }
    found = [problem for problem in problems(spec, assigned) if problem.kind != NOT_ASKED_BY_THE_TEXT]
    for member_id in answer.members:
        # One that is given nothing has no partitions by which it would have been found.
        if member_id not in group.members and not any(assigned[member_id].values()):
            found.append(
                Problem("unknown-member", "", (), (member_id,), f"{member_id} is no member of the group")
            )
    for member_id, offer in (offers or {}).items():
        owned = answer.members.get(member_id)
        if owned is not None and not offer.reads(owned.metadata.version):
            versions = f"{offer.minimum_version} to {offer.maximum_version}"
            sentence = (
                f"the metadata for {member_id} are of version {owned.metadata.version}; it reads {versions}"
            )
            found.append(Problem("unreadable-metadata", "", (), (member_id,), sentence))
    return found


class OnGroup:
    """A client-side assignor where one of the coordinator's is expected: prepared, computed, checked and installed.

    ``names`` has topics' names where the spec has ids. ``AssignorError`` where the coordinator would refuse the answer,
    and where the assignor reports an error or fails: its code is not ours.
    """

    def __init__(self, make: Callable[[], ClientAssignor], names: Mapping[str, str] | None = None) -> None:
        self._assignor = make()
        self._names = names or {}
        self.name = self._assignor.name

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        try:
            offer = self._assignor.offer()
            group = self._prepared(spec, offer)
            answer = self._assignor.assign(group)
            wrong = install_problems(group, answer, dict.fromkeys(group.members, offer))
        except Exception as error:
            raise AssignorError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        if (refused := offer.problem()) is not None:
            raise AssignorError(f"INVALID_REQUEST: {refused}")
        if wrong:
            more = f"; {len(wrong) - 1} more like it" if len(wrong) > 1 else ""
            raise AssignorError(f"INVALID_ASSIGNMENT: {wrong[0].sentence}{more}")
        if answer.error != NO_ERROR:
            raise AssignorError(f"{self.name} reports error {answer.error}")
        if explain:
            explain.say(
                "installed",
                f"{self.name} ran on a client; the coordinator found each partition given exactly once, to members "
                "that it knows",
            )
        return GroupAssignment(
            members={member_id: assigned.partitions for member_id, assigned in answer.members.items()}
        )

    def _prepared(self, spec: GroupSpec, offer: Offer) -> ClientGroup:
        """The group as it would be handed out, every member with the same assignor in the same version.

        A member's metadata are its user data, where the spec has some.
        """
        return ClientGroup(
            members={
                member_id: ClientMember(
                    topics=tuple(topic for topic in member.topics if topic in spec.topics),
                    target=member.owned,
                    instance_id=member.instance_id,
                    rack_id=member.rack_id,
                    reason=offer.reason,
                    metadata=offer.metadata
                    if member.user_data is None
                    else Metadata(offer.metadata.version, member.user_data),
                )
                for member_id, member in spec.members.items()
            },
            topics={
                topic: ClientTopic(name=self._names.get(topic, topic), partitions=known.partitions)
                for topic, known in spec.topics.items()
            },
        )
