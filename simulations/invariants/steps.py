"""Invariants of a member's step (G.1): what one unit of records did to it. Only members that a unit touched are looked at."""

from __future__ import annotations

from groups.history.entries import Entry
from groups.history.state.group import State
from simulations.invariants.group import Group
from simulations.invariants.handled_request import HandledRequest
from simulations.invariants.model import (
    LEFT_FOR_NOW,
    STABLE,
    UNRELEASED,
    UNREVOKED,
    Member,
    Topics,
    flat,
    listed,
)
from simulations.invariants.targets import TargetChecks
from simulations.invariants.violations import Violations, named


class StepChecks:
    """``look`` where a unit ends."""

    def __init__(
        self, violations: Violations, topics: Topics, group: Group, targets: TargetChecks, *, kafka: bool
    ) -> None:
        self._violations = violations
        self._topics = topics
        self._group = group
        self._targets = targets
        self._kafka = kafka

    def copy(self, violations: Violations, topics: Topics, group: Group, targets: TargetChecks) -> StepChecks:
        """The same, of another way."""
        return StepChecks(violations, topics, group, targets, kafka=self._kafka)

    def look(self, entry: Entry, first: int, asked: HandledRequest | None, state: State) -> None:
        """``first`` is the sequence of the unit's first record, ``asked`` the request that wrote it, if one did."""
        group = self._group
        for name, old in group.touched.items():
            new = group.members.get(name)
            if new is not None:
                self._one_holder(entry, name, new)
                self._one_instance(entry, name, new)
                self._epochs(entry, name, old, new)
                self._states(entry, name, new, first)
                self._gains(entry, name, old, new, asked)
                self._gives_up(entry, name, old, new, asked)
                self._targets.is_reached(entry, name, new, group.epoch)
            self._memory(entry, name, old, new, state)

    def _one_holder(self, entry: Entry, name: str, new: Member) -> None:
        for held in new.held():
            for other in sorted(self._group.holders[held] - {name}):
                which, theirs = self._topics.named([held]), self._group.members[other]
                proof = (theirs.wrote, new.wrote, entry.sequence)
                who = tuple(sorted((name, other)))
                text = f"{who[0]} and {who[1]} both hold {named(which)}"
                self._violations.add("one_holder", text, proof, who, which)
                if (held in new.pending) != (held in theirs.pending):
                    text = f"{named(which)} is pending revocation of one and assigned to the other of {who[0]} and {who[1]}"
                    self._violations.add("pending_is_not_assigned", text, proof, who, which)
        both = new.assigned.keys() & new.pending.keys()
        if both:
            which = self._topics.named(both)
            text = f"{named(which)} is assigned to {name} and pending its revocation"
            self._add("pending_is_not_assigned", text, (new.wrote, entry.sequence), name, which)

    def _one_instance(self, entry: Entry, name: str, new: Member) -> None:
        """A member that takes an instance over takes it from one that is away; nobody else has it then."""
        holder = self._group.replaced.get(name)
        if holder is None:
            return
        old, still = self._group.touched.get(holder), self._group.members.get(holder)
        proof = ((old or still or new).wrote, new.wrote, entry.sequence)
        if holder != name and still is not None:
            text = f"{name} has the instance {new.instance}, and so has {holder}"
            self._violations.add("one_instance", text, proof, (holder, name))
        elif old is not None and old.epoch != LEFT_FOR_NOW:
            text = f"{name} takes the instance {new.instance} over from {holder}, which has not left"
            self._violations.add("one_instance", text, proof, (holder, name))

    def _epochs(self, entry: Entry, name: str, old: Member | None, new: Member) -> None:
        proof = (old.wrote if old is not None else 0, new.wrote, entry.sequence)
        if new.epoch > self._targets.epoch:
            text = f"{name} is at epoch {new.epoch}, ahead of the assignment epoch {self._targets.epoch}"
            self._add("member_epoch", text, (self._targets.wrote, *proof), name)
        is_away = new.epoch == LEFT_FOR_NOW and new.instance is not None
        if old is not None and new.epoch < old.epoch and not is_away:
            self._add("member_epoch", f"{name} goes back from epoch {old.epoch} to {new.epoch}", proof, name)
        if new.previous > new.epoch and not is_away:
            text = f"The previous epoch {new.previous} of {name} is above its epoch {new.epoch}"
            self._add("previous_epoch", text, proof, name)
        elif new.previous < 0 and new.epoch > 0:
            text = f"The previous epoch of {name}, which is at epoch {new.epoch}, is {new.previous}"
            self._add("previous_epoch", text, proof, name)

    def _states(self, entry: Entry, name: str, new: Member, first: int) -> None:
        proof = (new.wrote, self._targets.wrote, entry.sequence)
        if new.state == STABLE and new.pending:
            which = self._topics.named(new.pending)
            text = f"{name} is STABLE while {named(which)} is pending its revocation"
            self._add("stable", text, proof, name, which)
        if new.epoch == LEFT_FOR_NOW:
            if new.pending:
                which = self._topics.named(new.pending)
                text = f"{name} has left for now, and {named(which)} is still pending its revocation"
                self._add("unrevoked", text, proof, name, which)
            return
        if new.state == UNREVOKED and not new.pending:
            text = f"{name} is in UNREVOKED_PARTITIONS with nothing to give up"
            self._add("unrevoked", text, proof, name)
        was_written = new.wrote >= first
        if new.state == UNRELEASED and was_written and (new.epoch != self._targets.epoch or new.pending):
            text = (
                f"{name} is in UNRELEASED_PARTITIONS at epoch {new.epoch}, with {len(new.pending)} to give up"
            )
            self._add("unreleased", f"{text}; the assignment epoch is {self._targets.epoch}", proof, name)

    def _gains(
        self, entry: Entry, name: str, old: Member | None, new: Member, asked: HandledRequest | None
    ) -> None:
        if old is None and asked is None:
            return  # The records of a group that was there before the log.
        had = old.held() if old is not None else set()
        strange = new.assigned.keys() - had - self._targets.of(name)
        proof = (self._targets.wrote_of(name), new.wrote, entry.sequence)
        if strange:
            which = self._topics.named(strange)
            text = f"{name} gets {named(which)}, which its target does not hold"
            self._add("gained_from_target", text, proof, name, which)
        if not self._kafka:
            return
        kept = old.assigned if old is not None else {}
        if new.epoch == LEFT_FOR_NOW:
            kept = dict.fromkeys(kept, 0)
        wrong = [
            held
            for held, epoch in new.assigned.items()
            if epoch is not None and epoch != kept.get(held, self._targets.epoch)
        ]
        if wrong:
            which = self._topics.named(wrong)
            text = f"{name} has {named(which)} at another assignment epoch than it got it"
            self._add("assignment_epochs", text, proof, name, which)

    def _gives_up(
        self, entry: Entry, name: str, old: Member | None, new: Member, asked: HandledRequest | None
    ) -> None:
        if old is None:
            return
        gone = old.held() - new.held() if new.epoch >= 0 else old.assigned.keys() - new.held()
        if not gone:
            return
        by_itself = asked is not None and asked.entry.actor == name
        owned = asked.body.get("topicPartitions") if asked is not None and by_itself else None
        # A leave names nothing as owned, and for now it gives nothing up of what is assigned.
        kept = gone if owned is None or new.epoch < 0 else gone & listed(owned).keys()
        if kept:
            which = self._topics.named(kept)
            text = f"{named(which)} is taken from {name}, which has not acknowledged it"
            sequence = asked.entry.sequence if asked is not None else 0
            self._add("revoked_by_acknowledgement", text, (old.wrote, sequence, entry.sequence), name, which)

    def _memory(self, entry: Entry, name: str, old: Member | None, new: Member | None, state: State) -> None:
        memory = state.consumer.members.get(name)
        proof = (new.wrote if new is not None else 0, entry.sequence)
        if (memory is None) != (new is None):
            self._add("memory_is_replay", f"{name} is in memory or in the log alone", proof, name)
        elif memory is not None and new is not None:
            written = (new.epoch, new.previous, new.state, set(new.assigned), set(new.pending))
            kept = (memory.epoch, memory.previous_epoch, memory.state)
            if written != (*kept, flat(memory.assigned), flat(memory.pending_revocation)):
                self._add("memory_is_replay", f"{name} in memory is not what its records say", proof, name)
        seen = (old.held() if old is not None else set()) | (new.held() if new is not None else set())
        wrong = []
        for held in seen:
            holders = self._group.holders.get(held, set())
            expected = self._group.members[next(iter(holders))].epoch if holders else None
            epoch = state.consumer.partition_epoch(*held) if state.consumer.is_held(*held) else None
            if len(holders) <= 1 and epoch != expected:
                wrong.append(held)
        if wrong:
            which = self._topics.named(wrong)
            text = f"The partition epoch of {named(which)} is not its holder's"
            self._add("partition_epochs", text, proof, name, which)

    def _add(
        self,
        invariant: str,
        text: str,
        proof: tuple[int, ...],
        who: str,
        which: list[tuple[str, int]] | None = None,
    ) -> None:
        self._violations.add(invariant, text, proof, (who,), which or ())
