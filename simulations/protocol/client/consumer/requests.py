"""What a consumer sends and is answered, beyond what a group's coordinator itself knows of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypedDict

from simulations.protocol.messages.classic_requests import ClassicAnswer, ClassicRequest
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.groups import CommitAnswer, Heartbeat, HeartbeatAnswer, OffsetCommit
from simulations.protocol.messages.offsets import FetchAnswer, OffsetFetch

FIND_COORDINATOR_API: Final = "FindCoordinator"
GROUP_KEY: Final = 0
"""``KeyType`` of a group's coordinator."""


class FindCoordinatorBody(TypedDict):
    keyType: int
    coordinatorKeys: list[str]


class CoordinatorBody(TypedDict):
    key: str
    nodeId: int
    host: str
    port: int
    errorCode: int


class FindCoordinatorAnswerBody(TypedDict):
    coordinators: list[CoordinatorBody]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinator:
    """FindCoordinator request: any broker shows which one coordinates the group."""

    group_id: str
    version: int = 6

    def body(self) -> FindCoordinatorBody:
        return {"keyType": GROUP_KEY, "coordinatorKeys": [self.group_id]}


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinatorAnswer:
    """FindCoordinator response: the broker, unless there is an error."""

    error_code: int = 0
    node_id: int = -1
    host: str = ""
    port: int = -1

    def body(self, group_id: str) -> FindCoordinatorAnswerBody:
        """The response's fields; ``group_id`` is the key that was asked for."""
        coordinator: CoordinatorBody = {
            "key": group_id,
            "nodeId": self.node_id,
            "host": self.host,
            "port": self.port,
            "errorCode": self.error_code,
        }
        return {"coordinators": [coordinator]}


Request = (
    Heartbeat
    | OffsetCommit
    | OffsetFetch
    | FindCoordinator
    | PrepareAssignment
    | InstallAssignment
    | ClassicRequest
)
Answer = (
    HeartbeatAnswer
    | CommitAnswer
    | FetchAnswer
    | FindCoordinatorAnswer
    | PrepareAnswer
    | InstallAnswer
    | ClassicAnswer
)
