"""What a shard asks of a coordinator, whichever rules it follows."""

from __future__ import annotations

from typing import Final, Protocol

from groups.history.state.group import Semantics
from simulations.protocol.coordinator.classic.parking import FollowUp, ParkedAnswer
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Resolution
from simulations.protocol.coordinator.consumer.proposal import KipCoordinator
from simulations.protocol.coordinator.consumer.released import KafkaCoordinator
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    ClassicHeartbeatAnswer,
    JoinGroup,
    LeaveAnswer,
    LeaveGroup,
    SyncGroup,
)
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import CommitAnswer, Heartbeat, HeartbeatAnswer, OffsetCommit


class Coordinator(Protocol):
    """Every operation is a function of its arguments; see ``Outcome`` for what it leaves behind."""

    def heartbeat(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]: ...

    def join(self, context: Context, request: JoinGroup, ticket: int) -> Outcome[None]: ...

    def sync(self, context: Context, request: SyncGroup, ticket: int) -> Outcome[None]: ...

    def classic_heartbeat(
        self, context: Context, request: ClassicHeartbeat
    ) -> Outcome[ClassicHeartbeatAnswer]: ...

    def leave_group(self, context: Context, request: LeaveGroup) -> Outcome[LeaveAnswer]: ...

    def appended(self, context: Context, follow_up: FollowUp, error: ErrorCode | None) -> Outcome[None]: ...

    def unloaded(self, context: Context) -> tuple[ParkedAnswer, ...]: ...

    def commit(self, context: Context, request: OffsetCommit) -> Outcome[CommitAnswer]: ...

    def expired(
        self, context: Context, timer: str, member_id: str | None, bound_epoch: int | None
    ) -> Outcome[None]: ...

    def prepare(self, context: Context, request: PrepareAssignment) -> Outcome[PrepareAnswer]: ...

    def install(self, context: Context, request: InstallAssignment) -> Outcome[InstallAnswer]: ...

    def image_changed(self, context: Context, names: tuple[str, ...]) -> Outcome[None]: ...

    def regexes_resolved(self, context: Context, resolution: Resolution) -> Outcome[None]: ...

    def no_longer_served(self, context: Context) -> Outcome[None]: ...

    def loaded(self, context: Context) -> Outcome[None]: ...

    def matched(self, context: Context) -> dict[str, tuple[str, ...]]: ...


COORDINATORS: Final[dict[Semantics, Coordinator]] = {
    Semantics.KAFKA: KafkaCoordinator(),
    Semantics.KIP: KipCoordinator(),
}
