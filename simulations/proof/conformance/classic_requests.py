"""Puts a recorded request of the classic protocol to a simulated shard.

A JoinGroup and a SyncGroup are answered later, by whatever lets them go: the shard gets a ticket for each. The id
that the coordinator drew for a member is taken from the recorded answer.
"""

from __future__ import annotations

import re
from typing import Final

from groups.wire.codecs.values import Value
from simulations.proof.conformance.recording import Fields
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.classic_requests import (
    JOIN_API,
    NO_MEMBER_ID,
    SYNC_API,
    ClassicHeartbeat,
    JoinGroup,
    SyncGroup,
)
from simulations.protocol.messages.from_bodies import READERS, Sender

DRAWN: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9_-]{22}")
"""A ``java.util.UUID`` in a classic group, a ``Uuid`` of Kafka's in a consumer group."""

PARKED_APIS: Final = frozenset({JOIN_API, SYNC_API})
"""Their answers come as ``parked_answers``."""


def can_read(api: str, fields: Fields, version: int) -> bool:
    """Whether the request has the fields of its API, and bytes in base64."""
    try:
        READERS[api](fields, version, Sender("", ""))
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
) -> tuple[Fields | None, Outcome[Value]]:
    """Has the shard, which this changes, handle the request: its answer if it comes with the outcome, and the outcome.

    ``api`` is the name of Kafka's schemas; ``recorded`` the answer in the recording, ``None`` if there is none.
    """
    request = READERS[api](fields, version, Sender(client, host))
    outcome: Outcome[Value]
    match request:
        case JoinGroup():
            drawn_id = drawn_id_of(request, recorded) or f"drawn-{ticket}"
            return None, shard.join(request, now_ms, ticket=ticket, drawn_id=drawn_id)
        case SyncGroup():
            return None, shard.sync(request, now_ms, ticket=ticket)
        case ClassicHeartbeat():
            outcome = shard.classic_heartbeat(request, now_ms)
        case _:
            outcome = shard.leave_group(request, now_ms)
    return outcome.answer.body(), outcome
