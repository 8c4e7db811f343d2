"""What a consumer reads: the partitions that its application has at hand, and whether it gets more of their records."""

from __future__ import annotations

from typing import Final, NamedTuple

from simulations.protocol.client.consumer.effects import minus
from simulations.protocol.client.consumer.state import ClientState
from simulations.protocol.messages.groups import Partitions


class Reading(NamedTuple):
    """``partitions`` stand as ``owned`` does. ``fetches``: whether ``poll()`` returns records of them.

    ``busy``: its application does not poll, and works on the records that it has.
    """

    partitions: Partitions
    fetches: bool
    busy: bool


NOTHING: Final = Reading({}, True, False)


def reading(m: ClientState, now_ms: int) -> Reading:
    """What is to be revoked is not fetched from the commit before on (``markPendingRevocation``), what was lost at once,
    and what is new once ``on_partitions_assigned`` has returned."""
    has = m.owned
    if m.reconciliation is not None and m.reconciliation.revoked:
        has = minus(has, m.reconciliation.revoked)
    for event in (*m.events, m.calling):
        if event is not None and event.partitions:
            has = minus(has, event.partitions)
    return Reading(has, m.polls(now_ms), now_ms < m.busy_until_ms)
