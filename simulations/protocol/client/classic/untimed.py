"""A classic member's memory for model checking: what decides its future, and what waiting comes to."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Final

from simulations.protocol.assignors.interface import Assignor
from simulations.protocol.client.classic.state import Memory

WITHOUT_EFFECT: Final = frozenset(
    {
        "config",  # The same for the life of the client, which is distinguished by its process.
        "revoke_ms",
        "reason",  # For people: no rule reads it.
        "retry_ms",
        "metadata_ms",
        "busy_until_ms",
        "polled_ms",
        "next_beat_ms",
        "session_ms",
        "lookup_ms",
        "auto_commit_ms",
        "alarm_ms",
        "failures",  # Of these two come lengths of back-offs alone.
        "draws",
    }
)
"""Fields of the memory that decide nothing where the clock does not move; every other one counts as it is."""

_JUDGED: Final = tuple(field.name for field in fields(Memory) if field.name not in WITHOUT_EFFECT)

UNREAD: Final = frozenset({"reason", "client_host", "state_timestamp_ms", "timestamp_ms"})
"""Fields of messages and of groups that no rule reads."""


_ATOMS: Final = frozenset({type(None), bool, int, str, bytes, float})
_FIELDS: Final[dict[type, tuple[str, ...]]] = {}
"""Of each dataclass that was met, the fields that are read."""


def canonical(m: Memory) -> Hashable:
    """All that decides what it will do, but for times."""
    return tuple(plain(getattr(m, name)) for name in _JUDGED)


def plain(value: object) -> Hashable:
    """A value in a form that can be hashed. Mappings keep their order: that of members decides who leads."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if (names := _FIELDS.get(kind)) is not None:
        return kind.__name__, *[plain(getattr(value, name)) for name in names]
    if isinstance(value, list | tuple):
        return tuple([plain(inner) for inner in value])
    if isinstance(value, Mapping):
        return tuple([(key, plain(inner)) for key, inner in value.items()])
    if isinstance(value, Enum | str | int | frozenset):
        return value
    if is_dataclass(value):
        _FIELDS[kind] = tuple(field.name for field in fields(value) if field.name not in UNREAD)
        return plain(value)
    raise TypeError(f"nobody has said what of a {kind.__name__} decides the future")


def twin(m: Memory) -> Memory:
    """Whatever is held is a value, so that both may share it."""
    return copy(m)


def waits(m: Memory, now_ms: int) -> bool:
    """Whether it backs off, looks the coordinator up, or polls again only after an exception."""
    return m.subscribed and (not m.known or now_ms < m.retry_ms or now_ms < m.busy_until_ms)


def wait_is_over(m: Memory, now_ms: int) -> None:
    m.known = True
    m.retry_ms = m.lookup_ms = m.busy_until_ms = now_ms


def remembered(assignors: Mapping[str, Assignor]) -> Hashable:
    """What the client's assignors remember from one round to the next, as the sticky ones do of generations."""
    return tuple((name, plain(getattr(each, "__dict__", {}))) for name, each in sorted(assignors.items()))
