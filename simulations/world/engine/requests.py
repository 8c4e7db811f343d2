"""What clients ask of a broker: which of the coordinator's operations each request is, and how it is turned away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from simulations.protocol.coordinator.consumer import commits
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.classic_requests import (
    CLASSIC_HEARTBEAT_API,
    JOIN_API,
    LEAVE_API,
    SYNC_API,
    ClassicAnswer,
    ClassicHeartbeat,
    ClassicHeartbeatAnswer,
    JoinAnswer,
    JoinGroup,
    LeaveAnswer,
    LeaveGroup,
    SyncAnswer,
    SyncGroup,
)
from simulations.protocol.messages.client_mode import (
    INSTALL_API,
    PREPARE_API,
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import (
    COMMIT_API,
    FETCH_API,
    HEARTBEAT_API,
    TRANSACTIONAL_COMMIT_API,
    CommitAnswer,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
    TransactionalCommit,
)
from simulations.protocol.messages.offsets import FetchAnswer, OffsetFetch

TURNED_AWAY: Final = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
)
"""Errors of a broker that has not looked at the request: nothing was decided about who sent it."""


Answer = HeartbeatAnswer | CommitAnswer | FetchAnswer | PrepareAnswer | InstallAnswer | ClassicAnswer
"""What a coordinator answers."""


@dataclass(frozen=True, slots=True)
class Api:
    """``handle`` is the coordinator's operation, ``refuse`` an answer of this error alone.

    It has no message: a broker sends none where it would be the error's usual one (``ApiError.fromThrowable``).
    """

    name: str
    handle: Callable[[Shard, Any, int], Outcome[Answer]]  # ``Any``: requests of the operation's own class.
    refuse: Callable[[Any, ErrorCode], Answer]
    park: Park | None = None
    """In place of ``handle``, where the answer may wait for other members."""


class Park(Protocol):
    """An operation whose answer comes with this one's outcome or a later one's, under its ticket.

    ``request`` is of the class that the table has it for.
    """

    def __call__(
        self, shard: Shard, request: Any, now_ms: int, ticket: int, drawn_id: str
    ) -> Outcome[None]: ...


def _join(shard: Shard, request: JoinGroup, now_ms: int, ticket: int, drawn_id: str) -> Outcome[None]:
    return shard.join(request, now_ms, ticket=ticket, drawn_id=drawn_id)


def _sync(shard: Shard, request: SyncGroup, now_ms: int, ticket: int, drawn_id: str) -> Outcome[None]:
    del drawn_id  # A member that syncs has an id.
    return shard.sync(request, now_ms, ticket=ticket)


def _never(_shard: Shard, request: object, _now_ms: int) -> Outcome[Answer]:
    raise TypeError(f"{type(request).__name__} is parked, not handled")


def _refuse_classic_heartbeat(_request: ClassicHeartbeat, code: ErrorCode) -> ClassicHeartbeatAnswer:
    """A broker that is loading answers that all is well: the member is to wait, not to join again."""
    loading = code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return ClassicHeartbeatAnswer(error_code=ErrorCode.NONE if loading else code)


def _refuse_heartbeat(_request: Heartbeat, code: ErrorCode) -> HeartbeatAnswer:
    return HeartbeatAnswer(error_code=code)


def _refuse_fetch(request: OffsetFetch, code: ErrorCode) -> FetchAnswer:
    return FetchAnswer(group_id=request.group_id, error_code=code, version=request.version)


APIS: Final[Mapping[type, Api]] = {
    Heartbeat: Api(HEARTBEAT_API, Shard.heartbeat, _refuse_heartbeat),
    OffsetCommit: Api(COMMIT_API, Shard.commit, commits.all_refused),
    TransactionalCommit: Api(TRANSACTIONAL_COMMIT_API, Shard.commit, commits.all_refused),
    OffsetFetch: Api(FETCH_API, Shard.fetch, _refuse_fetch),
    JoinGroup: Api(
        JOIN_API,
        _never,
        lambda request, code: JoinAnswer(
            error_code=code, member_id=request.member_id, version=request.version
        ),
        _join,
    ),
    SyncGroup: Api(
        SYNC_API, _never, lambda request, code: SyncAnswer(error_code=code, version=request.version), _sync
    ),
    ClassicHeartbeat: Api(CLASSIC_HEARTBEAT_API, Shard.classic_heartbeat, _refuse_classic_heartbeat),
    LeaveGroup: Api(
        LEAVE_API,
        Shard.leave_group,
        lambda request, code: LeaveAnswer(error_code=code, version=request.version),
    ),
    PrepareAssignment: Api(
        PREPARE_API,
        Shard.prepare,
        lambda _request, code: PrepareAnswer(error_code=code),
    ),
    InstallAssignment: Api(
        INSTALL_API,
        Shard.install,
        lambda _request, code: InstallAnswer(error_code=code),
    ),
}


def handled(shard: Shard, request: object, now_ms: int, drawn_id: str) -> Outcome[Answer]:
    """What the coordinator does about a request that is not parked; ``drawn_id`` is the id of a member that joins without one."""
    if isinstance(request, Heartbeat) and not request.member_id:
        return cast(Outcome[Answer], shard.heartbeat(request, now_ms, drawn_id=drawn_id))
    return APIS[type(request)].handle(shard, request, now_ms)
