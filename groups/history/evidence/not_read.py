"""When nobody fetched each partition, of a log that reports it (topics with a rate): the intervals of the fold's sum ``unread_ms``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from groups.history.entries import Entry
from groups.history.lag.course import Place, Stretch
from groups.history.replay.fold import replay
from groups.history.state.consumption import Consumption
from groups.history.state.group import initial_state
from groups.history.state.identity import changed_keys


def not_read(group: str, notes: Iterable[Entry], until_ms: int) -> dict[Place, list[Stretch]]:
    """By topic and partition, each of a topic with a rate; what lasts at ``until_ms`` ends there."""
    state = initial_state(group)
    before = Consumption()
    found: dict[Place, list[Stretch]] = defaultdict(list)
    for note in notes:
        state = replay(state, note)
        now = state.consumption or before
        _add(found, before, now, note.at_ms)
        before = now
    _add(found, before, Consumption(), until_ms)
    return found


def _add(found: dict[Place, list[Stretch]], old: Consumption, new: Consumption, at_ms: int) -> None:
    """Adds the intervals of ``old`` that have ended."""
    for name in changed_keys(old.topics, new.topics):
        was = old.topics[name].partitions if name in old.topics else {}
        now = new.topics[name].partitions if name in new.topics else {}
        for number in changed_keys(was, now):
            since_ms = was[number].unread_since_ms if number in was else None
            after_ms = now[number].unread_since_ms if number in now else None
            ended = found[name, number]
            if since_ms is not None and after_ms != since_ms:
                ended.append(Stretch(since_ms, at_ms))
