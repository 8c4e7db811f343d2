"""The fold: one deterministic function that takes a state and an entry and gives the next state.

Every source goes through it: case studies, simulations, imported logs. Each protocol has handlers of its own
(``consumer``, ``classic``, ``share``, ``streams``, ``offsets``, ``events``); ``replay`` only dispatches. It takes any log that the world
may hold: records from before the log's start, gaps, tombstones of what is not there, types and codes of releases to
come. What breaks a rule becomes an anomaly of the state, never an exception.
"""

from __future__ import annotations

from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.replay import classic, consumer, offsets, share, streams
from groups.history.replay import events as volatile
from groups.history.replay.fields import Fields
from groups.history.replay.record_types import (
    CLASSIC_GROUP,
    CONSUMER_TYPES,
    CURRENT_ASSIGNMENT,
    MEMBER_METADATA,
    OFFSET_TYPES,
    SHARE_TYPES,
    STREAMS_TYPES,
)
from groups.history.state.copying import draft, sealed
from groups.history.state.group import UNREADABLE, State

FOLD_VERSION: Final = 21
"""Raised whenever the same entries would give other changes, moments or findings: caches are then rebuilt."""

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, OverflowError)
"""What reading a payload of another shape raises; nothing else is caught."""


def replay(state: State, entry: Entry) -> State:
    """The state after ``entry``; ``anomalies`` are those of this entry alone."""
    try:
        before = draft(state, sequence=entry.sequence, at_ms=entry.at_ms, anomalies=())
        if entry.kind is Kind.RECORD:
            return sealed(_record(before, entry.payload))
        handler = volatile.VOLATILE.get(entry.kind)
        return sealed(handler(before, entry) if handler is not None else before)
    except _MALFORMED as error:
        # What a handler that stopped half-way has changed was its draft's.
        says = f"This {entry.kind} cannot be read: {type(error).__name__}: {error}"
        before = draft(state, sequence=entry.sequence, at_ms=entry.at_ms, anomalies=())
        return sealed(before.note(UNREADABLE, says))


def replay_record(state: State, record: Fields) -> State:
    """The durable part after one record, the payload of an entry: how a coordinator builds its memory."""
    return sealed(_record(draft(state), record))


def _record(state: State, record: Fields) -> State:
    record_type, key = record["type"], record.get("key")
    value = record.get("value")
    if record_type not in _KNOWN_TYPES or key is None:
        return state.note("unknown_type", f"A record of type {record_type} was kept as bytes.")
    group = key["group"] if record_type in _OF_GROUP else key["groupId"]
    if group != state.group:
        return state.note("other_group", f"A record of group {group} was left out.")
    if record_type in OFFSET_TYPES:
        return offsets.replay_record(state, key, value)
    if record_type == CLASSIC_GROUP:
        return classic.replay_record(state, key, value)
    if record_type in SHARE_TYPES:
        return share.replay_record(state, record_type, key, value)
    if record_type in STREAMS_TYPES:
        return streams.replay_record(state, record_type, key, value)
    after = consumer.replay_record(state, record_type, key, value)
    if record_type == CURRENT_ASSIGNMENT:
        after = volatile.after_current_assignment(after, str(key["memberId"]))
    elif record_type == MEMBER_METADATA and value is None:
        after = volatile.after_member_removed(after, str(key["memberId"]))
    return after


_OF_GROUP: Final = OFFSET_TYPES | {CLASSIC_GROUP}
"""Types whose keys name the group in a field of another name."""

_KNOWN_TYPES: Final = OFFSET_TYPES | {CLASSIC_GROUP} | CONSUMER_TYPES | SHARE_TYPES | STREAMS_TYPES
