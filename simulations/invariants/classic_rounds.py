"""What the rounds of a classic group come to: G.3 #28 to #30, and that the group comes to rest (G.4).

An assignment is looked at where its record is in the log, a claim where a JoinGroup arrives. Whether all is well is
asked when nothing disturbs the group any more: every member has joined the last generation and reads what that gives it,
and all that there is to read is given to somebody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Final, Protocol

from groups.history.entries import Entry, Kind, NotedTopic
from groups.history.payloads.classic_bodies import JoinAnswerBody, JoinGroupBody
from groups.history.payloads.records import GroupMetadataValue
from simulations.invariants import known_faults
from simulations.invariants.consumer_protocol import assigned_by, partitions_of, subscription_of
from simulations.invariants.liveness import Bounds
from simulations.invariants.violations import Partition, Violations, named

ASSIGNED_ONCE: Final = "assigned_once"
ASSIGNED_WHOLE: Final = "assigned_whole"
ROUNDS_END: Final = "rounds_end"
JOINS_WITH: Final = "joins_with_what_it_owns"
CONVERGES: Final = "classic_converges"

ROUNDS_MOST: Final = 8
"""Generations without any change in between: Kafka's own tests allow four, and a forced rebalance may come in addition."""

OWNED_VERSION: Final = 1
"""From this version on a subscription names what its member owns."""


QUIET: Final = frozenset({"need to revoke partitions and re-join", "group is already rebalancing"})
"""Reasons of a JoinGroup that are a part of a rebalance which goes on."""


class ClientView(Protocol):
    """What the checker of the clients knows of one."""

    @property
    def owned(self) -> Mapping[Partition, int]: ...

    @property
    def generation(self) -> int: ...


@dataclass(slots=True)
class _Past:
    """What a client owned before its last callbacks, each with the time at which that ended."""

    states: list[tuple[int, frozenset[Partition]]] = field(default_factory=list)


class RoundChecks:
    """``see`` every entry; ``clients`` is the picture of those who show it."""

    def __init__(self, violations: Violations, clients: Mapping[str, ClientView], bounds: Bounds) -> None:
        self.travel_ms = bounds.travel_ms
        self.metadata_ms = bounds.metadata_ms
        self._violations = violations
        self._clients = clients
        self._now: dict[str, int] = {}
        self._counts: dict[str, set[int]] = {}
        self._members: dict[str, known_faults.GivenMember] = {}
        self._generation = -1
        self._wrote = 0
        self._rounds = 0
        self._has_reasons = True
        self._disturbed: Entry | None = None
        self._parked: dict[tuple[str, str], int] = {}
        """The last JoinGroup and SyncGroup of each client that is not answered; an older one never is."""
        self._unsure: list[tuple[Entry, str, set[int], set[int]]] = []
        """Assignments that may be whole given topics that no note contains yet."""
        self._changed_ms: dict[str, int] = {}
        """When a note last named each topic."""
        self._returned_ms: int | None = None
        """When the leader of this generation came back to it as a static member does."""
        self._expired: set[str] = set()
        """Whose session ran out and was not started since."""
        self._dead: set[str] = set()
        self._versions: dict[str, int] = {}
        """Of JoinGroup, by client."""
        self._unending = known_faults.Unending()
        self.known_fault: str | None = None
        """What a released client is known to do wrong and did here: nothing more is asked of the run."""
        self.unjudged: str | None = None
        """Facts of now that the end of the run does not contain any more."""
        self._past: dict[str, _Past] = {}

    def see(self, entry: Entry) -> None:
        payload = entry.payload
        if self._unsure:
            self._sure(entry.at_ms)
        match entry.kind:
            case Kind.NOTE if payload["note"] == "topics":
                self._topics(entry, payload["topics"])
            case Kind.REQUEST if payload["api"] == "JoinGroup":
                self._versions[entry.actor] = payload["version"]
                self._joins(entry, payload["body"])
            case Kind.REQUEST if payload["api"] in ("SyncGroup", "LeaveGroup"):
                if payload["api"] == "SyncGroup":
                    self._parked[entry.actor, "SyncGroup"] = entry.sequence
                else:
                    self._gone(entry.actor)
                    self._unending.changes()
                    self._disturb(entry)
            case Kind.RESPONSE:
                asked = (payload["to"], payload["api"])
                if self._parked.get(asked) == payload.get("request", entry.cause):
                    self._parked.pop(asked, None)
                code = payload["body"].get("errorCode")
                if payload["api"] == "JoinGroup":
                    self._unending.refused(code, is_member=payload["to"] in self._members)
                if code not in (None, 0, 27, 79):
                    self._rounds = 0
                elif payload["api"] == "JoinGroup" and not payload["body"]["errorCode"]:
                    self._note_joined(payload["body"])
            case Kind.RECORD if payload["type"] == 2:
                self._recorded(entry, payload["value"])
            case Kind.FAULT if payload["fault"] == "poll_throws":
                self._unending.throws(payload["exception"])
            case Kind.FAULT:
                self._unending.changes()
                self._disturb(entry)
                if payload["fault"] == "fail_over":
                    self._parked.clear()
                elif payload["fault"] == "kill":
                    self._gone(entry.actor)
                    self._dead.add(entry.actor)
            case Kind.CALLBACK if payload["phase"] == "end":
                self._disturbed = entry
            case Kind.TIMER if payload["event"] == "fired":
                self._disturb(entry)
                if payload["timer"] == "session":
                    self._expired.add(payload["member"])
            case Kind.TIMER if payload["timer"] == "session":
                self._expired.discard(payload["member"])

    def _gone(self, who: str) -> None:
        """Nobody waits for the answers of a member that has left."""
        for api in ("JoinGroup", "SyncGroup"):
            self._parked.pop((who, api), None)

    def owns_otherwise(self, who: str, before: Iterable[Partition], at_ms: int) -> None:
        """A callback is about to change what a client owns."""
        past = self._past.setdefault(who, _Past())
        past.states = [state for state in past.states if state[0] >= at_ms - self.travel_ms]
        past.states.append((at_ms, frozenset(before)))

    def disturbed(self) -> None:
        """An application asked for something else."""
        self._rounds = 0
        self._unending.changes()

    def has_rested(self, at_ms: int, for_ms: int) -> bool:
        """Whether all is well, and nothing has happened for longer than this."""
        if self._disturbed is not None and at_ms - self._disturbed.at_ms <= for_ms:
            return False
        return next(self.wrong(), None) is None

    def demand(self, last: int) -> None:
        """Everything was healed, and there was time enough."""
        for text in self.wrong():
            if self.is_unending():
                return
            since = self._disturbed.sequence if self._disturbed is not None else 0
            self._violations.add(CONVERGES, text, (since, self._wrote, last))
            return

    def is_unending(self) -> bool:
        """Whether a known fault keeps it from resting; then the end of the run cannot be asked."""
        self.unjudged = self._unending.fault or self.unjudged
        return self._unending.fault is not None

    def wrong(self) -> Iterator[str]:
        """What is not as it is to be once the group rests."""
        if self._parked:
            who, api = min(self._parked)
            yield f"A {api} of {who} waits for its answer for ever"
        if self._expired & self._members.keys():
            self.unjudged = known_faults.STAYS
            return
        assigned: set[Partition] = set()
        for who, member in sorted(self._members.items()):
            client = self._clients.get(who)
            if client is None or client.generation != self._generation:
                yield f"{who} is a member of generation {self._generation}, and its client is not"
            elif client.owned.keys() != member.assigned:
                yield f"{who} does not read what generation {self._generation} gives it"
            assigned |= member.assigned
        subscribed = {topic for member in self._members.values() for topic in member.topics}
        there = {(topic, number) for topic in subscribed for number in range(self._now.get(topic, 0))}
        changed_ms = max((self._changed_ms.get(topic, 0) for topic in subscribed), default=0)
        if self._returned_ms is not None and changed_ms <= self._returned_ms + self.metadata_ms:
            self.unjudged = self.unjudged or (known_faults.MISSED if there != assigned else None)
        if self.unjudged is not None:
            return
        if lacking := there - assigned:
            yield f"Nobody is given {named(lacking)}"
        if gone := assigned - there:
            yield f"{named(gone)} is given to a member, and is not there"

    def _note_joined(self, body: JoinAnswerBody) -> None:
        """A member that gets a generation that is already in a record has come back to it, as a static member may."""
        if body["generationId"] == self._generation and body["leader"] not in self._members:
            self.unjudged = known_faults.LEADERLESS

    def _topics(self, entry: Entry, topics: Mapping[str, NotedTopic | None]) -> None:
        self._changed_ms |= dict.fromkeys(topics, entry.at_ms)
        first = not self._now and not self._counts
        for name, topic in topics.items():
            counts = self._counts.setdefault(name, set() if first else {0})
            self._now[name] = (topic["partitions"] or 0) if topic is not None else 0
            counts.add(self._now[name])
        self._disturb(entry)

    def _disturb(self, entry: Entry) -> None:
        self._disturbed, self._rounds = entry, 0

    def _joins(self, entry: Entry, body: JoinGroupBody) -> None:
        who, reason = entry.actor, body.get("reason")
        if who in self._dead:
            return  # It was on its way when its process died.
        self._parked[who, "JoinGroup"] = entry.sequence
        self._has_reasons = self._has_reasons and reason is not None
        if reason not in QUIET:
            self._rounds = 0
        subscriptions = [
            read for each in body["protocols"] if (read := subscription_of(each["metadata"])) is not None
        ]
        client = self._clients.get(who)
        if not subscriptions or (client is None and not subscriptions[0].get("ownedPartitions", ())):
            return
        claims = partitions_of(
            subscriptions[0].get("ownedPartitions", ())
            if subscriptions[0]["version"] >= OWNED_VERSION
            else ()
        )
        self._unending.joins(who, subscriptions[0]["topics"], claims)
        owned = frozenset(client.owned) if client is not None else frozenset[Partition]()
        known = [owned]
        known += [
            state
            for at_ms, state in self._past.get(who, _Past()).states
            if at_ms >= entry.at_ms - self.travel_ms
        ]
        if claims not in known:
            which = claims ^ owned
            text = (
                f"{who} joins and {'does not name' if which & owned else 'names'} {named(which)}, which it "
            )
            text += "owns" if which & owned else "does not own"
            self._violations.add(JOINS_WITH, text, (entry.sequence,), (who,), which)

    def _recorded(self, entry: Entry, value: GroupMetadataValue | None) -> None:
        before, self._members, self._wrote = self._members, {}, entry.sequence
        self._disturbed = entry
        if value is None:
            self._generation = -1
            return
        is_new, self._generation = value["generation"] != self._generation, value["generation"]
        protocol, leader = value["protocol"], value["leader"]
        for member in value["members"]:
            subscriptions = subscription_of(member["subscription"])
            assigned = assigned_by(member["assignment"])
            if subscriptions is None or assigned is None:
                continue
            self._members[member["memberId"]] = known_faults.GivenMember(
                frozenset(subscriptions["topics"]),
                partitions_of(subscriptions.get("ownedPartitions", ())),
                assigned,
            )
        if {who: each.topics for who, each in before.items()} != {
            who: each.topics for who, each in self._members.items()
        }:
            self._rounds = 0
        if is_new:
            self.unjudged, self._returned_ms = None, None
        elif leader not in before:
            self._returned_ms = entry.at_ms
        if not is_new and Counter(each.topics for each in before.values()) != Counter(
            each.topics for each in self._members.values()
        ):
            self.unjudged = known_faults.RETURNED
        if not is_new and any(
            each.claims - each.assigned for who, each in before.items() if who not in self._members
        ):
            self.unjudged = known_faults.BETWEEN_ROUNDS
        if not is_new and any(
            self._versions.get(who, 0) <= known_faults.BEFORE_STALE and known_faults.is_given_more(each)
            for who, each in self._members.items()
            if who not in before
        ):
            # Its bytes contain no generation, so that each JoinGroup is the last one again, and answered at once.
            self.known_fault = self.known_fault or known_faults.ASKS_FOR_EVER
        if is_new and value["members"]:
            self._rounds += 1
            if self._rounds > ROUNDS_MOST and self._has_reasons:
                text = f"{self._rounds} generations follow each other, and nothing has changed"
                self._violations.add(ROUNDS_END, text, (entry.sequence,))
            self.known_fault = self.known_fault or known_faults.fault_of_leader(
                protocol, self._versions.get(leader or "", 0), self._members.values()
            )
            if self.known_fault is None:
                self._gives(entry)

    def _gives(self, entry: Entry) -> None:
        """Each partition once, and all of them."""
        owners: dict[Partition, str] = {}
        for who, member in self._members.items():
            for partition in sorted(member.assigned):
                other = owners.setdefault(partition, who)
                if other != who:
                    text = f"{named([partition])} is given to {other} and to {who}"
                    self._violations.add(ASSIGNED_ONCE, text, (entry.sequence,), (other, who), [partition])
            strange = {each for each in member.assigned if each[0] not in member.topics}
            if strange:
                text = f"{who} is given {named(strange)}, to which it does not subscribe"
                self._violations.add(ASSIGNED_ONCE, text, (entry.sequence,), (who,), strange)
        claimed = {each for member in self._members.values() for each in member.claims}
        for topic in sorted({topic for member in self._members.values() for topic in member.topics}):
            given = {number for name, number in owners if name == topic}
            withheld = {number for name, number in claimed if name == topic}
            known = self._counts.get(topic, {0})
            if not any(self._is_whole(given, withheld, count) for count in known):
                self._unsure.append((entry, topic, given, withheld))

    def _sure(self, at_ms: int) -> None:
        """A client may know of a topic's change before the coordinator, whose knowledge the notes record: those have come by now."""
        while self._unsure and at_ms > self._unsure[0][0].at_ms + self.metadata_ms:
            entry, topic, given, withheld = self._unsure.pop(0)
            if not any(self._is_whole(given, withheld, count) for count in self._counts.get(topic, {0})):
                text = f"The members are given {len(given)} partitions of {topic}, and not all that there are"
                self._violations.add(ASSIGNED_WHOLE, text, (entry.sequence,), (), [(topic, len(given))])

    @staticmethod
    def _is_whole(given: Set[int], withheld: Set[int], count: int) -> bool:
        """Whether it is all of so many partitions, but for what is to be given up first."""
        all_of_it = set(range(count))
        return given <= all_of_it and not all_of_it - given - withheld
