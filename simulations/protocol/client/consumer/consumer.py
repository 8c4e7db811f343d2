"""One consumer's membership: when it heartbeats, what it reports, and how it gets from one assignment to the next.

Theory of operation. The coordinator's answers bring an epoch and sometimes an assignment, which becomes the
*target*. While the *current* assignment, the one that was acknowledged, differs from it, the consumer reconciles:
it commits, gives up what it must (``on_partitions_revoked``), takes what it got (``on_partitions_assigned``), and
acknowledges with a heartbeat at once. An assignment is counted by a local epoch, so that a first, empty one is
acknowledged, too. The state changes when a heartbeat is *made*, not when it is answered::

                    join                  assignment               callbacks have run
    UNSUBSCRIBED ─────────▶ JOINING ─────────────────▶ RECONCILING ──────────────────▶ ACKNOWLEDGING
       ▲  ▲                  ▲   ▲                      ▲   ▲  another target came meanwhile  │  │
       │  │             lost │   │ polls again          │   └─────────────────────────────────┘  │
       │  │ left             │   │ assignment           │                                        ▼ heartbeat made
       │  └── FENCED ────────┘   │           └──────────┴──────────────────────────────────── STABLE
       │      ▲ fenced in any    │
       │      │ state that beats │ released           callback has run
       │ heartbeat made       STALE ◀──── LEAVING ◀──── PREPARE_LEAVING ◀── unsubscribe, close, poll timer
       └──────────────────────────────────┘
                                            FATAL: any other error; nothing leads out of it

Each input does what it is about, then rounds follow until nothing more is to do. A round is one of the client's
background thread and of a polling application: callbacks, reconciliation, commits, coordinator look-up, heartbeat.

It needs no network of its own and no clock: every call receives the time and returns what is to be done, in order.
The application polls all the time but for the length of a callback, of a commit that it waits for, and while it is
made late; if that takes ``max.poll.interval.ms``, the member leaves. A caller that drives it without time may send
(``beat``), expire the poll timer (``expire_poll``) and let the application poll (``poll``) whenever it likes.

Kafka's classes: ``ConsumerMembershipManager``, ``ConsumerHeartbeatRequestManager``, ``CommitRequestManager``,
``CoordinatorRequestManager``. KIP-848 differs in two ways: the answer to a join may hold no assignment yet, and the
callbacks are not called for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace

from simulations.protocol.client.consumer import (
    application,
    committing,
    heartbeats,
    request_outcomes,
    rounds,
)
from simulations.protocol.client.consumer.canonical import canonical, later
from simulations.protocol.client.consumer.config import CloseOption, ConsumerConfig
from simulations.protocol.client.consumer.effects import Alarm, Effect, Operation, Returned, Send, tidy
from simulations.protocol.client.consumer.errors import Failure
from simulations.protocol.client.consumer.fetched_partitions import Reading, reading
from simulations.protocol.client.consumer.requests import Answer, Request
from simulations.protocol.client.consumer.state import (
    FOREVER,
    UNSUBSCRIBED,
    Assignment,
    ClientState,
    Commit,
    CommitKind,
    Leaving,
    Lookup,
    Subscription,
)
from simulations.protocol.client.consumer.states import BEATING, RECEIVING, MemberState
from simulations.protocol.client.expressions import matched
from simulations.protocol.messages.groups import (
    JOIN_EPOCH,
    CommittedOffset,
    Heartbeat,
    HeartbeatAnswer,
    Partitions,
)


class Consumer:
    """See the module. Partitions stand under topic ids."""

    __slots__ = ("_m",)

    def __init__(self, config: ConsumerConfig) -> None:
        known = Lookup(known=not config.finds_coordinator)
        member_id = "" if config.is_proposed else config.member_id
        self._m = ClientState(config=config, lookup=known, revoke_ms=config.callback_ms, member_id=member_id)

    # What others may know of it.

    @property
    def config(self) -> ConsumerConfig:
        return self._m.config

    @property
    def state(self) -> MemberState:
        return self._m.state

    @property
    def epoch(self) -> int:
        return self._m.epoch

    @property
    def owned(self) -> Partitions:
        """What the application may consume from."""
        return self._m.owned

    def reading(self, now_ms: int) -> Reading:
        """Of which of these its application has records, or gets them."""
        return reading(self._m, now_ms)

    @property
    def target(self) -> Partitions:
        """What it was sent last that it is to have."""
        return self._m.target.partitions

    @property
    def under_way(self) -> list[Partitions]:
        """What it will have by reconciliations in progress, of which no assignment that comes meanwhile changes anything."""
        begun = (self._m.reconciliation, *(event.reconciliation for event in self._m.events))
        return [each.target.partitions for each in begun if each is not None]

    @property
    def revoke_ms(self) -> int:
        """How long ``on_partitions_revoked`` takes."""
        return self._m.revoke_ms

    @revoke_ms.setter
    def revoke_ms(self, length_ms: int) -> None:
        self._m.revoke_ms = length_ms

    @property
    def node_id(self) -> int | None:
        """The broker that it takes for the coordinator, if it looked that up."""
        return self._m.lookup.node_id

    @property
    def leaving(self) -> bool:
        """Whether it is on its way out, and will not come back by itself."""
        m = self._m
        return m.wish is not None or m.closes or m.state is MemberState.PREPARE_LEAVING

    @property
    def can_leave(self) -> bool:
        return self._m.state in RECEIVING and self._m.leaving is None

    @property
    def closed(self) -> bool:
        """Whether it has left, or was put out while it was about to."""
        return self._m.state is MemberState.UNSUBSCRIBED

    def timeout_ms(self, _request: object) -> int:
        """How long an answer is waited for."""
        return self._m.config.request_timeout_ms

    def left_by(self, request: object) -> bool:
        """Whether this was the request with its leave, and the leave is over."""
        return isinstance(request, Heartbeat) and self.closed and request.member_epoch == self.epoch

    @property
    def ended(self) -> bool:
        """Whether its process is over: closed, as a static member's is once it has left, or an error was fatal."""
        m = self._m
        left = self.closed and m.config.instance_id is not None and m.epoch < JOIN_EPOCH
        return left or m.closed or self.fatal

    @property
    def fatal(self) -> bool:
        """Whether an error ended it."""
        return self._m.state is MemberState.FATAL

    def awaits(self, request: object) -> bool:
        """Whether the answer to this very request would be taken."""
        m = self._m
        return (
            request is m.in_flight
            or request is m.lookup.request
            or any(commit.request is request for commit in m.commits)
            or any(fetch.request is request for fetch in m.fetches)
        )

    def copy(self) -> Consumer:
        """A twin that goes on by itself, a moment later: whatever is held is a value, so that both may share it."""
        twin = object.__new__(Consumer)
        twin._m = later(self._m)
        return twin

    def canonical(self, rename: Callable[[int], int]) -> Hashable:
        """All that decides what it will do, but for times; epochs are passed through ``rename``."""
        return canonical(self._m, rename)

    # What the application does.

    def join(
        self, names: tuple[str, ...], now_ms: int, *, regex: str | None = None, pattern: str | None = None
    ) -> list[Effect]:
        """Subscribes and polls for the first time; while an ``unsubscribe()`` is under way, once that is over."""
        m = self._m
        subscription = self._matched(Subscription(names, regex, pattern))
        if m.closed or m.wish is not None:
            return []
        if m.state is MemberState.UNSUBSCRIBED and m.leaving is not None:
            m.joins_again = subscription
            return []
        if m.state is MemberState.UNSUBSCRIBED:
            rounds.join(m, subscription, now_ms)
        elif m.state is MemberState.STALE and m.subscription is UNSUBSCRIBED:
            m.subscription = subscription
        else:
            return []
        m.busy_until_ms = 0
        return self._settle(now_ms, [])

    def adopt(
        self,
        *,
        epoch: int,
        owned: Partitions,
        names: tuple[str, ...],
        interval_ms: int,
        first_beat_ms: int,
        regex: str | None = None,
    ) -> list[Effect]:
        """Is a member already, with what it owns; its first heartbeat reports everything."""
        m = self._m
        m.state = MemberState.STABLE
        m.member_id = m.config.member_id
        m.epoch = epoch
        m.owned = tidy(owned)
        m.subscription = Subscription(names, regex)
        m.target = m.current = Assignment(0, m.owned)
        m.interval_ms = interval_ms
        m.next_beat_ms = m.auto_commit_ms = first_beat_ms
        m.lookup = replace(m.lookup, known=True)
        m.alarm_ms = first_beat_ms
        return [Alarm(at_ms=first_beat_ms)]

    def subscribe(
        self, names: tuple[str, ...] = (), *, regex: str | None = None, pattern: str | None = None
    ) -> list[Effect]:
        """To other topics: by name, by an expression that the coordinator resolves, or by one that the client does.

        The next regular heartbeat reports them.
        """
        subscription = self._matched(Subscription(names, regex, pattern))
        if self._m.joins_again is not None:
            # It waits for its leave to be over: what was asked for last counts.
            self._m.joins_again = subscription
        else:
            self._m.subscription = subscription
        return []

    def beat(self, now_ms: int) -> list[Effect]:
        """Sends a heartbeat now, whatever intervals and back-offs say, unless one is under way."""
        m = self._m
        if m.state not in BEATING or m.in_flight is not None:
            return []
        if not m.lookup.known:
            m.lookup = replace(m.lookup, next_ms=now_ms)
            return self._settle(now_ms, [])
        effects: list[Effect] = []
        heartbeats.send(m, now_ms, effects)
        return self._settle(now_ms, effects)

    def commit(self, offsets: tuple[CommittedOffset, ...], now_ms: int | None = None) -> list[Effect]:
        """``commitAsync``, with the present epoch. Without the time nobody waits for its answer."""
        if not offsets:
            return []
        if now_ms is None:
            commit = Commit(CommitKind.ASYNC, offsets)
            return [Send(request=committing.request_for(self._m, commit))]
        deadline_ms = now_ms + self._m.config.request_timeout_ms
        self._m.commits += (Commit(CommitKind.ASYNC, offsets, deadline_ms=deadline_ms),)
        return self._settle(now_ms, [])

    def commit_sync(self, offsets: tuple[CommittedOffset, ...], now_ms: int) -> list[Effect]:
        """``commitSync``: the application waits, at most ``default.api.timeout.ms``."""
        m = self._m
        if not offsets:
            return [Returned(operation=Operation.COMMIT_SYNC)]
        m.polled_ms = now_ms
        deadline_ms = now_ms + m.config.api_timeout_ms
        m.commits += (Commit(CommitKind.SYNC, offsets, deadline_ms=deadline_ms),)
        return self._settle(now_ms, [])

    def leave(self, now_ms: int) -> list[Effect]:
        """Unsubscribes: gives everything up, then sends its leave. A callback that is running is let finish."""
        m = self._m
        m.joins_again = None
        if m.state is MemberState.UNSUBSCRIBED or m.wish is not None or m.leaving is not None:
            return []
        m.wish = Leaving()
        return self._settle(now_ms, [])

    def close(self, now_ms: int, option: CloseOption = CloseOption.DEFAULT) -> list[Effect]:
        """Closes: commits if that is automatic, gives everything up, sends its leave, and ends for good."""
        m = self._m
        m.joins_again = None
        if m.closed or m.closes:
            return []
        m.wish = Leaving(closes=True, option=option)
        return self._settle(now_ms, [])

    def poll_late(self, length_ms: int | None, now_ms: int) -> list[Effect]:
        """The application does not poll for so long, or until ``poll``: it works on what it was given."""
        m = self._m
        if m.polls(now_ms):
            m.polled_ms = now_ms
        m.busy_until_ms = FOREVER if length_ms is None else max(m.busy_until_ms, now_ms + length_ms)
        return self._settle(now_ms, [])

    def poll(self, now_ms: int) -> list[Effect]:
        """The application polls again."""
        self._m.busy_until_ms = 0
        return self._settle(now_ms, [])

    def expire_poll(self, now_ms: int) -> list[Effect]:
        """The poll timer runs out, if it runs: the application does something else than to poll."""
        m = self._m
        if application.quiescence_ends_ms(m, now_ms) == FOREVER:
            return []
        effects: list[Effect] = []
        heartbeats.poll_expired(m, now_ms, effects)
        return self._settle(now_ms, effects)

    # What the world does.

    def receive(self, request: Request, answer: Answer, now_ms: int) -> list[Effect]:
        """The answer to a request; one that nobody waits for any more is nothing."""
        effects: list[Effect] = []
        if not request_outcomes.answered(self._m, request, answer, now_ms, effects):
            return []
        return self._settle(now_ms, effects)

    def failed(self, request: Request, failure: Failure, now_ms: int) -> list[Effect]:
        """There will be no answer. Both failures are alike to it: a connection on which one timed out is closed."""
        effects: list[Effect] = []
        if not request_outcomes.failed(self._m, request, now_ms, effects):
            return []
        return self._settle(now_ms, effects)

    def metadata(self, topics: Mapping[str, str] | None, now_ms: int) -> list[Effect]:
        """The topics that it knows from now on, name → id; ``None``, as at first: all there are."""
        m = self._m
        m.metadata, m.asked = topics, ()
        m.subscription = self._matched(m.subscription)
        return self._settle(now_ms, [])

    def called(self, now_ms: int, raised: bool = False) -> list[Effect]:
        """The running callback has returned, or thrown."""
        if self._m.calling is None:
            return []
        effects: list[Effect] = []
        application.called(self._m, now_ms, raised, effects)
        return self._settle(now_ms, effects)

    def ring(self, now_ms: int) -> list[Effect]:
        """The alarm went off: something is due, or has not come in time."""
        m = self._m
        m.alarm_ms = None
        effects: list[Effect] = []
        if not m.quiet and now_ms >= application.quiescence_ends_ms(m, now_ms):
            heartbeats.poll_expired(m, now_ms, effects)
        request_outcomes.overdue(m, now_ms, effects)
        self._settle(now_ms, effects)
        if not effects or not isinstance(effects[-1], Alarm):
            effects.append(Alarm(at_ms=m.alarm_ms))
        return effects

    def fast_path_ring(self, now_ms: int) -> Heartbeat | None:
        """``ring``, where all that comes of it is an empty heartbeat, and the next alarm, ``alarm_ms``.

        ``None``, and nothing was done, where it may be more: then ``ring`` does it.
        """
        return heartbeats.fast_path_send(self._m, now_ms)

    def fast_path_receive(self, request: object, answer: HeartbeatAnswer, now_ms: int) -> bool:
        """``receive``, where nothing at all comes of it; ``False``, and nothing was done, where something may."""
        return heartbeats.fast_path_answered(self._m, request, answer, now_ms)

    @property
    def alarm_ms(self) -> int | None:
        return self._m.alarm_ms

    def _settle(self, now_ms: int, effects: list[Effect]) -> list[Effect]:
        return rounds.settle(self._m, now_ms, effects)

    def _matched(self, subscription: Subscription) -> Subscription:
        """A client's own expression means the topics of its metadata that it matches."""
        if subscription.pattern is None:
            return subscription
        names = matched(subscription.pattern, self._m.metadata or ())
        return subscription if names == subscription.names else replace(subscription, names=names)
