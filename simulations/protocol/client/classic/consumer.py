"""One consumer of the classic protocol: requests out, answers in, callbacks in order.

Theory of operation. Two threads share the membership. The application polls, and as it polls it joins: it gives up what
it must, sends a JoinGroup, assigns if it was made the leader, sends a SyncGroup, and takes what it got (``joining``). A
second thread heartbeats, learns that a rebalance has begun, and leaves if nobody polls for too long (``beating``).
Each input does what it is about; then rounds follow until nothing more is to do.

An EAGER consumer gives everything up before it joins, a COOPERATIVE one keeps it and gives up what it lost once it
learns so, which takes another join. Which of the two it is follows from its assignors and is never sent to anybody.

It is driven as ``simulations.protocol.client.consumer.consumer.Consumer`` is: every call receives the time and returns what is to be done.
The application polls all the time but for the length of a callback and while it is asked to be late. Partitions stand
under topic names.

Kafka's classes: ``ClassicKafkaConsumer``, ``ConsumerCoordinator``, ``AbstractCoordinator``; ``releases`` has what older
ones do otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from typing import Final

from simulations.protocol.assignors.interface import Assignor
from simulations.protocol.client.classic import (
    application,
    beating,
    committing,
    embedding,
    joining,
    leading,
    rounds,
    untimed,
)
from simulations.protocol.client.classic.config import ClassicConfig
from simulations.protocol.client.classic.state import CommitKind, JoinState, Leaving, Memory
from simulations.protocol.client.consumer.config import CloseOption
from simulations.protocol.client.consumer.effects import Alarm, Effect, minus
from simulations.protocol.client.consumer.errors import Failure
from simulations.protocol.client.consumer.fetched_partitions import NOTHING, Reading
from simulations.protocol.client.consumer.requests import Answer, Request
from simulations.protocol.client.consumer.state import FOREVER
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    ClassicHeartbeatAnswer,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    Offered,
    SyncAnswer,
    SyncGroup,
)
from simulations.protocol.messages.groups import CommitAnswer, CommittedOffset, OffsetCommit, Partitions


def reading(m: Memory, now_ms: int) -> Reading:
    """An EAGER consumer fetches nothing from the commit before its JoinGroup on, a COOPERATIVE one goes on.

    ``ConsumerCoordinator.onJoinPrepare``; what is new is fetched once ``on_partitions_assigned`` has returned.
    """
    if m.closed or not m.owned:
        return NOTHING
    has = m.owned
    for event in (*m.events, m.calling):
        if event is not None and event.partitions:
            has = minus(has, event.partitions)
    prepares = m.preparing and not m.cooperative
    return Reading(has, m.polls(now_ms) and not prepares, now_ms < m.busy_until_ms)


ENFORCED: Final = "rebalance enforced by user"


class ClassicConsumer:
    """See the module."""

    __slots__ = ("_assignors", "_m")

    def __init__(self, config: ClassicConfig) -> None:
        self._m = Memory(config=config, revoke_ms=config.callback_ms)
        self._assignors: dict[str, Assignor] = {}

    # What others may know of it.

    @property
    def config(self) -> ClassicConfig:
        return self._m.config

    @property
    def state(self) -> JoinState:
        return self._m.state

    @property
    def generation(self) -> int:
        return self._m.generation

    @property
    def member_id(self) -> str:
        """As the coordinator drew it; "" before it has."""
        return self._m.member_id

    @property
    def reason(self) -> str:
        """Why it is to join again, or joins."""
        return self._m.reason

    @property
    def leads(self) -> bool:
        return self._m.leads

    @property
    def owned(self) -> Partitions:
        """What the application may consume from, by topic name."""
        return self._m.owned

    def reading(self, now_ms: int) -> Reading:
        """Of which of these its application has records, or gets them."""
        return reading(self._m, now_ms)

    @property
    def revoke_ms(self) -> int:
        """How long ``on_partitions_revoked`` takes."""
        return self._m.revoke_ms

    @revoke_ms.setter
    def revoke_ms(self, length_ms: int) -> None:
        self._m.revoke_ms = length_ms

    @property
    def leaving(self) -> bool:
        """Whether it is on its way out, and will not come back by itself."""
        return self._m.wish is not None or self._m.closing

    @property
    def can_leave(self) -> bool:
        return self._m.subscribed and not self.leaving and not self.ended

    @property
    def closed(self) -> bool:
        """Whether it has left."""
        return self._m.closed or (self._m.began and not (self._m.subscribed or self.leaving))

    @property
    def ended(self) -> bool:
        """Whether its process is over: closed, as a static member's is that stopped, or an error was fatal."""
        static = self._m.config.instance_id is not None
        return self._m.closed or self._m.fatal or (static and self.closed)

    @property
    def fatal(self) -> bool:
        """Whether an error ended it."""
        return self._m.fatal

    @property
    def alarm_ms(self) -> int | None:
        return self._m.alarm_ms

    def timeout_ms(self, request: object) -> int:
        """How long an answer is waited for."""
        return (
            joining.join_timeout_ms(self._m)
            if isinstance(request, JoinGroup)
            else self.config.request_timeout_ms
        )

    def left_by(self, request: object) -> bool:
        """Whether this was the request with its leave, and the leave is over."""
        return isinstance(request, LeaveGroup) and self.closed

    # For model checking.

    def copy(self) -> ClassicConsumer:
        """A twin that goes on by itself."""
        twin = object.__new__(ClassicConsumer)
        twin._m = untimed.twin(self._m)
        twin._assignors = {name: copy(assignor) for name, assignor in self._assignors.items()}
        return twin

    def canonical(self, _rename: Callable[[int], int]) -> Hashable:
        """All that decides what it will do, but for times; generations as they are."""
        return untimed.canonical(self._m), untimed.remembered(self._assignors)

    def awaits(self, request: object) -> bool:
        """Whether the answer to this very request would be taken."""
        m = self._m
        return (
            request is m.in_flight
            or request is m.heartbeat
            or request is m.leaving
            or committing.find(m, request) is not None
        )

    def waits(self, now_ms: int) -> bool:
        """Whether there is something that it does only when a back-off or a look-up is over."""
        return untimed.waits(self._m, now_ms)

    @property
    def rests(self) -> bool:
        """Whether it is a member that has nothing to do but to heartbeat."""
        m = self._m
        quiet = m.state is JoinState.STABLE and m.assignment is None and not (m.calling or m.events)
        return quiet and m.subscribed and not joining.needed(untimed.twin(m))

    def knows_metadata(self) -> bool:
        """Whether it would learn nothing by asking a broker for the topics."""
        return self._m.metadata == self._m.config.metadata()

    def refresh(self, now_ms: int) -> list[Effect]:
        """It asks a broker for the topics now, and not only when that is due."""
        joining.refresh(self._m, now_ms)
        return self._settle(now_ms, [])

    def go_on(self, now_ms: int) -> list[Effect]:
        """What it backs off from is over, and the coordinator is found."""
        untimed.wait_is_over(self._m, now_ms)
        return self._settle(now_ms, [])

    # What the application does.

    def join(self, names: tuple[str, ...], now_ms: int, *, regex: str | None = None) -> list[Effect]:
        """Subscribes, and polls from now on."""
        m = self._m
        if m.subscribed or m.closed or m.fatal or self.leaving:
            return []
        m.subscribed = m.began = True
        m.names, m.regex = names, regex
        m.busy_until_ms, m.polled_ms = 0, now_ms
        m.auto_commit_ms = now_ms + m.config.auto_commit_interval_ms
        joining.refresh(m, now_ms)
        return self._settle(now_ms, [])

    def offers(self, names: tuple[str, ...], now_ms: int, *, regex: str | None = None) -> Offered:
        """What its first JoinGroup lists: each assignor with its metadata."""
        m = self._m
        m.names, m.regex = names, regex
        joining.refresh(m, now_ms)
        return tuple((name, embedding.subscription(m, name)) for name in m.config.assignors)

    def adopt(
        self,
        *,
        generation: int,
        protocol_name: str,
        assignment: bytes,
        group_names: frozenset[str] | None,
        now_ms: int,
    ) -> list[Effect]:
        """Is a member already that was given ``assignment`` just now: the answer to its SyncGroup has come.

        ``offers`` was asked before. ``group_names``: of the leader alone, what the group subscribes to.
        """
        m = self._m
        m.subscribed = m.began = True
        m.state, m.generation, m.member_id = JoinState.STABLE, generation, m.config.member_id
        m.protocol_name, m.reason, m.rejoin_needed = protocol_name, "", False
        m.joined_names = frozenset(m.names)
        m.polled_ms, m.auto_commit_ms = now_ms, now_ms + m.config.auto_commit_interval_ms
        m.beats = True
        m.next_beat_ms = now_ms + m.config.heartbeat_interval_ms
        m.session_ms = now_ms + m.config.session_timeout_ms
        if group_names is not None:
            m.leads, m.group_names = True, group_names
            m.covered = m.covered | group_names
            m.snapshot = leading.snapshot(m)
        m.assignment = assignment
        return self._settle(now_ms, [])

    def subscribe(
        self, names: tuple[str, ...] = (), *, regex: str | None = None, now_ms: int = 0
    ) -> list[Effect]:
        """To other topics: the next poll joins again."""
        m = self._m
        m.names, m.regex = names, regex
        joining.match_names(m)
        return self._settle(now_ms, []) if m.subscribed else []

    def enforce_rebalance(self, reason: str | None, now_ms: int) -> list[Effect]:
        """``enforceRebalance()``: the next poll joins again, whatever for."""
        self._m.ask_to_rejoin(reason or ENFORCED)
        return self._settle(now_ms, [])

    def beat(self, now_ms: int) -> list[Effect]:
        """Heartbeats now, unless that is under way, or the thread is off."""
        m = self._m
        effects: list[Effect] = []
        if beating.works(m) and m.known and m.heartbeat is None:
            beating.send(m, now_ms, effects)
        return self._settle(now_ms, effects)

    def commit(self, offsets: tuple[CommittedOffset, ...], now_ms: int) -> list[Effect]:
        """``commitAsync``, with the present generation."""
        effects: list[Effect] = []
        committing.begin(self._m, CommitKind.ASYNC, offsets, now_ms, effects)
        return self._settle(now_ms, effects)

    def leave(self, now_ms: int) -> list[Effect]:
        """Unsubscribes: gives everything up, then sends its leave. A callback that is running is let finish."""
        m = self._m
        if not m.subscribed or m.wish is not None or m.fatal:
            return []
        m.wish = Leaving()
        return self._settle(now_ms, [])

    def close(self, now_ms: int, option: CloseOption = CloseOption.DEFAULT) -> list[Effect]:
        """Closes: commits if that is automatic, gives everything up, sends its leave, and ends for good."""
        m = self._m
        if m.closed or m.wish is not None or m.fatal:
            return []
        m.wish = Leaving(closes=True, option=option)
        return self._settle(now_ms, [])

    def poll_late(self, length_ms: int | None, now_ms: int) -> list[Effect]:
        """The application does not poll for so long: it works on what it was given."""
        m = self._m
        if m.polls(now_ms):
            m.polled_ms = now_ms
        m.busy_until_ms = FOREVER if length_ms is None else max(m.busy_until_ms, now_ms + length_ms)
        return self._settle(now_ms, [])

    # What the world does.

    def receive(self, request: Request, answer: Answer, now_ms: int) -> list[Effect]:
        """The answer to a request; one that nobody waits for any more is nothing."""
        m = self._m
        effects: list[Effect] = []
        if isinstance(request, JoinGroup) and request is m.in_flight:
            assert isinstance(answer, JoinAnswer)
            joining.answered_join(m, answer)
        elif isinstance(request, SyncGroup) and request is m.in_flight:
            assert isinstance(answer, SyncAnswer)
            joining.answered_sync(m, answer, now_ms, effects)
        elif isinstance(request, ClassicHeartbeat) and request is m.heartbeat:
            assert isinstance(answer, ClassicHeartbeatAnswer)
            beating.answered(m, request, answer, now_ms, effects)
        elif request is m.leaving:
            application.left(m, effects)
        elif (commit := committing.find(m, request)) is not None:
            assert isinstance(answer, CommitAnswer)
            committing.answered(m, commit, answer, now_ms, effects)
        else:
            return []
        return self._settle(now_ms, effects)

    def failed(self, request: Request, failure: Failure, now_ms: int) -> list[Effect]:
        """There will be no answer."""
        m = self._m
        effects: list[Effect] = []
        if request is m.in_flight:
            joining.lost_answer(m, now_ms)
        elif request is m.heartbeat:
            beating.failed(m, now_ms)
        elif request is m.leaving:
            application.left(m, effects)
        elif isinstance(request, OffsetCommit) and (commit := committing.find(m, request)) is not None:
            m.lose_coordinator(now_ms)
            committing.failed(m, commit, now_ms, effects)
        else:
            return []
        return self._settle(now_ms, effects)

    def called(self, now_ms: int, raised: bool = False) -> list[Effect]:
        """The running callback has returned, or thrown."""
        effects: list[Effect] = []
        application.called(self._m, now_ms, raised, effects)
        return self._settle(now_ms, effects)

    def ring(self, now_ms: int) -> list[Effect]:
        """The alarm went off: something is due."""
        self._m.alarm_ms = None
        effects = self._settle(now_ms, [])
        if not effects or not isinstance(effects[-1], Alarm):
            effects.append(Alarm(at_ms=self._m.alarm_ms))
        return effects

    def _settle(self, now_ms: int, effects: list[Effect]) -> list[Effect]:
        return rounds.settle(self._m, self._assignors, now_ms, effects)
