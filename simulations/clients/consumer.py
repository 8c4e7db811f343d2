"""One consumer's membership: when it heartbeats, what it tells, and how it gets from one assignment to the next.

Theory of operation. The coordinator's answers bring an epoch and sometimes an assignment, which becomes the
*target*. While the *current* assignment, the one that was acknowledged, differs from it, the consumer reconciles:
it gives up what it must (``on_partitions_revoked``), takes what it got (``on_partitions_assigned``), and
acknowledges with a heartbeat at once. An assignment is counted by a local epoch, so that a first, empty one is
acknowledged, too. The state changes when a heartbeat is *made*, not when it is answered.

It needs no network of its own and no clock: every call is told the time and returns what is to be done, in order.
The application polls all the time but for the length of a callback; a callback longer than its
``max.poll.interval.ms`` makes it leave.

Kafka 4.3.1: ``ConsumerMembershipManager``, ``ConsumerHeartbeatRequestManager``. KIP-848 differs in two ways: the
answer to a join may hold no assignment yet, and the callbacks are not called for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from simulations.clients.effects import Alarm, Call, Callback, Effect, Send, frozen, minus, tidy
from simulations.clients.states import BEATING, FENCES, RECEIVING, MemberState
from simulations.coordinator.errors import ErrorCode
from simulations.coordinator.messages import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    UNCHANGED_TIMEOUT,
    CommittedOffset,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
    Partitions,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig:
    """``rebalance_timeout_ms`` is ``max.poll.interval.ms``; ``calls_for_nothing``: also with no partition gained."""

    group_id: str
    member_id: str
    client_id: str
    client_host: str
    instance_id: str | None = None
    rack_id: str | None = None
    server_assignor: str | None = None
    rebalance_timeout_ms: int = 300_000
    callback_ms: int = 0
    calls_for_nothing: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assignment:
    """An assignment that was received, counted; two are equal only with equal counts."""

    local_epoch: int
    partitions: Partitions


@dataclass(frozen=True, slots=True)
class _Sent:
    """What the coordinator was told last; empty after an error, so that the next heartbeat tells all."""

    rebalance_timeout_ms: int | None = None
    names: tuple[str, ...] | None = None
    current: _Assignment | None = None
    all_told: bool = False


class Consumer:
    """See the module. ``owned`` is what the application may consume from; partitions stand under topic ids."""

    def __init__(self, config: ConsumerConfig) -> None:
        self.config = config
        self.state = MemberState.UNSUBSCRIBED
        self.epoch = JOIN_EPOCH
        self.owned: Partitions = {}
        self.revoke_ms = config.callback_ms
        self._names: tuple[str, ...] = ()
        self._target: _Assignment | None = None
        self._current: _Assignment | None = None
        self._sent = _Sent()
        self._in_flight: Heartbeat | None = None
        self._joined_empty = False
        self._interval_ms = 0
        self._next_beat_ms = 0
        self._calling: Call | None = None
        self._reconciling: tuple[_Assignment, Partitions] | None = None
        self._stalls_ms: int | None = None
        self._wants_to_leave = False

    @property
    def leaving(self) -> bool:
        """Whether it is on its way out, and will not come back by itself."""
        return self._wants_to_leave or self.state is MemberState.PREPARE_LEAVING

    @property
    def can_leave(self) -> bool:
        return self.state in BEATING - {MemberState.PREPARE_LEAVING}

    @property
    def closed(self) -> bool:
        """Whether it has left, or was put out while it was about to."""
        return self.state is MemberState.UNSUBSCRIBED

    @property
    def ended(self) -> bool:
        """Whether its process is over: an error was fatal, or a static member's has closed."""
        left = self.closed and self.config.instance_id is not None and self.epoch < JOIN_EPOCH
        return left or self.state is MemberState.FATAL

    # For a driver that walks many futures.

    def copy(self) -> Consumer:
        """A twin that goes on by itself: whatever is held is a value, so that both may share it."""
        twin = object.__new__(Consumer)
        twin.__dict__.update(self.__dict__)
        return twin

    def awaits(self, request: object) -> bool:
        """Whether the answer to this very request would be taken."""
        return request is self._in_flight

    def canonical(self, rename: Callable[[int], int]) -> Hashable:
        """All that decides what it will do, but for times; epochs are passed through ``rename``."""
        target, current, sent = self._target, self._current, self._sent
        reconciling, calling = self._reconciling, self._calling
        return (
            self.state,
            rename(self.epoch),
            frozen(self.owned),
            self._names,
            (frozen(target.partitions) if target is not None else None),
            (frozen(current.partitions) if current is not None else None),
            # Local epochs are only ever compared: what is as old as the target, and whether the last was told.
            current is not None and target is not None and current.local_epoch == target.local_epoch,
            sent.current == current,
            sent.all_told,
            sent.names == self._names,
            self._in_flight is not None,
            self._joined_empty,
            (calling.callback, frozen(calling.partitions)) if calling is not None else None,
            (reconciling[0] == target, frozen(reconciling[0].partitions), frozen(reconciling[1]))
            if reconciling is not None
            else None,
            self._wants_to_leave,
        )

    # What the application does.

    def join(self, names: tuple[str, ...], now_ms: int) -> list[Effect]:
        """Subscribes and polls for the first time."""
        if self.state is not MemberState.UNSUBSCRIBED:
            return []
        self._names = names
        return self._rejoin(now_ms)

    def adopt(
        self,
        *,
        epoch: int,
        owned: Partitions,
        names: tuple[str, ...],
        interval_ms: int,
        first_beat_ms: int,
    ) -> list[Effect]:
        """Is a member already, with what it owns; its first heartbeat tells everything."""
        self.state = MemberState.STABLE
        self.epoch = epoch
        self.owned = tidy(owned)
        self._names = names
        self._target = self._current = _Assignment(local_epoch=0, partitions=self.owned)
        self._interval_ms = interval_ms
        self._next_beat_ms = first_beat_ms
        return [self._alarm()]

    def subscribe(self, names: tuple[str, ...]) -> list[Effect]:
        """Other topics; the next regular heartbeat tells of them."""
        self._names = names
        return []

    def beat(self, now_ms: int) -> list[Effect]:
        """Sends a heartbeat now, whatever the interval says, unless one is under way."""
        if self.state not in BEATING or self._in_flight is not None:
            return []
        return self._send_heartbeat(now_ms)

    def commit(self, offsets: tuple[CommittedOffset, ...]) -> list[Effect]:
        """Commits offsets with the present epoch."""
        if not offsets:
            return []
        request = OffsetCommit(
            group_id=self.config.group_id,
            member_id=self.config.member_id,
            member_epoch=self.epoch if self.epoch > 0 else -1,
            offsets=offsets,
        )
        return [Send(request=request)]

    def leave(self, now_ms: int) -> list[Effect]:
        """Unsubscribes: gives everything up, then says so. A callback that is running is let finish."""
        if not self.can_leave:
            return []
        if self._calling is not None:
            self._wants_to_leave = True
            return []
        return self._prepare_leaving(now_ms)

    # What the world does.

    def receive(self, request: Heartbeat, answer: HeartbeatAnswer, now_ms: int) -> list[Effect]:
        """The answer to a heartbeat; one that nobody waits for any more, such as a leave's, is nothing."""
        if request is not self._in_flight:
            return []
        self._in_flight = None
        if self.state not in BEATING:
            return []
        if answer.error_code:
            return self._refused(ErrorCode(answer.error_code), now_ms)
        effects: list[Effect] = []
        self.epoch = answer.member_epoch
        if answer.heartbeat_interval_ms != self._interval_ms:
            self._interval_ms = answer.heartbeat_interval_ms
            self._next_beat_ms = now_ms + self._interval_ms
        if self.state in RECEIVING:
            if answer.assigned is not None:
                self._take_target(tidy(answer.assigned))
            elif self.state is MemberState.JOINING:
                self._joined_empty = True
            effects += self._reconcile(now_ms)
        return effects + self._due(now_ms)

    def called(self, now_ms: int) -> list[Effect]:
        """The running callback has returned."""
        call, self._calling = self._calling, None
        if call is None:
            return []
        if call.callback is Callback.LOST:
            self.owned = {}
            return self._rejoin(now_ms) if self.state is MemberState.FENCED else self._after_stall(now_ms)
        if call.callback is Callback.REVOKED:
            self.owned = minus(self.owned, call.partitions)
        if self.state is MemberState.FENCED:
            return self._lose(now_ms)
        if self.state is MemberState.STALE:
            return self._lose(now_ms)
        if self.state is MemberState.PREPARE_LEAVING:
            return self._say_leave(now_ms)
        if self._wants_to_leave:
            return self._prepare_leaving(now_ms)
        reconciling = self._reconciling
        if reconciling is None or self.state is not MemberState.RECONCILING:
            return self._reconcile(now_ms) + self._due(now_ms)
        target, added = reconciling
        if call.callback is Callback.REVOKED:
            return self._assign(target, added, now_ms) + self._due(now_ms)
        return self._acknowledge(target, now_ms)

    def ring(self, now_ms: int) -> list[Effect]:
        """The alarm went off: a heartbeat is due, or the application has not polled for too long."""
        if self._patience_ends() and self._stalls_ms is not None and now_ms >= self._stalls_ms:
            return self._poll_expired(now_ms)
        if self.state not in BEATING or self._in_flight is not None or now_ms < self._next_beat_ms:
            return [self._alarm()]
        return self._send_heartbeat(now_ms)

    # The machine.

    def _rejoin(self, now_ms: int) -> list[Effect]:
        self.state = MemberState.JOINING
        self.epoch = JOIN_EPOCH
        self._target = self._current = self._reconciling = None
        self._sent = _Sent()
        self._in_flight = None
        self._joined_empty = False
        return self._due(now_ms)

    def _take_target(self, partitions: Partitions) -> None:
        held = self._target
        if held is None or held.partitions != partitions:
            count = held.local_epoch + 1 if held is not None else 0
            self._target = _Assignment(local_epoch=count, partitions=partitions)
        if self._target != self._current:
            self.state = MemberState.RECONCILING
        elif self.state in (MemberState.RECONCILING, MemberState.JOINING):
            self.state = MemberState.STABLE

    def _reconcile(self, now_ms: int) -> list[Effect]:
        target = self._target
        if self.state is not MemberState.RECONCILING or target is None or target == self._current:
            return []
        if self._calling is not None or self._reconciling is not None:
            return []
        if self._current is not None and self._current.partitions == target.partitions:
            return self._acknowledge(target, now_ms)
        added, revoked = minus(target.partitions, self.owned), minus(self.owned, target.partitions)
        self._reconciling = (target, added)
        if revoked:
            return self._call(Callback.REVOKED, revoked, self.revoke_ms, now_ms)
        return self._assign(target, added, now_ms)

    def _assign(self, target: _Assignment, added: Partitions, now_ms: int) -> list[Effect]:
        self.owned = target.partitions
        if not added and not self.config.calls_for_nothing:
            return self._acknowledge(target, now_ms)
        length_ms = self.config.callback_ms if added else 0
        return self._call(Callback.ASSIGNED, added, length_ms, now_ms)

    def _acknowledge(self, target: _Assignment, now_ms: int) -> list[Effect]:
        self._reconciling = None
        self._current = target
        self.state = MemberState.ACKNOWLEDGING
        return self._due(now_ms)

    def _call(self, callback: Callback, partitions: Partitions, length_ms: int, now_ms: int) -> list[Effect]:
        call = Call(callback=callback, partitions=partitions, length_ms=length_ms)
        self._calling = call
        self._stalls_ms = now_ms + self.config.rebalance_timeout_ms
        return [call, self._alarm()]

    def _due(self, now_ms: int) -> list[Effect]:
        """A heartbeat now, if the state asks for one or the interval is over; else the alarm."""
        at_once = self.state is MemberState.ACKNOWLEDGING or (
            self.state is MemberState.JOINING and not self._joined_empty
        )
        overdue = self.state in BEATING and now_ms >= self._next_beat_ms
        if self._in_flight is None and (at_once or overdue):
            return self._send_heartbeat(now_ms)
        return [self._alarm()]

    def _alarm(self) -> Alarm:
        """The earlier of the next heartbeat and the end of the application's patience."""
        times = []
        if self.state in BEATING and self._in_flight is None:
            times.append(self._next_beat_ms)
        if self._stalls_ms is not None and self._patience_ends():
            times.append(self._stalls_ms)
        return Alarm(at_ms=min(times) if times else None)

    def _patience_ends(self) -> bool:
        """Whether a callback that takes too long makes the member leave; one that leaves anyway is waited for."""
        return self._calling is not None and self.can_leave

    def _send_heartbeat(self, now_ms: int) -> list[Effect]:
        request = self._heartbeat()
        self._in_flight = request
        self._next_beat_ms = now_ms + self._interval_ms
        effects: list[Effect] = [Send(request=request)]
        if self.state is MemberState.ACKNOWLEDGING:
            same = self._current == self._target
            self.state = MemberState.STABLE if same else MemberState.RECONCILING
            effects += self._reconcile(now_ms)
        return [*effects, self._alarm()]

    def _heartbeat(self) -> Heartbeat:
        """The fields that changed since they were told last; all of them when joining."""
        config, sent = self.config, self._sent
        joins = self.state is MemberState.JOINING
        tells_all = joins or not sent.all_told
        owned: Partitions | None = None
        if joins:
            owned = {}
        elif tells_all or self._current != sent.current:
            owned = tidy(self._current.partitions) if self._current is not None else {}
        names = self._names if tells_all or self._names != sent.names else None
        self._sent = _Sent(
            rebalance_timeout_ms=config.rebalance_timeout_ms,
            names=self._names,
            current=self._current,
            all_told=True,
        )
        return Heartbeat(
            group_id=config.group_id,
            member_id=config.member_id,
            member_epoch=self.epoch,
            instance_id=config.instance_id,
            rack_id=config.rack_id if joins else None,
            rebalance_timeout_ms=config.rebalance_timeout_ms if tells_all else UNCHANGED_TIMEOUT,
            subscribed_topic_names=names,
            server_assignor=config.server_assignor if tells_all else None,
            owned=owned,
            client_id=config.client_id,
            client_host=config.client_host,
        )

    # Leaving, and being thrown out.

    def _prepare_leaving(self, now_ms: int) -> list[Effect]:
        self._wants_to_leave = False
        self._reconciling = None
        self.state = MemberState.PREPARE_LEAVING
        if not self.owned:
            return self._say_leave(now_ms)
        callback = Callback.REVOKED if self.epoch > 0 else Callback.LOST
        return self._call(callback, self.owned, self.revoke_ms, now_ms)

    def _say_leave(self, now_ms: int) -> list[Effect]:
        """The last heartbeat; it is sent even while another is under way, and its answer is of no interest."""
        self.state = MemberState.UNSUBSCRIBED
        effects = self._leave_request(names=())
        self.owned = {}
        self._names = ()
        return effects

    def _leave_request(self, names: tuple[str, ...] | None) -> list[Effect]:
        """A static member leaves for now, whatever it leaves for."""
        self.epoch = LEAVE_EPOCH if self.config.instance_id is None else STATIC_LEAVE_EPOCH
        request = Heartbeat(
            group_id=self.config.group_id,
            member_id=self.config.member_id,
            member_epoch=self.epoch,
            instance_id=self.config.instance_id,
            subscribed_topic_names=names,
            owned={},
            client_id=self.config.client_id,
            client_host=self.config.client_host,
        )
        self._target = self._current = None
        self._sent = _Sent()
        return [Send(request=request), self._alarm()]

    def _poll_expired(self, now_ms: int) -> list[Effect]:
        """The application stalls in a callback: the member leaves, and joins again when it is back."""
        self._stalls_ms = None
        self._reconciling = None
        self.state = MemberState.STALE
        return self._leave_request(names=None)

    def _after_stall(self, now_ms: int) -> list[Effect]:
        return self._rejoin(now_ms) if self.state is MemberState.STALE else []

    def _refused(self, code: ErrorCode, now_ms: int) -> list[Effect]:
        self._sent = _Sent()
        self._reconciling = None
        if self.state is MemberState.PREPARE_LEAVING:
            self.state = MemberState.UNSUBSCRIBED
            return [self._alarm()]
        if code not in FENCES:
            self.state = MemberState.FATAL
            if not self.owned:
                return [self._alarm()]
            return self._call(Callback.LOST, self.owned, self.config.callback_ms, now_ms)
        self.state = MemberState.FENCED
        self.epoch = JOIN_EPOCH
        # A callback that runs is let finish; what is owned then is lost.
        return [self._alarm()] if self._calling is not None else self._lose(now_ms)

    def _lose(self, now_ms: int) -> list[Effect]:
        if self.owned:
            return self._call(Callback.LOST, self.owned, self.config.callback_ms, now_ms)
        return self._rejoin(now_ms)
