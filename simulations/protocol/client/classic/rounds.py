"""Rounds of both threads, one after another, until nothing more is to do."""

from __future__ import annotations

from simulations.protocol.assignors.interface import Assignor
from simulations.protocol.client.classic import application, beating, committing, joining
from simulations.protocol.client.classic.state import Memory
from simulations.protocol.client.consumer.effects import Alarm, Effect
from simulations.protocol.client.consumer.state import FOREVER


def settle(m: Memory, assignors: dict[str, Assignor], now_ms: int, effects: list[Effect]) -> list[Effect]:
    """Rounds, until nothing more is to do; then the alarm, if it is another one."""
    if not m.known and now_ms >= m.lookup_ms:
        m.known = True
    while (
        application.step(m, now_ms, effects)
        or application.wishes(m, now_ms, effects)
        or committing.step(m, now_ms, effects)
        or beating.step(m, now_ms, effects)
        or _joins(m, assignors, now_ms, effects)
    ):
        pass
    alarm_ms = _due_ms(m, now_ms)
    at_ms = alarm_ms if alarm_ms < FOREVER else None
    if at_ms != m.alarm_ms:
        m.alarm_ms = at_ms
        effects.append(Alarm(at_ms=at_ms))
    return effects


def _joins(m: Memory, assignors: dict[str, Assignor], now_ms: int, effects: list[Effect]) -> bool:
    if not m.subscribed or m.fatal or m.wish is not None or m.events or not m.polls(now_ms):
        return False
    return joining.step(m, now_ms, effects, assignors)


def _due_ms(m: Memory, now_ms: int) -> int:
    if m.closed or not m.subscribed:
        return FOREVER
    due = min(beating.due_ms(m, now_ms), committing.due_ms(m, now_ms))
    if not m.known:
        due = min(due, m.lookup_ms)
    if now_ms < m.busy_until_ms:
        due = min(due, m.busy_until_ms)
    elif m.polls(now_ms):
        due = min(due, m.metadata_ms)
        if m.rejoin_needed and now_ms < m.retry_ms:
            due = min(due, m.retry_ms)
    return due
