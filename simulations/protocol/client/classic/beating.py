"""The heartbeat thread: it sends that the member is alive, learns of rebalances, and leaves when nobody polls.

It works while the member is COMPLETING_REBALANCE or STABLE; while a JoinGroup waits, nobody heartbeats.

Kafka's classes: ``AbstractCoordinator.HeartbeatThread``, ``HeartbeatResponseHandler``, ``Heartbeat``.
"""

from __future__ import annotations

from typing import Final

from simulations.protocol.client.classic import joining
from simulations.protocol.client.classic.errors import (
    LOOKED_UP,
    error_name,
    exception_of,
)
from simulations.protocol.client.classic.state import JoinState, Memory
from simulations.protocol.client.consumer.effects import Effect, Send
from simulations.protocol.client.consumer.state import FOREVER
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    ClassicHeartbeatAnswer,
    LeaveGroup,
    LeavingMember,
)
from simulations.protocol.messages.errors import ErrorCode

REBALANCING: Final = "group is already rebalancing"
LEAVES_BY_ITSELF: Final = "consumer pro-actively leaving the group"
POLL_EXPIRED: Final = "consumer poll timeout has expired."


def works(m: Memory) -> bool:
    return m.beats and m.state in (JoinState.COMPLETING_REBALANCE, JoinState.STABLE)


def quiescence_ends_ms(m: Memory, now_ms: int) -> int:
    """When an application that does not poll has not done so for ``max.poll.interval.ms``."""
    if not works(m) or not m.known or m.polls(now_ms):
        return FOREVER
    return m.polled_ms + m.config.rebalance_timeout_ms


def step(m: Memory, now_ms: int, effects: list[Effect]) -> bool:
    """What the thread does in this turn: the first that there is reason for."""
    if not works(m) or not m.known:
        return False
    if now_ms >= m.session_ms:
        m.lose_coordinator(now_ms)
        m.session_ms = FOREVER
        return True
    if now_ms >= quiescence_ends_ms(m, now_ms):
        _poll_expired(m, effects)
        return True
    if m.heartbeat is not None or now_ms < m.next_beat_ms:
        return False
    send(m, now_ms, effects)
    return True


def send(m: Memory, now_ms: int, effects: list[Effect]) -> None:
    config = m.config
    m.heartbeat = ClassicHeartbeat(
        group_id=config.group_id,
        generation=m.generation,
        member_id=m.member_id,
        instance_id=config.instance_id if config.release.static else None,
        version=config.release.heartbeat_version,
    )
    m.next_beat_ms = now_ms + config.heartbeat_interval_ms
    effects.append(Send(request=m.heartbeat))


def _poll_expired(m: Memory, effects: list[Effect]) -> None:
    """A dynamic member sends a leave; a static one does not, and is taken for alive until its session ends."""
    if m.config.instance_id is None:
        effects.append(Send(request=leave_request(m, POLL_EXPIRED)))
    m.reset(LEAVES_BY_ITSELF)


def leave_request(m: Memory, reason: str) -> LeaveGroup:
    version = m.config.release.leave_version
    member = LeavingMember(member_id=m.member_id, reason=reason if version >= 5 else None)
    return LeaveGroup(group_id=m.config.group_id, members=(member,), version=version)


def answered(
    m: Memory,
    request: ClassicHeartbeat,
    answer: ClassicHeartbeatAnswer,
    now_ms: int,
    effects: list[Effect],
) -> None:
    m.heartbeat = None
    code = answer.error_code
    current = (request.generation, request.member_id) == (m.generation, m.member_id)
    if code in (0, ErrorCode.REBALANCE_IN_PROGRESS):
        m.failures = 0
        m.session_ms = now_ms + m.config.session_timeout_ms
        if code and m.state is JoinState.STABLE:
            m.ask_to_rejoin(REBALANCING)
        return
    if code in LOOKED_UP:
        m.lose_coordinator(now_ms)
    elif code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION) and current:
        keeps_id = code == ErrorCode.ILLEGAL_GENERATION and m.config.release.keeps_id
        m.reset(f"encountered {error_name(code)} from HEARTBEAT response", keeps_id=keeps_id)
        return
    elif code == ErrorCode.FENCED_INSTANCE_ID and current:
        joining.die(m, exception_of(code), effects)
        return
    m.next_beat_ms = now_ms + m.back_off_ms()


def failed(m: Memory, now_ms: int) -> None:
    """No answer came; the connection is closed, and the coordinator looked up."""
    m.heartbeat = None
    m.lose_coordinator(now_ms)
    m.next_beat_ms = now_ms + m.back_off_ms()


def due_ms(m: Memory, now_ms: int) -> int:
    if not works(m) or not m.known:
        return FOREVER
    beat_ms = m.next_beat_ms if m.heartbeat is None else FOREVER
    return min(beat_ms, m.session_ms, quiescence_ends_ms(m, now_ms))
