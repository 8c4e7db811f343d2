"""The application's thread: it polls unless it has something else to do, and runs callbacks as it polls."""

from __future__ import annotations

from dataclasses import replace

from simulations.protocol.client.consumer import fetching, leaving, membership, reconciling
from simulations.protocol.client.consumer.effects import (
    Call,
    Callback,
    Effect,
    Operation,
    Returned,
    minus,
    thrown,
)
from simulations.protocol.client.consumer.state import FOREVER, UNSUBSCRIBED, ClientState, Event, Purpose
from simulations.protocol.client.consumer.states import RECEIVING, MemberState


def step(m: ClientState, now_ms: int, effects: list[Effect]) -> bool:
    """What the next poll does: leave if that is wished, run a callback, join again."""
    if m.calling is not None or now_ms < m.busy_until_ms or (m.commits and m.waits_for_commit):
        return False
    if m.closes:
        # Nothing runs any more but the callback of the close itself.
        if not m.events or m.events[0].purpose is not Purpose.CLOSE:
            return False
    elif (
        m.wish is not None
        and m.leaving is None
        and not any(event.purpose is Purpose.LOSE for event in m.events)
    ):
        m.polled_ms = now_ms
        leaving.begin(m, m.wish, now_ms, effects)
        return True
    if m.events:
        event, *rest = m.events
        m.events = tuple(rest)
        _run(m, event, now_ms, effects)
        return True
    if m.state is MemberState.STALE and m.released and m.subscription is not UNSUBSCRIBED:
        membership.rejoin(m)
        return True
    return False


def _run(m: ClientState, event: Event, now_ms: int, effects: list[Effect]) -> None:
    m.polled_ms = now_ms
    partitions, length_ms = event.partitions, m.config.callback_ms
    if event.callback is Callback.ASSIGNED:
        assert event.reconciliation is not None
        m.owned, m.given_up = event.reconciliation.target.partitions, {}
        length_ms = length_ms if partitions else 0
    elif event.callback is Callback.REVOKED:
        length_ms = m.revoke_ms
    elif not m.config.calls_for_nothing:
        partitions = minus(partitions, minus(partitions, m.owned))
        event = replace(event, partitions=partitions)
    if not partitions and not m.config.calls_for_nothing:
        _returned(m, event, now_ms)
        if event.error_code:
            effects.append(thrown(event.error_code))
        return
    m.calling = event
    effects.append(Call(callback=event.callback, partitions=partitions, length_ms=length_ms))


def called(m: ClientState, now_ms: int, raised: bool, effects: list[Effect]) -> None:
    """The callback that ran has returned, or thrown."""
    event, m.calling = m.calling, None
    if event is None:
        return
    m.polled_ms = now_ms
    if event.error_code:
        # It came first, whatever the callback throws.
        effects.append(thrown(event.error_code))
    if not raised:
        _returned(m, event, now_ms)
        return
    if not event.error_code and event.purpose in (Purpose.RECONCILE, Purpose.LOSE):
        # The exception leaves poll(), and the application that catches it takes a while to poll again.
        effects.append(Returned(operation=Operation.POLL, exception="KafkaException"))
        m.busy_until_ms = max(m.busy_until_ms, now_ms + 1)
    if event.purpose is not Purpose.RECONCILE:
        _returned(m, event, now_ms)
    elif event.reconciliation is m.reconciliation:
        # It restarts: what was not given up is revoked again; what was handed over counts as owned.
        m.reconciliation = None


def _returned(m: ClientState, event: Event, now_ms: int) -> None:
    match event.purpose:
        case Purpose.LOSE:
            m.owned, m.given_up = {}, {}
            if m.state is MemberState.FENCED:
                membership.rejoin(m)
            elif m.state is MemberState.STALE:
                m.released = True
        case Purpose.LEAVE | Purpose.CLOSE:
            m.owned = {}
            leaving.gave_up(m)
        case Purpose.RECONCILE:
            current = event.reconciliation is m.reconciliation and m.state is MemberState.RECONCILING
            if event.callback is Callback.REVOKED:
                m.owned, m.given_up = minus(m.owned, event.partitions), event.partitions
                if current:
                    reconciling.revoked(m)
            elif current:
                reconciling.assigned(m, now_ms)
                fetching.begin(m, event.partitions, now_ms)


def quiescence_ends_ms(m: ClientState, now_ms: int) -> int:
    """When an application that does not poll has not done so for ``max.poll.interval.ms``.

    Nobody looks at it while no heartbeat could be sent, nor once the member is leaving.
    """
    if m.state not in RECEIVING or not m.lookup.known or m.polls(now_ms):
        return FOREVER
    return m.polled_ms + m.config.rebalance_timeout_ms
