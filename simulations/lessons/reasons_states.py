"""Why an epoch, a count or a state is not the answer."""

from __future__ import annotations

from simulations.lessons import frames
from simulations.lessons.reasons import Pieces, Reasons, who
from simulations.lessons.values import Members, Number, partitions


class StateReasons(Reasons):
    """Of answers that are numbers or states."""

    def number(self, given: int, answer: int) -> Pieces | None:
        """Why a number is not the answer."""
        group, target = frames.group_epoch(self.frame), int(self.frame.get("assignment_epoch") or 0)
        if self.head == "group" and self.asked == "epoch":
            if given > answer:
                return [
                    "For ",
                    Number(given),
                    " the group would have to change once more: a member, a subscription or a topic. Heartbeats and confirmations leave its epoch as it is.",
                ]
            return [
                "The group has changed since epoch ",
                Number(given),
                ", and each change raises its epoch by one.",
            ]
        if self.head == "group" and self.asked == "assignment_epoch":
            if given > answer or not given:
                return [
                    "No target of epoch ",
                    Number(given),
                    " is computed at this moment: the last one is that of "
                    if given
                    else " is ever computed: the last one is that of ",
                    Number(answer),
                    ".",
                ]
            return [
                "The target of epoch ",
                Number(given),
                " has been replaced by that of ",
                Number(answer),
                ".",
            ]
        if self.head == "group" and self.asked == "size":
            return [
                "The members are ",
                self.everybody,
                ".",
            ]
        if self.member is None or self.asked not in ("epoch", "count"):
            return None
        mine = who(self.run, self.member)
        if self.asked == "count":
            return [mine, " owns ", partitions(self.held.get(self.member, [])), "."]
        return self._member_epoch(given, answer, group, target, mine)

    def _member_epoch(self, given: int, answer: int, group: int, target: int, mine: Members) -> Pieces:
        if answer < 0:
            return ["It has left: a member that says so has a negative epoch, and none of the group’s."]
        if given > group:
            return ["No member is ahead of its group, whose epoch is ", Number(group), "."]
        if given == 0:
            return ["Epoch 0 is what a consumer sends to join; ", mine, " has come further."]
        if given < answer:
            return [
                mine,
                " has come from epoch ",
                Number(given),
                " or an earlier one: it has nothing left to revoke, so it moves to ",
                Number(answer),
                ".",
            ]
        revoking = frames.revoking_of(self.frame, self.member or "")
        if revoking:
            return [
                mine,
                " moves to epoch ",
                Number(given),
                " only when it has confirmed that it revoked ",
                partitions(revoking),
                ".",
            ]
        if given > target:
            return ["There is no target of epoch ", Number(given), " yet, so no member can reach it."]
        return [
            mine,
            " moves to epoch ",
            Number(given),
            " with a heartbeat of its own, which is still to come.",
        ]

    def state(self, given: str) -> Pieces | None:
        """Why the group, or a member, is not in this state."""
        if self.asked != "state":
            return None
        if self.head == "group":
            return self._group_state(given)
        if self.member is None:
            return None
        mine = who(self.run, self.member)
        match given:
            case "STABLE":
                return [
                    mine,
                    " would have to own its whole target, as far as it was told, and have nothing to revoke.",
                ]
            case "UNREVOKED_PARTITIONS":
                return [mine, " would have to have been asked to revoke something and not have confirmed it."]
            case "UNRELEASED_PARTITIONS":
                return [mine, " would have to be waiting for a partition that another member owns."]
        return None

    def _group_state(self, given: str) -> Pieces | None:
        epoch, target = frames.group_epoch(self.frame), int(self.frame.get("assignment_epoch") or 0)
        match given:
            case "Empty":
                return [
                    "The group would have to have no members; it has ",
                    self.everybody,
                    ".",
                ]
            case "Assigning":
                return [
                    "The group epoch would have to be above the assignment epoch; they are ",
                    Number(epoch),
                    " and ",
                    Number(target),
                    ".",
                ]
            case "Stable":
                if epoch > target:
                    return [
                        "A target of epoch ",
                        Number(epoch),
                        " would have to be there first; the last one is of ",
                        Number(target),
                        ".",
                    ]
                return ["Every member would have to own its target at epoch ", Number(epoch), "."]
            case "Reconciling":
                if epoch > target:
                    return [
                        "There would have to be a target of epoch ",
                        Number(epoch),
                        " to move to; the last one is of ",
                        Number(target),
                        ".",
                    ]
                return [
                    "Some member would have to be on its way; each owns its target at epoch ",
                    Number(epoch),
                    ".",
                ]
        return None
