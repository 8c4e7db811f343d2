"""Who came in a step: who joined, who was there before the log speaks of it, and which static members came back under a new id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from groups.history.entries import Entry, Kind, Payload
from groups.history.evidence.holdings import members_of
from groups.history.replay.fields import mapping
from groups.history.replay.record_types import CURRENT_ASSIGNMENT, MEMBER_METADATA, meaning
from groups.history.state.group import Protocol, Semantics, State


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
