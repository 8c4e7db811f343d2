"""Puts a recorded request of the classic protocol to a simulated shard.

A JoinGroup and a SyncGroup are answered later, by whatever lets them go: the shard gets a ticket for each. The id
that the coordinator drew for a member is taken from the recorded answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from simulations.proof.conformance.recording import Fields
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.classic_requests import (
    CLASSIC_HEARTBEAT_API,
    JOIN_API,
    LEAVE_API,
    NO_MEMBER_ID,
    SYNC_API,
    ClassicHeartbeatAnswer,
    JoinGroup,
    LeaveAnswer,
)
from simulations.protocol.messages.from_bodies import (
    Sender,
    classic_heartbeat_of,
    join_of,
    leave_of,
    sync_of,
)

DRAWN: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9_-]{22}")
"""A ``java.util.UUID`` in a classic group, a ``Uuid`` of Kafka's in a consumer group."""

PARKED_APIS: Final = frozenset({JOIN_API, SYNC_API})
"""Their answers come as ``parked_answers``."""


def can_read(api: str, fields: Fields, version: int) -> bool:
    """Whether the request has the fields of its API, and bytes in base64."""
    try:
        if api == JOIN_API:
            join_of(fields, version=version, sender=Sender("", ""))
        elif api == SYNC_API:
            sync_of(fields, version=version)
        elif api == CLASSIC_HEARTBEAT_API:
            classic_heartbeat_of(fields, version=version)
        else:
            leave_of(fields, version=version)
    except (KeyError, TypeError, ValueError):
        return False
    return True


def drawn_id_of(request: JoinGroup, answer: Fields | None) -> str | None:
    """The id that the coordinator drew, as far as the answer contains it: without the name that it put in front.

    ``None`` for what is no id that a coordinator draws.
    """
    if request.member_id != NO_MEMBER_ID or answer is None or not answer.get("memberId"):
        return None
    named = request.client_id if request.instance_id is None else request.instance_id
    drawn = str(answer["memberId"]).removeprefix(f"{named}-")
    return drawn if DRAWN.fullmatch(drawn) else None


def ask_classic(
    shard: Shard,
    api: str,
    fields: Fields,
    now_ms: int,
    *,
    version: int,
    ticket: int,
    client: str,
    host: str,
    recorded: Fields | None,
) -> tuple[Fields | None, Outcome[object]]:
    """Has the shard, which this changes, handle the request: its answer if it comes with the outcome, and the outcome.

    ``api`` is the name of Kafka's schemas; ``recorded`` the answer in the recording, ``None`` if there is none.
    """
    if api == JOIN_API:
        request = join_of(fields, version=version, sender=Sender(client, host))
        drawn_id = drawn_id_of(request, recorded) or f"drawn-{ticket}"
        return None, shard.join(request, now_ms, ticket=ticket, drawn_id=drawn_id)
    if api == SYNC_API:
        return None, shard.sync(sync_of(fields, version=version), now_ms, ticket=ticket)
    outcome = _AT_ONCE[api](shard, fields, version, now_ms)
    return outcome.answer.body(), outcome


_AT_ONCE: Final[
    Mapping[str, Callable[[Shard, Fields, int, int], Outcome[ClassicHeartbeatAnswer] | Outcome[LeaveAnswer]]]
] = {
    CLASSIC_HEARTBEAT_API: lambda shard, fields, version, now_ms: shard.classic_heartbeat(
        classic_heartbeat_of(fields, version=version), now_ms
    ),
    LEAVE_API: lambda shard, fields, version, now_ms: shard.leave_group(
        leave_of(fields, version=version), now_ms
    ),
}

CLASSIC_APIS: Final = frozenset({*PARKED_APIS, *_AT_ONCE})
