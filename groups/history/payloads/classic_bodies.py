"""The body of each message of the classic protocol, as JSON by the names of Kafka's schemas; bytes in base64."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from groups.history.payloads.records import ClassicProtocol


class JoinGroupBody(TypedDict):
    groupId: str
    sessionTimeoutMs: int
    rebalanceTimeoutMs: int
    memberId: str
    groupInstanceId: str | None
    protocolType: str
    protocols: list[ClassicProtocol]
    reason: str | None


class JoinedMemberBody(TypedDict):
    memberId: str
    groupInstanceId: str | None
    metadata: str


class JoinAnswerBody(TypedDict):
    errorCode: int
    generationId: int
    protocolType: str | None
    protocolName: str | None
    leader: str
    skipAssignment: bool
    memberId: str
    members: list[JoinedMemberBody]


class SyncAssignmentBody(TypedDict):
    memberId: str
    assignment: str


class SyncGroupBody(TypedDict):
    groupId: str
    generationId: int
    memberId: str
    groupInstanceId: str | None
    protocolType: str | None
    protocolName: str | None
    assignments: list[SyncAssignmentBody]


class SyncAnswerBody(TypedDict):
    errorCode: int
    protocolType: str | None
    protocolName: str | None
    assignment: str


class ClassicHeartbeatBody(TypedDict):
    groupId: str
    generationId: int
    memberId: str
    groupInstanceId: str | None


class ErrorCodeBody(TypedDict):
    errorCode: int


class LeavingMemberBody(TypedDict):
    memberId: str
    groupInstanceId: str | None
    reason: str | None


class LeaveGroupBody(TypedDict):
    """Below version 3 the member is in the request itself."""

    groupId: str
    memberId: NotRequired[str]
    members: NotRequired[list[LeavingMemberBody]]


class LeftMemberBody(TypedDict):
    memberId: str
    groupInstanceId: str | None
    errorCode: int


class LeaveAnswerBody(TypedDict):
    """Below version 3 without ``members``."""

    errorCode: int
    members: NotRequired[list[LeftMemberBody]]
