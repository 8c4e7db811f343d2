"""Changes: what one entry altered in a frame, applicable forwards and backwards.

A change is ``{"sequence": n, "path": ["members", "A", "epoch"], "old": 1, "new": 2}``. A side that is absent is left
out, which is not the same as ``null``. Objects are descended into; lists and scalars are leaves, as is an object that
appears or goes as a whole. This module knows nothing of Kafka, and the browser's twin of it needs no more either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NotRequired, TypedDict, TypeVar, cast

import orjson

from groups.history.state.identity import changed_keys

Value = Any
"""A part of a frame. ``Any``: its type follows from its path (``groups.history.frames.shapes``)."""

Whole = TypeVar("Whole", bound=Mapping[str, object])


class Change(TypedDict):
    """What one entry altered at one place; ``old`` or ``new`` is left out where there was or is nothing."""

    sequence: int
    path: list[str]
    old: NotRequired[Value]
    new: NotRequired[Value]


def diff(old: Mapping[str, object], new: Mapping[str, object]) -> list[Change]:
    """The changes that turn ``old`` into ``new``; parts that are the same object are not looked at.

    ``sequence`` of each change is that of ``new``, or 0 if it holds none.
    """
    changes: list[Change] = []
    sequence = new.get("sequence")
    _diff(old, new, [], sequence if isinstance(sequence, int) else 0, changes)
    return changes


def apply(frame: Whole, changes: Iterable[Change]) -> Whole:
    """The frame after the changes. The given frame stays as it is; parts that do not change are shared."""
    return _travel(frame, changes, "new")


def unapply(frame: Whole, changes: Sequence[Change]) -> Whole:
    """The frame before the changes: the inverse of ``apply``."""
    return _travel(frame, reversed(changes), "old")


def to_json(change: Change) -> bytes:
    """The text of a change; a map with versions is written as the dict that it equals."""
    return orjson.dumps(change, default=dict)


def _diff(
    old: Mapping[str, Value], new: Mapping[str, Value], path: list[str], sequence: int, changes: list[Change]
) -> None:
    for key in changed_keys(old, new):
        if key not in new:
            changes.append({"sequence": sequence, "path": [*path, key], "old": old[key]})
        elif key not in old:
            changes.append({"sequence": sequence, "path": [*path, key], "new": new[key]})
        else:
            before, after = old[key], new[key]
            kind = before.__class__
            if kind in _SCALARS and kind is after.__class__:
                if before != after:
                    changes.append({"sequence": sequence, "path": [*path, key], "old": before, "new": after})
            elif (kind is dict and after.__class__ is dict) or (
                isinstance(before, Mapping) and isinstance(after, Mapping)
            ):
                _diff(before, after, [*path, key], sequence, changes)
            elif not _same(before, after):
                changes.append({"sequence": sequence, "path": [*path, key], "old": before, "new": after})


_SCALARS: Final = frozenset({int, str})
"""Most of what changes: a number or a word that is another one."""


def _same(before: Value, after: Value) -> bool:
    """Equality of JSON values: Python holds ``True == 1`` and ``1 == 1.0``, JSON does not."""
    if type(before) is not type(after):
        return False
    if isinstance(before, list):
        # Lists of thousands of partitions: written out, they are compared without a Python loop.
        return before == after and orjson.dumps(before) == orjson.dumps(after)
    if isinstance(before, Mapping):
        return before.keys() == after.keys() and all(_same(before[key], after[key]) for key in before)
    return bool(before == after)


def _travel(frame: Whole, changes: Iterable[Change], side: Literal["old", "new"]) -> Whole:
    root: dict[str, Value] = dict(frame)
    # Objects copied in this call may be changed in place; all others belong to somebody else.
    own: set[int] = {id(root)}
    kept: list[object] = [root]
    for change in changes:
        *parents, last = change["path"]
        place = root
        for key in parents:
            child = place[key]
            if id(child) not in own:
                child = dict(child)
                own.add(id(child))
                kept.append(child)
                place[key] = child
            place = child
        if side in change:
            place[last] = change[side]
        else:
            place.pop(last, None)
    return cast(Whole, root)
