"""Invariants of clients (G.2): what their callbacks, their commits and the group's records say together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from groups.history.entries import Entry, NotedTopic
from groups.history.payloads.records import TopicPartitions
from groups.history.state.group import Semantics
from simulations.invariants import rules
from simulations.invariants.commits import CommitChecks
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.handled_request import HandledRequest
from simulations.invariants.model import Held, Member, Topics, listed
from simulations.invariants.violations import Partition, Violations

NOTHING_DECIDED: Final = (0, 14, 15, 16)
"""No error, and those of a broker that is not the coordinator, or not yet: COORDINATOR_LOAD_IN_PROGRESS to NOT_COORDINATOR."""


class ClientChecks:
    """Ownership by client; one from before the log has none here until it reports what it owns."""

    def __init__(
        self,
        violations: Violations,
        topics: Topics,
        group: GroupChecks,
        semantics: Semantics,
        travel_ms: int,
        retry_ms: int,
    ) -> None:
        self.owned: dict[str, set[Partition]] = {}
        self.behind: dict[str, int] = {}
        self._now_ms = 0
        self._violations = violations
        self._topics = topics
        self._group = group
        self.travel_ms = travel_ms
        self._owners: dict[Partition, dict[str, None]] = {}
        self._calling: dict[str, Entry] = {}
        self._thrown_out: set[str] = set()
        self.commits = CommitChecks(violations, topics, group, semantics, retry_ms)
        self._given_up = self.commits.given_up
        self._revoked: dict[str, set[Partition]] = {}
        self._dead: set[str] = set()
        self._early: dict[str, Entry] = {}
        self._beginning: dict[str, set[Partition]] = {}
        self._began: dict[tuple[str, Partition], int] = {}
        self._said: dict[tuple[str, Partition], int] = {}
        self._misunderstood: set[tuple[str, Partition]] = set()
        self._assignments: dict[str, list[Set[Held]]] = {}
        self._outdated: dict[str, set[Partition]] = {}
        self._raised: dict[str, set[Partition]] = {}
        self._unbegun: dict[str, dict[Partition, int]] = {}
        self._known_epoch: dict[str, int] = {}

    def request(self, entry: Entry) -> None:
        body, who = entry.payload["body"], entry.actor
        if who in self._dead:
            return  # It was on its way when its process died.
        if entry.payload["api"] == "OffsetCommit" and who in self.owned:
            self.commits.sent(entry, self.owned[who], self.travel_ms)
        if entry.payload["api"] != "ConsumerGroupHeartbeat":
            return
        reported = body.get("topicPartitions")
        if reported:
            self._report_owned(entry, who, reported)
        elif who not in self.owned:
            self._own(who, set())
        if body["memberEpoch"] < 0:
            self.left(who, entry)
        elif body["memberEpoch"] == 0:
            self._own(who, self.owned[who] - self._raised.pop(who, set()))
            self._thrown_out.discard(who)
            self._unbegun.pop(who, None)
            self._outdated.pop(who, None)
            self._assignments.pop(who, None)
        if who in self._unbegun:
            self._known_epoch[who] = body["memberEpoch"]

    def _report_owned(self, entry: Entry, who: str, reported: Sequence[TopicPartitions]) -> None:
        """A heartbeat that contains what its sender owns; nearly all do not."""
        named = listed(reported)
        said = self._topics.named(named)
        if who in self._outdated:
            self._outdated[who].difference_update(self._topics.named(self._topics.present(named)))
        if who not in self.owned:
            self._own(who, set(said))
        for partition in said:
            self._said.setdefault((who, partition), entry.sequence)

    def response(self, entry: Entry, asked: HandledRequest | None) -> None:
        if entry.payload["api"] == "ConsumerGroupHeartbeat":
            body, who = entry.payload["body"], str(entry.payload.get("to"))
            if body.get("errorCode", 0) not in NOTHING_DECIDED:
                self._thrown_out.add(who)
            if body.get("assignment") is not None:
                reported = listed(body["assignment"]["topicPartitions"]).keys()
                earlier = [each for each in self._assignments.get(who, ()) if each != reported]
                self._assignments[who] = [*earlier, reported]
                if gone := reported - self._topics.present(reported):
                    self._outdated.setdefault(who, set()).update(self._topics.named(gone))
        elif asked is not None and entry.payload["api"] == "OffsetCommit":
            self.commits.taken(entry, asked)

    def note_topics(self, reported: Mapping[str, NotedTopic | None]) -> None:
        """Callbacks name topics: who has a part of one that was deleted has none of the next one of that name.

        Nor for a client that was sent such a part and has not begun with it: it may, once, until it names a part of the next one.
        """
        gone = {
            name
            for name, topic in reported.items()
            if name in self._topics.ids
            and (topic is None or topic.get("id") not in (None, self._topics.ids[name]))
        }
        for partition, owners in self._owners.items() if gone else ():
            if partition[0] in gone:
                self._misunderstood |= {(who, partition) for who in owners}
        for who in self._assignments if gone else ():
            if old := {partition for partition in self._was_notified(who) if partition[0] in gone}:
                self._outdated.setdefault(who, set()).update(old)

    def _was_notified(self, who: str) -> set[Partition]:
        """What a client was sent since it last began with something: all of that may wait for its application to poll."""
        return {
            partition
            for reported in self._assignments.get(who, ())
            for partition in self._topics.named(reported)
        }

    def left(self, who: str, entry: Entry) -> None:
        """It said that it leaves, whether or not anybody hears it."""
        self._thrown_out.add(who)
        self._early.pop(who, None)
        if who in self._raised:
            # If it leaves because its poll came too late, what the callback threw on is lost once more.
            raised = self._raised.pop(who)
            self._own(who, self.owned.get(who, set()) - raised)
            self._revoked.setdefault(who, set()).update(raised)
            self._given_up.update({(who, partition): entry for partition in raised})

    def due(self, at_ms: int) -> None:
        """A client whose poll came too late loses everything while its leave is still on its way."""
        for who, entry in list(self._early.items()) if self._early else ():
            if at_ms - entry.at_ms > self.travel_ms:
                del self._early[who]
                self._wrong(rules.loses_for_no_reason(who), (entry.sequence,), who)

    def killed(self, who: str) -> None:
        self._dead.add(who)
        if who in self.owned:
            self._own(who, set())
            del self.owned[who]
        self._calling.pop(who, None)
        self._early.pop(who, None)
        self.behind.pop(who, None)

    def settled(self, entry: Entry) -> None:
        """A unit of records is over: what the group took away may still be owned.

        A client names what it owns only when it has begun with it. A heartbeat that it sent before, while it still
        acknowledged an older assignment, is taken to say that it is rid of what it is about to begin with.
        """
        self._now_ms = entry.at_ms
        for who, old in self._group.touched.items():
            new = self._group.members.get(who)
            if new is not None and old is not None and new.epoch > 0 and who in self.owned:
                gone = set(self._topics.named(old.held() - new.held())) & self.owned[who]
                unsaid = {partition for partition in gone if self._unsaid(who, partition)}
                self._misunderstood |= {(who, partition) for partition in unsaid}
                kept = rules.still_owns(who, gone - unsaid, self.owned[who])
                self._wrong(kept, (old.wrote, entry.sequence), who)
            self._account(who, old, new)
            self._compare(who)

    def _account(self, who: str, old: Member | None, new: Member | None) -> None:
        """Keeps what the group gave a client and took back before it began with that.

        The group does so by its own heartbeat that shows what it owns, which cannot name what it has not begun with.
        """
        before = old.held() if old is not None else set()
        after = new.held() if new is not None else set()
        for partition in self._topics.named(after - before):
            self._unbegun.get(who, {}).pop(partition, None)
        asked = self._group.last_asked
        if new is None or asked is None or asked.entry.actor != who:
            return
        if asked.body.get("topicPartitions") is None:
            return
        reported = self._was_notified(who)
        for partition in self._topics.named(before - after):
            if partition in reported and partition not in self.owned.get(who, rules.NONE):
                self._unbegun.setdefault(who, {})[partition] = new.epoch

    def callback(self, entry: Entry) -> None:
        payload, who = entry.payload, entry.actor
        self._now_ms = entry.at_ms
        partitions = {
            (str(name), int(number)) for name, numbers in payload["partitions"].items() for number in numbers
        }
        owned = self.owned.setdefault(who, set())
        if payload["phase"] == "start":
            self._starts(entry, str(payload["callback"]), partitions, owned)
            return
        started = self._calling.pop(who, None)
        if started is None or started.payload["callback"] != payload["callback"]:
            self._add("callbacks", f"A callback of {who} ends that had not begun", (entry.sequence,), who)
        if payload.get("raised") and payload["callback"] not in (rules.ASSIGNED, rules.LOST):
            # It has given nothing up, and is called again; unless it is leaving, which its next join shows, too.
            self._raised[who] = partitions
        elif payload["callback"] == rules.ASSIGNED:
            if not payload.get("raised"):
                # What an earlier one threw on is taken with this one.
                begun = self._beginning.pop(who, rules.NONE)
                self._began.update({(who, partition): entry.at_ms for partition in begun})
                del self._assignments.get(who, [])[:-1]
        else:
            # A client that has lost something has lost everything, also what it was sent after the loss was decided.
            self._raised.pop(who, None)
            self._own(who, set() if payload["callback"] == rules.LOST else owned - partitions)
            if payload["callback"] == rules.LOST:
                self._revoked.pop(who, None)
            else:
                self._revoked.setdefault(who, set()).update(partitions)
            for partition in partitions:
                self._given_up[who, partition] = entry
        self._compare(who)

    def _starts(self, entry: Entry, callback: str, partitions: set[Partition], owned: set[Partition]) -> None:
        who = entry.actor
        running = self._calling.get(who)
        if callback == rules.LOST and who not in self._thrown_out:
            self._early[who] = entry
        wrong = rules.callback_begins(
            who,
            callback,
            partitions,
            owned=owned,
            revoked=self._revoked.get(who, rules.NONE),
            running=running.payload["callback"] if running is not None else None,
            thrown_out=who in self._thrown_out or who in self._early,
        )
        self._wrong(wrong, (running.sequence if running is not None else 0, entry.sequence), who)
        self._calling[who] = entry
        if callback != rules.ASSIGNED:
            return
        if who not in self._thrown_out:
            # Else a loss was decided before this, which still names what was owned then.
            self._revoked.pop(who, None)
        unheard = self._unreported(who)
        outdated = partitions & self._outdated.get(who, rules.NONE)
        if outdated:
            self._outdated[who] -= outdated
        self._misunderstood |= {(who, partition) for partition in (partitions & unheard) | outdated}
        self._has_others(entry, partitions)
        member = self._known(who)
        if member is not None:
            strange = rules.begins_with_strange(who, partitions - unheard, self._topics.named(member.held()))
            self._wrong(strange, (member.wrote, entry.sequence), who)
        self._own(who, owned | partitions)
        for partition in partitions:
            self._given_up.pop((who, partition), None)
            self._said.pop((who, partition), None)
        self._beginning.setdefault(who, set()).update(partitions)
        self._compare(who)

    def _unreported(self, who: str) -> Set[Partition]:
        """What the group took back before the client began with it: it may until it has seen that, and once more.

        The reconciliation in which it was by then goes on to its end.
        """
        taken, known_epoch = self._unbegun.get(who, {}), self._known_epoch.get(who, 0)
        if not taken:
            return rules.NONE
        self._unbegun[who] = {partition: epoch for partition, epoch in taken.items() if epoch > known_epoch}
        return set(taken)

    def _unsaid(self, who: str, partition: Partition) -> bool:
        """Whether the heartbeat that the unit answers was sent before its client had begun with the partition.

        It has not as long as ``on_partitions_assigned`` throws: the assignment is there and not acknowledged, and no
        heartbeat names it. Once one has named it, every later one would.
        """
        asked = self._group.last_asked
        if asked is None or asked.entry.actor != who:
            return False
        key = who, partition
        if key in self._said and self._said[key] <= asked.entry.sequence:
            return False
        if partition in self._beginning.get(who, rules.NONE):
            return True
        return key in self._began and self._began[key] >= asked.entry.at_ms - self.travel_ms

    def _has_others(self, entry: Entry, partitions: set[Partition]) -> None:
        who, both = entry.actor, dict[str, list[Partition]]()
        for partition in partitions:
            for other in self._owners.get(partition, ()):
                if other != who:
                    both.setdefault(other, []).append(partition)
        for other, which in both.items():
            theirs, own = self._known(other), self._known(who)
            taken = [
                partition
                for partition in which
                if not {(who, partition), (other, partition)} & self._misunderstood
            ]
            # Allowed where one of them was removed, or misunderstood: it has not learned of it yet.
            if theirs is not None and own is not None and taken:
                proof = (theirs.wrote, own.wrote, entry.sequence)
                self._wrong(rules.begins_with_anothers(who, other, set(taken)), proof, other, who)

    def _known(self, who: str) -> Member | None:
        """The member, unless the group has removed it or it is away."""
        member = self._group.members.get(who)
        return member if rules.is_known(member) else None

    def _own(self, who: str, new: set[Partition]) -> None:
        old = self.owned.get(who, set())
        for partition in old - new:
            self._misunderstood.discard((who, partition))
            owners = self._owners[partition]
            del owners[who]
            if not owners:
                del self._owners[partition]
        for partition in new - old:
            self._owners.setdefault(partition, {})[who] = None
        self.owned[who] = new

    def _compare(self, who: str) -> None:
        """Keeps account of whose client owns something else than is assigned, and since when.

        What a client could not begin with, because the callback threw, and is not assigned any more, it is not behind with:
        an assignment that it acknowledged before it takes without a callback.
        """
        member = self._group.members.get(who)
        since_ms = self.behind.pop(who, self._now_ms)
        if member is not None and who in self.owned:
            assigned = set(self._topics.named(member.assigned))
            stuck = self._beginning.get(who, rules.NONE) - assigned
            if self.owned[who] - stuck != assigned:
                self.behind[who] = since_ms

    def _wrong(self, found: list[rules.Wrong], proof: tuple[int, ...], *who: str) -> None:
        for invariant, text, which in found:
            self._violations.add(invariant, text, proof, who, which)

    def _add(
        self, invariant: str, text: str, proof: tuple[int, ...], who: str, which: Iterable[Partition] = ()
    ) -> None:
        self._violations.add(invariant, text, proof, (who,), which)
