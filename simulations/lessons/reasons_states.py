"""Why an epoch, a count or a state is not the answer."""

from __future__ import annotations

from typing import Final

from simulations.lessons import frames
from simulations.lessons.reasons import Pieces, Reasons, sentence, who
from simulations.lessons.values import Members, Number, partitions

MEMBER_STATES: Final = {
    "STABLE": "{} would have to own its whole target, as far as it was told, and have nothing to revoke.",
    "UNREVOKED_PARTITIONS": "{} would have to have been asked to revoke something and not have confirmed it.",
    "UNRELEASED_PARTITIONS": "{} would have to be waiting for a partition that another member owns.",
}
"""What a member in each state would have to be."""

GROUP_STATES: Final = {
    "Empty": "The group would have to have no members; it has {members}.",
    "Assigning": "The group epoch would have to be above the assignment epoch; they are {epoch} and {target}.",
    "Stable": "Every member would have to own its target at epoch {epoch}.",
    "Reconciling": "Some member would have to be on its way; each owns its target at epoch {epoch}.",
}
"""What a group in each state would have to be."""

GROUP_STATES_AHEAD: Final = {
    "Stable": "A target of epoch {epoch} would have to be there first; the last one is of {target}.",
    "Reconciling": "There would have to be a target of epoch {epoch} to move to; the last one is of {target}.",
}
"""The same while there is no target of the group epoch yet."""


class StateReasons(Reasons):
    """Of answers that are numbers or states."""

    def number(self, given: int, answer: int) -> Pieces | None:
        """Why a number is not the answer."""
        group, target = frames.group_epoch(self.frame), int(self.frame.get("assignment_epoch") or 0)
        if self.head == "group" and self.asked == "epoch":
            if given > answer:
                return sentence(
                    "For {} the group would have to change once more: a member, a subscription or a topic. Heartbeats and confirmations leave its epoch as it is.",
                    Number(given),
                )
            return sentence(
                "The group has changed since epoch {}, and each change raises its epoch by one.",
                Number(given),
            )
        if self.head == "group" and self.asked == "assignment_epoch":
            words = "The target of epoch {} has been replaced by that of {}."
            if not given:
                words = "No target of epoch {} is ever computed: the last one is that of {}."
            elif given > answer:
                words = "No target of epoch {} is computed at this moment: the last one is that of {}."
            return sentence(words, Number(given), Number(answer))
        if self.head == "group" and self.asked == "size":
            return sentence("The members are {}.", self.everybody)
        if self.member is None or self.asked not in ("epoch", "count"):
            return None
        mine = who(self.run, self.member)
        if self.asked == "count":
            return sentence("{} owns {}.", mine, partitions(self.held.get(self.member, [])))
        return self._member_epoch(given, answer, group, target, mine)

    def _member_epoch(self, given: int, answer: int, group: int, target: int, mine: Members) -> Pieces:
        if answer < 0:
            return ["It has left: a member that says so has a negative epoch, and none of the group’s."]
        if given > group:
            return sentence("No member is ahead of its group, whose epoch is {}.", Number(group))
        if given == 0:
            return sentence("Epoch 0 is what a consumer sends to join; {} has come further.", mine)
        if given < answer:
            return sentence(
                "{} has come from epoch {} or an earlier one: it has nothing left to revoke, so it moves to {}.",
                *(mine, Number(given), Number(answer)),
            )
        revoking = frames.revoking_of(self.frame, self.member or "")
        if revoking:
            return sentence(
                "{} moves to epoch {} only when it has confirmed that it revoked {}.",
                *(mine, Number(given), partitions(revoking)),
            )
        if given > target:
            return sentence("There is no target of epoch {} yet, so no member can reach it.", Number(given))
        return sentence(
            "{} moves to epoch {} with a heartbeat of its own, which is still to come.", mine, Number(given)
        )

    def state(self, given: str) -> Pieces | None:
        """Why the group, or a member, is not in this state."""
        if self.asked != "state":
            return None
        if self.head == "group":
            return self._group_state(given)
        if self.member is None or given not in MEMBER_STATES:
            return None
        return sentence(MEMBER_STATES[given], who(self.run, self.member))

    def _group_state(self, given: str) -> Pieces | None:
        epoch, target = frames.group_epoch(self.frame), int(self.frame.get("assignment_epoch") or 0)
        words = GROUP_STATES_AHEAD.get(given) if epoch > target else None
        words = words or GROUP_STATES.get(given)
        if words is None:
            return None
        return sentence(words, members=self.everybody, epoch=Number(epoch), target=Number(target))
