"""Steps: what one settled step altered, member by member and partition by partition.

A step goes from one settled state to the next: all records of a request at once, since states in between never
existed. Sentences and findings are made from steps, never from single records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from groups.history.entries import Entry, Kind, Payload
from groups.history.replay.fields import mapping
from groups.history.replay.record_types import CURRENT_ASSIGNMENT, MEMBER_METADATA, meaning
from groups.history.state.classic import UNKNOWN_GENERATION
from groups.history.state.consumer import ConsumerMember
from groups.history.state.epochs import Assignment, ModernMember, Target
from groups.history.state.group import Anomaly, Protocol, Semantics, State
from groups.history.state.identity import changed_keys
from groups.history.state.streams import StreamsMember

Key = tuple[str, int]
"""A partition by topic id (consumer and share protocol) or topic name (classic protocol), or a task by subtopology."""

Copy = tuple[str, str, int]
"""A copy of a task, which no member owns alone: ``("standby", "0", 2)``."""


_CLASSIC: Final = Protocol.CLASSIC
_CONSUMER: Final = Protocol.CONSUMER

_NOBODY: Final[Mapping[str, str]] = {}


class MemberStep(NamedTuple):
    """What happened to one member. ``released`` left its hands, ``gained`` came into them, ``told`` is newly to go.

    ``copies_gained`` and ``copies_released`` are standby and warm-up tasks, of a streams group's member.
    """

    member_id: str
    epoch_before: int | None
    epoch: int | None
    gained: frozenset[Key] = frozenset()
    released: frozenset[Key] = frozenset()
    told: frozenset[Key] = frozenset()
    acknowledged: bool = False
    copies_gained: frozenset[Copy] = frozenset()
    copies_released: frozenset[Copy] = frozenset()


class Retarget(NamedTuple):
    """A partition whose target changed, from whom to whom; ``None`` is nobody."""

    partition: Key
    before: str | None
    after: str | None


class Step(NamedTuple):
    """One settled step; ``entries`` are those of it, in order (a unit of records, or one entry)."""

    entries: tuple[Entry, ...]
    before: State
    after: State
    joined: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    """Members that this step is the first to speak of, though they were there before: the log does not hold their
    joining."""
    removed: tuple[str, ...] = ()
    replaced: Mapping[str, str] = _NOBODY
    members: tuple[MemberStep, ...] = ()
    retargets: tuple[Retarget, ...] = ()
    aims_found: tuple[Key, ...] = ()
    """Partitions that came into some member's target, and those that left one: a partition may be of several."""
    aims_lost: tuple[Key, ...] = ()
    target_computed: bool = False
    epoch_changed: bool = False
    anomalies: tuple[Anomaly, ...] = ()
    same_group: bool = False
    """Whether no group of any protocol is another one: members, targets and epochs are as they were."""
    moves_only: bool = False
    """Whether all that changed is what members of a consumer group hold who were there and stay, as after most heartbeats:
    nobody came or went, no rule was broken, and epochs, target, topics, expressions and commits are as they were."""

    @property
    def sequence(self) -> int:
        return self.after.sequence

    @property
    def migrates(self) -> bool:
        """Whether the group went over from one protocol to the other, in which partitions have other keys."""
        return self.before.protocol is not None and self.before.protocol is not self.after.protocol

    @property
    def epoch(self) -> int:
        return epoch_of(self.after)


def epoch_of(state: State) -> int:
    """The group epoch, or the generation of a classic group."""
    return state.classic.generation if state.protocol is Protocol.CLASSIC else state.modern.group_epoch


def _epoch_before(before: State, after: State) -> int:
    """The epoch that the later one follows: before its first record a group has none of either protocol."""
    if before.protocol is None:
        return (
            before.classic.generation if after.protocol is Protocol.CLASSIC else before.consumer.group_epoch
        )
    return epoch_of(before)


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
    held_before, held_after = _members(before), _members(after)
    keys = changed_keys(held_before, held_after)
    new = tuple(key for key in keys if key not in held_before)
    gone = [key for key in keys if key not in held_after]
    replaced = _replaced(before, after, new, gone) if new else {}
    replaced = replaced or (_replaced_unknown(entries, new) if new else {})
    came = tuple(key for key in new if key not in replaced.values())
    joiners = _joiners(before, after, entries) if came else frozenset()
    members = tuple(
        _member_step(key, _held(before, key), _held(after, key), _epoch(before, key), _epoch(after, key))
        for key in keys
    )
    lost, found = _aims(before.modern.target, after.modern.target)
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
        retargets=_retargets(lost, found, replaced, shared=after.protocol is Protocol.SHARE),
        aims_found=tuple(key for key, _ in found),
        aims_lost=tuple(key for key, _ in lost),
        target_computed=target_computed and after.protocol is not Protocol.CLASSIC,
        epoch_changed=epoch_of(after) not in (_epoch_before(before, after), UNKNOWN_GENERATION),
        anomalies=anomalies,
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
        step = _consumer_step(before, after) if before is not after else None
        if step is not None:
            moved.append(step)
    return tuple(moved)


def _spoken_of(entries: tuple[Entry, ...]) -> tuple[str] | None:
    """Whom the one record speaks of, if it is a current assignment: nobody else is another member after it."""
    if len(entries) == 1 and entries[0].kind is Kind.RECORD:
        record_type, member_id, _ = _of_member(entries[0])
        if record_type == CURRENT_ASSIGNMENT:
            return (member_id,)
    return None


def _consumer_step(old: ConsumerMember, new: ConsumerMember) -> MemberStep | None:
    """``_member_step`` of a member that stays, without a set of what it holds where that did not change."""
    if _same_partitions(old.assigned, new.assigned) and _same_partitions(
        old.pending_revocation, new.pending_revocation
    ):
        return None if old.epoch == new.epoch else MemberStep(new.member_id, old.epoch, new.epoch)
    return _member_step(
        new.member_id,
        Hands(keys(old.assigned), keys(old.pending_revocation)),
        Hands(keys(new.assigned), keys(new.pending_revocation)),
        old.epoch,
        new.epoch,
    )


def _same_partitions(old: Assignment, new: Assignment) -> bool:
    """Whether the partitions are the same, whatever their epochs."""
    return old is new or (
        old.keys() == new.keys()
        and all(old[topic].keys() == partitions.keys() for topic, partitions in new.items())
    )


def _same_group(before: State, after: State) -> bool:
    return (
        before.consumer is after.consumer
        and before.classic is after.classic
        and before.share is after.share
        and before.streams is after.streams
    )


class Hands(NamedTuple):
    """What a member holds: assigned, and to be given up; and copies of tasks."""

    assigned: frozenset[Key]
    pending: frozenset[Key]
    copies: frozenset[Copy] = frozenset()


_EMPTY = Hands(frozenset(), frozenset())


def holdings(state: State) -> dict[Key, str]:
    """Who holds what; of two holders the later in the group's order."""
    held: dict[Key, str] = {}
    for member_id in _members(state):
        hands = _held(state, member_id) or _EMPTY
        held.update(dict.fromkeys(sorted(hands.assigned | hands.pending), member_id))
    return held


def _members(state: State) -> Mapping[str, object]:
    return state.classic.members if state.protocol is _CLASSIC else state.modern.members


def _held(state: State, member_id: str) -> Hands | None:
    if state.protocol is Protocol.CLASSIC:
        classic = state.classic.members.get(member_id)
        if classic is None:
            return None
        return Hands(frozenset((topic, p) for topic, ps in classic.assigned.items() for p in ps), frozenset())
    member = state.modern.members.get(member_id)
    if member is None:
        return None
    return Hands(keys(member.assigned), keys(member.pending_revocation), _copies(member))


def _copies(member: ModernMember) -> frozenset[Copy]:
    if not isinstance(member, StreamsMember):
        return frozenset()
    parts = (
        ("standby", member.standby),
        ("standby", member.standby_pending_revocation),
        ("warm-up", member.warmup),
        ("warm-up", member.warmup_pending_revocation),
    )
    return frozenset((kind, *key) for kind, tasks in parts for key in keys(tasks))


def keys(partitions: Mapping[str, Iterable[int]]) -> frozenset[Key]:
    """``{"foo": [0, 1]}`` as ``{("foo", 0), ("foo", 1)}``."""
    return frozenset((topic, number) for topic, numbers in partitions.items() for number in numbers)


def _epoch(state: State, member_id: str) -> int | None:
    if state.protocol is Protocol.CLASSIC:
        return state.classic.known_generation if member_id in state.classic.members else None
    member = state.modern.members.get(member_id)
    return None if member is None else member.epoch


def _member_step(
    member_id: str, before: Hands | None, after: Hands | None, epoch_before: int | None, epoch: int | None
) -> MemberStep | None:
    old, new = before or _EMPTY, after or _EMPTY
    had, has = old.assigned | old.pending, new.assigned | new.pending
    step = MemberStep(
        member_id=member_id,
        epoch_before=epoch_before,
        epoch=epoch,
        gained=has - had,
        released=had - has,
        told=new.pending - old.pending,
        acknowledged=after is not None and before is not None and bool(had - has),
        copies_gained=new.copies - old.copies,
        copies_released=old.copies - new.copies,
    )
    if before is None or after is None or epoch_before != epoch or had != has:
        return step
    return step if step.told or new.copies != old.copies else None


def _replaced(before: State, after: State, joined: Iterable[str], gone: Iterable[str]) -> Mapping[str, str]:
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


def _replaced_unknown(entries: Iterable[Entry], came: Iterable[str]) -> Mapping[str, str]:
    """The same where the log does not hold the old member: its tombstones are followed by the new one's record."""
    removed: str | None = None
    for entry in entries:
        record_type, member_id, value = _of_member(entry)
        if record_type != MEMBER_METADATA:
            continue
        if value is None:
            removed = member_id
        elif removed is not None and removed != member_id and member_id in came:
            return {removed: member_id} if value.get("instanceId") is not None else {}
    return {}


def _joiners(before: State, after: State, entries: Iterable[Entry]) -> frozenset[str]:
    """Members of whom these records tell that they join.

    Kafka writes a joiner's type 5 and, in the same request, its first type 8, with the previous epoch 0 that it comes
    from; the proposal writes no type 8 until it advances. Anything else is written of members that are there. Of a
    classic group's first record nobody can tell, unless it is the first generation.
    """
    if after.protocol is Protocol.CLASSIC:
        whole = before.classic.recorded or before.deleted or before.protocol is Protocol.CONSUMER
        return (
            frozenset(after.classic.members) if whole or after.classic.generation in (0, 1) else frozenset()
        )
    told: set[str] = set()
    first: dict[str, int] = {}
    for entry in entries:
        record_type, member_id, value = _of_member(entry)
        if value is None:
            continue
        if record_type == MEMBER_METADATA:
            told.add(member_id)
        elif record_type == CURRENT_ASSIGNMENT:
            first.setdefault(member_id, value.get("previousMemberEpoch", 0))
    if after.semantics is Semantics.KIP:
        return frozenset(told - first.keys())
    return frozenset(member_id for member_id in told if first.get(member_id, 1) <= 0)


def _of_member(entry: Entry) -> tuple[int | None, str, Payload | None]:
    """Type (by meaning), member and value of a member's record; what cannot be read speaks of nobody."""
    if entry.kind is not Kind.RECORD:
        return None, "", None
    payload = entry.payload
    value, record_type = payload.get("value"), payload.get("type")
    member_id = str(mapping(payload.get("key")).get("memberId"))
    known = meaning(record_type) if isinstance(record_type, int) else None
    return known, member_id, value if type(value) is dict or isinstance(value, Mapping) else None


def _instance(state: State, member_id: str) -> str | None:
    member = _members(state).get(member_id)
    return getattr(member, "instance_id", None)


Aims = list[tuple[Key, str]]
"""Partitions, each with the member whose target they left or came into."""


def _aims(old: Mapping[str, Target], new: Mapping[str, Target]) -> tuple[Aims, Aims]:
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


def _retargets(lost: Aims, found: Aims, replaced: Mapping[str, str], *, shared: bool) -> tuple[Retarget, ...]:
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
