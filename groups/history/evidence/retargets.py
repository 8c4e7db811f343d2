"""How the target assignment changed: what left the targets of members, and what came into them."""

from __future__ import annotations

from collections.abc import Mapping

from groups.history.evidence.steps import Key, Retarget, keys
from groups.history.state.epochs import Target
from groups.history.state.identity import changed_keys

Aims = list[tuple[Key, str]]
"""Partitions, each with the member whose target they left or came into."""


def changed_aims(old: Mapping[str, Target], new: Mapping[str, Target]) -> tuple[Aims, Aims]:
    """What left the targets of members, and what came into them."""
    lost: Aims = []
    found: Aims = []
    for member_id in changed_keys(old, new):
        before, after = old.get(member_id), new.get(member_id)
        if before == after:
            continue
        had, has = keys(before or {}), keys(after or {})
        lost += [(key, member_id) for key in had - has]
        found += [(key, member_id) for key in has - had]
    return lost, found


def retargets_of(
    lost: Aims, found: Aims, replaced: Mapping[str, str], *, shared: bool
) -> tuple[Retarget, ...]:
    if not lost and not found:
        return ()
    if replaced:
        lost = [(key, replaced.get(member_id, member_id)) for key, member_id in lost]
    if shared:
        # One reader more or less is no move from the others.
        given = [Retarget(partition=key, before=None, after=member_id) for key, member_id in found]
        taken = [Retarget(partition=key, before=member_id, after=None) for key, member_id in lost]
        return tuple(sorted((*given, *taken), key=_by_partition))
    had, has = dict(lost), dict(found)
    return tuple(
        Retarget(partition=key, before=had.get(key), after=has.get(key))
        for key in sorted({*had, *has})
        if had.get(key) != has.get(key)
    )


def _by_partition(retarget: Retarget) -> tuple[Key, str, str]:
    return retarget.partition, retarget.after or "", retarget.before or ""
