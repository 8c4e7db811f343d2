"""What the handling of a request shows besides its records: events of a narration, and whether it was all routine."""

from __future__ import annotations

from typing import Final

from simulations.protocol.client.consumer import Request
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.timers import REBALANCE, SESSION, TimerStart
from simulations.protocol.messages.classic_requests import ClassicHeartbeat, ClassicHeartbeatAnswer
from simulations.protocol.messages.groups import COMMIT_API, JOIN_EPOCH, Heartbeat, HeartbeatAnswer
from simulations.world.engine.in_flight import InFlightRequest
from simulations.world.engine.requests import APIS, Answer
from simulations.world.engine.step_events import Seen
from simulations.world.scenario import Event

HEARTBEAT: Final = Event.HEARTBEAT


def seen_in_request(exchange: InFlightRequest, outcome: Outcome[object]) -> tuple[Seen, ...]:
    """The events of a request that its records do not show."""
    request, member_id = exchange.request, exchange.member_id
    api = APIS[type(request)].name
    if isinstance(request, ClassicHeartbeat):
        return ((HEARTBEAT, member_id),)
    if not isinstance(request, Heartbeat):
        return ((Event.COMMITS, member_id),) if outcome.records and api == COMMIT_API else ()
    event = Event.LEAVES if request.member_epoch < JOIN_EPOCH else HEARTBEAT
    events: tuple[Seen, ...] = ((event, member_id),)
    # Both semantics start this timer when they first ask for partitions; only one of them writes a record.
    if any(isinstance(command, TimerStart) and command.timer == REBALANCE for command in outcome.timers):
        events = (*events, (Event.REVOKES, member_id))
    return events


def is_fast_path(request: Request, outcome: Outcome[Answer]) -> bool:
    """Nothing reported, nothing written, nothing answered but the same epoch."""
    answer = outcome.answer
    if isinstance(request, ClassicHeartbeat):
        return isinstance(answer, ClassicHeartbeatAnswer) and not answer.error_code and not outcome.records
    return (
        isinstance(request, Heartbeat)
        and isinstance(answer, HeartbeatAnswer)
        and not outcome.records
        and request.bare
        and not answer.error_code
        and answer.member_epoch == request.member_epoch
        and answer.assigned is None
        and not answer.compute
        and all(isinstance(each, TimerStart) and each.timer == SESSION for each in outcome.timers)
    )
