"""Where the coordinator is: known, looked up, unknown again (``CoordinatorRequestManager``).

A consumer whose world answers at once looks nothing up: the coordinator is known again after one back-off.
"""

from __future__ import annotations

from dataclasses import replace

from simulations.protocol.client.consumer.effects import Effect, Send
from simulations.protocol.client.consumer.requests import FindCoordinator, FindCoordinatorAnswer
from simulations.protocol.client.consumer.state import FOREVER, ClientState, Lookup
from simulations.protocol.client.consumer.states import MemberState


def wanted(m: ClientState) -> bool:
    """Whether anybody waits for it; a consumer that closes looks nothing up any more."""
    if m.lookup.known or m.closes:
        return False
    return bool(m.commits or m.fetches) or m.state not in (MemberState.UNSUBSCRIBED, MemberState.FATAL)


def lose(m: ClientState, now_ms: int) -> None:
    """It is not where it was, or cannot be reached."""
    if not m.lookup.known:
        return
    next_ms = m.lookup.next_ms if m.config.finds_coordinator else now_ms + m.back_off_ms(0)
    m.lookup = replace(m.lookup, known=False, node_id=None, next_ms=next_ms)


def step(m: ClientState, now_ms: int, effects: list[Effect]) -> bool:
    """Looks it up, if it is time."""
    lookup = m.lookup
    if lookup.request is not None or now_ms < lookup.next_ms or not wanted(m):
        return False
    if not m.config.finds_coordinator:
        m.lookup = replace(lookup, known=True)
        return True
    request = FindCoordinator(group_id=m.config.group_id)
    m.lookup = replace(lookup, request=request, expires_ms=now_ms + m.config.request_timeout_ms)
    effects.append(Send(request=request))
    return True


def answered(m: ClientState, answer: FindCoordinatorAnswer, now_ms: int) -> None:
    """The next look-up is a back-off away, whatever the answer is."""
    if answer.error_code:
        failed(m, now_ms)
        return
    m.lookup = Lookup(known=True, node_id=answer.node_id, next_ms=now_ms + m.back_off_ms(0))


def failed(m: ClientState, now_ms: int) -> None:
    next_ms = now_ms + m.back_off_ms(m.lookup.failures)
    failures = m.lookup.failures + 1
    m.lookup = replace(m.lookup, request=None, expires_ms=FOREVER, next_ms=next_ms, failures=failures)


def due_ms(m: ClientState) -> int:
    """When there is something to do next."""
    if m.lookup.request is not None:
        return m.lookup.expires_ms
    return m.lookup.next_ms if wanted(m) else FOREVER
