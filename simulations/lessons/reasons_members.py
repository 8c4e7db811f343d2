"""Why a member belongs to an answer, or does not."""

from __future__ import annotations

from simulations.lessons import frames
from simulations.lessons.reasons import Pieces, Reasons, sentence
from simulations.lessons.values import Members, Number, partitions


class MemberReasons(Reasons):
    """Of answers that are members."""

    def someone(self, name: str, *, right: bool) -> Pieces | None:
        """Why a member belongs to the answer, or does not."""
        member = self.run.ids.get(name)
        if self.asked == "waits_for" and self.member is not None:
            return self._waited_for(member or "", self.member, right=right)
        if self.asked == "blocks" and self.member is not None:
            return self._blocked(member or "", self.member, right=right)
        if self.head == "group":
            return self._in_the_group(member or "", right=right)
        if self.asked in ("owner", "target_owner", "readers"):
            return self._of_a_partition(member, right=right)
        return None

    def _waited_for(self, member: str, waiter: str, *, right: bool) -> Pieces:
        owned, target = self.held.get(member, []), self.aims.get(waiter, [])
        if right:
            words = "{} owns {}, which the target gives to {}."
            return sentence(
                words,
                self._m(member),
                partitions([name for name in owned if name in target]),
                self._m(waiter),
            )
        if member == waiter:
            return sentence(
                "Nobody waits for itself: it would have to be another member that owns what {}’s target names.",
                self._m(waiter),
            )
        if not owned:
            return sentence("{} owns nothing, so it holds up nobody.", self._m(member))
        words = "{} owns {}, and none of that is in the target of {}."
        return sentence(words, self._m(member), partitions(owned), self._m(waiter))

    def _blocked(self, member: str, owner: str, *, right: bool) -> Pieces:
        wanted = [name for name in self.aims.get(member, []) if name in self.held.get(owner, [])]
        words = "Nothing that {owner} owns is in the target of {member}."
        if right:
            words = "The target gives {wanted} to {member}, and {owner} owns that."
        return sentence(words, wanted=partitions(wanted), member=self._m(member), owner=self._m(owner))

    def _in_the_group(self, member: str, *, right: bool) -> Pieces | None:
        one, about = self._m(member), self.frame["members"].get(member)
        if about is None:
            return sentence("{} is no member at this moment.", one)
        match self.asked:
            case "behind":
                epoch, group = Number(int(about.get("epoch") or 0)), Number(frames.group_epoch(self.frame))
                if right:
                    return sentence("{} is at epoch {}, and the group at {}.", one, epoch, group)
                return sentence("{} is at epoch {} already, which is the group epoch.", one, epoch)
            case "idle":
                return sentence("{} owns {}.", one, partitions(self.held.get(member, [])))
            case "members":
                return sentence("{} is a member: it has joined, and it was not removed.", one)
        return None

    def _of_a_partition(self, member: str | None, *, right: bool) -> Pieces | None:
        name, one = self.head, self._m(member)
        owner, aim = frames.owner_of(self.frame, name), frames.target_owner_of(self.frame, name)
        if self.asked == "owner":
            words = self._owner(member, owner, aim, right=right)
            return sentence(words, one=one, owner=self._m(owner), aim=self._m(aim))
        if self.asked == "target_owner":
            return sentence("The target names {}.", self._m(aim))
        if right:
            words = "{}’s client has it among its partitions, whatever the coordinator has decided since."
            return sentence(words, one)
        reading = [
            self.run.names.get(reader, reader)
            for reader, client in (self.frame.get("clients") or {}).items()
            if name in frames.flat(client.get("owned"))
        ]
        return sentence("The clients that have it are those of {}.", Members(tuple(sorted(reading))))

    def _owner(self, member: str | None, owner: str | None, aim: str | None, *, right: bool) -> str:
        """Words about a member, ``one``, and a partition with its owner and the one that it is to have, ``aim``."""
        if right:
            if member is None:
                words = "It was released, and nobody owns it until the heartbeat response of its target owner"
                return f"{words}{', {aim},' if aim else ''} assigns it."
            if aim not in (None, member):
                return "{one} owns it: it has not confirmed the revocation yet."
            return "{one} owns it."
        if member is None:
            return "Somebody owns it: {owner}."
        if member == aim:
            until = "{owner} has released it" if owner else "its own heartbeat has asked"
            return f"{{one}} is its target owner, and gets it only once {until}."
        return "Neither does {one} own it, nor does the target name {one}."
