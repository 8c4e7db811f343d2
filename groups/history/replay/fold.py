"""The fold: one deterministic function that takes a state and an entry and gives the next state.

Every source goes through it: case studies, simulations, imported logs. Each protocol has handlers of its own
(``consumer``, ``classic_record``, ``share``, ``streams``, ``offsets``, ``events``); ``replay`` only dispatches. It takes any log that the world
may hold: records from before the log's start, gaps, tombstones of what is not there, types and codes of releases to
come. What breaks a rule becomes an anomaly of the state, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.replay import classic_record, consumer, offsets, share, streams, volatile
from groups.history.replay.commit_runs import replay_commits, run_of
from groups.history.replay.epoch_groups import Replays
from groups.history.replay.fields import Fields
from groups.history.replay.record_types import (
    CLASSIC_GROUP,
    CURRENT_ASSIGNMENT,
    MEMBER_METADATA,
    OFFSET_TYPES,
)
from groups.history.state.copying import draft, replace, sealed
from groups.history.state.group import UNREADABLE, Anomaly, State

FOLD_VERSION: Final = 35
"""Raised whenever the same entries would give other changes, moments or findings: caches are then rebuilt."""

_RECORD: Final = Kind.RECORD
_COMMITS: Final = Kind.COMMITS

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, OverflowError)
"""What reading a payload of another shape raises; nothing else is caught."""


def replay(state: State, entry: Entry) -> State:
    """The state after ``entry``; ``anomalies`` are those of this entry alone."""
    try:
        before = draft(state, sequence=entry.sequence, at_ms=entry.at_ms, anomalies=())
        if entry.kind is _RECORD:
            return sealed(_record(before, entry.payload))
        if entry.kind is _COMMITS:
            return replay_commits(state, run_of(entry))
        handler = volatile.VOLATILE.get(entry.kind)
        return sealed(handler(before, entry) if handler is not None else before)
    except _MALFORMED as error:
        # What a handler that stopped half-way has changed was its draft's.
        text = f"This {entry.kind} cannot be read: {type(error).__name__}: {error}"
        before = draft(state, sequence=entry.sequence, at_ms=entry.at_ms, anomalies=())
        return sealed(before.note(UNREADABLE, text))


def replay_unit(state: State, entries: Sequence[Entry]) -> tuple[State, tuple[Anomaly, ...]]:
    """The state after the records of one unit, and the anomalies of them all: as ``replay`` of one after the other gives."""
    if len(entries) > 1:
        try:
            at_once = _replayed_at_once(state, entries)
        except _MALFORMED:
            # Which of them cannot be read shows one by one.
            at_once = None
        if at_once is not None:
            return at_once
    anomalies: list[Anomaly] = []
    for entry in entries:
        state = replay(state, entry)
        anomalies += state.anomalies
    return state, tuple(anomalies)


def _replayed_at_once(state: State, entries: Sequence[Entry]) -> tuple[State, tuple[Anomaly, ...]] | None:
    """In one draft of the state and of its group; ``None`` if the group seems untouched, as far as that can be seen."""
    group = draft(state.consumer)
    at = draft(state, consumer=group)
    anomalies: list[Anomaly] = []
    for entry in entries:
        at = replace(at, sequence=entry.sequence, at_ms=entry.at_ms, anomalies=())
        at = _record(at, entry.payload)
        anomalies += at.anomalies
    held, before = vars(group), vars(state.consumer)
    if not any(held[name] is not before[name] for name in before if name != "_cache"):
        # Whether a record that changes nothing was taken, or left out, is another object or none.
        return None
    sealed(group)
    return sealed(at), tuple(anomalies)


def replay_record(state: State, record: Fields) -> State:
    """The durable part after one record, the payload of an entry: how a coordinator builds its memory."""
    return sealed(_record(draft(state), record))


def _record(state: State, record: Fields) -> State:
    record_type, key = record["type"], record.get("key")
    known = _REPLAYS.get(record_type)
    if known is None or key is None:
        return state.note("unknown_type", f"A record of type {record_type} was kept as bytes.")
    group_field, replays = known
    group = key[group_field]
    if group != state.group:
        return state.note("other_group", f"A record of group {group} was left out.")
    return replays(state, key, record.get("value"))


def _current_assignment(state: State, key: Fields, value: Fields | None) -> State:
    after = consumer.REPLAYS[CURRENT_ASSIGNMENT](state, key, value)
    return volatile.after_current_assignment(after, str(key["memberId"])) if after.clients else after


def _member_metadata(state: State, key: Fields, value: Fields | None) -> State:
    after = consumer.REPLAYS[MEMBER_METADATA](state, key, value)
    return volatile.after_member_removed(after, str(key["memberId"])) if value is None else after


_OF_GROUPS: Final = {
    **consumer.REPLAYS,
    CURRENT_ASSIGNMENT: _current_assignment,
    MEMBER_METADATA: _member_metadata,
    **share.REPLAYS,
    **streams.REPLAYS,
}
_REPLAYS: Final[Mapping[int, tuple[str, Replays]]] = {
    **dict.fromkeys(OFFSET_TYPES, ("group", offsets.replay_record)),
    CLASSIC_GROUP: ("group", classic_record.replay_record),
    **{record_type: ("groupId", replays) for record_type, replays in _OF_GROUPS.items()},
}
"""By type: the field of the key that names the group, and what replays the record."""
