"""One group at its coordinator: operations go in one at a time, and its state is what its records give.

Kafka: ``GroupCoordinatorShard`` with the part of ``GroupMetadataManager`` that holds one group. It knows no clock, no
network and no log: who drives it (a simulated world, the exploration, a recorded request log) passes the time, appends
the records, runs the timers and the tasks, and hands their results back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeVar

from groups.history.replay.fold import replay_record
from groups.history.state.group import Semantics, State, initial_state
from groups.releases import EARLIER
from groups.wire.generated.classic import GROUP_METADATA
from groups.wire.generated.consumer import CONSUMER_GROUP_MEMBER_METADATA
from simulations.protocol.coordinator import deletion, describing, fetching, group_config, transactions
from simulations.protocol.coordinator.batch_size import check_fits
from simulations.protocol.coordinator.classic import describing as classic_describing
from simulations.protocol.coordinator.classic.group import Group
from simulations.protocol.coordinator.classic.parking import FollowUp, ParkedAnswer
from simulations.protocol.coordinator.consumer import loading
from simulations.protocol.coordinator.consumer.counts import CountsCache
from simulations.protocol.coordinator.consumer.outcome import (
    Context,
    Outcome,
    Record,
    Resolution,
    VolatileState,
)
from simulations.protocol.coordinator.consumer.proposal import KipCoordinator
from simulations.protocol.coordinator.consumer.released import KafkaCoordinator
from simulations.protocol.coordinator.group_config import GroupConfig
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.timers import JOIN, REBALANCE, TimerStart
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
from simulations.protocol.messages.describe_groups import DescribedGroup, ListedGroup
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import CommitAnswer, Heartbeat, HeartbeatAnswer, OffsetCommit
from simulations.protocol.messages.offsets import (
    DeleteAnswer,
    FetchAnswer,
    OffsetDelete,
    OffsetDeleteAnswer,
    OffsetFetch,
)

A = TypeVar("A")

COORDINATORS: Final[dict[Semantics, KafkaCoordinator | KipCoordinator]] = {
    Semantics.KAFKA: KafkaCoordinator(),
    Semantics.KIP: KipCoordinator(),
}
"""The rules, whose every operation is a function of its arguments; see ``Outcome`` for what it leaves behind."""


def without_group(state: State) -> State:
    """The state of a group that is not there, with the offsets that it left behind."""
    return replace(state, deleted=True, consumer=initial_state(state.group, state.semantics).consumer)


Known = tuple[State, VolatileState, Settings, GroupConfig, Image]
"""All that the outcome of an operation depends on, but for the operation and the time."""


class Shard:
    """``state`` is immutable and so is all that it holds: a copy costs nothing, and may go another way.

    ``settings`` are the broker's, ``group_config`` what the group sets for itself (``configure``).
    """

    def __init__(
        self,
        group_id: str,
        semantics: Semantics,
        settings: Settings,
        image: Image,
        *,
        state: State | None = None,
        memory: VolatileState | None = None,
        config: GroupConfig | None = None,
    ) -> None:
        self.semantics = semantics
        self.settings = settings
        self.image = image
        self.state = state or initial_state(
            group_id, semantics, release=settings.release if semantics is Semantics.KAFKA else EARLIER
        )
        self.memory = memory or VolatileState()
        self.group_config: GroupConfig = config or {}
        self._effective: tuple[Settings, GroupConfig, Settings] = (settings, {}, settings)
        self._rules = COORDINATORS[semantics]
        self._counts = CountsCache()
        self._known: Known = (self.state, self.memory, settings, self.group_config, image)
        self._steady: dict[str, tuple[Heartbeat, Outcome[HeartbeatAnswer]]] = {}
        self._steady_classic: dict[str, tuple[ClassicHeartbeat, Outcome[ClassicHeartbeatAnswer]]] = {}

    def copy(self) -> Shard:
        return Shard(
            self.state.group,
            self.semantics,
            self.settings,
            self.image,
            state=self.state,
            memory=self.memory,
            config=self.group_config,
        )

    def matched(self) -> dict[str, tuple[str, ...]]:
        """By expression of the group's members, the topics that it matches now; none in ``kafka``, where records contain them."""
        return self._rules.matched(self.context(0))

    def configure(self, config: GroupConfig) -> None:
        """Sets the group's own settings, all of them; ``ConfigRefused`` if the broker does not take one.

        They hold from their next use on: timers that run keep their length.
        """
        group_config.check(config, self.settings)
        self.group_config = dict(config)

    def context(self, now_ms: int, drawn_id: str | None = None) -> Context:
        return Context(
            state=without_group(self.state) if self.memory.forgotten else self.state,
            image=self.image,
            settings=self._settings(),
            now_ms=now_ms,
            memory=self.memory,
            drawn_id=drawn_id,
            cache=self._counts,
        )

    def _settings(self) -> Settings:
        """The broker's settings with the group's in place; made again only when either is another."""
        of_broker, of_group, effective = self._effective
        if of_broker is not self.settings or of_group is not self.group_config:
            effective = group_config.effective(self.group_config, self.settings)
            self._effective = self.settings, self.group_config, effective
        return effective

    def heartbeat(
        self, request: Heartbeat, now_ms: int, drawn_id: str | None = None
    ) -> Outcome[HeartbeatAnswer]:
        """``drawn_id``: the member id for a client of version 0 that joins without one.

        While nothing changes, the outcome of a steady heartbeat is the object that it was before.
        """
        if request.member_id in self._steady and self._knows_the_same():
            asked, before = self._steady[request.member_id]
            if now_ms < before.lasts_ms and asked == request:
                return before
        outcome = self._done(self._rules.heartbeat(self.context(now_ms, drawn_id), request))
        if outcome.lasts_ms and self._knows_the_same():
            self._steady[request.member_id] = request, outcome
        return outcome

    def _knows_the_same(self) -> bool:
        """Whether all that steady outcomes were made of is still in place; if not, they are forgotten."""
        state, memory, settings, config, image = self._known
        if (
            state is self.state
            and memory is self.memory
            and settings is self.settings
            and config is self.group_config
            and image is self.image
        ):
            return True
        self._known = (self.state, self.memory, self.settings, self.group_config, self.image)
        self._steady.clear()
        self._steady_classic.clear()
        return False

    def join(
        self, request: JoinGroup, now_ms: int, *, ticket: int, drawn_id: str | None = None
    ) -> Outcome[None]:
        """JoinGroup of the classic protocol; its answer comes in an outcome's ``parked_answers``, now or later.

        ``ticket`` is the caller's own for this request and no other. ``drawn_id`` is a fresh ``Uuid`` (22 characters of
        url-safe base64), from which the coordinator makes the id of a member that has none.
        """
        return self._done(self._rules.join(self.context(now_ms, drawn_id), request, ticket))

    def sync(self, request: SyncGroup, now_ms: int, *, ticket: int) -> Outcome[None]:
        """SyncGroup of the classic protocol; answered as ``join``."""
        return self._done(self._rules.sync(self.context(now_ms), request, ticket))

    def classic_heartbeat(self, request: ClassicHeartbeat, now_ms: int) -> Outcome[ClassicHeartbeatAnswer]:
        """Heartbeat of the classic protocol, answered at once.

        While nothing changes, its outcome does not depend on the time, and is the object that it was before.
        """
        if request.member_id in self._steady_classic and self._knows_the_same():
            asked, before = self._steady_classic[request.member_id]
            if asked == request:
                return before
        outcome = self._done(self._rules.classic_heartbeat(self.context(now_ms), request))
        if not outcome.answer.error_code and self._knows_the_same():
            self._steady_classic[request.member_id] = request, outcome
        return outcome

    def leave_group(self, request: LeaveGroup, now_ms: int) -> Outcome[LeaveAnswer]:
        """LeaveGroup of the classic protocol, answered when its records are committed."""
        return self._done(self._rules.leave_group(self.context(now_ms), request))

    def appended(self, follow_up: FollowUp, now_ms: int, *, error: ErrorCode | None = None) -> Outcome[None]:
        """The records of the outcome that had this ``follow_up`` are committed; ``error``: they could not be written."""
        return self._done(self._rules.appended(self.context(now_ms), follow_up, error))

    def append_failed(self, outcome: Outcome[object], now_ms: int) -> tuple[Outcome[None], Outcome[None]]:
        """A leader's SyncGroup whose record is too large: its own outcome without it, and what follows for everybody."""
        assert outcome.follow_up is not None
        synced: Outcome[None] = Outcome(
            answer=None,
            timers=outcome.timers,
            memory=outcome.memory,
            tasks=outcome.tasks,
            parked_answers=outcome.parked_answers,
        )
        parked = self._done(synced)
        return parked, self.appended(outcome.follow_up, now_ms, error=ErrorCode.UNKNOWN_SERVER_ERROR)

    def unloaded(self) -> tuple[ParkedAnswer, ...]:
        """Another broker is the coordinator from here on: what is still parked is answered NOT_COORDINATOR."""
        return self._rules.unloaded(self.context(0))

    def describe_classic(self) -> DescribedGroup:
        """The group as DescribeGroups reports it, in its newest version."""
        return classic_describing.describe(self.context(0))

    def commit(self, request: OffsetCommit, now_ms: int) -> Outcome[CommitAnswer]:
        return self._done(self._rules.commit(self.context(now_ms), request))

    def end_transaction(self, producer: int, *, committed: bool) -> tuple[Record, ...]:
        """The end of a producer's transaction is in the log; the commits that are in force from here on.

        They have been written before, in the transaction.
        """
        pending, held = transactions.ended(self.memory.pending_offsets, producer, committed=committed)
        if pending != self.memory.pending_offsets:
            self.memory = replace(self.memory, pending_offsets=pending)
        for record in held:
            self._replay_plain(record)
        return held

    def transaction_ended(self, producer: int, committed: bool) -> Outcome[None]:
        """``end_transaction`` as an operation; a group of which the producer has committed nothing has no marker to write."""
        if all(each.producer != producer for each in self.memory.pending_offsets):
            return Outcome(answer=None)
        return self._done(Outcome(answer=None, records=(transactions.end_of(producer, committed=committed),)))

    def prepare(self, request: PrepareAssignment, now_ms: int) -> Outcome[PrepareAnswer]:
        return self._done(self._rules.prepare(self.context(now_ms), request))

    def install(self, request: InstallAssignment, now_ms: int) -> Outcome[InstallAnswer]:
        return self._done(self._rules.install(self.context(now_ms), request))

    def expired(
        self, timer: str, member_id: str | None, bound_epoch: int | None, now_ms: int
    ) -> Outcome[None]:
        """A timer ran out that was neither replaced nor cancelled meanwhile."""
        if member_id is not None:
            self._timed(timer, member_id, runs=False)
        return self._done(self._rules.expired(self.context(now_ms), timer, member_id, bound_epoch))

    def image_changed(self, image: Image, names: tuple[str, ...], now_ms: int) -> Outcome[None]:
        """A new metadata image, in which the topics of these names were created, changed or deleted."""
        created = image.created_since(self.image)
        self.image = image
        if created or not self.memory.new_topics_version:
            self.memory = replace(self.memory, new_topics_version=image.version)
        return self._done(self._rules.image_changed(self.context(now_ms), names))

    def topics_deleted(
        self, topics: Iterable[ImageTopic], now_ms: int, producers: Iterable[int] | None = None
    ) -> Outcome[None]:
        """After ``image_changed``, an operation of its own: the offsets of topics whose id is gone are deleted."""
        return self._done(deletion.offsets_of_topics(self.context(now_ms), topics, producers))

    def regexes_resolved(self, resolution: Resolution, now_ms: int) -> Outcome[None]:
        """The result of a task that an outcome's ``tasks`` started (``regexes.resolve``)."""
        self.memory = replace(self.memory, resolving=False)
        return self._done(self._rules.regexes_resolved(self.context(now_ms), resolution))

    def fetch(self, request: OffsetFetch, now_ms: int) -> Outcome[FetchAnswer]:
        return self._done(fetching.fetch(self.context(now_ms), request))

    def delete_offsets(self, request: OffsetDelete, now_ms: int) -> Outcome[OffsetDeleteAnswer]:
        return self._done(deletion.delete_offsets(self.context(now_ms), request))

    def delete_group(self, now_ms: int) -> Outcome[DeleteAnswer]:
        return self._done(deletion.delete_group(self.context(now_ms)))

    def expire_offsets(self, now_ms: int) -> Outcome[None]:
        """The check of ``offsets.retention.check.interval.ms``: old offsets go, and with the last an empty group."""
        return self._done(deletion.expire_offsets(self.context(now_ms)))

    def describe(self) -> describing.DescribedGroup:
        """The group as ConsumerGroupDescribe reports it: as it is in the log, also where its coordinator forgot it."""
        return describing.describe(replace(self.context(0), state=self.state))

    def listed(self) -> ListedGroup | None:
        """The group's row in ListGroups; ``None`` if there is no group."""
        context = self.context(0)
        return describing.listed(context) or classic_describing.listed(context)

    def load(self, records: Iterable[Record]) -> None:
        """Replays records that were written before: a new coordinator's first work.

        ``IllegalState`` where the released coordinator refuses to load them (``kafka`` only). What the broker's release does
        not know is skipped.
        """
        strict, release = self.semantics is Semantics.KAFKA, self.settings.release
        for record in records:
            if not release.knows(record["type"]):
                continue
            before = self.state
            self._replay(record)
            if record["type"] == GROUP_METADATA:
                # What an operation of its own wrote is known better than from its record.
                self.memory = replace(self.memory, classic=None)
            if strict:
                loading.check_replayed(before, self.state, record)

    def no_longer_served(self, now_ms: int) -> Outcome[None]:
        """The feature ``group.version`` was lowered to 0."""
        return self._done(self._rules.no_longer_served(self.context(now_ms)))

    def adopt(self, group: Group) -> None:
        """After ``load``: the classic group as it is known to a coordinator that led it, which knows more than its record."""
        self.memory = replace(self.memory, classic=group)

    def loaded(self, now_ms: int) -> Outcome[None]:
        """After ``load``: the timers that a new coordinator starts, all in full."""
        return self._done(self._rules.loaded(self.context(now_ms)))

    def _replay(self, record: Record) -> None:
        producer = record.get("producer")
        if producer is None:
            if self.memory.pending_offsets:
                pending = transactions.after_record(self.memory.pending_offsets, record)
                self.memory = replace(self.memory, pending_offsets=pending)
            self._replay_plain(record)
        elif record["type"] == transactions.TRANSACTION_END:
            self.end_transaction(producer, committed=transactions.is_commit(record))
        else:
            pending = transactions.with_commit(self.memory.pending_offsets, producer, record)
            self.memory = replace(self.memory, pending_offsets=pending)
            # Also a commit that is pending makes a group of offsets alone where there is none.
            self.state = self.state.with_simple_group()

    def _replay_plain(self, record: Record) -> None:
        if self.memory.forgotten:
            self.state = without_group(self.state)
            self.memory = replace(self.memory, forgotten=False)
        before = self.state
        # Anomalies are those of one record; the fold adds to what is there.
        self.state = replay_record(replace(before, anomalies=()) if before.anomalies else before, record)
        changed = record["key"].get("memberId") if record["type"] == CONSUMER_GROUP_MEMBER_METADATA else None
        self._counts.follow(before.consumer.members, self.state.consumer.members, changed)
        self.memory = loading.remembered(self.memory, before, record)

    def _done(self, outcome: Outcome[A]) -> Outcome[A]:
        """``RecordTooLarge`` where one batch cannot hold the records: then nothing is remembered, too."""
        if outcome.records and outcome.records[0]["type"] >= 0:
            check_fits(outcome, self.settings.max_message_bytes, self.semantics)
        if outcome.memory is not None:
            self.memory = outcome.memory
        for record in outcome.records:
            self._replay(record)
        for command in outcome.timers:
            if command.member_id is not None:
                self._timed(command.timer, command.member_id, runs=isinstance(command, TimerStart))
        return outcome

    def _timed(self, timer: str, member_id: str, *, runs: bool) -> None:
        """Remembers whose timer runs, of those that operations ask for."""
        memory = self.memory
        if timer == REBALANCE and (member_id in memory.rebalancing) != runs:
            self.memory = replace(memory, rebalancing=memory.rebalancing ^ {member_id})
        elif timer == JOIN and (member_id in memory.joining) != runs:
            self.memory = replace(memory, joining=memory.joining ^ {member_id})
