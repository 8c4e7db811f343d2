"""The step between two settled states: member by member, and partition by partition.

Most steps of a large log change nothing in the group, or only what members hold who stay: both have a short way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.history.evidence.holdings import consumer_step, held_by, member_epoch, member_step, members_of
from groups.history.evidence.steps import Key, MemberStep, Retarget, Step, epoch_of, keys
from groups.history.replay.fields import mapping
from groups.history.replay.record_types import CURRENT_ASSIGNMENT, MEMBER_METADATA, meaning
from groups.history.state.classic_group import UNKNOWN_GENERATION
from groups.history.state.consumer import ConsumerMember
from groups.history.state.epochs import Target
from groups.history.state.group import Anomaly, Protocol, Semantics, State
from groups.history.state.identity import changed_keys


def joining_members(before: State, after: State, entries: Iterable[Entry]) -> frozenset[str]:
    """Members that join in these records.

    Kafka writes a joiner's type 5 and, in the same request, its first type 8, with the previous epoch 0 that it comes
    from; the proposal writes no type 8 until it advances. Anything else is written of members that are there. Of a
    classic group's first record it is unknown, unless it is the first generation.
    """
    if after.protocol is Protocol.CLASSIC:
        whole = before.classic.recorded or before.deleted or before.protocol is Protocol.CONSUMER
        return (
            frozenset(after.classic.members) if whole or after.classic.generation in (0, 1) else frozenset()
        )
    known: set[str] = set()
    first: dict[str, int] = {}
    for entry in entries:
        record_type, member_id, value = member_record(entry)
        if value is None:
            continue
        if record_type == MEMBER_METADATA:
            known.add(member_id)
        elif record_type == CURRENT_ASSIGNMENT:
            first.setdefault(member_id, value.get("previousMemberEpoch", 0))
    if after.semantics is Semantics.KIP:
        return frozenset(known - first.keys())
    return frozenset(member_id for member_id in known if first.get(member_id, 1) <= 0)


def replaced_members(
    before: State, after: State, joined: Iterable[str], gone: Iterable[str]
) -> Mapping[str, str]:
    """Old member id → new one, where a static member came back under a new id in one step."""
    if not joined or not gone:
        return {}
    instances = {_instance(before, member_id): member_id for member_id in gone}
    instances.pop(None, None)
    return {
        instances[instance]: member_id
        for member_id in joined
        if (instance := _instance(after, member_id)) in instances
    }


def replaced_unseen(entries: Iterable[Entry], came: Iterable[str]) -> Mapping[str, str]:
    """The same where the log does not hold the old member: its tombstones are followed by the new one's record."""
    removed: str | None = None
    for entry in entries:
        record_type, member_id, value = member_record(entry)
        if record_type != MEMBER_METADATA:
            continue
        if value is None:
            removed = member_id
        elif removed is not None and removed != member_id and member_id in came:
            return {removed: member_id} if value.get("instanceId") is not None else {}
    return {}


def member_record(entry: Entry) -> tuple[int | None, str, Payload | None]:
    """Type (by meaning), member and value of a member's record; what cannot be read speaks of nobody."""
    if entry.kind is not Kind.RECORD:
        return None, "", None
    payload = entry.payload
    value, record_type = payload.get("value"), payload.get("type")
    member_id = str(mapping(payload.get("key")).get("memberId"))
    known = meaning(record_type) if isinstance(record_type, int) else None
    return known, member_id, value if type(value) is dict or isinstance(value, Mapping) else None


def _instance(state: State, member_id: str) -> str | None:
    member = members_of(state).get(member_id)
    return getattr(member, "instance_id", None)


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
