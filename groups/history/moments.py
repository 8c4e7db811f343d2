"""Moments: what happened, in one sentence each, where the board rests.

A sentence says no more than the entries support. Records alone do not tell why a member is gone; a request or a timer
that is known as their cause does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from groups.history.classic_moments import tell_classic
from groups.history.consumer_state import LEAVE_GROUP_STATIC_MEMBER_EPOCH
from groups.history.entries import Entry, Kind
from groups.history.fields import mapping, text
from groups.history.names import Cast
from groups.history.sentences import COORDINATOR, Sentence, joined, named, target_clause
from groups.history.state import UNREADABLE, Protocol, State
from groups.history.steps import Key, MemberStep, Step, waiting_for
from groups.history.volatile import told_assignment
from groups.history.words import PARTITIONS_NAMED_MAX, counted, is_or_are, partitions

TOPICS_CHANGED: Final = "The topics changed"

FAULT_WORDS: Final[Mapping[str, str]] = {
    "kill": "is killed",
    "pause": "stops answering",
    "resume": "answers again",
    "cut": "is cut off",
    "heal": "can be reached again",
}

ERROR_NAMES: Final[Mapping[int, str]] = {
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    16: "NOT_COORDINATOR",
    22: "ILLEGAL_GENERATION",
    23: "INCONSISTENT_GROUP_PROTOCOL",
    25: "UNKNOWN_MEMBER_ID",
    27: "REBALANCE_IN_PROGRESS",
    69: "GROUP_ID_NOT_FOUND",
    79: "MEMBER_ID_REQUIRED",
    81: "GROUP_MAX_SIZE_REACHED",
    82: "FENCED_INSTANCE_ID",
    110: "FENCED_MEMBER_EPOCH",
    111: "UNRELEASED_INSTANCE_ID",
    112: "UNSUPPORTED_ASSIGNOR",
    113: "STALE_MEMBER_EPOCH",
    128: "INVALID_REGULAR_EXPRESSION",
}
"""Kafka's names (``Errors``) of the codes that a group's requests are answered with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The request or the timer that brought a step about, where an entry of it is known."""

    sequence: int
    kind: Kind
    member: str | None
    leaves: bool = False
    timer: str | None = None

    @classmethod
    def of(cls, entry: Entry) -> Cause | None:
        """The cause that an entry is, or ``None`` if it is none."""
        payload = entry.payload
        if entry.kind is Kind.REQUEST:
            body = mapping(payload.get("body"))
            leaves = payload.get("api") == "LeaveGroup" or body.get("memberEpoch") == -1
            return cls(sequence=entry.sequence, kind=entry.kind, member=entry.actor, leaves=leaves)
        if entry.kind is Kind.TIMER and payload.get("event") == "fired":
            return cls(
                sequence=entry.sequence,
                kind=entry.kind,
                member=text(payload.get("member")),
                timer=text(payload.get("timer")),
            )
        return None


def tell(step: Step, cast: Cast, cause: Cause | None) -> Sentence | None:
    """The sentence of a step, or ``None`` if there is nothing to say."""
    entry = step.entries[-1]
    if any(anomaly.kind == UNREADABLE for anomaly in step.anomalies) and entry.kind is not Kind.RECORD:
        return Sentence("note", COORDINATOR, step.anomalies[0].says)
    if entry.kind is Kind.RECORD:
        return _tell_records(step, cast, cause)
    teller = _TELLERS.get(entry.kind)
    return teller(step, entry, cast) if teller is not None else None


def _tell_records(step: Step, cast: Cast, cause: Cause | None) -> Sentence | None:
    before, after = step.before, step.after
    if after.deleted and not before.deleted:
        return Sentence("state", COORDINATOR, "The group is deleted")
    if step.migrates and (before.classic.members or before.consumer.members):
        way = "moves to" if after.protocol is Protocol.CONSUMER else "goes back to"
        return Sentence("state", COORDINATOR, f"The group {way} the {after.protocol} protocol")
    if after.protocol is Protocol.CLASSIC and before.classic is not after.classic:
        return tell_classic(step, cast, leaves=cause is not None and cause.leaves)
    told = (
        _tell_removed(step, cast, cause)
        or _tell_joined(step, cast)
        or _tell_target(step, cast)
        or _tell_members(step, cast)
        or _tell_subscription(step, cast)
        or _tell_group(step)
        or _tell_offsets(step, cause)
    )
    if told is None and step.anomalies:
        return Sentence("note", COORDINATOR, step.anomalies[0].says)
    return told


def _tell_removed(step: Step, cast: Cast, cause: Cause | None) -> Sentence | None:
    if not step.removed:
        return None
    who = named(cast, step.removed)
    free = {key for member in step.members if member.member_id in step.removed for key in member.released}
    shape = "remove"
    if cause is not None and cause.leaves:
        shape, says = "leave", f"{who} leave{'s' if len(step.removed) == 1 else ''}"
    elif cause is not None and cause.timer == "session":
        says = f"{who}'s session expired"
    elif cause is not None and cause.timer == "rebalance":
        says = f"{who} took too long to give up its partitions and is removed"
    else:
        says = f"{who} {is_or_are(step.removed)} removed; the log does not say why"
    if free:
        says += f"; {_named(step.before, free)} {is_or_are(free)} free"
    return Sentence(shape, step.removed[0], says)


def _tell_joined(step: Step, cast: Cast) -> Sentence | None:
    if step.replaced:
        old, new = next(iter(step.replaced.items()))
        return Sentence("join", new, f"{cast.name(new)} takes the place of {cast.name(old)}")
    if not step.joined:
        return None
    who, first = named(cast, step.joined), step.joined[0]
    if len(step.joined) > 1 and not step.before.consumer.members:
        return Sentence("state", COORDINATOR, f"The group begins with {who}")
    gained = {key for member in step.members if member.member_id in step.joined for key in member.gained}
    joins = "joins" if len(step.joined) == 1 else "join"
    if gained and len(step.joined) == 1:
        moved = [r for r in step.retargets if r.after != first]
        also = f"; {target_clause(step.after, moved, cast)}" if moved else ""
        return Sentence("join", first, f"{who} joins and gets {_named(step.after, gained)}{also}")
    if step.target_computed and step.retargets:
        goes = target_clause(step.after, step.retargets, cast)
        return Sentence("join", first, f"{who} {joins}; {goes}")
    return Sentence("join", first, f"{who} {joins}")


def _tell_target(step: Step, cast: Cast) -> Sentence | None:
    if not step.target_computed:
        return None
    goes = target_clause(step.after, step.retargets, cast) if step.retargets else "nothing moves"
    told = [f"Target computed: {goes}"]
    if _topics_changed(step):
        told.insert(0, TOPICS_CHANGED)
    member = _tell_members(step, cast)
    return Sentence("target", COORDINATOR, joined([*told, member.says] if member else told))


def _tell_members(step: Step, cast: Cast) -> Sentence | None:
    sentences = [told for member in step.members if (told := _tell_member(step, member, cast)) is not None]
    if not sentences:
        return None
    if len(sentences) > 3:
        return Sentence("advance", COORDINATOR, f"{len(sentences)} members change")
    return Sentence(sentences[0].shape, sentences[0].actor, "; ".join(told.says for told in sentences))


def _tell_member(step: Step, change: MemberStep, cast: Cast) -> Sentence | None:
    """What one member, there before and after, did or was told."""
    member = step.after.consumer.members.get(change.member_id)
    if member is None or change.epoch_before is None or member.member_id in step.replaced.values():
        return None
    who, after = cast.name(member.member_id), step.after
    if member.epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        return Sentence("leave", member.member_id, f"{who} leaves for now; its partitions stay its own")
    waits = waiting_count(step.after, change.member_id)
    if change.told:
        return Sentence("revoke", member.member_id, f"{who} is told to give up {_named(after, change.told)}")
    if change.released:
        gets = f", gets {_named(after, change.gained)}" if change.gained else ""
        free = f"{_named(after, change.released)} {is_or_are(change.released)} free"
        return Sentence("acknowledge", member.member_id, f"{who} acknowledges{gets}; {free}")
    if change.gained:
        rest = f", waits for {_waited(after, change.member_id, waits)}" if waits else ""
        return Sentence("gain", member.member_id, f"{who} gets {_named(after, change.gained)}{rest}")
    if change.epoch_before == change.epoch:
        return None
    why = _blocked(after, change.member_id, waits, cast) if waits else "it has nothing to give up"
    return Sentence("advance", member.member_id, f"{who} advances; {why}")


def waiting_count(state: State, member_id: str) -> int:
    """How many partitions of its target a member does not have."""
    group = state.consumer
    assigned = group.members[member_id].assigned
    target = group.target.get(member_id, {})
    return sum(p not in assigned.get(topic_id, ()) for topic_id, ps in target.items() for p in ps)


def _waited(state: State, member_id: str, waits: int) -> str:
    if waits > PARTITIONS_NAMED_MAX:
        return counted(waits, "partition")
    return _named(state, waiting_for(state, state.consumer.members[member_id]))


def _blocked(state: State, member_id: str, waits: int, cast: Cast) -> str:
    """``foo-1 is still held by A``; many partitions are only counted, since finding their holders costs."""
    if waits > PARTITIONS_NAMED_MAX:
        return f"it waits for {counted(waits, 'partition')}"
    by_holder: dict[str | None, set[Key]] = {}
    for key, holder in waiting_for(state, state.consumer.members[member_id]).items():
        by_holder.setdefault(holder, set()).add(key)
    return "; ".join(
        f"{_named(state, held)} {is_or_are(held)} {f'still held by {cast.name(holder)}' if holder else 'free'}"
        for holder, held in by_holder.items()
    )


def _tell_subscription(step: Step, cast: Cast) -> Sentence | None:
    """A type 5 record of a member that was there: a changed subscription."""
    for entry in step.entries:
        if entry.payload.get("type") != 5 or not entry.payload.get("value"):
            continue
        member_id = str(mapping(entry.payload.get("key")).get("memberId"))
        old = step.before.consumer.members.get(member_id)
        new = step.after.consumer.members.get(member_id)
        if old is None or new is None:
            continue
        who = cast.name(member_id)
        if set(old.subscribed_topic_names) != set(new.subscribed_topic_names):
            names = ", ".join(new.subscribed_topic_names) or "no topic"
            return Sentence("metadata", member_id, f"{who} subscribes to {names}")
        if (old.subscribed_topic_regex or "") != (new.subscribed_topic_regex or ""):
            regex = new.subscribed_topic_regex
            return Sentence(
                "regex", member_id, f"{who} subscribes to {regex}" if regex else f"{who} drops its expression"
            )
    return None


def _tell_group(step: Step) -> Sentence | None:
    before, after = step.before.consumer, step.after.consumer
    if before.regexes is not after.regexes:
        for regex, resolved in after.regexes.items():
            if before.regexes.get(regex) != resolved:
                matched = ", ".join(resolved.topics[:PARTITIONS_NAMED_MAX]) or "no topic"
                return Sentence("regex", COORDINATOR, f"{regex} matches {matched}")
    if before.group_epoch == after.group_epoch:
        return None
    if _topics_changed(step):
        return Sentence("metadata", COORDINATOR, f"{TOPICS_CHANGED}: group epoch {after.group_epoch}")
    return Sentence("state", COORDINATOR, f"Group epoch {after.group_epoch}")


def _topics_changed(step: Step) -> bool:
    """Whether the hash over subscribed topics changed in a request that changed no subscription."""
    before, after = step.before.consumer, step.after.consumer
    subscribes = any(entry.payload.get("type") in (5, 16) for entry in step.entries)
    return before.epoch_recorded and before.metadata_hash != after.metadata_hash and not subscribes


def _tell_offsets(step: Step, cause: Cause | None) -> Sentence | None:
    committed: list[tuple[str, int]] = []
    gone: list[tuple[str, int]] = []
    for entry in step.entries:
        key, partition = mapping(entry.payload.get("key")), mapping(entry.payload.get("key")).get("partition")
        if entry.payload.get("type") in (0, 1) and isinstance(partition, int):
            kind = gone if entry.payload.get("value") is None else committed
            kind.append((str(key.get("topic")), partition))
    actor = cause.member if cause is not None and cause.member is not None else COORDINATOR
    if committed:
        return Sentence("commit", actor, f"Offsets of {partitions(committed)} are committed")
    if gone:
        return Sentence("commit", actor, f"Offsets of {partitions(gone)} are deleted")
    return None


def _tell_response(step: Step, entry: Entry, cast: Cast) -> Sentence | None:
    """An answer says something of its own if no record did: an error, or partitions to give up (KIP-848)."""
    body, member_id = mapping(entry.payload.get("body")), text(entry.payload.get("to"))
    if member_id is None:
        return None
    if body.get("errorCode"):
        code = body["errorCode"]
        error = ERROR_NAMES.get(code, f"error {code}") if isinstance(code, int) else str(code)
        return Sentence("fault", member_id, f"{cast.name(member_id)} is refused: {error}")
    client = (step.after.clients or {}).get(member_id)
    member = step.after.consumer.members.get(member_id)
    if client is None or member is None or told_assignment(step.after, body) is None:
        return None
    before = (step.before.clients or {}).get(member_id)
    known = before.revoking if before is not None else {}
    told = {
        (name, partition)
        for name, numbers in client.revoking.items()
        for partition in numbers
        if partition not in known.get(name, ())
        and partition not in member.pending_revocation.get(step.after.topic_id(name) or name, ())
    }
    if not told:
        return None
    return Sentence("revoke", member_id, f"{cast.name(member_id)} is told to give up {partitions(told)}")


def _tell_callback(step: Step, entry: Entry, cast: Cast) -> Sentence | None:
    """Losing partitions is worth a sentence; the other callbacks follow from what was told before."""
    if entry.payload.get("callback") != "on_partitions_lost" or entry.payload.get("phase") != "start":
        return None
    before = (step.before.clients or {}).get(entry.actor)
    lost = [(name, p) for name, ps in before.owned.items() for p in ps] if before is not None else []
    if not lost:
        return None
    return Sentence("fault", entry.actor, f"{cast.name(entry.actor)} loses {partitions(lost)}")


def _tell_fault(step: Step, entry: Entry, cast: Cast) -> Sentence | None:
    fault, member_id = str(entry.payload.get("fault")), text(entry.payload.get("member"))
    if fault == "fail_over":
        return Sentence("fault", COORDINATOR, "The coordinator fails over")
    if fault == "lost_batch":
        return Sentence("fault", COORDINATOR, "A batch is lost before it was replicated")
    if member_id is None:
        return Sentence("fault", COORDINATOR, f"Fault: {fault}")
    says = FAULT_WORDS.get(fault, f"has a fault: {fault}")
    return Sentence("fault", str(member_id), f"{cast.name(str(member_id))} {says}")


def _tell_note(step: Step, entry: Entry, _cast: Cast) -> Sentence | None:
    note = entry.payload.get("note")
    if note == "gap":
        return Sentence("gap", COORDINATOR, gap_words(entry.payload))
    if note != "topics":
        return None
    before, after = step.before.topics, step.after.topics
    says = []
    for name in mapping(entry.payload.get("topics")):
        old, new = before.get(name), after.get(name)
        if old is not None and new is None:
            says.append(f"{name} is deleted")
        elif old is not None and new is not None and old.topic_id != new.topic_id and old.topic_id:
            says.append(f"{name} is made anew")
        elif old is not None and new is not None and old.partitions != new.partitions and old.partitions:
            says.append(f"{name} has {counted(new.partitions or 0, 'partition')} now")
        elif old is None and new is not None and step.before.protocol is not None and step.before.topics:
            says.append(f"{name} is made")
    return Sentence("metadata", COORDINATOR, "; ".join(says)) if says else None


def gap_words(payload: Mapping[str, Any]) -> str:
    """A gap in the log: which offsets, and why if it is known."""
    start, end, reason = payload.get("from_offset"), payload.get("to_offset"), payload.get("reason")
    where = f"Offsets {start} to {end} are missing" if start is not None else "Records are missing"
    return f"{where}: {reason}" if reason else where


def _named(state: State, keys: Iterable[Key]) -> str:
    return partitions((state.topic_name(topic), number) for topic, number in keys)


_TELLERS: Final = {
    Kind.RESPONSE: _tell_response,
    Kind.CALLBACK: _tell_callback,
    Kind.FAULT: _tell_fault,
    Kind.NOTE: _tell_note,
}
