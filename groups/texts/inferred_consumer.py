"""What lines of logs show of a group of the consumer protocol: epochs, and what each client was given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.entries import Kind
from groups.history.state.epochs import FIRST_EPOCH
from groups.texts.found import LogEvent
from groups.texts.inferred_group import InferredGroup, InferredMember
from groups.texts.inferred_values import (
    Partitions,
    Value,
    current_assignment,
    member_metadata,
    partitions,
    partitions_by_id,
)
from groups.texts.one_axis import number

ONE_REQUEST_MS: Final = 1_000
"""A coordinator logs what one request does within a moment."""

AWAY: Final = -2
"""Kafka's epoch of a static member that has left for now."""


class ConsumerLines(InferredGroup):
    """A record for each step that the coordinator's or a client's lines report."""

    def _joined_modern(self, event: LogEvent) -> None:
        """The coordinator logs the new epoch next, in the same request."""
        self.joining.append(event.fields["member"])

    def _state(self, event: LogEvent) -> None:
        member, epoch = event.fields["member"], number(event.fields["epoch"]) or 0
        self.member_of[event.source] = member
        if event.fields.get("new") == "STABLE" and event.source in self.reconciling:
            self._installed(member, epoch, self.reconciling.pop(event.source))
        elif epoch > 0:
            self.reached[member] = epoch

    def _reconciling(self, event: LogEvent) -> None:
        self.reconciling[event.source] = partitions(event.fields["partitions"])

    def _acknowledged(self, event: LogEvent) -> None:
        if (member := self.member_of.get(event.source)) is not None:
            given = partitions_by_id(event.fields["assignment"])
            self._installed(member, self.reached.get(member, 0), given)

    def _installed(self, member: str, epoch: int, given: Partitions) -> None:
        """A client has what it was assigned: that is its target and its assignment."""
        if self.recorded or epoch <= 0:
            return
        if member not in self.members:
            self._come([member], epoch, joins=member in self.new)
        if epoch > self.epoch:
            # No member is ahead of its group.
            self._reaches(epoch)
        self._give_way(member, given)
        if self.whole:
            rows: list[Value] = [
                {"topicId": topic, "partitions": sorted(some)} for topic, some in sorted(given.items())
            ]
            self._of_member(7, member, {"topicPartitions": rows}, settled=False)
            value = current_assignment(epoch, self.members[member].epoch, rows)
            self._of_member(8, member, value)
        self.members[member].epoch = epoch
        self.members[member].assigned = given

    def _give_way(self, member: str, given: Partitions) -> None:
        """A coordinator assigns a partition once: a member that had it, and has no line since, is none any more."""
        for other, each in list(self.members.items()):
            had = each.assigned or {}
            if other != member and any(set(had.get(topic, ())) & set(some) for topic, some in given.items()):
                text = f"{each.client_id or other} had partitions that {self._client(member) or member} has now: it is no member any more"
                self._note(text)
                self._gone(other)

    def _bumped(self, event: LogEvent) -> None:
        epoch = number(event.fields["epoch"]) or 0
        if self.recorded:
            return
        self._come(self.joining, epoch, joins=True)
        self.joining = []
        self._reaches(epoch, int(event.fields.get("hash", 0)))

    def _reaches(self, epoch: int, metadata_hash: int = 0) -> None:
        self.epoch = max(self.epoch, epoch)
        last = self.out[-1] if self.out else None
        if last is not None and last.kind is Kind.RECORD and self.at_ms - last.at_ms <= ONE_REQUEST_MS:
            # What came or went is the cause: one request brought both.
            self.out[-1] = last._replace(settled=False)
        self._of_group(3, {"epoch": epoch, "metadataHash": metadata_hash})

    def _target(self, event: LogEvent) -> None:
        if not self.recorded:
            self._of_group(6, {"assignmentEpoch": number(event.fields["epoch"]) or 0})

    def _fenced(self, event: LogEvent) -> None:
        member, reason = event.fields["member"], event.fields["reason"]
        self._note(f"The coordinator removes {self._client(member) or member}: {reason}")
        timers = (("session", "session expired"), ("rebalance", "failed to transition"))
        for timer in (timer for timer, words in timers if words in reason):
            self._fires(timer, member)
        self._gone(member)

    def _left_modern(self, event: LogEvent) -> None:
        member = event.fields["member"]
        body = {"groupId": self.group, "memberId": member, "memberEpoch": -1}
        self._add(Kind.REQUEST, member, {"api": "ConsumerGroupHeartbeat", "version": 0, "body": body})
        self._gone(member)

    def _left_for_now(self, event: LogEvent) -> None:
        """A static member keeps its place, and its partitions, until its session is over."""
        member = event.fields["member"]
        if self.recorded:
            return
        self._come([member], self.epoch, joins=False)
        self._of_member(8, member, self._current(member, AWAY))

    def _took_over_modern(self, event: LogEvent) -> None:
        """A static member is back under a new id: its partitions are those of the id before."""
        before, member = event.fields["before"], event.fields["member"]
        if self.recorded:
            return
        self._come([before], self.epoch, joins=False)
        self._gone(before, settled=False)
        self.members[member] = InferredMember(self._client(member), epoch=self.epoch)
        value = member_metadata(self._client(member), self.topics, self.facts.get(member, {}))
        self._of_member(5, member, value, settled=False)
        self._of_member(8, member, self._current(member, self.epoch))

    def _current(self, member: str, epoch: int) -> Value:
        rows: list[Value] = [
            {"topicId": topic, "partitions": sorted(some)}
            for topic, some in sorted((self.members[member].assigned or {}).items())
        ]
        return current_assignment(epoch, self.epoch, rows)

    def _resubscribed(self, event: LogEvent) -> None:
        """The coordinator logs the new epoch next, in the same request."""
        member = event.fields["member"]
        if not self.recorded:
            self._come([member], self.epoch, joins=False)
            topics = [topic.strip() for topic in event.fields["topics"].split(",")]
            self._of_member(
                5, member, member_metadata(self._client(member), topics, self.facts.get(member, {}))
            )

    def _come(self, members: Iterable[str], epoch: int, *, joins: bool) -> None:
        for member in members:
            if member in self.members:
                continue
            if joins and not self.epoch and epoch > FIRST_EPOCH + 1:
                # The group was there, with members that no line names.
                self._of_group(3, {"epoch": epoch - 1, "metadataHash": 0})
            self.members[member] = InferredMember(self._client(member), epoch=epoch)
            value = member_metadata(self._client(member), self.topics, self.facts.get(member, {}))
            self._of_member(5, member, value, settled=not joins)
            if joins:
                # A member that joins comes from epoch 0.
                self._of_member(8, member, current_assignment(epoch, 0, []))

    def _gone(self, member: str, *, settled: bool = True) -> None:
        if self.recorded or self.members.pop(member, None) is None:
            return
        caused = bool(self.out) and self.out[-1].kind in (Kind.TIMER, Kind.REQUEST)
        for kind in (8, 7, 5):
            self._of_member(kind, member, None, settled=settled and kind == 5, caused=caused)
