"""What an entry shows by itself that a narrated step can wait for; the rest is found by comparing states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from simulations.protocol.client.consumer.effects import Callback
from simulations.protocol.messages.classic_requests import (
    CLASSIC_APIS,
    CLASSIC_HEARTBEAT_API,
    JOIN_API,
    LEAVE_API,
    SYNC_API,
)
from simulations.protocol.messages.client_mode import INSTALL_API, PREPARE_API
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import COMMIT_API, HEARTBEAT_API, JOIN_EPOCH
from simulations.world.scenario import Event

Seen = tuple[Event, str | None]

PASSING: Final = frozenset({Event.HEARTBEAT, Event.TURNED_AWAY, Event.LOST})
"""Events that come again and again, so that a step waits for the next one, not for one that has been."""

MOMENTS: Final = frozenset({Kind.CALLBACK, Kind.FAULT})
"""Kinds of entries that are a moment by themselves: they stand within no operation of the coordinator."""

_FENCES: Final = (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)
_AWAY: Final = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

_FENCES_OF_CLASSIC: Final = (
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
)
_GO_ON: Final = (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.MEMBER_ID_REQUIRED)
"""What a member of the classic protocol is answered in every rebalance."""

_REGEX_TYPE: Final = 16
_GROUP_EPOCH_TYPE: Final = 3

_FAULTS: Final[Mapping[str, Event]] = {
    "fail_over": Event.FAIL_OVER,
    "lost_message": Event.LOST,
    "invariant": Event.VIOLATES,
    "poll_throws": Event.THROWS,
}
"""Faults that the world records; those of a script are recorded where they are done."""


def seen_in_entry(entry: Entry) -> Iterator[Seen]:
    """The events that an entry shows."""
    payload = entry.payload
    match entry.kind:
        case Kind.RESPONSE:
            yield from _answered(payload)
        case Kind.REQUEST:
            if payload["api"] in CLASSIC_APIS:
                yield from _classic_request(entry)
                return
            if _expired(payload):
                yield Event.POLL_EXPIRES, entry.actor
            if any(offer.get("reason") for offer in payload["body"].get("clientAssignors") or ()):
                yield Event.REPORTS, entry.actor
        case Kind.CALLBACK:
            if payload["callback"] == Callback.LOST and payload["phase"] == "start":
                yield Event.LOSES, entry.actor
            if payload.get("raised"):
                yield Event.RAISES, entry.actor
            if payload["phase"] == "start" and any(payload["partitions"].values()):
                if payload["callback"] == Callback.REVOKED:
                    yield Event.GIVES_UP, entry.actor
                elif payload["callback"] == Callback.ASSIGNED:
                    yield Event.TAKES, entry.actor
        case Kind.RECORD:
            if payload["type"] == _REGEX_TYPE and payload["value"] is not None:
                yield Event.REGEX, None
            if payload["type"] == _GROUP_EPOCH_TYPE and payload["value"] is None:
                yield Event.GROUP_DELETED, None
        case Kind.NOTE if payload["note"] == "regexes" and any(
            topics is not None for topics in payload["regexes"].values()
        ):
            yield Event.REGEX, None
        case Kind.FAULT:
            event = _FAULTS.get(payload["fault"])
            if event is not None:
                yield event, payload["member"] if event in (Event.LOST, Event.THROWS) else None


def _answered(payload: Payload) -> Iterator[Seen]:
    body, who = payload["body"], payload["to"]
    yield from _computed(payload, who)
    if payload["api"] == HEARTBEAT_API:
        codes = {body["errorCode"]}
    elif payload["api"] == COMMIT_API:
        codes = {partition["errorCode"] for topic in body["topics"] for partition in topic["partitions"]}
    else:
        codes = {body.get("errorCode", 0)}
    codes.discard(ErrorCode.NONE)
    if not codes:
        return
    if payload["api"] in CLASSIC_APIS:
        if payload["api"] == CLASSIC_HEARTBEAT_API and ErrorCode.REBALANCE_IN_PROGRESS in codes:
            yield Event.REBALANCING, who
        if codes.intersection(_FENCES_OF_CLASSIC):
            yield Event.FENCED, who
        if codes.intersection((*_FENCES_OF_CLASSIC, *_GO_ON)):
            return
    if codes.intersection(_AWAY):
        yield Event.TURNED_AWAY, who
    elif payload["api"] == HEARTBEAT_API and codes.intersection(_FENCES):
        yield Event.FENCED, who
    else:
        yield Event.REFUSED, who


def _classic_request(entry: Entry) -> Iterator[Seen]:
    """Who comes to the barrier, and who leaves."""
    payload = entry.payload
    api, body = payload["api"], payload["body"]
    if api == JOIN_API and (body["memberId"] or body["groupInstanceId"]):
        yield Event.JOIN_GROUP, entry.actor
    elif api == SYNC_API:
        yield Event.SYNC_GROUP, entry.actor
    elif api == LEAVE_API:
        yield Event.LEAVES, entry.actor


def _computed(payload: Payload, who: str) -> Iterator[Seen]:
    """The member's part in client mode, which only ``kip`` has."""
    body = payload["body"]
    if body.get("errorCode", 0):
        return
    if payload["api"] == PREPARE_API:
        yield Event.PREPARES, who
    elif payload["api"] == INSTALL_API:
        yield Event.INSTALLS, who
    elif payload["api"] == HEARTBEAT_API:
        if body.get("shouldComputeAssignment"):
            yield Event.COMPUTES, who
        if (body.get("assignment") or {}).get("error"):
            yield Event.ASSIGNMENT_ERROR, who


def _expired(payload: Payload) -> bool:
    """A leave that keeps the subscription: who closes or unsubscribes gives that up, too."""
    body = payload["body"]
    return (
        payload["api"] == HEARTBEAT_API
        and body["memberEpoch"] < JOIN_EPOCH
        and body.get("subscribedTopicNames") is None
        and body.get("subscribedTopicRegex") is None
    )
