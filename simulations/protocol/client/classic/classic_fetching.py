"""What a consumer of the classic protocol reads."""

from __future__ import annotations

from simulations.protocol.client.classic.state import Memory
from simulations.protocol.client.consumer.effects import minus
from simulations.protocol.client.consumer.fetched_partitions import NOTHING, Reading


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
