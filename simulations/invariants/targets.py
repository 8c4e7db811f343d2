"""Invariants of the target assignment; what was touched since it was last looked at is kept in ``_dirty``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from copy import copy

from groups.history.entries import Entry
from groups.history.payloads.records import (
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from groups.history.state.group import State
from simulations.invariants.model import STABLE, Held, Member, Topics, flat, listed
from simulations.invariants.violations import Violations, named

NOTHING: frozenset[Held] = frozenset()


class TargetChecks:
    """Each member's target, by id, and how many partitions of each topic are in somebody's."""

    def __init__(self, violations: Violations, topics: Topics, epoch: int, *, kafka: bool) -> None:
        self._kafka = kafka
        self.epoch = epoch
        self.wrote = 0
        self._violations = violations
        self._topics = topics
        self._first = epoch
        self._targets: dict[str, frozenset[Held]] = {}
        self._wrote: dict[str, int] = {}
        self._failed: frozenset[str] = frozenset()
        self._given: dict[Held, dict[str, None]] = {}
        self._count: Counter[str] = Counter()
        self._subscriptions: dict[str, frozenset[str]] = {}
        self._subscribers: Counter[str] = Counter()
        self._dirty: dict[str, None] = {}
        self._is_current = True
        self._is_new = False
        self._stale = False
        self.judges_expressions = True
        """Not where time does not move: expressions are resolved again only after a while."""
        self._rests: bool | None = None
        """Whether the target is whole for what there is now; ``None``: to be looked at again."""

    def copy(self, violations: Violations, topics: Topics) -> TargetChecks:
        """A copy of these checks, to go on along another way and report ``violations``."""
        other = copy(self)
        other._violations, other._topics = violations, topics
        other._targets, other._wrote = dict(self._targets), dict(self._wrote)
        other._given = {held: dict(names) for held, names in self._given.items()}
        other._count, other._subscribers = self._count.copy(), self._subscribers.copy()
        other._subscriptions, other._dirty = dict(self._subscriptions), dict(self._dirty)
        return other

    def remembered(self) -> Hashable:
        """What is kept of the past that neither the group nor its metadata report."""
        topics = self._topics
        known = frozenset(regex for regex, sequence in topics.resolved.items() if sequence < self.wrote)
        counts = tuple(sorted(topics.counts.items()))
        return self._is_current, self._is_new, self._stale, frozenset(self._dirty), known, counts

    def of(self, name: str) -> frozenset[Held]:
        return self._targets.get(name, NOTHING)

    def wrote_of(self, name: str) -> int:
        return self._wrote.get(name, 0)

    def topics_changed(self) -> None:
        """The target is older than the metadata from here on."""
        self._is_current = not self._subscriptions
        self._rests = None

    def subscriptions_changed(self) -> None:
        """What an expression matches changed: every subscription is to be read again."""
        self._stale = True
        self._rests = None

    def new_epoch(self, entry: Entry, value: ConsumerGroupTargetAssignmentMetadataValue | None) -> None:
        if value is None:
            self.epoch, self.wrote = self._first, 0
            return
        if value["assignmentEpoch"] <= self.epoch and self.wrote:
            text = f"The assignment epoch goes from {self.epoch} to {value['assignmentEpoch']}"
            self._violations.add("group_epochs", text, (self.wrote, entry.sequence))
        self.epoch, self.wrote = value["assignmentEpoch"], entry.sequence
        self._is_current = self._is_new = True
        self._rests = None

    def member(self, entry: Entry, name: str, value: ConsumerGroupTargetAssignmentMemberValue | None) -> None:
        old = self._targets.pop(name, NOTHING)
        new = frozenset(listed(value["topicPartitions"])) if value is not None else NOTHING
        for held in old - new:
            del self._given[held][name]
            if not self._given[held]:
                del self._given[held]
                self._count[held[0]] -= 1
        for held in new - old:
            members = self._given.setdefault(held, {})
            self._count[held[0]] += not members
            members[name] = None
        if value is not None:
            self._targets[name] = new
        # The members whose target has an error of a client-side assignor, which may then leave partitions out.
        failed = value is not None and value.get("error", 0) != 0
        self._failed = self._failed | {name} if failed else self._failed - {name}
        self._wrote[name] = entry.sequence
        self._dirty[name] = None
        self._rests = None

    def subscribes(self, name: str, topics: frozenset[str]) -> None:
        old = self._subscriptions.pop(name, frozenset())
        self._subscribers.subtract(old)
        self._subscribers.update(topics)
        if topics:
            self._subscriptions[name] = topics
        self._dirty[name] = None
        self._rests = None

    def settle(self, entry: Entry, members: Mapping[str, Member], group_epoch: int, state: State) -> None:
        """A unit is over. Who was touched before the target came is looked at when it has come."""
        if self._stale:
            self._stale = False
            for name, member in members.items():
                self.subscribes(name, self._topics.of(member))
        for name in self._dirty:
            if self._wrote.get(name, 0) == 0:
                continue
            if flat(state.consumer.target.get(name, {})) != self.of(name):
                text = f"The target of {name} in memory is not what was written"
                self._violations.add("target_replayed", text, (self._wrote[name], entry.sequence), (name,))
        if group_epoch != self.epoch:
            return
        for name in self._dirty:
            self._is_its_own(entry, name, members)
        self._dirty.clear()
        if self._is_new and self._is_current:
            self._is_new = False
            if not self._failed and all(self._is_resolved(member) for member in members.values()):
                self._is_whole(entry)

    def is_of_now(self, members: Mapping[str, Member]) -> bool:
        """Whether the target is whole for the metadata of now, or nobody can say; cheap while nothing changes."""
        if self._rests is None:
            self._rests = not self._behind(members)
        return self._rests

    def at_rest(self, sequence: int, members: Mapping[str, Member]) -> None:
        """The coordinator had time enough to look at the metadata, and at what expressions match."""
        for text, since in self._behind(members):
            self._violations.add("current_target", text, (since, self.wrote, sequence))

    def holds_unknown(self) -> bool:
        """Whether the target holds what the coordinator does not know of: the last one knew more of the metadata."""
        topics = self._topics
        return any(
            topics.now.get(topics.names.get(topic_id, ""), ("", 0)) < (topic_id, number + 1)
            or topics.ids.get(topics.names.get(topic_id, "")) != topic_id
            for topic_id, number in self._given
        )

    def unjudged(self, members: Mapping[str, Member]) -> str | None:
        """Why nobody can say whether the target is whole."""
        if self._failed:
            return "a target with an error of a client-side assignor"
        if not all(self._is_resolved(member) for member in members.values()):
            return "a target that is older than what an expression was found to match"
        return None

    def _behind(self, members: Mapping[str, Member]) -> list[tuple[str, int]]:
        """What the target and the expressions lack of what there is now, each with the entry to look at."""
        topics, found = self._topics, list[tuple[str, int]]()
        used = {member.regex for member in members.values() if member.regex and self.judges_expressions}
        for regex in sorted(used):
            matched, there = topics.matched.get(regex), topics.matching(regex)
            if (matched is None and there) or (matched is not None and matched & topics.now.keys() != there):
                text = f"The expression {regex} matches {_listed(there)}, and is taken to match {_listed(matched or ())}"
                found.append((text, topics.resolved.get(regex, 0)))
        if found or not members or self.unjudged(members) is not None:
            return found
        given: Counter[str] = Counter()
        gone: list[tuple[str, int]] = []
        for topic_id, number in self._given:
            name = topics.names.get(topic_id, topic_id)
            if topics.now.get(name, ("", 0))[0] != topic_id:
                gone.append((name, number))
            given[name] += 1
        # In a fixed order: every process reports the same, whatever its hashes.
        found += [
            (f"The target holds {name}-{number}, of a topic that is gone", self.wrote)
            for name, number in sorted(gone)
        ]
        for name, (_, partitions) in topics.now.items():
            expected = partitions if self._subscribers[name] > 0 else 0
            if given[name] != expected:
                text = f"The target gives {given[name]} of the {expected} partitions of {name} that there are now"
                found.append((text, self.wrote))
        return found

    def is_reached(self, entry: Entry, name: str, member: Member, group_epoch: int) -> None:
        """A STABLE member at the assignment epoch has its target."""
        if member.state != STABLE or not member.epoch == self.epoch == group_epoch:
            return
        if not self._is_resolved(member):
            return  # It has given up what its last expression matched, and nobody knows what the new one does.
        differs = member.assigned.keys() ^ self.of(name)
        if differs:
            which = self._topics.named(differs)
            text = f"{name} is STABLE at epoch {self.epoch} without its target: {named(which)}"
            proof = (self.wrote_of(name), member.wrote, entry.sequence)
            self._violations.add("stable", text, proof, (name,), which)

    def _is_its_own(self, entry: Entry, name: str, members: Mapping[str, Member]) -> None:
        names, topics = self._subscriptions.get(name, frozenset()), self._topics
        for held in self.of(name):
            others = self._given[held]
            if len(others) > 1:
                which = topics.named([held])
                who = tuple(sorted(others))
                text = f"{named(which)} is in the targets of {' and '.join(who)}"
                proof = (*(self.wrote_of(other) for other in who), entry.sequence)
                self._violations.add("whole_target", text, proof, who, which)
        if name not in members and self.of(name):
            which = topics.named(self.of(name))
            text = f"The target still means {named(which)} for {name}, which is no member"
            self._violations.add("whole_target", text, (self.wrote_of(name), entry.sequence), (name,), which)
        if name not in members or name in self._failed or not self._is_resolved(members[name]):
            return
        known = {held[0] for held in self.of(name)}
        strange = {topic_id for topic_id in known if topics.names.get(topic_id, topic_id) not in names}
        if strange:
            which = topics.named(held for held in self.of(name) if held[0] in strange)
            text = f"The target of {name} holds {named(which)}, to which it does not subscribe"
            proof = (self.wrote_of(name), entry.sequence)
            self._violations.add("whole_target", text, proof, (name,), which)
        self.is_reached(entry, name, members[name], self.epoch)

    def _is_resolved(self, member: Member) -> bool:
        """What an expression matches is not known before it is resolved: the proposal does so as it computes.

        A resolution that finds nothing starts no new epoch: a target that is older is not its.
        """
        if member.regex == "" or not self._kafka:
            return True
        return member.regex in self._topics.matched and self._topics.resolved[member.regex] < self.wrote

    def _is_whole(self, entry: Entry) -> None:
        for name, partitions in self._topics.counts.items():
            expected = partitions if self._subscribers[name] > 0 else 0
            given = self._count[self._topics.ids[name]]
            if given != expected:
                text = (
                    f"The target gives {given} of the {expected} partitions of {name} that are subscribed to"
                )
                self._violations.add("whole_target", text, (self.wrote, entry.sequence), (), [(name, given)])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
