"""Checks a run in which members of both protocols meet, or a group changes its protocol (online migration).

While records contain a consumer group, its state is held to G.1, whatever protocol its members speak; while they contain a classic one,
to G.3 #28. A client of either protocol is not to read what the group takes it to be rid of, and nothing is to be read by
two members. What coordinators answer each protocol is the affair of the checkers of groups of one protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.history.payloads.records import GroupMetadataValue
from groups.history.state.group import Semantics, State
from simulations.invariants import known_faults
from simulations.invariants.classic_clients import OLD_LEAVE, RENAMED, commit_codes, ids_before
from simulations.invariants.classic_members import MemberChecks
from simulations.invariants.classic_rounds import CONVERGES, RoundChecks
from simulations.invariants.consumer_protocol import assigned_by, is_given_more
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.liveness import Bounds
from simulations.invariants.mixed_clients import FENCES, UNKNOWN_MEMBER_ID, Client, Misread, Unwritten
from simulations.invariants.model import Topics, listed
from simulations.invariants.ties import AssignorTies
from simulations.invariants.violations import Partition, Violation, Violations, named

KEPT: Final = frozenset(
    {
        "one_holder",
        "partition_epochs",
        "group_epochs",
        "member_epoch",
        "previous_epoch",
        "whole_target",
        "target_replayed",
        "stable",
        "pending_is_not_assigned",
        "gained_from_target",
        "group_state",
        "memory_is_replay",
    }
)
"""Of the invariants of a consumer group, those that hold whichever protocol its members speak."""

OF_THE_TARGET: Final = frozenset({"stable", "whole_target"})
"""What a target breaks that leaves somebody out, or gives what nobody subscribes to."""

LEAVES: Final = -1
"""The member epoch of a heartbeat that leaves for good."""

ONE_PROTOCOL: Final = "one_protocol"
GIVEN_UP: Final = "given_up_before_taken"
ONE_READER: Final = "one_reader"


class MixedChecker:
    """``see`` each entry of a run, in order, from its first on."""

    def __init__(
        self, bounds: Bounds, semantics: Semantics = Semantics.KAFKA, *, migrates: bool = True
    ) -> None:
        self._violations = Violations()
        self._of_group = Violations()
        self._of_rounds = Violations()
        self._topics = Topics()
        self._group = GroupChecks(self._of_group, self._topics, semantics)
        self._members = MemberChecks(
            self._violations,
            self._group,
            self._topics,
            settles_at_once=not bounds.settle_ms,
            migrates=migrates or semantics is Semantics.KIP,
            kafka=semantics is Semantics.KAFKA,
        )
        self._clients: dict[str, Client] = {}
        self._settle_ms = bounds.settle_ms + 2 * bounds.travel_ms
        self._unwritten, self._misread = Unwritten(self._topics), Misread()
        self._rounds = RoundChecks(self._of_rounds, self._clients, bounds)
        self._is_consumer = False
        self._is_classic = False
        self._out: set[str] = set()
        """Clients that were fenced, have left or are dead, and know it or not."""
        self._classic: set[str] = set()
        """Members of the consumer group that speak the classic protocol."""
        self._upgraded = 0
        """The unit that made the group a consumer group: its target is what the classic members had."""
        self._dropped: set[str] = set()
        """Topics that clients read and that were gone by then: it carries nothing of them over, and asks nobody to give them up."""
        self._targeted: int | None = None
        self._is_converted = False
        """Whether the target is still the one that the conversion wrote."""
        self._known: str | None = None
        self._inherits = False
        """Whether a conversion gave a member what it does not subscribe to, and no target has been made since."""
        self._uncounted = False
        """Whether a classic member that subscribes to nothing has joined the consumer group."""
        self._overstated: set[str] = set()
        """Whose assignment a downgrade wrote down while the client has another."""
        self._consumer_ended: int | None = None
        """The unit that ended the last consumer group."""
        self._last_goes_ms: int | None = None
        """When the last member of the consumer protocol last asked to leave, or ran out of time."""
        self._downgraded_at: int | None = None
        """The generation that a downgrade wrote, until the round that follows it."""
        self._round_is_lost = False
        self._renamable: set[str] = set()
        self._senders: set[str] = set()
        self._processes: set[str] = set()
        """Ids with which a process began."""
        self._claimed: dict[str, str] = {}
        """By instance id, whose JoinGroup asked last to be that static member, as long as it is not refused."""
        self._forgetting = known_faults.Forgetting(bounds.settle_ms)
        self._disturbed: Entry | None = None
        self._ties = AssignorTies()
        self._last = 0
        self._released = semantics is Semantics.KAFKA
        """Whether the coordinator has the known faults of the released one; the proposal's has its own text, and they are violations there."""

    def see(self, entry: Entry, state: State) -> list[Violation]:
        """The invariants that the entry broke; ``state`` is the one after it."""
        self._last = entry.sequence
        self._members.see(entry)
        payload = entry.payload
        match entry.kind:
            case Kind.RECORD if payload["type"] in (2, 3, 5, 6, 7, 8, 16):
                self._ties.record(entry, state)
                self._record(entry, state)
            case Kind.NOTE if payload["note"] == "topics":
                self._unwritten.note_topics(payload["topics"], entry.sequence)
                self._topics.there_are(payload["topics"])
                self._group.targets.topics_changed()
                self._disturbed = entry
            case Kind.NOTE if payload["note"] == "regexes":
                for regex, topics in payload["regexes"].items():
                    self._topics.matches(regex, topics, entry.sequence)
                self._group.targets.subscriptions_changed()
            case Kind.REQUEST if payload["api"] == "JoinGroup":
                self._overstated.discard(entry.actor)
                self._senders.add(entry.actor)
                if (instance := payload["body"]["groupInstanceId"]) is not None:
                    self._claimed[instance] = entry.actor
                if entry.actor not in self._processes:
                    self._renamed(entry.actor, entry.payload["body"])
                self._disturbed = entry
            case Kind.TIMER if payload["event"] == "fired":
                self._goes(str(payload["member"]), entry.at_ms)
            case Kind.REQUEST:
                self._senders.add(entry.actor)
                if payload["body"].get("memberEpoch") == LEAVES:
                    self._goes(entry.actor, entry.at_ms)
                owned = payload["body"].get("topicPartitions")
                if payload["api"] == "ConsumerGroupHeartbeat" and owned is not None:
                    self._misread.names(entry.actor, entry.sequence, self._topics.named(listed(owned)))
            case Kind.RESPONSE:
                self._answered(entry)
            case Kind.CALLBACK:
                self._called(entry)
            case Kind.FAULT if payload["fault"] not in ("invariant", "poll_throws"):
                self._disturbed = entry
                if payload["fault"] == "fail_over":
                    self._round_is_lost = self._downgraded_at is not None
                if payload["fault"] == "kill":
                    self._clients.pop(str(payload["member"]), None)
                    self._out.add(str(payload["member"]))
        self._rounds.see(entry)
        converted = entry.unit is not None and entry.unit == self._upgraded
        found = self._of_group.take()
        if converted and any(each.members for each in found if each.invariant == "whole_target"):
            self._inherits = True
            self._known = self._known or (known_faults.OUTDATED if self._released else None)
        kept = [
            violation
            for violation in found
            if violation.invariant in KEPT
            and not (converted and violation.invariant == "whole_target" and not violation.members)
            and not (self._inherits and violation.invariant in OF_THE_TARGET)
        ]
        self._of_rounds.take()
        if (
            self._released
            and self._uncounted
            and any(violation.invariant in OF_THE_TARGET for violation in kept)
        ):
            self._known = self._known or known_faults.SUBSCRIBES_TO_NOTHING
            kept = [violation for violation in kept if violation.invariant not in OF_THE_TARGET]
        return [*self._violations.take(), *kept]

    def steady(self, entry: Entry) -> list[Violation]:
        """A heartbeat that is accepted changes nothing."""
        self._last = entry.sequence
        self._members.steady(entry)
        return self._violations.take()

    def end(self, _at_ms: int) -> list[Violation]:
        """Nothing is left to be asked."""
        return self._violations.take()

    def travels(self, travel_ms: int) -> None:
        """No bound depends on it."""

    def asks_for(self, who: str, names: Iterable[str], regex: str | None, at_ms: int) -> None:
        """What an application asks for is seen in its requests. Who has sent none before is a new process."""
        if who not in self._senders:
            self._processes.add(who)

    def has_rested(self, at_ms: int, for_ms: int) -> bool:
        """Whether the group has converged, and nothing has disturbed it for longer than this."""
        if self._disturbed is not None and at_ms - self._disturbed.at_ms <= for_ms:
            return False
        return next(self._wrong(), None) is None

    def demand_convergence(self) -> list[Violation]:
        """Everything was healed, and there was time enough."""
        text = None if self._ties.goes_on or self._round_is_lost else next(self._wrong(), None)
        if text is not None and (self._is_consumer or not self._rounds.is_unending()):
            since = self._disturbed.sequence if self._disturbed is not None else 0
            self._violations.add(CONVERGES, text, (since, self._last))
        return self._violations.take()

    @property
    def known_fault(self) -> str | None:
        """What a released client is known to do wrong and did in this run."""
        return self._known or self._rounds.known_fault

    @property
    def unjudged(self) -> str | None:
        """What the end of a run could not be asked."""
        if self._ties.goes_on:
            return known_faults.TIED
        if self._is_consumer:
            group = self._group
            if not (group.converged and group.targets.is_of_now(group.members)):
                # The checks that ask so much leave such groups out.
                return known_faults.NOBODY_COMPUTES if self._nobody_computes else known_faults.CONVERTED
            return group.targets.unjudged(group.members)
        if self._overstated & self._clients.keys():
            return known_faults.OVERSTATED
        if self._round_is_lost:
            return known_faults.ROUND_LOST
        return self._rounds.unjudged

    def _record(self, entry: Entry, state: State) -> None:
        kind, value = entry.payload["type"], entry.payload["value"]
        self._disturbed = entry
        if kind == 2 and value is None and self._overstated:
            self._known = known_faults.OVERSTATED
        elif kind == 2 and value is not None and self._is_classic is False:
            self._downgraded(value)
        if kind == 2:
            if value is not None:
                self._round_follows(value, entry.unit)
                self._inherits = any(is_given_more(member) for member in value["members"])
            self._is_classic = value is not None
            self._upgraded = self._upgraded if self._is_classic else entry.unit or 0
            read = {topic for client in self._clients.values() for topic, _ in client.owned}
            self._dropped = set() if self._is_classic else read - self._topics.ids.keys()
        elif kind == 5:
            speaks = value is not None and value.get("classicMemberMetadata") is not None
            who = entry.payload["key"]["memberId"]
            self._classic = self._classic | {who} if speaks else self._classic - {who}
        elif kind == 6:
            self._is_converted = self._targeted != entry.unit == self._upgraded
            self._targeted = entry.unit
            self._dropped = self._dropped if self._is_converted else set()
            self._inherits = self._inherits and self._is_converted
        elif kind == 3:
            self._is_consumer = value is not None
            self._consumer_ended = self._consumer_ended if self._is_consumer else entry.unit
        if kind != 2 and self._group.record(entry, state):
            self._taken(entry)
            self._forgets(entry.at_ms)
        both = entry.settled and self._is_classic and self._is_consumer
        if both and self._released and not self._group.members:
            self._known = known_faults.FORGOTTEN
        elif both:
            text = "Records have a classic group and a consumer group at once"
            self._violations.add(ONE_PROTOCOL, text, (entry.sequence,))

    def _forgets(self, at_ms: int) -> None:
        if self._released:
            self._known = self._forgetting.fault(at_ms, is_empty=not self._group.members) or self._known

    def _downgraded(self, value: GroupMetadataValue) -> None:
        """The released coordinator writes each member's target as what it has."""
        for member in value["members"]:
            client = self._clients.get(member["memberId"])
            given = assigned_by(member["assignment"])
            if client is not None and client.owned.keys() != (given or frozenset()):
                self._overstated.add(member["memberId"])

    def _round_follows(self, value: GroupMetadataValue, unit: int | None) -> None:
        """A downgrade owes its group a round, which is in no record until it ends."""
        if unit is not None and unit == self._consumer_ended:
            self._downgraded_at = value["generation"]
        elif self._downgraded_at is not None and value["generation"] > self._downgraded_at:
            self._downgraded_at, self._round_is_lost = None, False

    def _taken(self, entry: Entry) -> None:
        """A unit is over: what it took from members, their clients have given up."""
        for who, old in self._group.touched.items():
            new, client = self._group.members.get(who), self._clients.get(who)
            if old is None and new is not None and who in self._classic and not (new.names or new.regex):
                self._uncounted = True
            if old is None and new is not None and client is not None and who in self._classic:
                self._unwritten.begins(who, client, new)
            if old is None or new is None or client is None or who in self._out:
                continue
            gone = set(self._topics.named(self._topics.present(old.held() - new.held())))
            if who not in self._classic:
                gained = self._topics.named(new.held() - old.held())
                self._misread.changed(who, client, gone, gained, entry.cause)
            elif kept := gone & client.owned.keys():
                text = f"{named(kept)} is taken from {who}, which still reads it"
                self._violations.add(GIVEN_UP, text, (new.wrote, entry.sequence), (who,), kept)

    def _answered(self, entry: Entry) -> None:
        payload, who = entry.payload, str(entry.payload.get("to"))
        body = payload["body"]
        code = body.get("errorCode")
        if payload["api"] == "OffsetCommit" and commit_codes(body) & RENAMED:
            self._out.add(who)
            self._renamable.add(who)
        if payload["api"] == "JoinGroup" and code == UNKNOWN_MEMBER_ID and self._is_consumer:
            self._forgetting.unknown(entry.at_ms)
            self._forgets(entry.at_ms)
        if payload["api"] == "JoinGroup" and code:
            self._claimed = {
                instance: claimant for instance, claimant in self._claimed.items() if claimant != who
            }
        if code in FENCES:
            self._out.add(who)
            if code in RENAMED:
                self._renamable.add(who)
        elif payload["api"] in ("JoinGroup", "ConsumerGroupHeartbeat") and not code:
            if payload["api"] == "JoinGroup":
                self._client(who).generation = body["generationId"]
                self._out.discard(who)
            elif body["memberEpoch"] < 0:
                self._out.add(who)
            elif body["memberEpoch"] > 0:
                self._out.discard(who)
        elif payload["api"] == "LeaveGroup":
            self._out.add(who)
            if payload["version"] <= OLD_LEAVE:
                self._renamable.add(who)

    def _goes(self, who: str, at_ms: int) -> None:
        if self._group.members.keys() - self._classic == {who}:
            self._last_goes_ms = at_ms

    def _renamed(self, who: str, body: Payload) -> None:
        """A process that is no member any more comes back under another id, with what it has not given up.

        It was turned away; or it is a static member without an id, which has left without a word as its poll was late.
        """
        former = set(self._renamable)
        if body.get("groupInstanceId") and not body["memberId"]:
            former |= self._clients.keys()
        for other in ids_before(who, former, self._processes):
            client = self._clients.get(other)
            if client is not None and client.owned and who not in self._clients:
                self._clients[who] = self._clients.pop(other)
                self._clients[who].generation = -1

    def _called(self, entry: Entry) -> None:
        payload, who = entry.payload, entry.actor
        client = self._client(who)
        keys = {(str(topic), int(p)) for topic, numbers in payload["partitions"].items() for p in numbers}
        if payload["callback"] == "on_partitions_assigned":
            if payload["phase"] == "start":
                self._gains(entry, keys)
                client.owned |= dict.fromkeys(keys, entry.sequence)
        elif payload["phase"] == "end":
            # What is lost clears all: what came between counting and calling is gone with what was named.
            keys = set(client.owned) if payload["callback"] == "on_partitions_lost" else keys
            self._misread.given_up(who, keys)
            for key in keys:
                client.owned.pop(key, None)
        self._disturbed = entry

    def _gains(self, entry: Entry, keys: set[Partition]) -> None:
        members, who = self._group.members, entry.actor
        if not self._is_consumer or who not in members or who in self._out:
            return
        for other, its in self._clients.items():
            if other == who or other not in members or other in self._out:
                continue
            # A member that takes its place has it at once; records show it when they are replicated, and other answers come before.
            if self._claimed.get(members[other].instance or "", other) != other:
                continue
            both = keys & its.owned.keys()
            both -= self._misread.taken(who, both)
            if other not in self._classic:
                both -= self._misread.of(other, its, both)
            both, excused = self._unwritten.of_others(other, its, members[other], both)
            self._known = self._known or (known_faults.READS_BEYOND if excused else None)
            if (
                both
                and self._last_goes_ms is not None
                and entry.at_ms - self._last_goes_ms <= self._settle_ms
            ):
                # The coordinator answers from the downgrade before its records are replicated.
                self._known = known_faults.OVERSTATED
            elif both:
                text = f"{who} begins with {named(both)} while {other} still reads it"
                proof = [its.owned[key] for key in both]
                self._violations.add(ONE_READER, text, (*proof, entry.sequence), (who, other), both)

    @property
    def _nobody_computes(self) -> bool:
        """A policy that forbids the downgrade leaves a consumer group of classic members."""
        return self._released and bool(self._group.members) and self._group.members.keys() <= self._classic

    def _wrong(self) -> Iterator[str]:
        """What is not as it is to be once the group rests."""
        if not self._is_consumer and self._overstated & self._clients.keys():
            return  # A member that joins again has what is written down.
        if not self._is_consumer:
            yield from self._rounds.wrong()
            return
        group = self._group
        judged = group.members and not self._nobody_computes
        if judged and not group.converged:
            yield f"The group is not Stable at epoch {group.epoch}"
        for who, member in sorted(group.members.items()):
            client = self._clients.get(who)
            # Where nobody computes a target, what a member had of a topic that is gone stays written down, and read.
            held = set(self._topics.named(self._topics.present(member.assigned)))
            owned = set(client.owned) if client is not None else set()
            unasked = self._dropped if judged else {topic for topic, _ in owned}
            if {key for key in owned if key[0] in self._topics.ids or key[0] not in unasked} != held:
                yield f"The client of {who} does not read what is assigned to it"
        if (
            judged
            and not (self._released and self._is_converted)
            and not group.targets.is_of_now(group.members)
        ):
            yield "The target is not whole for the topics that there are"

    def _client(self, who: str) -> Client:
        return self._clients.setdefault(who, Client())
