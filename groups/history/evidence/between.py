"""The step between two settled states: member by member, and partition by partition.

Most steps of a large log change nothing in the group, or only what members hold who stay: both have a short way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.evidence.arrivals import joining_members, member_record, replaced_members, replaced_unseen
from groups.history.evidence.holdings import consumer_step, held_by, member_epoch, member_step, members_of
from groups.history.evidence.retargets import changed_aims, retargets_of
from groups.history.evidence.steps import MemberStep, Step, epoch_of
from groups.history.replay.record_types import CURRENT_ASSIGNMENT
from groups.history.state.classic_group import UNKNOWN_GENERATION
from groups.history.state.consumer import ConsumerMember
from groups.history.state.group import Anomaly, Protocol, State
from groups.history.state.identity import changed_keys

_CONSUMER: Final = Protocol.CONSUMER


def step_between(
    before: State, after: State, entries: tuple[Entry, ...], anomalies: tuple[Anomaly, ...]
) -> Step:
    """The step between two settled states."""
    if _same_group(before, after):
        return Step(entries=entries, before=before, after=after, anomalies=anomalies, same_group=True)
    if not anomalies and _moves_only(before, after):
        moved = _moved(before.consumer.members, after.consumer.members, entries)
        if moved is not None:
            return Step(entries=entries, before=before, after=after, members=moved, moves_only=True)
    held_before, held_after = members_of(before), members_of(after)
    keys = changed_keys(held_before, held_after)
    new = tuple(key for key in keys if key not in held_before)
    gone = [key for key in keys if key not in held_after]
    replaced = replaced_members(before, after, new, gone) if new else {}
    replaced = replaced or (replaced_unseen(entries, new) if new else {})
    came = tuple(key for key in new if key not in replaced.values())
    joiners = joining_members(before, after, entries) if came else frozenset()
    members = tuple(
        member_step(
            key,
            held_by(before, key),
            held_by(after, key),
            member_epoch(before, key),
            member_epoch(after, key),
        )
        for key in keys
    )
    lost, found = changed_aims(before.modern.target, after.modern.target)
    target_computed = before.modern.assignment_epoch != after.modern.assignment_epoch
    return Step(
        entries=entries,
        before=before,
        after=after,
        joined=tuple(key for key in came if key in joiners),
        found=tuple(key for key in came if key not in joiners),
        removed=tuple(key for key in gone if key not in replaced),
        replaced=replaced,
        members=tuple(step for step in members if step is not None),
        retargets=retargets_of(lost, found, replaced, shared=after.protocol is Protocol.SHARE),
        aims_found=tuple(key for key, _ in found),
        aims_lost=tuple(key for key, _ in lost),
        target_computed=target_computed and after.protocol is not Protocol.CLASSIC,
        epoch_changed=epoch_of(after) not in (_epoch_before(before, after), UNKNOWN_GENERATION),
        anomalies=anomalies,
    )


def _epoch_before(before: State, after: State) -> int:
    """The epoch that the later one follows: before its first record a group has none of either protocol."""
    if before.protocol is None:
        return (
            before.classic.generation if after.protocol is Protocol.CLASSIC else before.consumer.group_epoch
        )
    return epoch_of(before)


def _same_group(before: State, after: State) -> bool:
    return (
        before.consumer is after.consumer
        and before.classic is after.classic
        and before.share is after.share
        and before.streams is after.streams
    )


def _moves_only(before: State, after: State) -> bool:
    """``Step.moves_only``, but for who came and went."""
    old, new = before.consumer, after.consumer
    return (
        before.protocol is _CONSUMER
        and after.protocol is _CONSUMER
        and old.target is new.target
        and before.topics is after.topics
        and before.offsets is after.offsets
        and old.group_epoch == new.group_epoch
        and old.assignment_epoch == new.assignment_epoch
        and old.regexes is new.regexes
        and not before.deleted
        and not after.deleted
    )


def _moved(
    old: Mapping[str, ConsumerMember], new: Mapping[str, ConsumerMember], entries: tuple[Entry, ...]
) -> tuple[MemberStep, ...] | None:
    """What members hold now; ``None`` if anybody came or went."""
    moved: list[MemberStep] = []
    for member_id in _spoken_of(entries) or changed_keys(old, new):
        before, after = old.get(member_id), new.get(member_id)
        if before is None or after is None:
            return None
        step = consumer_step(before, after) if before is not after else None
        if step is not None:
            moved.append(step)
    return tuple(moved)


def _spoken_of(entries: tuple[Entry, ...]) -> tuple[str] | None:
    """Whom the one record speaks of, if it is a current assignment: nobody else is another member after it."""
    if len(entries) == 1 and entries[0].kind is Kind.RECORD:
        record_type, member_id, _ = member_record(entries[0])
        if record_type == CURRENT_ASSIGNMENT:
            return (member_id,)
    return None
