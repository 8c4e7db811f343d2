"""Sentences that only a streams group has: its topology, and copies of tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.steps import Copy, MemberStep, Step
from groups.history.state.group import Protocol
from groups.history.story.sentences import COORDINATOR, Sentence, joined
from groups.history.words import TASKS, partitions

COPIES_MAX: Final = 3
"""Members whose copies one sentence names; beyond, they are counted."""


def topology_sentence(step: Step) -> Sentence | None:
    """A topology that is new or changed, and whether its topics are there."""
    before, after = step.before.streams, step.after.streams
    if before is after or step.after.protocol is not Protocol.STREAMS:
        return None
    known = []
    if after.topology is not None and after.topology != before.topology:
        number = len(after.topology.subtopologies)
        noun = "subtopology" if number == 1 else "subtopologies"
        known.append(f"The topology of epoch {after.topology.epoch} has {number:,} {noun}")
    if before.is_ready and not after.is_ready:
        known.append("The topology is not ready: not all of its topics are there")
    elif after.is_ready and not before.is_ready:
        known.append("The topology is ready")
    return Sentence("metadata", COORDINATOR, joined(known)) if known else None


def copies_sentence(step: Step, cast: DisplayNames) -> Sentence | None:
    """Standby and warm-up tasks that came and went; those of members that left went with them."""
    after = step.after.streams.members
    changes = [
        change
        for change in step.members
        if change.member_id in after and (change.copies_gained or change.copies_released)
    ]
    if not changes:
        return None
    if len(changes) > COPIES_MAX:
        return Sentence("gain", COORDINATOR, f"{len(changes)} members change their standby or warm-up tasks")
    text = "; ".join(f"{cast.name(change.member_id)} {_changed(change)}" for change in changes)
    return Sentence("gain" if changes[0].copies_gained else "acknowledge", changes[0].member_id, text)


def _changed(change: MemberStep) -> str:
    gets = [f"gets {_named(kind, change.copies_gained)}" for kind in _kinds(change.copies_gained)]
    drops = [f"drops {_named(kind, change.copies_released)}" for kind in _kinds(change.copies_released)]
    return ", ".join((*gets, *drops))


def _kinds(copies: Iterable[Copy]) -> list[str]:
    return sorted({kind for kind, _, _ in copies})


def _named(of: str, copies: Iterable[Copy]) -> str:
    return f"{of} {partitions(((subtopology, number) for kind, subtopology, number in copies if kind == of), TASKS)}"
