"""Why a partition belongs to an answer, or does not."""

from __future__ import annotations

from simulations.lessons import frames
from simulations.lessons.reasons import Pieces, Reasons, who


class PartitionReasons(Reasons):
    """Of answers that are partitions."""

    def partition(self, name: str, *, right: bool) -> Pieces | None:
        """Why a partition belongs to the answer (``right``), or does not."""
        if self.head == "group" and self.asked == "unassigned":
            return self._unassigned(name, right=right)
        if self.member is None:
            return None
        match self.asked:
            case "owned" | "kept":
                return self._owned(name, right=right)
            case "target":
                return self._target(name)
            case "revoking":
                return self._revoking(name, right=right)
            case "waiting":
                return self._waiting(name, right=right)
            case "reads":
                return self._reads(name, right=right)
        return None

    def _unassigned(self, name: str, *, right: bool) -> Pieces:
        owner = frames.owner_of(self.frame, name)
        if not right:
            if name in frames.revoking_of(self.frame, owner or ""):
                return [
                    self._p(name),
                    " is still owned by ",
                    self._m(owner),
                    ", which is revoking it: it is released only when that is confirmed.",
                ]
            return [self._p(name), " is owned by ", self._m(owner), "."]
        aim = frames.target_owner_of(self.frame, name)
        if aim is None:
            return [self._p(name), " is unassigned, and no target names an owner yet."]
        return [self._p(name), " is unassigned: ", self._m(aim), " gets it with its next heartbeat response."]

    def _owned(self, name: str, *, right: bool) -> Pieces:
        mine = who(self.run, self.member)
        owner, aim = frames.owner_of(self.frame, name), frames.target_owner_of(self.frame, name)
        if right:
            if name in frames.holders(self.before).get(self.member or "", ()):
                if aim != self.member and aim is not None:
                    return [
                        mine,
                        " still owns ",
                        self._p(name),
                        ", which its target does not have: it keeps it until it has confirmed the revocation.",
                    ]
                return [mine, " owned ", self._p(name), " before, and the target leaves it to ", mine, "."]
            return [
                self._p(name),
                " is in the target of ",
                mine,
                ", and nobody else owns it: the heartbeat response assigns it.",
            ]
        if name in frames.holders(self.before).get(self.member or "", ()) and aim not in (
            None,
            self.member,
        ):
            return [mine, " loses ", self._p(name), " here: its target owner is ", self._m(aim), "."]
        if owner is None:
            if aim == self.member:
                return [
                    self._p(name),
                    " is in the target of ",
                    mine,
                    " and nobody owns it, but only a heartbeat response assigns it: that is still to come.",
                ]
            if aim is None:
                return [self._p(name), " is unassigned, and no target names an owner for it yet."]
            return ["The target owner of ", self._p(name), " is ", self._m(aim), ", not ", mine, "."]
        if aim == self.member:
            if name in frames.revoking_of(self.frame, owner):
                return [
                    self._p(name),
                    " is in the target of ",
                    mine,
                    ", but ",
                    self._m(owner),
                    " is still revoking it: it is assigned only after its owner has confirmed that.",
                ]
            return [
                self._p(name),
                " is in the target of ",
                mine,
                ", but ",
                self._m(owner),
                " still owns it, and has not even been asked to revoke it.",
            ]
        if aim is None or aim == owner:
            return [
                self._p(name),
                " is owned by ",
                self._m(owner),
                "; for ",
                mine,
                " to get it, the target would have to name ",
                mine,
                ".",
            ]
        return [
            self._p(name),
            " is to go from ",
            self._m(owner),
            " to ",
            self._m(aim),
            ", not to ",
            mine,
            ".",
        ]

    def _target(self, name: str) -> Pieces:
        aim = frames.target_owner_of(self.frame, name)
        if aim is None:
            return ["The target names nobody for ", self._p(name), "."]
        return ["The target gives ", self._p(name), " to ", self._m(aim), "."]

    def _revoking(self, name: str, *, right: bool) -> Pieces:
        mine = who(self.run, self.member)
        owner, aim = frames.owner_of(self.frame, name), frames.target_owner_of(self.frame, name)
        if right:
            return [
                "The target gives ",
                self._p(name),
                " to ",
                self._m(aim),
                ", so ",
                mine,
                " is asked to revoke it.",
            ]
        if owner != self.member:
            return [mine, " does not own ", self._p(name), ", so it has nothing to revoke there."]
        if aim == self.member:
            return [self._p(name), " is in the target of ", mine, ": it stays."]
        return [
            self._p(name),
            " is to go, but ",
            mine,
            " has not been asked yet: its next heartbeat response does.",
        ]

    def _waiting(self, name: str, *, right: bool) -> Pieces:
        mine = who(self.run, self.member)
        owner, aim = frames.owner_of(self.frame, name), frames.target_owner_of(self.frame, name)
        if right:
            return [
                self._p(name),
                " is in the target of ",
                mine,
                ", and ",
                self._m(owner) if owner else "nobody has given it to it yet",
                " still owns it." if owner else ".",
            ]
        if aim != self.member:
            return [self._p(name), " is not in the target of ", mine, "."]
        return [mine, " owns ", self._p(name), " already."]

    def _reads(self, name: str, *, right: bool) -> Pieces:
        mine = who(self.run, self.member)
        owner = frames.owner_of(self.frame, name)
        if right and owner != self.member:
            return [
                mine,
                " has received nothing that takes ",
                self._p(name),
                " from it, so its client reads on, whoever the owner is by now.",
            ]
        if right:
            return [mine, " owns ", self._p(name), " and its client has begun with it."]
        return [self._p(name), " is not among what the client of ", mine, " was assigned."]
