"""DescribeGroups: a group and its members as the coordinator has them. Field names are those of Kafka's schema."""

from __future__ import annotations

from typing import Literal, TypedDict


class ListedGroup(TypedDict):
    """A group's row in ListGroups."""

    groupId: str
    protocolType: str
    groupState: str
    groupType: Literal["classic", "consumer", "share", "streams"]


class DescribedMember(TypedDict):
    """A member as DescribeGroups reports it; metadata and assignment in base64."""

    memberId: str
    groupInstanceId: str | None
    clientId: str
    clientHost: str
    memberMetadata: str
    memberAssignment: str


class DescribedGroup(TypedDict):
    """A group as DescribeGroups (version 6) reports it; ``protocolData`` is "" while no generation is stable."""

    errorCode: int
    errorMessage: str | None
    groupId: str
    groupState: str
    protocolType: str
    protocolData: str
    members: list[DescribedMember]
    authorizedOperations: int
