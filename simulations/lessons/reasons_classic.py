"""Why an answer about a classic group is right or wrong: its barrier, its leader's assignment, and what clients read."""

from __future__ import annotations

from collections.abc import Iterable

from simulations.lessons import classic_facts, frames
from simulations.lessons.reasons import Pieces, Reasons, sentence, who
from simulations.lessons.values import Members, Number


class ClassicReasons(Reasons):
    """Of answers about groups that have a generation, and no target."""

    def by_clients(self, name: str) -> Pieces | None:
        """Who reads a partition: why it is read by nobody, by one, or by two. Of any protocol."""
        if self.head != "group" or self.asked not in ("unread", "read_twice"):
            return None
        reading = self._readers(name)
        if not reading.names:
            return sentence("No client reads {} at this moment.", self._p(name))
        if len(reading.names) == 1:
            return sentence("{} is read by {} at this moment.", self._p(name), reading)
        return sentence("{} is read by {}: each takes it for its own.", self._p(name), reading)

    def classic_partition(self, name: str, *, right: bool) -> Pieces | None:
        """Why a partition belongs to the answer, or does not."""
        match self.head, self.asked:
            case "group", "unassigned":
                return self._assigned_to_nobody(name, right=right)
            case _, "withheld":
                return self._withheld(name, right=right)
            case _, "owned" | "kept" if self.member is not None:
                return self._assigned(name, right=right)
            case _, "reads" if self.member is not None:
                return self._read(name, right=right)
        return None

    def classic_member(self, member: str) -> Pieces | None:
        """Why a member belongs to the answer about the barrier, or does not."""
        if self.head != "group" or self.asked not in ("joined", "awaited", "leader"):
            return None
        if self.asked == "leader":
            leader = self.frame.get("leader")
            return sentence(
                "The leader is {}: the coordinator keeps its leader as long as that is a member.",
                self._m(leader),
            )
        one = self._m(member)
        if member not in self.frame["members"]:
            return sentence("{} is no member at this moment.", one)
        if self.frame.get("state") == "CompletingRebalance":
            if member in classic_facts.awaited(self.frame):
                return sentence("{} leads, and its SyncGroup with the assignment has not come yet.", one)
            return sentence("{} has joined and does not lead: it waits for the assignment as well.", one)
        if member in classic_facts.joined(self.frame):
            return sentence("{} has sent its JoinGroup, and waits at the barrier.", one)
        if member in classic_facts.awaited(self.frame):
            return sentence("{} has not sent its JoinGroup yet, and nobody is answered before it has.", one)
        return sentence("No rebalance is under way: nobody waits for {}.", one)

    def classic_number(self, given: int, answer: int) -> Pieces | None:
        """Why a number is not the answer."""
        if self.head != "group" or self.asked not in ("generation", "epoch"):
            return None
        if given > answer:
            return sentence(
                "For generation {} all members would have to join, and the leader to assign, once more.",
                Number(given),
            )
        return sentence(
            "Generation {} is over: each rebalance that is completed raises the number by one.", Number(given)
        )

    def classic_state(self, given: str) -> Pieces | None:
        """Why the group is not in this state."""
        if self.head != "group" or self.asked != "state":
            return None
        match given:
            case "Empty":
                return sentence("The group would have to have no members; it has {}.", self.everybody)
            case "PreparingRebalance":
                return ["A rebalance would have to have begun, with members that have not joined yet."]
            case "CompletingRebalance":
                return ["All would have to have joined, and the leader’s assignment to be still missing."]
            case "Stable":
                return ["No rebalance would have to be under way, and every member to have its assignment."]
        return None

    @property
    def _generation(self) -> Number:
        return Number(frames.group_epoch(self.frame))

    def _named(self, members: Iterable[str]) -> Members:
        return Members(tuple(sorted(self.run.names.get(member, member) for member in members)))

    def _readers(self, name: str) -> Members:
        clients = (self.frame.get("clients") or {}).items()
        return self._named(
            member
            for member, client in clients
            if name in frames.flat(client.get("owned")) and not client.get("killed")
        )

    def _owners(self, name: str) -> Members:
        return self._named(member for member, owned in self.held.items() if name in owned)

    def _assigned(self, name: str, *, right: bool) -> Pieces:
        mine, owners = who(self.run, self.member), self._owners(name)
        if not right and name in classic_facts.withheld(self.frame, self.member):
            return sentence(
                "{} is meant for {}, but withheld in this round: its owner has to revoke it first.",
                self._p(name),
                mine,
            )
        if not owners.names:
            return sentence("{} is in nobody’s assignment of generation {}.", self._p(name), self._generation)
        return sentence(
            "In generation {} the leader has assigned {} to {}.", self._generation, self._p(name), owners
        )

    def _assigned_to_nobody(self, name: str, *, right: bool) -> Pieces:
        if not right:
            return sentence(
                "{} is assigned to {} in generation {}.", self._p(name), self._owners(name), self._generation
            )
        if name in classic_facts.withheld(self.frame):
            return sentence("{} is withheld: it is assigned in the next round.", self._p(name))
        return sentence("{} is in nobody’s assignment of generation {}.", self._p(name), self._generation)

    def _withheld(self, name: str, *, right: bool) -> Pieces:
        if right:
            return sentence(
                "{} is to move, and has to be revoked first: it goes out in the next round.", self._p(name)
            )
        return sentence("{} is not withheld: its owner is {}.", self._p(name), self._owners(name))

    def _read(self, name: str, *, right: bool) -> Pieces:
        mine, partition = who(self.run, self.member), self._p(name)
        assigned = name in self.held.get(self.member or "", ())
        if right and assigned:
            return sentence("{} is assigned to {}, and its client has not revoked it.", partition, mine)
        if right:
            return sentence(
                "The client of {} has not revoked {}, whatever was decided without it.", mine, partition
            )
        if assigned and self.frame.get("state") in ("PreparingRebalance", "CompletingRebalance"):
            return sentence(
                "{} had {}, and has revoked it to join: it reads it no more until it is assigned again.",
                mine,
                partition,
            )
        if assigned:
            return sentence("{} is assigned to {}, but its client has not begun with it.", partition, mine)
        reading = self._readers(name)
        if not reading.names:
            return sentence("{} is read by nobody at this moment.", partition)
        return sentence("{} is read by {}, and was not assigned to {}.", partition, reading, mine)
