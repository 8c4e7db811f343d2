"""Invariants of commits (G.2): a client commits what it owns, and a coordinator takes it from those that may."""

from __future__ import annotations

from collections.abc import Set

from groups.history.entries import Entry
from groups.history.payloads.consumer import NamedTopic, OffsetCommitBody
from groups.history.state.group import Semantics
from simulations.invariants import rules
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.handled_request import HandledRequest
from simulations.invariants.model import Topics
from simulations.invariants.violations import Partition, Violations, named


class CommitChecks:
    """``given_up``: the callback in which a client last gave up a partition, which the check of callbacks keeps."""

    def __init__(
        self,
        violations: Violations,
        topics: Topics,
        group: GroupChecks,
        semantics: Semantics,
        retry_ms: int,
    ) -> None:
        self._violations = violations
        self._topics = topics
        self._group = group
        self._kafka = semantics is Semantics.KAFKA
        self._retry_ms = retry_ms
        self.given_up: dict[tuple[str, Partition], Entry] = {}
        self._lost_ms: dict[str | None, int] = {}

    def sent(self, entry: Entry, owned: Set[Partition], travel_ms: int) -> None:
        """A commit goes out; ``owned`` is what its client owns by now."""
        who = entry.actor
        strange, proof = [], [entry.sequence]
        has_left = entry.payload["body"]["generationIdOrMemberEpoch"] < 0
        for partition in _committed_partitions(entry.payload["body"], self._topics):
            if partition in owned:
                continue
            given_up = self.given_up.get((who, partition))
            if given_up is None or entry.at_ms - given_up.at_ms > travel_ms + self._later_ms(
                who, given_up, has_left
            ):
                strange.append(partition)
                proof.append(given_up.sequence if given_up is not None else 0)
        for invariant, text, which in rules.commits_strange(who, set(strange)):
            self._violations.add(invariant, text, tuple(proof), (who,), which)

    def _later_ms(self, who: str, given_up: Entry, has_left: bool) -> int:
        """How much longer than it travels a commit may take that was asked for before its partition was given up.

        It is on its way, or waits for a coordinator: of a member that has left (it sends no epoch then), and of one that may have
        lost it. A client notices that an answer is lost when its request timeout is over.
        """
        lost_ms = (self._lost_ms.get(who), self._lost_ms.get(None))
        searches = any(at and given_up.at_ms - at <= 2 * self._retry_ms for at in lost_ms)
        return self._retry_ms if has_left or searches else 0

    def lost(self, who: str | None, at_ms: int) -> None:
        """A message of the client is lost, or (``None``) everybody's coordinator is gone."""
        self._lost_ms[who] = at_ms

    def taken(self, entry: Entry, asked: HandledRequest) -> None:
        """A commit is answered."""
        who, epoch = asked.entry.actor, asked.body["generationIdOrMemberEpoch"]
        member = self._group.members.get(who)
        accepted = rules.wrongly_taken(
            member,
            epoch,
            [
                (id_of(topic, self._topics), answer["partitionIndex"])
                for topic in entry.payload["body"].get("topics", ())
                for answer in topic["partitions"]
                if not answer["errorCode"]
            ],
            group_is_empty=not self._group.members,
            older_epochs=self._kafka,
        )
        if accepted:
            which = self._topics.named(accepted)
            text = f"Offsets of {named(which)} are taken from {who} at epoch {epoch}"
            text += f"; it is at {member.epoch}" if member is not None else "; the group does not know it"
            wrote = member.wrote if member is not None else 0
            proof = (wrote, asked.entry.sequence, entry.sequence)
            self._violations.add("commit_epoch", text, proof, (who,), which)


def id_of(topic: NamedTopic, topics: Topics) -> str:
    """The id of a topic that a message names by id or by name."""
    return topic.get("topicId") or topics.ids.get(topic["name"], topic["name"])


def _committed_partitions(body: OffsetCommitBody, topics: Topics) -> list[Partition]:
    return topics.named(
        (id_of(topic, topics), partition["partitionIndex"])
        for topic in body.get("topics", ())
        for partition in topic["partitions"]
    )
