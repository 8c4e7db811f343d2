"""Joining, taking what is assigned, and losing everything (``AbstractMembershipManager``)."""

from __future__ import annotations

from simulations.protocol.client.consumer.effects import Callback
from simulations.protocol.client.consumer.state import (
    NONE,
    NOTHING_SENT,
    Assignment,
    ClientState,
    Event,
    Purpose,
)
from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.messages.groups import JOIN_EPOCH, Partitions


def take_target(m: ClientState, partitions: Partitions) -> None:
    if m.target is NONE or m.target.partitions != partitions:
        m.target = Assignment(m.target.local_epoch + 1, partitions)
        m.asked = ()
    if m.target != m.current:
        m.enter(MemberState.RECONCILING)
    elif m.state in (MemberState.RECONCILING, MemberState.JOINING):
        m.enter(MemberState.STABLE)


def lose_all(m: ClientState, error_code: int = 0) -> bool:
    """Has ``on_partitions_lost`` called for what is owned as of now; ``False`` if that is nothing.

    ``error_code``: that of a heartbeat that was the last, which ``poll()`` throws when the callback is over.
    An assignment that still waits for the application to poll is handed over before; it goes with the rest.
    """
    lost = dict(m.owned)
    if m.config.calls_for_nothing:
        # The released client's subscription state drops what was revoked only when the assignment is applied.
        for topic_id, numbers in m.given_up.items():
            lost[topic_id] = tuple(sorted({*lost.get(topic_id, ()), *numbers}))
    if not lost:
        m.owned, m.given_up, m.events = {}, {}, ()
        return False
    m.events += (Event(Purpose.LOSE, Callback.LOST, lost, error_code=error_code),)
    return True


def rejoin(m: ClientState) -> None:
    """Under the same id; nothing that was sent or received counts any more."""
    m.enter(MemberState.JOINING)
    forget_assignment(m, JOIN_EPOCH)
    m.sent, m.in_flight = NOTHING_SENT, None
    m.joined_empty = m.released = False
    m.not_before_ms = 0


def forget_assignment(m: ClientState, epoch: int) -> None:
    m.epoch = epoch
    m.target = m.current = NONE
    m.reconciliation = None
