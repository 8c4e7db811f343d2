"""What clients ask of a broker: which of the coordinator's operations each request is, and how it is turned away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.errors import ErrorCode
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.client_mode import (
    INSTALL_API,
    PREPARE_API,
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.groups import (
    COMMIT_API,
    FETCH_API,
    HEARTBEAT_API,
    CommitAnswer,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
)
from simulations.protocol.messages.offsets import FetchAnswer, OffsetFetch

TURNED_AWAY: Final = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
"""Errors of a broker that has not looked at the request: nothing was decided about who sent it."""


class Answer(Protocol):
    """Any answer of a coordinator."""

    def body(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Api:
    """``handle`` is the coordinator's operation, ``refuse`` an answer of this error alone.

    It has no message: a broker sends none where it would be the error's usual one (``ApiError.fromThrowable``).
    """

    name: str
    handle: Callable[[Shard, Any, int], Outcome[Answer]]
    refuse: Callable[[Any, ErrorCode], Answer]


def _refuse_heartbeat(_request: Heartbeat, code: ErrorCode) -> HeartbeatAnswer:
    return HeartbeatAnswer(error_code=code)


def _refuse_commit(request: OffsetCommit, code: ErrorCode) -> CommitAnswer:
    return CommitAnswer(
        error_codes=tuple((offset.topic_id, offset.partition, int(code)) for offset in request.offsets)
    )


def _refuse_fetch(request: OffsetFetch, code: ErrorCode) -> FetchAnswer:
    return FetchAnswer(group_id=request.group_id, error_code=code, version=request.version)


APIS: Final[Mapping[type, Api]] = {
    Heartbeat: Api(HEARTBEAT_API, Shard.heartbeat, _refuse_heartbeat),
    OffsetCommit: Api(COMMIT_API, Shard.commit, _refuse_commit),
    OffsetFetch: Api(FETCH_API, Shard.fetch, _refuse_fetch),
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
