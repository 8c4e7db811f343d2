"""ListGroups: a row for each group of a coordinator, whatever its protocol. Field names are those of Kafka's schema."""

from __future__ import annotations

from typing import Literal, TypedDict


class ListedGroup(TypedDict):
    """A group's row in ListGroups."""

    groupId: str
    protocolType: str
    groupState: str
    groupType: Literal["classic", "consumer", "share", "streams"]
