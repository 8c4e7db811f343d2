"""LeaveGroup: members leave, or are removed by an admin client. Field names are those of Kafka's schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groups.history.payloads.classic_bodies import LeaveAnswerBody, LeaveGroupBody

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
