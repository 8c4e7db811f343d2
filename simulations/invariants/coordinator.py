"""Invariants of the coordinator's state (G.1), looked at where a unit of records or a request ends.

Work is bounded by what a record reports: only members, partitions and topics that a unit touched are looked at.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, Self

from groups.history.entries import Entry, Kind
from groups.history.payloads.consumer import AssignmentBody
from groups.history.payloads.records import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    TopicPartitions,
)
from groups.history.state.group import Semantics, State
from simulations.invariants.accepted_requests import SERVER_ERROR, AnswerChecks
from simulations.invariants.group import Group
from simulations.invariants.handled_request import HandledRequest
from simulations.invariants.model import Held, Member, Topics, listed
from simulations.invariants.payloads import AnyAnswer
from simulations.invariants.steps import StepChecks
from simulations.invariants.targets import TargetChecks
from simulations.invariants.timers import TimerChecks
from simulations.invariants.violations import Violation, Violations

FENCED_MEMBER_EPOCH: Final = 110
NOT_A_MEMBER: Final = (FENCED_MEMBER_EPOCH, 25, 69, 82)
"""And UNKNOWN_MEMBER_ID, GROUP_ID_NOT_FOUND, FENCED_INSTANCE_ID: what makes a client give everything up."""
REGULAR_EXPRESSION: Final = 16
"""The record's type; a heartbeat's own batch never begins with it."""
TURNED_AWAY: Final = (14, 15, 16, 29, 30, 35)
"""Answers of a broker that is not the coordinator, or not yet, or that does not ask it; it runs no timers."""


class GroupChecks(Group):
    """The group as in its records, checked against its invariants."""

    def __init__(self, violations: Violations, topics: Topics, semantics: Semantics) -> None:
        super().__init__(1 if semantics is Semantics.KAFKA else 0)
        self.targets = TargetChecks(violations, topics, self.epoch, kafka=semantics is Semantics.KAFKA)
        self.last_asked: HandledRequest | None = None
        self._kafka = semantics is Semantics.KAFKA
        self._violations = violations
        self._topics = topics
        self._timers = TimerChecks(violations, self, kafka=self._kafka)
        self._steps = StepChecks(violations, topics, self, self.targets, kafka=self._kafka)
        self._answers = AnswerChecks(violations, kafka=self._kafka)
        self._asked: dict[int, HandledRequest] = {}
        self._unit: Entry | None = None

    def copy(self) -> Self:
        """A copy of these checks between two requests, to go on along another way, with its own report."""
        other = super().copy()
        violations, topics = other._violations, other._topics = Violations(), self._topics.copy()
        other.targets = self.targets.copy(violations, topics)
        other._timers = self._timers.copy(violations, other)
        other._steps = self._steps.copy(violations, topics, other, other.targets)
        other._answers = self._answers.copy(violations)
        other._asked = dict(self._asked)
        return other

    def remembered(self) -> Hashable:
        """What is kept of the past that the group's state, its timers and its metadata do not report."""
        return self.targets.remembered(), bool(self.epoch_wrote), bool(self.targets.wrote)

    def take(self) -> list[Violation]:
        """The violations since the last time."""
        return self._violations.take()

    @property
    def converged(self) -> bool:
        """Whether everybody is STABLE at the group epoch."""
        return self.epoch == self.targets.epoch and self.stable_at[self.epoch] == len(self.members)

    def see(self, entry: Entry, state: State) -> None:
        """An entry about the coordinator alone, for callers that pass no others; ``state`` is its memory."""
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
                self._topics.there_are(entry.payload["topics"])
                self.targets.topics_changed()
            case Kind.FAULT:
                self.failed_over()

    def assignor_may_throw(self) -> None:
        """The group's assignor is scripted: what it throws is a part of the story."""
        self._answers.may_throw = True

    # What entries contain.

    def request(self, entry: Entry) -> None:
        if not entry.payload.get("steady"):
            self._asked[entry.sequence] = HandledRequest(entry)

    def asked(self, cause: int | None) -> HandledRequest | None:
        """The request with this sequence, as long as it is not answered."""
        return self._asked.get(cause or 0)

    def response(self, entry: Entry) -> HandledRequest | None:
        """The request that is answered."""
        asked = self._asked.pop(entry.cause or 0, None)
        body, who = entry.payload["body"], str(entry.payload.get("to"))
        code = body.get("errorCode")
        if asked is not None and code:
            proof = (asked.entry.sequence, asked.wrote, entry.sequence)
            is_removed = code == FENCED_MEMBER_EPOCH and who not in self.members
            if asked.wrote and (self._kafka or not is_removed):
                self._add("refused_writes_nothing", f"{who} is refused, yet records were written", proof, who)
            if code in NOT_A_MEMBER and self._repeats(asked):
                self._add("lost_answer", f"{who} repeats a heartbeat and is refused", proof, who)
        if asked is not None and not _turned_away(body):
            self._judged(entry, asked)
        if not self._kafka and body.get("assignment"):
            self._assignment_sent(entry, who, body["assignment"])
        if not _turned_away(body):
            self.timers_run(entry)
        return asked

    def _judged(self, entry: Entry, asked: HandledRequest) -> None:
        """Whether the answer is that of the table, and the records say what was asked for."""
        who, api = asked.entry.actor, entry.payload["api"]
        if api == "OffsetCommit":
            self._answers.commit(entry, asked, self.members.get(who))
        if api != "ConsumerGroupHeartbeat":
            return
        before = self.members.get(who)
        if asked.wrote and who in self.touched:
            before = self.touched[who]
        code = int(entry.payload["body"].get("errorCode", 0))
        if code != SERVER_ERROR or not self.targets.holds_unknown():
            self._answers.heartbeat(entry, asked, code, before, self._holder(asked))
        if not code:
            self._as_asked(entry, asked, self.members.get(who))

    def _holder(self, asked: HandledRequest) -> tuple[str, Member] | None:
        """Who had the instance that a request names, before the request."""
        instance = asked.body.get("instanceId")
        if instance is None:
            return None
        known = {**self.members, **self.touched} if asked.wrote else self.members
        replaced = set(self.replaced) if asked.wrote else set()
        for name, member in known.items():
            if member is not None and member.instance == instance and name not in replaced:
                return name, member
        return None

    def _as_asked(self, entry: Entry, asked: HandledRequest, member: Member | None) -> None:
        """A member that was accepted is written down as it asked to be."""
        body, who = asked.body, asked.entry.actor
        if member is None or body.get("memberEpoch", -1) < 0:
            return
        names, timeout_ms = body.get("subscribedTopicNames"), body.get("rebalanceTimeoutMs", -1)
        comparisons = [
            (names is None or member.names == frozenset(names), "subscription"),
            (body.get("subscribedTopicRegex") in (None, member.regex), "expression"),
            (timeout_ms in (-1, member.rebalance_timeout_ms), "rebalance timeout"),
            (body.get("instanceId") in (None, member.instance), "instance"),
        ]
        for agrees, what in comparisons:
            if not agrees:
                proof = (asked.entry.sequence, member.wrote, entry.sequence)
                self._add(
                    "as_asked", f"The records of {who} have another {what} than it asked for", proof, who
                )

    def _repeats(self, asked: HandledRequest) -> bool:
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
        self._timers.note(entry)

    def failed_over(self) -> None:
        """A new coordinator has no timer yet and nothing that it handles."""
        self._timers.failed_over()
        self._asked.clear()

    def timers_run(self, entry: Entry) -> None:
        """Asked where a request ends."""
        self._timers.run(entry)

    def record(self, entry: Entry, state: State) -> bool:
        """Takes a record; whether its unit ends here, and was looked at."""
        if self._unit is None or entry.unit != self._unit.unit:
            self._begin_unit(entry)
        elif entry.batch != self._unit.batch:
            text = "The records of one request are in two batches"
            self._violations.add("one_batch", text, (self._unit.sequence, entry.sequence))
        self._take(entry)
        if not entry.settled:
            return False
        self.last_asked = self._asked.get(entry.cause or 0)
        self._settle(entry, state)
        return True

    def _begin_unit(self, entry: Entry) -> None:
        self.begin_unit()
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
                self._topics.note(
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
                self._once(
                    entry, "whole_target", name, value["topicPartitions"] if value is not None else None
                )
                self.targets.member(entry, name, value)
            case 8:
                self._assignment(entry, name, value)
            case 16:
                self._topics.matches(key["regularExpression"], value and value["topics"], entry.sequence)
                self.targets.subscriptions_changed()

    def _group_epoch(self, entry: Entry, value: ConsumerGroupMetadataValue | None) -> None:
        if value is not None and value["epoch"] != self.epoch + 1 and self.epoch_wrote:
            text = f"The group epoch goes from {self.epoch} to {value['epoch']}"
            self._violations.add("group_epochs", text, (self.epoch_wrote, entry.sequence))
        self.new_epoch(entry, value)

    def _member(self, entry: Entry, name: str, value: ConsumerGroupMemberMetadataValue | None) -> None:
        member = self.subscribes(entry, name, value)
        self._timers.wrote(entry, name, member)
        self.targets.subscribes(name, self._topics.of(member) if member is not None else frozenset())

    def _assignment(
        self, entry: Entry, name: str, value: ConsumerGroupCurrentMemberAssignmentValue | None
    ) -> None:
        self._once(entry, "one_holder", name, value["assignedPartitions"] if value is not None else None)
        self._timers.wrote(entry, name, self.holds(entry, name, value))

    def _once(
        self, entry: Entry, invariant: str, name: str, topics: Sequence[TopicPartitions] | None
    ) -> None:
        """No record names a partition twice."""
        if topics and sum(len(topic["partitions"]) for topic in topics) != len(listed(topics)):
            self._add(invariant, f"A record of {name} names a partition twice", (entry.sequence,), name)

    def _settle(self, entry: Entry, state: State) -> None:
        if self.epoch < self.targets.epoch:
            text = f"The assignment epoch {self.targets.epoch} is ahead of the group epoch {self.epoch}"
            self._violations.add("group_epochs", text, (self.epoch_wrote, self.targets.wrote, entry.sequence))
        self._timers.settled()
        self._steps.look(entry, (self._unit or entry).sequence, self.last_asked, state)
        stable = self.stable_at[self.targets.epoch] == len(self.members)
        if stable != state.consumer.converged:
            text = f"The group {'is' if stable else 'is not'} Stable by its records, and is counted otherwise"
            self._violations.add("group_state", text, (self.epoch_wrote, entry.sequence))
        self.targets.settle(entry, self.members, self.epoch, state)

    def _assignment_sent(self, entry: Entry, who: str, assignment: AssignmentBody) -> None:
        """What an answer of the proposal leaves out is to be given up."""
        member = self.members.get(who)
        if member is None:
            return
        kept: set[Held] = set()
        for part in (assignment.get("topicPartitions"), assignment.get("assignedTopicPartitions")):
            kept |= listed(part or ()).keys()
        self._timers.revocation(entry, who, self._topics.named(member.assigned.keys() - kept))

    def _add(self, invariant: str, text: str, proof: tuple[int, ...], who: str) -> None:
        self._violations.add(invariant, text, proof, (who,))


def _turned_away(body: AnyAnswer) -> bool:
    """Whether a broker answered that is not the coordinator, or not yet; OffsetCommit has that error for each partition."""
    codes = [
        answer.get("errorCode")
        for topic in body.get("topics") or ()
        for answer in topic.get("partitions", ())
    ]
    return body.get("errorCode") in TURNED_AWAY or any(code in TURNED_AWAY for code in codes)
