"""Sentences that only a share group has: readers come and go without waiting, and partitions need a share state."""

from __future__ import annotations

from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.holders import Holders
from groups.history.evidence.steps import MemberStep, Step, keys
from groups.history.state.group import Protocol
from groups.history.story.sentences import COORDINATOR, Sentence, in_words, joined
from groups.history.words import is_or_are, listed


def share_member_sentence(
    step: Step, change: MemberStep, cast: DisplayNames, holders: Holders
) -> Sentence | None:
    """What a member of a share group, there before and after, begins and ceases to read."""
    who, after = cast.name(change.member_id), step.after
    free = {key for key in change.released if not holders.is_held(after, key)}
    is_free = f"; {in_words(after, free)} {is_or_are(free)} unassigned" if free else ""
    if change.gained:
        leaves = f", leaves {in_words(after, change.released)}" if change.released else ""
        return Sentence(
            "gain", change.member_id, f"{who} gets {in_words(after, change.gained)}{leaves}{is_free}"
        )
    if change.released:
        return Sentence(
            "acknowledge", change.member_id, f"{who} leaves {in_words(after, change.released)}{is_free}"
        )
    if change.epoch_before == change.epoch:
        return None
    epoch = after.share.members[change.member_id].epoch
    text = f"{who} moves to member epoch {epoch}; what it reads stays the same"
    return Sentence("advance", change.member_id, text)


def share_state_sentence(step: Step) -> Sentence | None:
    """Which partitions can be read from now on, or soon: only those that have a share state are given to members."""
    before, after = step.before.share, step.after.share
    if before is after or step.after.protocol is not Protocol.SHARE:
        return None
    known = []
    begun = keys(after.initializing) - keys(before.initializing)
    if begun:
        known.append(f"The share state of {in_words(step.after, begun)} is being made")
    made = keys(after.initialized) - keys(before.initialized)
    if made:
        known.append(f"The share state of {in_words(step.after, made)} is made")
    deleting = [topic_id for topic_id in after.deleting if topic_id not in before.deleting]
    if deleting:
        names = listed([step.after.topic_name(topic_id) for topic_id in deleting])
        known.append(f"The share state of {names} is being deleted")
    return Sentence("metadata", COORDINATOR, joined(known)) if known else None
