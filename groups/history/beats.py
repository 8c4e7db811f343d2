"""Steady heartbeats, as most entries of a long timeline are: one alters what is known of its own member, and nothing else.

Folding one into the state of a large group, and comparing the frames before and after, would cost as much as the group
is large. Here it is folded into a state that holds its member alone. What comes of it waits, until something else than a
steady heartbeat is to be folded or a whole frame is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter, is_
from typing import Any, Final

from groups.history.changes import Change, Frame, diff
from groups.history.copying import replace
from groups.history.entries import Entry, Kind
from groups.history.fold import replay
from groups.history.frames import volatile_parts
from groups.history.state import Client, State, Timers


@dataclass(frozen=True, slots=True)
class Beat:
    """What a member's heartbeat left: its client and its timers, and what a frame shows of both."""

    client: Client
    timers: Timers
    parts: Mapping[str, Mapping[str, Any]]


Beats = Mapping[str, Beat]
"""By member, the latest of each; all of them stand in the state that they are laid over."""


def beat_of(state: State, beats: Beats, entry: Entry) -> tuple[Beat, State, list[Change]] | None:
    """What a steady heartbeat leaves, and the changes of its frame; ``None`` for an entry that has to be folded wholly.

    ``state`` is that before the entry, but for ``beats``. The state in the answer is that after it, but for all beats.
    """
    if entry.kind is not Kind.REQUEST or not entry.payload.get("steady") or not entry.settled:
        return None
    who, before = entry.actor, beats.get(entry.actor)
    client, timers = (before.client, before.timers) if before is not None else _known(state, who)
    if client is None or timers is None:
        return None
    alone = replace(state, clients={who: client}, timers={who: timers})
    after = replay(alone, entry)
    clients, deadlines = after.clients or {}, after.timers or {}
    touches_others = not all(map(is_, _REST(after), _REST(state))) or after.anomalies
    if touches_others or list(clients) != [who] or list(deadlines) != [who]:
        return None
    rest = replace(after, clients=state.clients, timers=state.timers)
    parts = volatile_parts(after)
    shown = before.parts if before is not None else volatile_parts(alone)
    changes = diff(
        {"sequence": state.sequence, "at_ms": state.at_ms, **shown},
        {"sequence": after.sequence, "at_ms": after.at_ms, **parts},
    )
    return Beat(clients[who], deadlines[who], parts), rest, changes


def state_with(state: State, beats: Beats) -> State:
    """The whole state."""
    if not beats:
        return state
    clients = {who: beat.client for who, beat in beats.items()}
    timers = {who: beat.timers for who, beat in beats.items()}
    return replace(
        state, clients={**(state.clients or {}), **clients}, timers={**(state.timers or {}), **timers}
    )


def frame_with(frame: Frame, beats: Beats) -> Frame:
    """The whole frame."""
    whole = dict(frame)
    for name in ("clients", "timers") if beats else ():
        whole[name] = {**frame[name], **{who: beat.parts[name][who] for who, beat in beats.items()}}
    return whole


def _known(state: State, who: str) -> tuple[Client | None, Timers | None]:
    return (state.clients or {}).get(who), (state.timers or {}).get(who)


_OWN: Final = ("sequence", "at_ms", "clients", "timers", "anomalies")
"""What a heartbeat may change of a state, for its own member; ``anomalies`` are those of each entry anew."""

_REST: Final = attrgetter(*(field.name for field in fields(State) if field.name not in _OWN))
