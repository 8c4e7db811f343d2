"""Why a partition belongs to an answer, or does not."""

from __future__ import annotations

from simulations.lessons import frames
from simulations.lessons.reasons import Pieces, Reasons, sentence


class PartitionReasons(Reasons):
    """Of answers that are partitions."""

    def partition(self, name: str, *, right: bool) -> Pieces | None:
        """Why a partition belongs to the answer (``right``), or does not."""
        if self.head == "group" and self.asked == "unassigned":
            words = self._unassigned(name, right=right)
        elif self.member is None:
            return None
        else:
            match self.asked:
                case "owned" | "kept":
                    words = self._owned(name, right=right)
                case "target":
                    words = self._target(name)
                case "revoking":
                    words = self._revoking(name, right=right)
                case "waiting":
                    words = self._waiting(name, right=right)
                case "reads":
                    words = self._reads(name, right=right)
                case _:
                    return None
        return sentence(
            words,
            it=self._p(name),
            mine=self._m(self.member),
            owner=self._m(frames.owner_of(self.frame, name)),
            aim=self._m(frames.target_owner_of(self.frame, name)),
        )

    # The words of each: ``it`` is the partition, ``mine`` the member that is asked about, ``aim`` the target owner.

    def _unassigned(self, name: str, *, right: bool) -> str:
        if not right:
            owner = frames.owner_of(self.frame, name)
            if name in frames.revoking_of(self.frame, owner or ""):
                return "{it} is still owned by {owner}, which is revoking it: it is released only when that is confirmed."
            return "{it} is owned by {owner}."
        if frames.target_owner_of(self.frame, name) is None:
            return "{it} is unassigned, and no target names an owner yet."
        return "{it} is unassigned: {aim} gets it with its next heartbeat response."

    def _owned(self, name: str, *, right: bool) -> str:
        owner, aim = frames.owner_of(self.frame, name), frames.target_owner_of(self.frame, name)
        had = name in frames.holders(self.before).get(self.member or "", ())
        if right:
            if not had:
                return "{it} is in the target of {mine}, and nobody else owns it: the heartbeat response assigns it."
            if aim != self.member and aim is not None:
                return "{mine} still owns {it}, which its target does not have: it keeps it until it has confirmed the revocation."
            return "{mine} owned {it} before, and the target leaves it to {mine}."
        if had and aim not in (None, self.member):
            return "{mine} loses {it} here: its target owner is {aim}."
        if owner is None:
            if aim == self.member:
                return "{it} is in the target of {mine} and nobody owns it, but only a heartbeat response assigns it: that is still to come."
            if aim is None:
                return "{it} is unassigned, and no target names an owner for it yet."
            return "The target owner of {it} is {aim}, not {mine}."
        if aim == self.member:
            if name in frames.revoking_of(self.frame, owner):
                return "{it} is in the target of {mine}, but {owner} is still revoking it: it is assigned only after its owner has confirmed that."
            return "{it} is in the target of {mine}, but {owner} still owns it, and has not even been asked to revoke it."
        if aim is None or aim == owner:
            return "{it} is owned by {owner}; for {mine} to get it, the target would have to name {mine}."
        return "{it} is to go from {owner} to {aim}, not to {mine}."

    def _target(self, name: str) -> str:
        if frames.target_owner_of(self.frame, name) is None:
            return "The target names nobody for {it}."
        return "The target gives {it} to {aim}."

    def _revoking(self, name: str, *, right: bool) -> str:
        if right:
            return "The target gives {it} to {aim}, so {mine} is asked to revoke it."
        if frames.owner_of(self.frame, name) != self.member:
            return "{mine} does not own {it}, so it has nothing to revoke there."
        if frames.target_owner_of(self.frame, name) == self.member:
            return "{it} is in the target of {mine}: it stays."
        return "{it} is to go, but {mine} has not been asked yet: its next heartbeat response does."

    def _waiting(self, name: str, *, right: bool) -> str:
        if right:
            if frames.owner_of(self.frame, name):
                return "{it} is in the target of {mine}, and {owner} still owns it."
            return "{it} is in the target of {mine}, and nobody has given it to it yet."
        if frames.target_owner_of(self.frame, name) != self.member:
            return "{it} is not in the target of {mine}."
        return "{mine} owns {it} already."

    def _reads(self, name: str, *, right: bool) -> str:
        if not right:
            return "{it} is not among what the client of {mine} was assigned."
        if frames.owner_of(self.frame, name) != self.member:
            return "{mine} has received nothing that takes {it} from it, so its client reads on, whoever the owner is by now."
        return "{mine} owns {it} and its client has begun with it."
