"""What a broker lets a client do, before it looks at what is asked: ACLs, by the principal of each member.

Kafka's classes: ``KafkaApis`` with ``StandardAuthorizer``. Every broker asks this, the coordinator or not. A member's principal is
the same whatever process of it runs; whatever is not denied is allowed, and to be denied READ is not to be denied DESCRIBE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NotRequired, TypedDict

from simulations.protocol.client.consumer import Request
from simulations.protocol.coordinator.consumer import commits
from simulations.protocol.coordinator.image import Image
from simulations.protocol.messages.classic_requests import ClassicHeartbeat, JoinGroup, LeaveGroup, SyncGroup
from simulations.protocol.messages.client_mode import InstallAssignment, PrepareAssignment
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import CommitAnswer, Heartbeat, OffsetCommit
from simulations.protocol.messages.offsets import OffsetFetch
from simulations.world.scenario.access import Denial, Operation, Resource, Right

READS_GROUP = (
    Heartbeat,
    OffsetCommit,
    JoinGroup,
    SyncGroup,
    ClassicHeartbeat,
    LeaveGroup,
    PrepareAssignment,
    InstallAssignment,
)
"""Requests that need READ on their group; OffsetFetch needs DESCRIBE."""


class AclNote(TypedDict):
    """``note`` is ``acl``: from here on a member's principal is denied an operation on the group or the topic, or allowed it again."""

    note: str
    member: str
    operation: str
    group: NotRequired[str]
    topic: NotRequired[str]
    allowed: bool


def acl_note(member: str, right: Right, *, allowed: bool) -> AclNote:
    note: AclNote = {
        "note": "acl",
        "member": member,
        "operation": str(right.operation),
        "allowed": allowed,
    }
    if right.resource is Resource.GROUP:
        note["group"] = right.name
    else:
        note["topic"] = right.name
    return note


class Access:
    """``denied`` at first; ``deny`` and ``allow`` change it."""

    def __init__(self, group: str, denied: Iterable[Denial]) -> None:
        self._group = group
        self._denied = set(denied)

    def deny(self, member: str, right: Right) -> None:
        self._denied.add((member, right))

    def allow(self, member: str, right: Right) -> None:
        self._denied.discard((member, right))

    def may(self, member: str, operation: Operation, topic: str) -> bool:
        """Whether a member may do this with a topic."""
        return not self._denied or (member, Right(operation, Resource.TOPIC, topic)) not in self._denied

    def may_group(self, member: str, operation: Operation) -> bool:
        return not self._denied or (member, Right(operation, Resource.GROUP, self._group)) not in self._denied

    def refusal(self, member: str, request: Request) -> ErrorCode:
        """With which error a broker answers the whole request; ``NONE``: the coordinator is asked."""
        if not self._denied:
            return ErrorCode.NONE
        if isinstance(request, READS_GROUP) and not self.may_group(member, Operation.READ):
            return ErrorCode.GROUP_AUTHORIZATION_FAILED
        if isinstance(request, OffsetFetch) and not self.may_group(member, Operation.DESCRIBE):
            return ErrorCode.GROUP_AUTHORIZATION_FAILED
        if isinstance(request, Heartbeat) and any(
            not self.may(member, Operation.DESCRIBE, name) for name in request.subscribed_topic_names or ()
        ):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return ErrorCode.NONE

    def passed_on(self, member: str, request: OffsetCommit) -> tuple[OffsetCommit, CommitAnswer]:
        """What of a commit the coordinator is asked for, and what is answered without it: topics that need READ."""
        refused = [offset for offset in request.offsets if not self.may(member, Operation.READ, offset.topic)]
        answer = commits.all_refused(
            replace(request, offsets=tuple(refused)), ErrorCode.TOPIC_AUTHORIZATION_FAILED
        )
        if not refused:
            return request, answer
        rest = tuple(offset for offset in request.offsets if offset not in refused)
        return replace(request, offsets=rest), answer

    def visible(self, member: str, image: Image) -> Image:
        """The topics that a member may know of."""
        shown = {
            name: topic for name, topic in image.topics.items() if self.may(member, Operation.DESCRIBE, name)
        }
        return image if len(shown) == len(image.topics) else Image(topics=shown, version=image.version)
