"""The application's thread: it polls unless it has something else to do, and runs callbacks as it polls."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from simulations.protocol.client.classic import beating, committing, joining
from simulations.protocol.client.classic.config import AFTER_ERROR_MS
from simulations.protocol.client.classic.state import CommitKind, Event, JoinState, Leaving, Memory, Purpose
from simulations.protocol.client.consumer.config import CloseOption
from simulations.protocol.client.consumer.effects import (
    Call,
    Callback,
    Effect,
    Operation,
    Returned,
    Send,
    minus,
)
from simulations.protocol.messages.classic_requests import NO_GENERATION, NO_MEMBER_ID

CLOSED: Final = "the consumer is being closed"
UNSUBSCRIBED: Final = "the consumer unsubscribed from all topics"


def step(m: Memory, now_ms: int, effects: list[Effect]) -> bool:
    """What the next poll does before it looks at the membership: run a callback, leave, end what waited for a commit."""
    if m.calling is not None or now_ms < m.busy_until_ms:
        return False
    if m.events:
        event, *rest = m.events
        m.events = tuple(rest)
        if event.purpose is Purpose.DIE:
            # It closes when the callback that ran has returned, and loses what it still has by then.
            event = replace(event, partitions=m.owned)
        if event.purpose is not Purpose.DIE or m.owned:
            _run(m, event, now_ms, effects)
        return True
    if m.fatal:
        m.closed = True
        return False
    if m.awaits_commit and committing.before_join_over(m):
        # It is over, one way or the other.
        m.awaits_commit = False
        joining.prepare(m)
        return True
    return False


def wishes(m: Memory, now_ms: int, effects: list[Effect]) -> bool:
    """``unsubscribe()`` or ``close()``, which come between two polls."""
    if m.wish is None or not m.polls(now_ms) or m.events:
        return False
    wish = m.wish
    if m.closing:
        return False
    m.polled_ms = now_ms
    return _leave(m, wish, now_ms, effects)


def _run(m: Memory, event: Event, now_ms: int, effects: list[Effect]) -> None:
    m.polled_ms = now_ms
    length_ms = m.config.callback_ms
    if event.callback is Callback.ASSIGNED:
        m.owned = m.to_take
        length_ms = length_ms if event.partitions else 0
    elif event.callback is Callback.REVOKED:
        length_ms = m.revoke_ms
        if m.config.revoke_commits and m.config.positions is not None:
            offsets = m.config.positions(event.partitions, now_ms)
            committing.begin(m, CommitKind.IN_REVOCATION, offsets, now_ms, effects)
            committing.step(m, now_ms, effects)
    m.calling = event
    effects.append(Call(callback=event.callback, partitions=event.partitions, length_ms=length_ms))


def called(m: Memory, now_ms: int, raised: bool, effects: list[Effect]) -> None:
    """The callback has returned, or thrown: the membership goes on all the same, and ``poll()`` throws after that."""
    event, m.calling = m.calling, None
    if event is None:
        return
    m.polled_ms = now_ms
    if event.callback is not Callback.ASSIGNED:
        m.owned = minus(m.owned, event.partitions)
    match event.purpose:
        case Purpose.PREPARE:
            joining.prepared(m)
        case Purpose.GIVE_UP:
            joining.take(m, now_ms)
        case Purpose.LEAVE:
            assert m.wish is not None
            _say_goodbye(m, m.wish, effects)
        case Purpose.DIE:
            m.closed = True
        case Purpose.TAKE:
            pass
    if raised:
        effects.append(Returned(operation=Operation.POLL, exception="KafkaException"))
        m.busy_until_ms = max(m.busy_until_ms, now_ms + AFTER_ERROR_MS)


def _leave(m: Memory, wish: Leaving, now_ms: int, effects: list[Effect]) -> bool:
    """The callback first, if anything is owned: what was lost already is passed to ``on_partitions_lost``."""
    m.closing = True
    if (
        wish.closes
        and m.config.auto_commit
        and m.config.positions is not None
        and m.state is JoinState.STABLE
    ):
        committing.begin(m, CommitKind.ON_CLOSE, committing.automatic(m, now_ms), now_ms, effects)
        committing.step(m, now_ms, effects)
    if not m.owned:
        _say_goodbye(m, wish, effects)
        return True
    lost = not m.has_generation or m.joining
    callback = Callback.LOST if lost else Callback.REVOKED
    m.events = ()
    _run(m, Event(Purpose.LEAVE, callback, m.owned), now_ms, effects)
    return True


def _say_goodbye(m: Memory, wish: Leaving, effects: list[Effect]) -> None:
    """A static member sends nothing, so that it can come back; unless it is closed for good."""
    m.leaving = None
    static = m.config.instance_id is not None
    leaves_group = wish.option is CloseOption.LEAVE_GROUP or (
        wish.option is CloseOption.DEFAULT and not static
    )
    if leaves_group and m.known and m.state is not JoinState.UNJOINED and m.member_id != NO_MEMBER_ID:
        m.leaving = beating.leave_request(m, CLOSED if wish.closes else UNSUBSCRIBED)
        effects.append(Send(request=m.leaving))
    m.reset(beating.LEAVES_BY_ITSELF)
    m.generation, m.subscribed = NO_GENERATION, False
    m.in_flight, m.answer = None, None
    m.preparing, m.awaits_commit, m.needs_prepare = False, False, True
    m.leads, m.snapshot, m.rejoins = False, None, False
    m.commits = tuple(commit for commit in m.commits if commit.kind is CommitKind.ON_CLOSE)
    if m.leaving is None:
        left(m, effects)


def left(m: Memory, effects: list[Effect]) -> None:
    """The leave is answered, or will not be."""
    wish, m.wish, m.leaving, m.closing = m.wish, None, None, False
    if wish is None:
        return
    m.closed = wish.closes
    effects.append(Returned(operation=Operation.CLOSE if wish.closes else Operation.UNSUBSCRIBE))
