"""What a shard asks of a coordinator, whichever rules it follows."""

from __future__ import annotations

from typing import Final, Protocol

from groups.history.state.group import Semantics
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Resolution
from simulations.protocol.coordinator.consumer.proposal import KipCoordinator
from simulations.protocol.coordinator.consumer.released import KafkaCoordinator
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.groups import CommitAnswer, Heartbeat, HeartbeatAnswer, OffsetCommit


class Coordinator(Protocol):
    """Every operation is a function of its arguments; see ``Outcome`` for what it leaves behind."""

    def heartbeat(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]: ...

    def commit(self, context: Context, request: OffsetCommit) -> Outcome[CommitAnswer]: ...

    def expired(
        self, context: Context, timer: str, member_id: str | None, bound_epoch: int | None
    ) -> Outcome[None]: ...

    def prepare(self, context: Context, request: PrepareAssignment) -> Outcome[PrepareAnswer]: ...

    def install(self, context: Context, request: InstallAssignment) -> Outcome[InstallAnswer]: ...

    def image_changed(self, context: Context, names: tuple[str, ...]) -> Outcome[None]: ...

    def regexes_resolved(self, context: Context, resolution: Resolution) -> Outcome[None]: ...

    def loaded(self, context: Context) -> Outcome[None]: ...

    def matched(self, context: Context) -> dict[str, tuple[str, ...]]: ...


COORDINATORS: Final[dict[Semantics, Coordinator]] = {
    Semantics.KAFKA: KafkaCoordinator(),
    Semantics.KIP: KipCoordinator(),
}
