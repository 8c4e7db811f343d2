"""Heartbeat: a member of the classic protocol lives, and learns of a rebalance. Field names are those of Kafka's schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groups.history.payloads.classic_bodies import ClassicHeartbeatBody, ErrorCodeBody

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
