"""SyncGroup: the leader brings the assignment, and each member is sent its part. Field names are those of Kafka's schema."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from groups.history.payloads.classic_bodies import SyncAnswerBody, SyncGroupBody
from simulations.protocol.messages.classic_fields import Offered

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
