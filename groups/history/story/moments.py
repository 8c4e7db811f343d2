"""Moments: what happened, in one sentence each, where the board rests.

A sentence claims no more than the entries support. Records alone do not show why a member is gone; a request or a timer
that is known as their cause does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from groups.history.entries import Entry, Kind, Provenance
from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.holders import Holders
from groups.history.evidence.steps import Copy, MemberStep, Step, keys
from groups.history.replay.fields import mapping
from groups.history.replay.record_types import MEMBER_METADATA, meaning
from groups.history.state.consumer import ConsumerMember
from groups.history.state.group import TWO_OWNERS, UNKNOWN_MEMBER, UNREADABLE, Protocol, State
from groups.history.story.cause import Cause
from groups.history.story.classic_sentences import classic_sentence
from groups.history.story.events import TELLERS
from groups.history.story.members import freed, members_sentence
from groups.history.story.moment import MomentShape
from groups.history.story.sentences import (
    COORDINATOR,
    LOWERED,
    Sentence,
    in_words,
    joined,
    named,
    reason_unknown,
    target_clause,
)
from groups.history.story.share import share_state_sentence
from groups.history.words import PARTITIONS_NAMED_MAX, TASKS, counted, duration, is_or_are, partitions

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


BEGINS_MIDWAY: Final = "The log begins in the middle"

SHOWN_ANOMALIES: Final = frozenset({TWO_OWNERS, UNKNOWN_MEMBER})
"""Anomalies without which the sentence of their step would mislead."""

TOPICS_CHANGED: Final = "The topics changed"


def sentence_of(step: Step, cast: DisplayNames, holders: Holders, cause: Cause | None) -> Sentence | None:
    """The sentence of a step, or ``None`` if there is nothing to say."""
    entry = step.entries[-1]
    if any(anomaly.kind == UNREADABLE for anomaly in step.anomalies) and entry.kind is not Kind.RECORD:
        return Sentence("note", COORDINATOR, step.anomalies[0].says)
    if entry.kind is Kind.RECORD:
        return _records_sentence(step, cast, holders, cause)
    teller = TELLERS.get(entry.kind)
    return teller(step, entry, cast) if teller is not None else None


def _records_sentence(
    step: Step, cast: DisplayNames, holders: Holders, cause: Cause | None
) -> Sentence | None:
    known = _group_records_sentence(step, cast, holders, cause)
    contradiction = next((one for one in step.anomalies if one.kind in SHOWN_ANOMALIES), None)
    if contradiction is not None:
        # What a reader must know to judge the rest; other anomalies stand among the findings.
        text = contradiction.says.rstrip(".")
        if known is None:
            known = Sentence("note", COORDINATOR, text)
        elif contradiction.kind == UNKNOWN_MEMBER:
            known = Sentence("remove", COORDINATOR, joined([text, known.text]))
        else:
            known = Sentence(known.shape, known.actor, joined([known.text, text]))
    if known is None and step.anomalies:
        return Sentence("note", COORDINATOR, step.anomalies[0].says)
    if known is not None and _is_beginning(step.before) and begins_midway(step):
        text = known.text[0].lower() + known.text[1:] if known.text.startswith(LOWERED) else known.text
        return Sentence(known.shape, known.actor, f"{BEGINS_MIDWAY}: {text}")
    return known


def _group_records_sentence(
    step: Step, cast: DisplayNames, holders: Holders, cause: Cause | None
) -> Sentence | None:
    before, after = step.before, step.after
    if after.deleted and not before.deleted:
        return Sentence("state", COORDINATOR, "The group is deleted")
    if step.migrates and (before.classic.members or before.modern.members):
        way = "goes back to" if after.protocol is Protocol.CLASSIC else "moves to"
        text = f"The group {way} the {after.protocol} protocol"
        if step.removed:
            text += f"; {_why_removed(step, cast, cause)[1]}"
        if step.joined:
            text += f"; {named(cast, step.joined)} {'joins' if len(step.joined) == 1 else 'join'}"
        return Sentence("state", COORDINATOR, text)
    if step.same_group:
        return _offsets_sentence(step, cause)
    if after.protocol is Protocol.CLASSIC and before.classic is not after.classic:
        return classic_sentence(step, cast, cause)
    known = (
        _removed_sentence(step, cast, holders, cause)
        or _found_sentence(step, cast)
        or _joined_sentence(step, cast)
        or _subscribed_sentence(step, cast, holders)
        or _target_sentence(step, cast, holders)
        or members_sentence(step, cast, holders)
        or _group_sentence(step)
        or _offsets_sentence(step, cause)
    )
    also = (share_state_sentence(step), topology_sentence(step), copies_sentence(step, cast))
    sentences = [sentence for sentence in (known, *also) if sentence is not None]
    if not sentences:
        return None
    return Sentence(sentences[0].shape, sentences[0].actor, joined([sentence.text for sentence in sentences]))


def begins_midway(step: Step) -> bool:
    """Whether this step of a recorded log shows that the group had a past that the log does not hold."""
    before, after = step.before, step.after
    if step.entries[0].provenance is not Provenance.RECORDED:
        return False
    known = before.classic.members if before.protocol is Protocol.CLASSIC else before.modern.members
    if step.found or any(old not in known for old in step.replaced):
        return True
    if not _is_beginning(before):
        return False
    if after.protocol is Protocol.CLASSIC:
        return after.classic.recorded and after.classic.generation > 1
    first = before.consumer.group_epoch + 1
    return after.modern.epoch_recorded and after.modern.group_epoch > first


def _is_beginning(before: State) -> bool:
    """Whether only the group's offsets are known yet."""
    return not before.deleted and (
        before.protocol is None or (before.protocol is Protocol.CLASSIC and not before.classic.recorded)
    )


def _found_sentence(step: Step, cast: DisplayNames) -> Sentence | None:
    """Members that were there before the log, or before a hole in it; a scenario may start with them."""
    if not step.found:
        return None
    who, several = named(cast, step.found), len(step.found) > 1
    if step.entries[0].provenance is not Provenance.RECORDED:
        return Sentence("state", COORDINATOR, f"The group begins with {who}")
    text = f"{who} {is_or_are(step.found)} there"
    member = step.after.modern.members.get(step.found[0])
    if not several and member is not None:
        held, pending = keys(member.assigned), keys(member.pending_revocation)
        text += f", with {in_words(step.after, held)}" if held else ""
        text += f", revoking {in_words(step.after, pending)}" if pending else ""
    also = _joined_sentence(step, cast)
    return Sentence("state", step.found[0], joined([text, also.text]) if also else text)


def _removed_sentence(
    step: Step, cast: DisplayNames, holders: Holders, cause: Cause | None
) -> Sentence | None:
    if not step.removed:
        return None
    released = {key for member in step.members if member.member_id in step.removed for key in member.released}
    free = freed(step.after, released, holders)
    shape, text = _why_removed(step, cast, cause)
    if free:
        text += f"; {in_words(step.before, free)} {is_or_are(free)} unassigned"
    return Sentence(shape, step.removed[0], text)


def _why_removed(step: Step, cast: DisplayNames, cause: Cause | None) -> tuple[MomentShape, str]:
    """The shape and the words of members that are gone: those that the cause explains, then the others."""
    explained = [one for one in step.removed if cause is not None and one in cause.members]
    rest = [one for one in step.removed if one not in explained]
    unknown = f"{named(cast, rest)} {is_or_are(rest)} removed; {reason_unknown(step)}" if rest else ""
    if cause is None or not explained:
        return "remove", unknown
    shape, text = _explained(step, cast, cause, explained)
    return shape, f"{text}; {unknown}" if rest else text


def _explained(
    step: Step, cast: DisplayNames, cause: Cause, members: Sequence[str]
) -> tuple[MomentShape, str]:
    who = named(cast, members)
    if cause.leaves:
        return "leave", f"{who} leave{'s' if len(members) == 1 else ''}"
    if cause.timer == "session":
        timeout = f" (session timeout {duration(cause.timeout_ms)})" if cause.timeout_ms else ""
        return "remove", f"{who}'s session expired{timeout}"
    member = step.before.modern.members.get(members[0])
    timeout_ms = getattr(member, "rebalance_timeout_ms", -1)
    timeout = f" ({duration(timeout_ms)})" if timeout_ms > 0 else ""
    return (
        "remove",
        f"{who} did not revoke its partitions within its rebalance timeout{timeout} and is removed",
    )


def _joined_sentence(step: Step, cast: DisplayNames) -> Sentence | None:
    if step.replaced:
        old, new = next(iter(step.replaced.items()))
        return Sentence(
            "replace", new, f"{cast.name(new)} replaces {cast.name(old)} (same group.instance.id)"
        )
    if not step.joined:
        return None
    who, first = named(cast, step.joined), step.joined[0]
    gained = {key for member in step.members if member.member_id in step.joined for key in member.gained}
    joins = "joins" if len(step.joined) == 1 else "join"
    if gained and len(step.joined) == 1:
        moved = [r for r in step.retargets if r.after != first]
        also = f"; {target_clause(step.after, moved, cast)}" if moved else ""
        return Sentence("join", first, f"{who} joins and gets {in_words(step.after, gained)}{also}")
    if step.target_computed and step.retargets:
        goes = target_clause(step.after, step.retargets, cast)
        return Sentence("join", first, f"{who} {joins}; {goes}")
    return Sentence("join", first, f"{who} {joins}")


def _target_sentence(step: Step, cast: DisplayNames, holders: Holders) -> Sentence | None:
    if not step.target_computed:
        return None
    goes = target_clause(step.after, step.retargets, cast) if step.retargets else "nothing moves"
    known = [f"Target computed: {goes}"]
    if _topics_changed(step):
        known.insert(0, TOPICS_CHANGED)
    member = members_sentence(step, cast, holders)
    return Sentence("target", COORDINATOR, joined([*known, member.text] if member else known))


def _subscribed_sentence(step: Step, cast: DisplayNames, holders: Holders) -> Sentence | None:
    """A changed subscription, and what the same request brought about."""
    known = _subscription_sentence(step, cast)
    if known is None:
        return None
    also = _target_sentence(step, cast, holders) or members_sentence(step, cast, holders)
    return Sentence(known.shape, known.actor, joined([known.text, also.text])) if also else known


def _subscription_sentence(step: Step, cast: DisplayNames) -> Sentence | None:
    """The metadata of a member that was there: a changed subscription."""
    for entry in step.entries:
        if not _is_of(entry, MEMBER_METADATA) or not entry.payload.get("value"):
            continue
        member_id = str(mapping(entry.payload.get("key")).get("memberId"))
        old = step.before.modern.members.get(member_id)
        new = step.after.modern.members.get(member_id)
        if old is None or new is None:
            continue
        who = cast.name(member_id)
        if set(old.subscribed_topic_names) != set(new.subscribed_topic_names):
            names = ", ".join(new.subscribed_topic_names) or "no topic"
            return Sentence("metadata", member_id, f"{who} subscribes to {names}")
        if not isinstance(old, ConsumerMember) or not isinstance(new, ConsumerMember):
            continue
        if (old.subscribed_topic_regex or "") != (new.subscribed_topic_regex or ""):
            regex = new.subscribed_topic_regex
            return Sentence(
                "regex", member_id, f"{who} subscribes to {regex}" if regex else f"{who} drops its expression"
            )
    return None


def _group_sentence(step: Step) -> Sentence | None:
    before, after = step.before.modern, step.after.modern
    old, new = step.before.consumer.regexes, step.after.consumer.regexes
    if old is not new:
        for regex, resolved in new.items():
            if old.get(regex) != resolved:
                few = len(resolved.topics) <= PARTITIONS_NAMED_MAX
                matched = ", ".join(resolved.topics) if few else counted(len(resolved.topics), "topic")
                matched = matched or "no topic"
                epoch = (
                    f"; group epoch {after.group_epoch}" if before.group_epoch != after.group_epoch else ""
                )
                return Sentence("regex", COORDINATOR, f"{regex} matches {matched}{epoch}")
    if before.group_epoch == after.group_epoch:
        return None
    if _topics_changed(step):
        return Sentence("metadata", COORDINATOR, f"{TOPICS_CHANGED}: group epoch {after.group_epoch}")
    return Sentence("state", COORDINATOR, f"Group epoch {after.group_epoch}")


def _topics_changed(step: Step) -> bool:
    """Whether the hash over subscribed topics changed in a request that changed no subscription."""
    before, after = step.before.modern, step.after.modern
    subscribes = any(_is_of(entry, MEMBER_METADATA, 16) for entry in step.entries)
    return before.epoch_recorded and before.metadata_hash != after.metadata_hash and not subscribes


def _offsets_sentence(step: Step, cause: Cause | None) -> Sentence | None:
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


def _is_of(entry: Entry, *meanings: int) -> bool:
    record_type = entry.payload.get("type")
    return isinstance(record_type, int) and meaning(record_type) in meanings
