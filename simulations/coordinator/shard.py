"""One group at its coordinator: operations go in one at a time, and its state is what its records give.

Kafka: ``GroupCoordinatorShard`` with the part of ``GroupMetadataManager`` that holds one group. It knows no clock, no
network and no log: who drives it (a simulated world, the exploration, a recorded request log) tells the time, appends
the records, runs the timers and the tasks, and hands their results back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from groups.history.fold import replay_record
from groups.history.state import Semantics, State, initial_state
from simulations.coordinator.client_messages import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.coordinator.image import Image
from simulations.coordinator.interface import COORDINATORS
from simulations.coordinator.messages import CommitAnswer, Heartbeat, HeartbeatAnswer, OffsetCommit
from simulations.coordinator.outcome import REBALANCE, Context, Memory, Outcome, Record, TimerStart
from simulations.coordinator.settings import Settings

A = TypeVar("A")


class Shard:
    """``state`` is immutable and so is all that it holds: a copy costs nothing, and may go another way."""

    def __init__(
        self,
        group_id: str,
        semantics: Semantics,
        settings: Settings,
        image: Image,
        *,
        state: State | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.semantics = semantics
        self.settings = settings
        self.image = image
        self.state = state or initial_state(group_id, semantics)
        self.memory = memory or Memory()
        self._rules = COORDINATORS[semantics]

    def copy(self) -> Shard:
        return Shard(
            self.state.group,
            self.semantics,
            self.settings,
            self.image,
            state=self.state,
            memory=self.memory,
        )

    def context(self, now_ms: int) -> Context:
        return Context(
            state=self.state, image=self.image, settings=self.settings, now_ms=now_ms, memory=self.memory
        )

    def heartbeat(self, request: Heartbeat, now_ms: int) -> Outcome[HeartbeatAnswer]:
        return self._done(self._rules.heartbeat(self.context(now_ms), request))

    def commit(self, request: OffsetCommit, now_ms: int) -> Outcome[CommitAnswer]:
        return self._done(self._rules.commit(self.context(now_ms), request))

    def prepare(self, request: PrepareAssignment, now_ms: int) -> Outcome[PrepareAnswer]:
        return self._done(self._rules.prepare(self.context(now_ms), request))

    def install(self, request: InstallAssignment, now_ms: int) -> Outcome[InstallAnswer]:
        return self._done(self._rules.install(self.context(now_ms), request))

    def expired(
        self, timer: str, member_id: str | None, bound_epoch: int | None, now_ms: int
    ) -> Outcome[None]:
        """A timer ran out that was neither replaced nor cancelled meanwhile."""
        if timer == REBALANCE and member_id is not None:
            self._rebalancing(member_id, runs=False)
        return self._done(self._rules.expired(self.context(now_ms), timer, member_id, bound_epoch))

    def image_changed(self, image: Image, names: tuple[str, ...], now_ms: int) -> Outcome[None]:
        """A new metadata image, in which the topics of these names were created, changed or deleted."""
        self.image = image
        return self._done(self._rules.image_changed(self.context(now_ms), names))

    def load(self, records: Iterable[Record]) -> None:
        """Replays records that were written before: a new coordinator's first work."""
        for record in records:
            self.state = replay_record(self.state, record)

    def _done(self, outcome: Outcome[A]) -> Outcome[A]:
        self.load(outcome.records)
        if outcome.memory is not None:
            self.memory = outcome.memory
        for command in outcome.timers:
            if command.timer == REBALANCE and command.member_id is not None:
                self._rebalancing(command.member_id, runs=isinstance(command, TimerStart))
        return outcome

    def _rebalancing(self, member_id: str, *, runs: bool) -> None:
        running = self.memory.rebalancing
        if (member_id in running) != runs:
            self.memory = replace(self.memory, rebalancing=running ^ {member_id})
