"""Unsubscribing and closing: what is owned is given up, then the coordinator gets the leave, then the call returns."""

from __future__ import annotations

from dataclasses import replace

from simulations.protocol.client.consumer import membership
from simulations.protocol.client.consumer.config import CloseOption
from simulations.protocol.client.consumer.effects import Callback, Effect, Operation, Returned
from simulations.protocol.client.consumer.state import (
    UNSUBSCRIBED,
    ClientState,
    Commit,
    CommitKind,
    Event,
    Leaving,
    Purpose,
)
from simulations.protocol.client.consumer.states import RECEIVING, MemberState
from simulations.protocol.messages.groups import LEAVE_EPOCH, STATIC_LEAVE_EPOCH


def leave_epoch(m: ClientState, option: CloseOption = CloseOption.DEFAULT) -> int:
    """A static member leaves for now unless it is asked otherwise; REMAIN_IN_GROUP keeps no dynamic one."""
    if m.config.instance_id is None or option is CloseOption.LEAVE_GROUP:
        return LEAVE_EPOCH
    return STATIC_LEAVE_EPOCH


def begin(m: ClientState, wish: Leaving, now_ms: int, effects: list[Effect]) -> None:
    """The application, which polls no more, gives everything up; a wish is granted between two callbacks."""
    m.wish, m.leaving = None, wish
    member = m.state in RECEIVING
    if wish.closes:
        offsets = m.config.positions(m.owned, now_ms) if m.config.auto_commit and m.config.positions else ()
        if member and m.epoch > 0 and offsets:
            deadline_ms = now_ms + m.config.request_timeout_ms
            m.commits += (Commit(CommitKind.ON_CLOSE, offsets, deadline_ms=deadline_ms),)
        else:
            committed(m)
        return
    if not member:
        _out_already(m)
        return
    m.enter(MemberState.PREPARE_LEAVING)
    m.reconciliation, m.events = None, ()
    if not _gives_up(m, Purpose.LEAVE):
        start(m)


def committed(m: ClientState) -> None:
    """The commit of a close is over, well or not: callbacks run in the thread of the caller."""
    m.reconciliation, m.events = None, ()
    if not _gives_up(m, Purpose.CLOSE):
        gave_up(m)


def _gives_up(m: ClientState, purpose: Purpose) -> bool:
    if not m.owned:
        return False
    callback = Callback.REVOKED if m.epoch > 0 else Callback.LOST
    m.events = (Event(purpose, callback, m.owned),)
    return True


def gave_up(m: ClientState) -> None:
    """The callback has returned, or there was none: the leave may be said, unless that is over by now."""
    if m.state in RECEIVING:
        m.enter(MemberState.PREPARE_LEAVING)
    if m.state is MemberState.PREPARE_LEAVING:
        start(m)
    elif m.state is MemberState.UNSUBSCRIBED and m.in_flight is not None:
        _forget(m)
    else:
        _out_already(m)


def start(m: ClientState) -> None:
    """Nothing is owned any more; the next step sends the leave."""
    m.enter(MemberState.LEAVING)
    option = m.leaving.option if m.leaving is not None else CloseOption.DEFAULT
    membership.forget_assignment(m, leave_epoch(m, option))
    _forget(m)


def _out_already(m: ClientState) -> None:
    if m.state is MemberState.FENCED:
        m.enter(MemberState.UNSUBSCRIBED)
    _forget(m)
    over(m)


def _forget(m: ClientState) -> None:
    m.owned, m.given_up, m.events, m.fetches = {}, {}, (), ()
    m.subscription = UNSUBSCRIBED


def over(m: ClientState) -> None:
    """The leave is answered, or will not be."""
    if m.leaving is not None:
        m.leaving = replace(m.leaving, over=True)


def step(m: ClientState, effects: list[Effect]) -> bool:
    """Lets the call return, once no callback of it runs; a close waits for commits that are under way, too."""
    leaving = m.leaving
    if leaving is None or not leaving.over or m.calling is not None or (leaving.closes and m.commits):
        return False
    m.leaving = None
    m.closed = leaving.closes
    effects.append(Returned(operation=Operation.CLOSE if leaving.closes else Operation.UNSUBSCRIBE))
    return True
