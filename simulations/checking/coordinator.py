"""Invariants of the coordinator's state (G.1), looked at where a unit of records or a request ends.

Work is bounded by what a record tells: only members, partitions and topics that a unit touched are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Final

from groups.history.entries import Entry, Kind
from groups.history.state import Semantics, State
from simulations.checking.model import STABLE, UNRELEASED, UNREVOKED, Held, Member, Topics, flat, listed
from simulations.checking.targets import TargetChecks
from simulations.checking.violations import Violation, Violations, named

FENCED_MEMBER_EPOCH: Final = 110
UNKNOWN_MEMBER_ID: Final = 25
REGULAR_EXPRESSION: Final = 16
"""The record's type; a heartbeat's own batch never begins with it."""
TURNED_AWAY: Final = (14, 15, 16)
"""Answers of a broker that is not the coordinator, or not yet; it runs no timers."""


@dataclass(slots=True)
class Asked:
    """A request that is being handled."""

    entry: Entry
    wrote: int = 0

    @property
    def body(self) -> Mapping[str, Any]:
        body: Mapping[str, Any] = self.entry.payload["body"]
        return body


class GroupChecks:
    """The group as its records tell. ``touched`` are members as they were before the last unit, ``None`` if absent."""

    def __init__(self, violations: Violations, topics: Topics, semantics: Semantics) -> None:
        self.members: dict[str, Member] = {}
        self.touched: dict[str, Member | None] = {}
        self.epoch = 1 if semantics is Semantics.KAFKA else 0
        self.epoch_wrote = 0
        self.targets = TargetChecks(violations, topics, self.epoch)
        self.last_asked: Asked | None = None
        self._kafka = semantics is Semantics.KAFKA
        self._violations = violations
        self._topics = topics
        self._holders: dict[Held, set[str]] = {}
        self._stable_at: Counter[int] = Counter()
        self._instances: dict[str, str] = {}
        self._timers: dict[str, set[str]] = {"session": set(), "rebalance": set()}
        self._sessionless: dict[str, None] = {}
        self._untimed: dict[str, None] = {}
        self._asked: dict[int, Asked] = {}
        self._unit: Entry | None = None

    def copy(self) -> GroupChecks:
        """These checks as they stand between two requests, to go on along another way; what they tell is its own."""
        other = copy(self)
        other._violations, other._topics = Violations(), self._topics.copy()
        other.targets = self.targets.copy(other._violations, other._topics)
        other.members, other.touched = dict(self.members), dict(self.touched)
        other._holders = {held: set(names) for held, names in self._holders.items()}
        other._stable_at, other._instances = self._stable_at.copy(), dict(self._instances)
        other._timers = {timer: set(names) for timer, names in self._timers.items()}
        other._sessionless, other._untimed = dict(self._sessionless), dict(self._untimed)
        other._asked = dict(self._asked)
        return other

    def remembered(self) -> Hashable:
        """What is kept of the past that the group's state, its timers and its metadata do not tell."""
        return self.targets.remembered(), bool(self.epoch_wrote), bool(self.targets.wrote)

    def take(self) -> list[Violation]:
        """The violations since the last time."""
        return self._violations.take()

    @property
    def converged(self) -> bool:
        """Whether everybody is STABLE at the group epoch."""
        return self.epoch == self.targets.epoch and self._stable_at[self.epoch] == len(self.members)

    def see(self, entry: Entry, state: State) -> None:
        """An entry that tells of the coordinator alone, for who shows it no others; ``state`` is its memory."""
        match entry.kind:
            case Kind.RECORD:
                self.record(entry, state)
            case Kind.REQUEST:
                self.request(entry)
            case Kind.RESPONSE:
                self.response(entry)
            case Kind.TIMER:
                self.timer(entry)
            case Kind.NOTE:
                self._topics.told(entry.payload["topics"])
                self.targets.topics_changed()
            case Kind.FAULT:
                self.failed_over()

    # What entries tell.

    def request(self, entry: Entry) -> None:
        if not entry.payload.get("steady"):
            self._asked[entry.sequence] = Asked(entry)

    def response(self, entry: Entry) -> Asked | None:
        """The request that is answered."""
        asked = self._asked.pop(entry.cause or 0, None)
        body, who = entry.payload["body"], str(entry.payload.get("to"))
        code = body.get("errorCode")
        if asked is not None and code:
            proof = (asked.entry.sequence, asked.wrote, entry.sequence)
            if asked.wrote and (self._kafka or code != FENCED_MEMBER_EPOCH):
                self._add("refused_writes_nothing", f"{who} is refused, yet records were written", proof, who)
            if code in (FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID) and self._repeats(asked):
                self._add("lost_answer", f"{who} repeats a heartbeat and is refused", proof, who)
        if not self._kafka and body.get("assignment"):
            self._told(entry, who, body["assignment"])
        if not _turned_away(body):
            self.timers_run(entry)
        return asked

    def _repeats(self, asked: Asked) -> bool:
        """Whether its like was handled, and the answer lost.

        Asked where it is answered: what was handled before it has taken effect by then, and nothing after it has.
        """
        who, body = asked.entry.actor, asked.body
        member = self.touched.get(who) if asked.wrote else self.members.get(who)
        owned = body.get("topicPartitions")
        return (
            member is not None
            and owned is not None
            and body.get("memberEpoch") == member.previous < member.epoch
            and listed(owned).keys() <= member.assigned.keys()
        )

    def timer(self, entry: Entry) -> None:
        payload = entry.payload
        who, running = payload["member"], self._timers.get(payload["timer"])
        if running is None or who is None:
            return
        waiting = self._sessionless if payload["timer"] == "session" else self._untimed
        if payload["event"] == "started":
            running.add(who)
            waiting.pop(who, None)
            return
        running.discard(who)
        member = self.members.get(who)
        if member is not None and (waiting is self._sessionless or member.state == UNREVOKED):
            waiting[who] = None

    def failed_over(self) -> None:
        """A new coordinator has no timer yet and nothing that it handles."""
        for running in self._timers.values():
            running.clear()
        self._sessionless = dict.fromkeys(self.members)
        self._untimed = {name: None for name, member in self.members.items() if member.state == UNREVOKED}
        self._asked.clear()

    def timers_run(self, entry: Entry) -> None:
        """Asked where a request ends: in between, timers are still being started."""
        for who in self._sessionless:
            self._add("session", f"No session timer runs for {who}", (self._wrote(who), entry.sequence), who)
        for who in self._untimed:
            if self.members[who].epoch > 0:
                says = f"{who} is to give up, and no rebalance timer runs"
                self._add("unrevoked", says, (self._wrote(who), entry.sequence), who)

    def record(self, entry: Entry, state: State) -> bool:
        """Takes a record; whether its unit ends here, and was looked at."""
        if self._unit is None or entry.unit != self._unit.unit:
            self.touched = {}
            self._begin_unit(entry)
        elif entry.batch != self._unit.batch:
            says = "The records of one request are in two batches"
            self._violations.add("one_batch", says, (self._unit.sequence, entry.sequence))
        self._take(entry)
        if not entry.settled:
            return False
        self.last_asked = self._asked.get(entry.cause or 0)
        self._settle(entry, state)
        return True

    # The model.

    def _begin_unit(self, entry: Entry) -> None:
        self._unit = entry
        asked = self._asked.get(entry.cause or 0)
        if asked is None or entry.payload["type"] == REGULAR_EXPRESSION:
            return  # A resolution was asked for by the request, and is written on its own.
        if asked.wrote:
            who, proof = asked.entry.actor, (asked.entry.sequence, asked.wrote, entry.sequence)
            self._add("one_batch", f"The request of {who} writes a second time", proof, who)
        asked.wrote = entry.sequence

    def _take(self, entry: Entry) -> None:
        key, value = entry.payload.get("key"), entry.payload.get("value")
        if key is None:
            return
        name = key.get("memberId", "")
        match entry.payload["type"]:
            case 3:
                self._group_epoch(entry, value)
            case 4 if value is not None and not self._kafka:
                # What the coordinator knew when it computed; it may have been unable to commit for long since then.
                self._topics.told(
                    {
                        topic["topicName"]: {"id": topic["topicId"], "partitions": topic["numPartitions"]}
                        for topic in value["topics"]
                    }
                )
            case 5:
                self._member(entry, name, value)
            case 6:
                self.targets.new_epoch(entry, value)
            case 7:
                self.targets.member(entry, name, value)
            case 8:
                self._assignment(entry, name, value)
            case 16:
                self._topics.matches(key["regularExpression"], value and value["topics"], entry.sequence)
                self.targets.subscriptions_changed()

    def _group_epoch(self, entry: Entry, value: Mapping[str, Any] | None) -> None:
        if value is None:
            self.epoch, self.epoch_wrote = (1 if self._kafka else 0), 0
            return
        if value["epoch"] != self.epoch + 1 and self.epoch_wrote:
            says = f"The group epoch goes from {self.epoch} to {value['epoch']}"
            self._violations.add("group_epochs", says, (self.epoch_wrote, entry.sequence))
        self.epoch, self.epoch_wrote = value["epoch"], entry.sequence

    def _member(self, entry: Entry, name: str, value: Mapping[str, Any] | None) -> None:
        old = self._touch(name)
        if value is None:
            if old is not None:
                self._replace(name, None)
                self.targets.subscribes(name, frozenset())
            return
        member = old.copy() if old is not None else Member(wrote=entry.sequence)
        member.names = frozenset(value["subscribedTopicNames"])
        member.regex = value.get("subscribedTopicRegex") or ""
        member.instance = value.get("instanceId")
        member.rebalance_timeout_ms = value.get("rebalanceTimeoutMs", -1)
        if member.instance is not None:
            holder = self._instances.get(member.instance)
            if old is None and holder != name and holder in self.touched:
                # A replacement takes over what its predecessor had.
                self.touched[name] = self.touched[holder]
            self._instances[member.instance] = name
        self._replace(name, member)
        self.targets.subscribes(name, self._topics.of(member))

    def _assignment(self, entry: Entry, name: str, value: Mapping[str, Any] | None) -> None:
        old = self._touch(name) or Member()
        member = old.copy()
        member.wrote = entry.sequence
        if value is None:
            member.assigned, member.pending, member.state = {}, {}, STABLE
        else:
            member.epoch, member.previous = value["memberEpoch"], value["previousMemberEpoch"]
            member.state = value.get("state")
            member.assigned = listed(value["assignedPartitions"])
            member.pending = listed(value.get("partitionsPendingRevocation") or ())
        self._replace(name, member)

    def _touch(self, name: str) -> Member | None:
        member = self.members.get(name)
        self.touched.setdefault(name, member)
        return member

    def _replace(self, name: str, new: Member | None) -> None:
        old = self.members.pop(name, None)
        if old is not None:
            if old.state == STABLE:
                self._stable_at[old.epoch] -= 1
            for held in old.held():
                holders = self._holders[held]
                holders.discard(name)
                if not holders:
                    del self._holders[held]
        self._untimed.pop(name, None)
        if new is None:
            self._sessionless.pop(name, None)
            return
        self.members[name] = new
        if new.state == STABLE:
            self._stable_at[new.epoch] += 1
        for held in new.held():
            self._holders.setdefault(held, set()).add(name)
        if name not in self._timers["session"]:
            self._sessionless[name] = None
        if new.state == UNREVOKED and name not in self._timers["rebalance"]:
            self._untimed[name] = None

    # The rules.

    def _settle(self, entry: Entry, state: State) -> None:
        if self.epoch < self.targets.epoch:
            says = f"The assignment epoch {self.targets.epoch} is ahead of the group epoch {self.epoch}"
            self._violations.add("group_epochs", says, (self.epoch_wrote, self.targets.wrote, entry.sequence))
        for name, old in self.touched.items():
            new = self.members.get(name)
            if new is not None:
                self._one_holder(entry, name, new)
                self._epochs(entry, name, old, new)
                self._states(entry, name, new)
                self._gains(entry, name, old, new)
                self._gives_up(entry, name, old, new)
                self.targets.is_reached(entry, name, new, self.epoch)
            self._memory(entry, name, old, new, state)
        stable = self._stable_at[self.targets.epoch] == len(self.members)
        if stable != state.consumer.converged:
            says = f"The group {'is' if stable else 'is not'} Stable by its records, and is counted otherwise"
            self._violations.add("group_state", says, (self.epoch_wrote, entry.sequence))
        self.targets.settle(entry, self.members, self.epoch, state)

    def _one_holder(self, entry: Entry, name: str, new: Member) -> None:
        for held in new.held():
            for other in sorted(self._holders[held] - {name}):
                which, theirs = self._topics.named([held]), self.members[other]
                proof = (theirs.wrote, new.wrote, entry.sequence)
                who = tuple(sorted((name, other)))
                says = f"{who[0]} and {who[1]} both hold {named(which)}"
                self._violations.add("one_holder", says, proof, who, which)
                if (held in new.pending) != (held in theirs.pending):
                    says = f"{named(which)} is pending revocation of one and assigned to the other of {who[0]} and {who[1]}"
                    self._violations.add("pending_is_not_assigned", says, proof, who, which)
        both = new.assigned.keys() & new.pending.keys()
        if both:
            which = self._topics.named(both)
            says = f"{named(which)} is assigned to {name} and pending its revocation"
            self._add("pending_is_not_assigned", says, (new.wrote, entry.sequence), name, which)

    def _epochs(self, entry: Entry, name: str, old: Member | None, new: Member) -> None:
        proof = (old.wrote if old is not None else 0, new.wrote, entry.sequence)
        if new.epoch > self.targets.epoch:
            says = f"{name} is at epoch {new.epoch}, ahead of the assignment epoch {self.targets.epoch}"
            self._add("member_epoch", says, (self.targets.wrote, *proof), name)
        is_away = new.epoch < 0 or (new.instance is not None and new.epoch == 0)
        if old is not None and new.epoch < old.epoch and not is_away:
            self._add("member_epoch", f"{name} goes back from epoch {old.epoch} to {new.epoch}", proof, name)
        if new.previous > new.epoch and not is_away:
            says = f"The previous epoch {new.previous} of {name} is above its epoch {new.epoch}"
            self._add("previous_epoch", says, proof, name)

    def _states(self, entry: Entry, name: str, new: Member) -> None:
        proof = (new.wrote, self.targets.wrote, entry.sequence)
        if new.state == STABLE and new.pending:
            which = self._topics.named(new.pending)
            says = f"{name} is STABLE while {named(which)} is pending its revocation"
            self._add("stable", says, proof, name, which)
        if new.epoch <= 0:
            return
        if new.state == UNREVOKED and not new.pending:
            says = f"{name} is in UNREVOKED_PARTITIONS with nothing to give up"
            self._add("unrevoked", says, proof, name)
        was_written = new.wrote >= (self._unit or entry).sequence
        if new.state == UNRELEASED and was_written and (new.epoch != self.targets.epoch or new.pending):
            says = (
                f"{name} is in UNRELEASED_PARTITIONS at epoch {new.epoch}, with {len(new.pending)} to give up"
            )
            self._add("unreleased", f"{says}; the assignment epoch is {self.targets.epoch}", proof, name)

    def _gains(self, entry: Entry, name: str, old: Member | None, new: Member) -> None:
        if old is None and self.last_asked is None:
            return  # The records of a group that was there before the log.
        had = old.held() if old is not None else set()
        strange = new.assigned.keys() - had - self.targets.of(name)
        proof = (self.targets.wrote_of(name), new.wrote, entry.sequence)
        if strange:
            which = self._topics.named(strange)
            says = f"{name} gets {named(which)}, which its target does not hold"
            self._add("gained_from_target", says, proof, name, which)
        if not self._kafka or new.epoch <= 0 or (old is not None and old.epoch < 0):
            return
        kept = old.assigned if old is not None else {}
        wrong = [
            held
            for held, epoch in new.assigned.items()
            if epoch is not None and epoch != kept.get(held, self.targets.epoch)
        ]
        if wrong:
            which = self._topics.named(wrong)
            says = f"{name} has {named(which)} at another assignment epoch than it got it"
            self._add("assignment_epochs", says, proof, name, which)

    def _gives_up(self, entry: Entry, name: str, old: Member | None, new: Member) -> None:
        if old is None:
            return
        gone = old.held() - new.held() if new.epoch >= 0 else old.assigned.keys() - new.held()
        if not gone:
            return
        asked = self.last_asked
        owned = asked.body.get("topicPartitions") if asked is not None else None
        kept = gone if owned is None else gone & listed(owned).keys()
        if kept:
            which = self._topics.named(kept)
            says = f"{named(which)} is taken from {name}, which has not acknowledged it"
            sequence = asked.entry.sequence if asked is not None else 0
            self._add("revoked_by_acknowledgement", says, (old.wrote, sequence, entry.sequence), name, which)

    def _memory(self, entry: Entry, name: str, old: Member | None, new: Member | None, state: State) -> None:
        memory = state.consumer.members.get(name)
        proof = (new.wrote if new is not None else 0, entry.sequence)
        if (memory is None) != (new is None):
            self._add("memory_is_replay", f"{name} is in memory or in the log alone", proof, name)
        elif memory is not None and new is not None:
            told = (new.epoch, new.previous, new.state, set(new.assigned), set(new.pending))
            kept = (memory.epoch, memory.previous_epoch, memory.state)
            if told != (*kept, flat(memory.assigned), flat(memory.pending_revocation)):
                self._add("memory_is_replay", f"{name} in memory is not what its records say", proof, name)
        seen = (old.held() if old is not None else set()) | (new.held() if new is not None else set())
        wrong = []
        for held in seen:
            holders = self._holders.get(held, set())
            expected = self.members[next(iter(holders))].epoch if holders else None
            epoch = state.consumer.partition_epoch(*held) if state.consumer.is_held(*held) else None
            if len(holders) <= 1 and epoch != expected:
                wrong.append(held)
        if wrong:
            which = self._topics.named(wrong)
            says = f"The partition epoch of {named(which)} is not its holder's"
            self._add("partition_epochs", says, proof, name, which)

    def _told(self, entry: Entry, who: str, assignment: Mapping[str, Any]) -> None:
        """The proposal keeps no record of it: only the answer tells a member to give something up."""
        member = self.members.get(who)
        if member is None or who in self._timers["rebalance"]:
            return
        kept: set[Held] = set()
        for part in ("topicPartitions", "assignedTopicPartitions"):
            kept |= listed(assignment.get(part) or ()).keys()
        less = member.assigned.keys() - kept
        if less:
            which = self._topics.named(less)
            says = f"{who} is told to give up {named(which)}, and no rebalance timer runs"
            self._add("unrevoked", says, (member.wrote, entry.sequence), who, which)

    def _wrote(self, who: str) -> int:
        return self.members[who].wrote

    def _add(
        self,
        invariant: str,
        says: str,
        proof: tuple[int, ...],
        who: str,
        which: list[tuple[str, int]] | None = None,
    ) -> None:
        self._violations.add(invariant, says, proof, (who,), which or ())


def _turned_away(body: Mapping[str, Any]) -> bool:
    """Whether a broker answered that is not the coordinator, or not yet; OffsetCommit says so of each partition."""
    codes = [
        answer.get("errorCode")
        for topic in body.get("topics") or ()
        for answer in topic.get("partitions", ())
    ]
    return body.get("errorCode") in TURNED_AWAY or any(code in TURNED_AWAY for code in codes)
