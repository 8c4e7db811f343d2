"""JoinGroup: a member offers its protocols, and its leader is sent those of all. Field names are those of Kafka's schema."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from groups.history.payloads.classic_bodies import JoinAnswerBody, JoinGroupBody
from simulations.protocol.messages.classic_fields import (
    CONSUMER_PROTOCOL_TYPE,
    NO_GENERATION,
    NO_MEMBER_ID,
    Offered,
)

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
