"""The requests of members of the classic protocol (JoinGroup, SyncGroup, Heartbeat, LeaveGroup), and what answers them.

Field names are those of Kafka's schemas. Bytes that members and their leader say to each other (subscriptions, assignments)
are ``bytes`` in messages and base64 in their ``body``, as everywhere that a request is shown as JSON. The coordinator looks
into them only to find out which topics a group subscribes to, and when it converts a group between the protocols.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from groups.history.payloads.classic_bodies import (
    ClassicHeartbeatBody,
    ErrorCodeBody,
    JoinAnswerBody,
    JoinGroupBody,
    LeaveAnswerBody,
    LeaveGroupBody,
    SyncAnswerBody,
    SyncGroupBody,
)

CONSUMER_PROTOCOL_TYPE: Final = "consumer"
"""``protocol_type`` of consumers; Kafka Connect and others have their own."""

NO_GENERATION: Final = -1
NO_MEMBER_ID: Final = ""
"""``member_id`` of a member that has none yet: the coordinator draws one."""

Offered = tuple[tuple[str, bytes], ...]
"""Protocols of a member with their metadata, the best first: names of assignors and subscriptions, for a consumer."""


SYNC_API: Final = "SyncGroup"

SYNC_PROTOCOL_VERSION: Final = 5
"""From this version on, SyncGroup's request and answer contain type and name of the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroup:
    """SyncGroup request. ``assignments`` has the leader's bytes by member id; those of others are empty."""

    group_id: str
    generation: int
    member_id: str
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: Offered = ()
    version: int = 5

    def body(self) -> SyncGroupBody:
        return {
            "groupId": self.group_id,
            "generationId": self.generation,
            "memberId": self.member_id,
            "groupInstanceId": self.instance_id,
            "protocolType": self.protocol_type,
            "protocolName": self.protocol_name,
            "assignments": [
                {"memberId": member_id, "assignment": b64encode(assignment).decode()}
                for member_id, assignment in self.assignments
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncAnswer:
    """SyncGroup response: the member's own bytes of the leader's assignment."""

    error_code: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""
    version: int = 5

    def body(self) -> SyncAnswerBody:
        return {
            "errorCode": int(self.error_code),
            "protocolType": self.protocol_type,
            "protocolName": self.protocol_name,
            "assignment": b64encode(self.assignment).decode(),
        }


JOIN_API: Final = "JoinGroup"

MEMBER_ID_REQUIRED_VERSION: Final = 4
"""From this version of JoinGroup on, a dynamic member has to join again with the id that it was given (KIP-394)."""

PROTOCOL_NAME_VERSION: Final = 7
"""From this version on, JoinGroup contains the protocol's type, and no name as null instead of an empty one."""

SKIP_ASSIGNMENT_VERSION: Final = 9
"""From this version of JoinGroup on, a leader can be asked to make no assignment (KIP-814)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroup:
    """JoinGroup request; durations in milliseconds. ``member_id`` is "" for a member that has none yet.

    ``rebalance_timeout_ms`` is the session timeout in version 0, which does not have it.
    """

    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str = NO_MEMBER_ID
    instance_id: str | None = None
    protocol_type: str = CONSUMER_PROTOCOL_TYPE
    protocols: Offered = ()
    reason: str | None = None
    client_id: str = ""
    client_host: str = "/127.0.0.1"
    version: int = 9

    def body(self) -> JoinGroupBody:
        """The request's fields as JSON."""
        return {
            "groupId": self.group_id,
            "sessionTimeoutMs": self.session_timeout_ms,
            "rebalanceTimeoutMs": self.rebalance_timeout_ms,
            "memberId": self.member_id,
            "groupInstanceId": self.instance_id,
            "protocolType": self.protocol_type,
            "protocols": [
                {"name": name, "metadata": b64encode(metadata).decode()} for name, metadata in self.protocols
            ],
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedMember:
    """What the leader is sent of a member: its bytes for the protocol that was chosen."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinAnswer:
    """JoinGroup response. ``members`` is empty but for the leader, and in the coordinator's order."""

    error_code: int = 0
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    member_id: str = ""
    members: tuple[JoinedMember, ...] = ()
    version: int = 9

    def body(self) -> JoinAnswerBody:
        return {
            "errorCode": int(self.error_code),
            "generationId": self.generation,
            "protocolType": self.protocol_type,
            "protocolName": self.protocol_name
            if self.version >= PROTOCOL_NAME_VERSION
            else self.protocol_name or "",
            "leader": self.leader,
            "skipAssignment": self.skip_assignment,
            "memberId": self.member_id,
            "members": [
                {
                    "memberId": member.member_id,
                    "groupInstanceId": member.instance_id,
                    "metadata": b64encode(member.metadata).decode(),
                }
                for member in self.members
            ],
        }


LEAVE_API: Final = "LeaveGroup"

BATCH_LEAVE_VERSION: Final = 3
"""From this version on, LeaveGroup takes several members, and answers each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingMember:
    """An entry of LeaveGroup: a member by its id, or a static one by its instance id."""

    member_id: str
    instance_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroup:
    """LeaveGroup request; below version 3 it has exactly one member, without instance id."""

    group_id: str
    members: tuple[LeavingMember, ...]
    version: int = 5

    def body(self) -> LeaveGroupBody:
        if self.version < BATCH_LEAVE_VERSION:
            return {"groupId": self.group_id, "memberId": self.members[0].member_id}
        return {
            "groupId": self.group_id,
            "members": [
                {
                    "memberId": member.member_id,
                    "groupInstanceId": member.instance_id,
                    "reason": member.reason,
                }
                for member in self.members
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftMember:
    """What became of an entry of LeaveGroup."""

    member_id: str
    instance_id: str | None = None
    error_code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveAnswer:
    """LeaveGroup response; ``error_code`` is about the request as a whole."""

    error_code: int = 0
    members: tuple[LeftMember, ...] = ()
    version: int = 5

    def body(self) -> LeaveAnswerBody:
        if self.version < BATCH_LEAVE_VERSION:
            (left,) = self.members or (LeftMember(member_id=""),)
            return {"errorCode": int(self.error_code or left.error_code)}
        return {
            "errorCode": int(self.error_code),
            "members": [
                {
                    "memberId": member.member_id,
                    "groupInstanceId": member.instance_id,
                    "errorCode": int(member.error_code),
                }
                for member in self.members
            ],
        }


CLASSIC_HEARTBEAT_API: Final = "Heartbeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicHeartbeat:
    """Heartbeat request of the classic protocol."""

    group_id: str
    generation: int
    member_id: str
    instance_id: str | None = None
    version: int = 4

    def body(self) -> ClassicHeartbeatBody:
        return {
            "groupId": self.group_id,
            "generationId": self.generation,
            "memberId": self.member_id,
            "groupInstanceId": self.instance_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicHeartbeatAnswer:
    """Heartbeat response of the classic protocol."""

    error_code: int = 0

    def body(self) -> ErrorCodeBody:
        return {"errorCode": int(self.error_code)}


CLASSIC_APIS: Final = (JOIN_API, SYNC_API, CLASSIC_HEARTBEAT_API, LEAVE_API)

ClassicRequest = JoinGroup | SyncGroup | ClassicHeartbeat | LeaveGroup
ClassicAnswer = JoinAnswer | SyncAnswer | ClassicHeartbeatAnswer | LeaveAnswer
