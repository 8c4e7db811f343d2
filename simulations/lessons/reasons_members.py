"""Why a member belongs to an answer, or does not."""

from __future__ import annotations

from simulations.lessons import frames
from simulations.lessons.reasons import Pieces, Reasons
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
        blocking = [name for name in owned if name in target]
        if right:
            return [
                self._m(member),
                " owns ",
                partitions(blocking),
                ", which the target gives to ",
                self._m(waiter),
                ".",
            ]
        if member == waiter:
            return [
                "Nobody waits for itself: it would have to be another member that owns what ",
                self._m(waiter),
                "’s target names.",
            ]
        if not owned:
            return [self._m(member), " owns nothing, so it holds up nobody."]
        return [
            self._m(member),
            " owns ",
            partitions(owned),
            ", and none of that is in the target of ",
            self._m(waiter),
            ".",
        ]

    def _blocked(self, member: str, owner: str, *, right: bool) -> Pieces:
        wanted = [name for name in self.aims.get(member, []) if name in self.held.get(owner, [])]
        if right:
            return [
                "The target gives ",
                partitions(wanted),
                " to ",
                self._m(member),
                ", and ",
                self._m(owner),
                " owns that.",
            ]
        return ["Nothing that ", self._m(owner), " owns is in the target of ", self._m(member), "."]

    def _in_the_group(self, member: str, *, right: bool) -> Pieces | None:
        about = self.frame["members"].get(member)
        if about is None:
            return [self._m(member), " is no member at this moment."]
        group = frames.group_epoch(self.frame)
        match self.asked:
            case "behind":
                epoch = Number(int(about.get("epoch") or 0))
                if right:
                    return [
                        self._m(member),
                        " is at epoch ",
                        epoch,
                        ", and the group at ",
                        Number(group),
                        ".",
                    ]
                return [self._m(member), " is at epoch ", epoch, " already, which is the group epoch."]
            case "idle":
                owned = self.held.get(member, [])
                return [self._m(member), " owns ", partitions(owned), "."]
            case "members":
                return [self._m(member), " is a member: it has joined, and it was not removed."]
        return None

    def _of_a_partition(self, member: str | None, *, right: bool) -> Pieces | None:
        name = self.head
        owner, aim = frames.owner_of(self.frame, name), frames.target_owner_of(self.frame, name)
        if self.asked == "owner":
            if right:
                if member is None:
                    return [
                        "It was released, and nobody owns it until the heartbeat response of its target owner",
                        *([", ", self._m(aim), ","] if aim else [" "]),
                        " assigns it.",
                    ]
                return [
                    self._m(member),
                    " owns it",
                    *([": it has not confirmed the revocation yet."] if aim not in (None, member) else ["."]),
                ]
            if member is None:
                return ["Somebody owns it: ", self._m(owner), "."]
            if member == aim:
                return [
                    self._m(member),
                    " is its target owner, and gets it only once ",
                    self._m(owner) if owner else "its own heartbeat",
                    " has released it." if owner else " has asked.",
                ]
            return [
                "Neither does ",
                self._m(member),
                " own it, nor does the target name ",
                self._m(member),
                ".",
            ]
        if self.asked == "target_owner":
            return ["The target names ", self._m(aim), "."]
        reading = [
            who_
            for who_, client in (self.frame.get("clients") or {}).items()
            if name in frames.flat(client.get("owned"))
        ]
        if right:
            return [
                self._m(member),
                "’s client has it among its partitions, whatever the coordinator has decided since.",
            ]
        return [
            "The clients that have it are those of ",
            Members(tuple(sorted(self.run.names.get(one, one) for one in reading))),
            ".",
        ]
