"""What members of a consumer group that were there before and after did or were sent: one sentence each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.holders import Holders
from groups.history.evidence.steps import Key, MemberStep, Step, keys
from groups.history.state.epochs import LEAVE_GROUP_STATIC_MEMBER_EPOCH
from groups.history.state.group import Protocol, State
from groups.history.story.sentences import COORDINATOR, Sentence, in_words, named
from groups.history.story.share import share_member_sentence
from groups.history.words import PARTITIONS_NAMED_MAX, counted, is_or_are

FRESH_EPOCH: Final = 0
"""The epoch of a member of which only its metadata was seen."""


def members_sentence(step: Step, cast: DisplayNames, holders: Holders) -> Sentence | None:
    sentences = [
        known
        for member in step.members
        if (known := _member_sentence(step, member, cast, holders)) is not None
    ]
    if not sentences:
        return None
    if len(sentences) > 3:
        return Sentence("advance", COORDINATOR, f"{len(sentences)} members change")
    return Sentence(sentences[0].shape, sentences[0].actor, "; ".join(known.text for known in sentences))


def _member_sentence(step: Step, change: MemberStep, cast: DisplayNames, holders: Holders) -> Sentence | None:
    """What one member, there before and after, did or was sent."""
    member = step.after.modern.members.get(change.member_id)
    if member is None or change.epoch_before is None or member.member_id in step.replaced.values():
        return None
    who, after = cast.name(member.member_id), step.after
    free = freed(after, change.released, holders)
    is_free = f"; {in_words(after, free)} {is_or_are(free)} released" if free else ""
    if member.epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        held = keys(member.assigned)
        keeps = (
            f"; {in_words(after, held)} {'stays' if len(held) == 1 else 'stay'} assigned to it"
            if held
            else ""
        )
        return Sentence("leave", member.member_id, f"{who} leaves for now{keeps}{is_free}")
    if change.epoch_before == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        gets = f" and gets {in_words(after, change.gained)}" if change.gained else ""
        return Sentence("join", member.member_id, f"{who} comes back{gets}{is_free}")
    if change.epoch_before == FRESH_EPOCH and member.previous_epoch > FRESH_EPOCH:
        # Its first assignment in the log is a later one: what it had before is not known.
        held = keys(member.assigned)
        has = f", with {in_words(after, held)}" if held else ""
        return Sentence("state", member.member_id, f"{who} is at epoch {member.epoch}{has}")
    if after.protocol is Protocol.SHARE:
        return share_member_sentence(step, change, cast, holders)
    waits = waiting_count(step.after, change.member_id)
    if change.to_revoke:
        return Sentence(
            "revoke", member.member_id, f"{who} is asked to revoke {in_words(after, change.to_revoke)}"
        )
    if change.released:
        gets = f", gets {in_words(after, change.gained)}" if change.gained else ""
        both = still_owned(step, change, cast)
        return Sentence(
            "acknowledge", member.member_id, f"{who} confirms the revocation{gets}{both}{is_free}"
        )
    if change.gained:
        rest = f", waits for {_waited(after, change.member_id, waits)}" if waits else ""
        both = still_owned(step, change, cast)
        return Sentence("gain", member.member_id, f"{who} gets {in_words(after, change.gained)}{both}{rest}")
    if change.epoch_before == change.epoch:
        return None
    why = _blocked(after, change.member_id, waits, cast, holders) if waits else "it has nothing to revoke"
    return Sentence("advance", member.member_id, f"{who} moves to member epoch {member.epoch}; {why}")


def still_owned(step: Step, change: MemberStep, cast: DisplayNames) -> str:
    """``, which M2 still has in the log``: partitions that a member gets while another one has them are an anomaly of the step."""
    if not step.anomalies:
        return ""
    owners = {
        other
        for topic_id, partition in change.gained
        for other in step.after.modern.holders(topic_id, partition)
        if other != change.member_id
    }
    has = "has" if len(owners) == 1 else "have"
    return f", which {named(cast, sorted(owners))} still {has} in the log" if owners else ""


def freed(state: State, released: Iterable[Key], holders: Holders) -> frozenset[Key]:
    """Those that nobody holds: in a log with holes somebody else may be seen with them first."""
    return frozenset(key for key in released if not holders.is_held(state, key))


def waiting_count(state: State, member_id: str) -> int:
    """How many partitions of its target a member does not have."""
    group = state.modern
    assigned = group.members[member_id].assigned
    target = group.target.get(member_id, {})
    return sum(p not in assigned.get(topic_id, ()) for topic_id, ps in target.items() for p in ps)


def _waited(state: State, member_id: str, waits: int) -> str:
    if waits > PARTITIONS_NAMED_MAX:
        return counted(waits, state.wording.noun)
    group = state.modern
    return in_words(state, keys(group.target[member_id]) - keys(group.members[member_id].assigned))


def _blocked(state: State, member_id: str, waits: int, cast: DisplayNames, holders: Holders) -> str:
    """``foo-1 is still owned by A``; many partitions are only counted, since finding their holders costs."""
    if waits > PARTITIONS_NAMED_MAX:
        return f"it waits for {counted(waits, 'partition')}"
    by_holder: dict[str | None, set[Key]] = {}
    for key, holder in holders.waited_for(state, state.modern.members[member_id]).items():
        by_holder.setdefault(holder, set()).add(key)
    return "; ".join(
        f"{in_words(state, held)} {is_or_are(held)} {f'still owned by {cast.name(holder)}' if holder else 'unassigned'}"
        for holder, held in by_holder.items()
    )
