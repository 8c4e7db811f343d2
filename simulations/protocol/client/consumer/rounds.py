"""Rounds of the background thread and of a polling application, one after another, until nothing more is to do."""

from __future__ import annotations

from simulations.protocol.client.consumer import (
    application,
    committing,
    fetching,
    heartbeats,
    leaving,
    lookup,
    membership,
    reconciling,
)
from simulations.protocol.client.consumer.effects import Alarm, Effect
from simulations.protocol.client.consumer.state import FOREVER, ClientState, Subscription


def settle(m: ClientState, now_ms: int, effects: list[Effect]) -> list[Effect]:
    """Rounds, until nothing more is to do; then the alarm, if it is another one."""
    if m.quiet:
        # What most calls find: only a heartbeat may be due.
        if m.in_flight is None and now_ms >= m.next_beat_ms and now_ms >= m.back_off_until_ms:
            heartbeats.send(m, now_ms, effects)
        return _set_alarm(m, _beat_due_ms(m, now_ms), effects)
    while (
        application.step(m, now_ms, effects)
        or reconciling.step(m, now_ms, effects)
        or committing.step(m, now_ms, effects)
        or fetching.step(m, now_ms, effects)
        or lookup.step(m, now_ms, effects)
        or heartbeats.step(m, now_ms, effects)
        or _left(m, now_ms, effects)
    ):
        pass
    return _set_alarm(m, _due_ms(m, now_ms), effects)


def _set_alarm(m: ClientState, at_ms: int, effects: list[Effect]) -> list[Effect]:
    alarm_ms = at_ms if at_ms < FOREVER else None
    if alarm_ms != m.alarm_ms:
        m.alarm_ms = alarm_ms
        effects.append(Alarm(at_ms=alarm_ms))
    return effects


def _beat_due_ms(m: ClientState, now_ms: int) -> int:
    if m.in_flight is not None and m.next_beat_ms > now_ms:
        # The answer will most likely be there; it is looked at once more when the next heartbeat is due.
        return min(m.expires_ms, m.next_beat_ms)
    return heartbeats.due_ms(m)


def _left(m: ClientState, now_ms: int, effects: list[Effect]) -> bool:
    if not leaving.step(m, effects):
        return False
    subscription, m.joins_again = m.joins_again, None
    if subscription is not None:
        join(m, subscription, now_ms)
    return True


def join(m: ClientState, subscription: Subscription, now_ms: int) -> None:
    m.subscription = subscription
    m.auto_commit_ms = now_ms + m.config.auto_commit_interval_ms
    membership.rejoin(m)


def _due_ms(m: ClientState, now_ms: int) -> int:
    due_ms = min(_beat_due_ms(m, now_ms), application.quiescence_ends_ms(m, now_ms))
    if m.commits or m.config.auto_commit:
        due_ms = min(due_ms, committing.due_ms(m, now_ms))
    if m.fetches:
        due_ms = min(due_ms, fetching.due_ms(m))
    if not m.lookup.known:
        due_ms = min(due_ms, lookup.due_ms(m))
    if now_ms < m.busy_until_ms:
        due_ms = min(due_ms, m.busy_until_ms)
    return due_ms
