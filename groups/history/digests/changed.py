"""What a change of a frame's part speaks of: of all of it, or of one name in it."""

from __future__ import annotations

from collections.abc import Iterable

from groups.history.frames.changes import Value


def updated(held: dict[str, list[int]], below: list[str], new: Value) -> dict[str, list[int]]:
    """Partitions by topic after a change of all of them, or of one topic's list."""
    return {**held, below[0]: new or []} if below else dict(new or {})


def parts_of(path: list[str], depth: int, old: Value, new: Value) -> Iterable[tuple[str, Value, Value]]:
    """The parts that a change of all of them, or of one, speaks of: name, old, new."""
    if len(path) > depth:
        yield path[depth], old, new
        return
    old, new = old or {}, new or {}
    for name in {**old, **new}:
        yield name, old.get(name), new.get(name)


def by_topic(path: list[str], depth: int, old: Value, new: Value) -> tuple[Value, Value]:
    """A change of one topic's list is one of a map with that topic alone."""
    if len(path) > depth:
        return {path[depth]: old}, {path[depth]: new}
    return old, new
