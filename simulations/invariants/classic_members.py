"""Checks what members of the classic protocol are answered in a consumer group, and what a conversion carries over.

As ``classic_operations`` does it of classic groups, each operation is looked at when the next one begins, and nothing is
asked where records wait for replicas. What the records make of the group is the affair of ``GroupChecks``.
"""

from __future__ import annotations

from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.payloads.classic_bodies import ClassicHeartbeatBody, SyncGroupBody
from groups.history.payloads.records import GroupMetadataValue
from simulations.invariants.classic_conversions import (
    EPOCH,
    GROUP,
    MEMBER,
    TARGET,
    ConversionChecks,
    Operation,
    Speaks,
)
from simulations.invariants.classic_operations import DELETES, TURNED_AWAY, stalls
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.model import UNRELEASED, UNREVOKED, Held, Member, Topics, listed
from simulations.invariants.violations import Violations

ANSWERED: Final = "classic_member_answered"
TIMED: Final = "classic_member_timed"


NONE, REBALANCE, INCONSISTENT, ILLEGAL_GENERATION, UNKNOWN_MEMBER, FENCED_INSTANCE = 0, 27, 23, 22, 25, 82
SERVER_ERROR: Final = -1
BEFORE_PROTOCOLS: Final = frozenset({24, 26, 81})
"""Refusals of a JoinGroup that come before anybody looks at its protocols."""
SYNC_NAMES_PROTOCOL: Final = 5


class MemberChecks:
    """``see`` every entry of a run, in order, before the group's own checks do."""

    def __init__(
        self,
        violations: Violations,
        group: GroupChecks,
        topics: Topics,
        *,
        settles_at_once: bool,
        migrates: bool,
        kafka: bool = True,
    ) -> None:
        self._violations = violations
        self._group = group
        self._topics = topics
        self._conversions = ConversionChecks(violations, group, topics, kafka=kafka)
        self._settles_at_once = settles_at_once
        self._knows = settles_at_once
        self._migrates = migrates
        """Whether the migration policy allows classic members in a consumer group at all."""
        self._kafka = kafka
        self._speaks: dict[str, Speaks] = {}
        self._targets: dict[str, frozenset[Held]] = {}
        self._were: dict[str, frozenset[Held]] = {}
        """Targets that the operation took away."""
        self._parked: dict[tuple[str, str], Entry] = {}
        """The last JoinGroup and SyncGroup of each client that is not answered; an older one never is."""
        self._joining: set[str] = set()
        """Members whose time to join runs."""
        self._generation = 0
        self._classic: GroupMetadataValue | None = None
        """The classic group's last record."""
        self._gone: set[str] = set()
        """Of its members, those whose session has run out or who have left since."""
        self._operation: Operation | None = None
        self._loaded_ms = 0
        self._asked = False

    def see(self, entry: Entry) -> None:
        """One entry more."""
        payload = entry.payload
        match entry.kind:
            case Kind.REQUEST:
                self._ended()
                self._asked = True
                self._begins(entry)
            case Kind.TIMER if payload["event"] == "fired":
                self._ended()
                self._timed(entry)
                self._begins(entry)
            case Kind.TIMER:
                self._timed(entry)
            case Kind.RESPONSE:
                self._answered(entry)
            case Kind.RECORD:
                self._recorded(entry)
            case Kind.FAULT if payload["fault"] == "fail_over" or stalls(entry):
                self._ended()
                if payload["fault"] == "fail_over":
                    self._knows = self._settles_at_once
                    self._joining.clear()
                    self._parked.clear()
                    self._loaded_ms = entry.at_ms + payload.get("loading_ms", 0)
                    self._generation = self._classic["generation"] if self._classic is not None else 0
                else:
                    self._knows = False
            case Kind.NOTE if payload["note"] in DELETES:
                self._ended()

    def steady(self, entry: Entry) -> None:
        """A heartbeat that is accepted and changes nothing."""
        if entry.payload["api"] == "Heartbeat":
            self._ended()
            self._begins(entry)
            self._ended()

    # What entries contain.

    def _begins(self, entry: Entry) -> None:
        members = self._group.members
        operation = self._operation = Operation(entry, was_consumer=bool(members))
        if entry.kind is not Kind.REQUEST:
            return
        body, api = entry.payload["body"], entry.payload["api"]
        if api in ("JoinGroup", "SyncGroup"):
            self._parked[entry.actor, api] = entry
        elif api == "LeaveGroup":
            self._gone.add(entry.actor)
            for waits in ("JoinGroup", "SyncGroup"):
                self._parked.pop((entry.actor, waits), None)  # Nobody waits for them any more.
        if not members or api not in ("JoinGroup", "SyncGroup", "Heartbeat"):
            return
        if api == "JoinGroup":
            listed_names = [set(each.names) for who, each in self._speaks.items() if who in members]
            operation.listed_by_all = (
                frozenset(set[str].intersection(*listed_names)) if listed_names else None
            )
            return
        who = body["memberId"]
        operation.sender, operation.speaks = members.get(who), self._speaks.get(who)
        operation.joins_late = who in self._joining
        operation.due = self._refusal(body, body if api == "SyncGroup" else None, entry.payload["version"])
        if entry.payload.get("steady"):
            operation.code = NONE  # It has no answer of its own.

    def _refusal(
        self, body: ClassicHeartbeatBody | SyncGroupBody, sync: SyncGroupBody | None, version: int
    ) -> int:
        """The code that SyncGroup and Heartbeat of a member are to be answered with; ``sync`` is ``None`` of a Heartbeat."""
        listed_names = (sync["protocolType"], sync["protocolName"]) if sync is not None else ()
        if version >= SYNC_NAMES_PROTOCOL and None in listed_names:
            return INCONSISTENT
        who, instance, members = body["memberId"], body["groupInstanceId"], self._group.members
        if instance is not None:
            holders = [name for name, each in members.items() if each.instance == instance]
            if not holders:
                return UNKNOWN_MEMBER
            if who not in holders:
                return FENCED_INSTANCE
        member, speaks = members.get(who), self._speaks.get(who)
        if member is None or speaks is None:
            return UNKNOWN_MEMBER
        if body["generationId"] != member.epoch:
            return ILLEGAL_GENERATION
        if sync is not None and sync["protocolName"] not in (None, speaks.names[0]):
            return INCONSISTENT
        behind = member.epoch < self._group.targets.epoch
        if not self._kafka:
            return self._proposed(who, member, behind=behind, syncs=sync is not None)
        if sync is not None:
            return REBALANCE if behind and member.state != UNREVOKED else NONE
        steps = member.state == UNREVOKED or (member.state == UNRELEASED and not self._waits(who, member))
        return REBALANCE if behind or steps else NONE

    def _proposed(self, who: str, member: Member, *, behind: bool, syncs: bool) -> int:
        """The same by the proposal, whose records have no member states: what is missing follows from the target.

        A member that joined after the last target was computed has no step to take. One that has to give something up, since
        its target or its subscription lacks it, receives the rest of its assignment by SyncGroup, at its old epoch, and joins again
        without the difference.
        """
        target = self._targets.get(who)
        if target is None:
            return NONE
        if behind:
            topics = {self._topics.ids.get(name) for name in self._topics.of(member)}
            gives = any(held not in target or held[0] not in topics for held in member.assigned)
            return NONE if syncs and gives else REBALANCE
        gains = target - member.assigned.keys() and not self._waits(who, member)
        return REBALANCE if gains and not syncs else NONE

    def _waits(self, who: str, member: Member) -> bool:
        """Whether somebody still holds what its target adds."""
        holders = self._group.holders
        return any(holders.get(held) for held in self._targets.get(who, frozenset()) - member.assigned.keys())

    def _answered(self, entry: Entry) -> None:
        request = int(entry.payload.get("request", entry.cause) or 0)
        asked = self._parked.get((str(entry.payload.get("to")), entry.payload["api"]))
        if asked is not None and asked.sequence == request:
            self._parked.pop((asked.actor, entry.payload["api"]))
        body, operation = entry.payload["body"], self._operation
        if entry.payload["api"] == "JoinGroup" and not body["errorCode"] and not self._group.members:
            # The member's own epoch, if its joining has just ended the consumer group.
            is_epoch = operation is not None and operation.was_consumer
            self._generation = self._generation if is_epoch else body["generationId"]
        if operation is not None and operation.entry.sequence == request:
            operation.code = body.get("errorCode")

    def _timed(self, entry: Entry) -> None:
        timer, who, event = entry.payload["timer"], entry.payload["member"], entry.payload["event"]
        if timer == "join" and who is not None:
            (self._joining.add if event == "started" else self._joining.discard)(who)
        if timer == "session" and event == "fired":
            self._gone.add(who)
        if event == "started" and self._operation is not None:
            self._operation.timers[timer, who] = entry.payload["deadline_ms"] - entry.at_ms

    def _recorded(self, entry: Entry) -> None:
        kind, value, key = entry.payload["type"], entry.payload["value"], entry.payload["key"] or {}
        if kind not in (GROUP, MEMBER, EPOCH, TARGET):
            return
        if not self._asked:
            self._knows = False
        if self._operation is not None:
            self._operation.records.append(entry)
        if kind == GROUP:
            if value is None:
                self._upgrades(entry)
            else:
                self._generation = value["generation"]
                if self._knows:
                    self._conversions.downgrades(self._operation, entry, value["members"], self._were)
            self._classic = value
            self._gone.clear()
        elif kind == MEMBER:
            who = key["memberId"]
            self._speaks.pop(who, None)
            classic = value.get("classicMemberMetadata") if value is not None else None
            if value is not None and classic is not None:
                self._speaks[who] = Speaks(
                    classic["sessionTimeoutMs"],
                    value["rebalanceTimeoutMs"],
                    tuple(each["name"] for each in classic["supportedProtocols"]),
                )
        elif kind == TARGET:
            who = key["memberId"]
            if value is None:
                self._were[who] = self._targets.pop(who, frozenset())
            else:
                self._targets[who] = frozenset(listed(value["topicPartitions"]))

    # What is asked.

    def _upgrades(self, entry: Entry) -> None:
        """A classic group ends, unless another generation has begun, whose members no record contains yet."""
        if self._knows and self._classic is not None and self._generation == self._classic["generation"]:
            members = (each for each in self._classic["members"] if each["memberId"] not in self._gone)
            self._conversions.upgrades(self._operation, entry, members)

    def _ended(self) -> None:
        operation, self._operation = self._operation, None
        self._were = {}
        if operation is None or not self._knows:
            return
        entry = operation.entry
        self._conversions.rebalances(operation)
        if entry.kind is not Kind.REQUEST or operation.code in TURNED_AWAY:
            return
        api, kinds = entry.payload["api"], [record.payload["type"] for record in operation.records]
        if api == "ConsumerGroupHeartbeat":
            if not operation.was_consumer and operation.code in (NONE, SERVER_ERROR):
                self._conversions.are_sent_back(entry, self._parked.values())
            if kinds[:1] == [GROUP] and EPOCH in kinds and operation.records[0].payload["value"] is None:
                self._conversions.is_converted(operation, self._generation)
        elif operation.was_consumer and api == "JoinGroup":
            self._has_joined(operation)
        elif (
            operation.was_consumer
            and api in ("SyncGroup", "Heartbeat")
            and (api == "SyncGroup" or entry.at_ms > self._loaded_ms)
        ):
            # A coordinator that is loading answers every heartbeat without an error.
            self._is_answered(operation)

    def _has_joined(self, operation: Operation) -> None:
        entry, code, body = operation.entry, operation.code, operation.entry.payload["body"]
        who = entry.actor
        if code is None or code in BEFORE_PROTOCOLS:
            return
        all_list = operation.listed_by_all
        names = {each["name"] for each in body["protocols"]}
        fits = self._migrates and (all_list is None or bool(names & all_list))
        if fits != (code != INCONSISTENT):
            text = f"{who} joins with {sorted(names)} and is answered {code}; all classic members list "
            text += str(sorted(all_list or ()))
            self._add(ANSWERED, text, entry, entry, who)
        if code or any(record.payload["type"] == GROUP for record in operation.records):
            return
        for timer, length in (("session", "sessionTimeoutMs"), ("sync", "rebalanceTimeoutMs")):
            if operation.timers.get((timer, who)) != body[length]:
                text = f"{who} has joined, and no {timer} timer of {body[length]} ms starts"
                self._add(TIMED, text, entry, entry, who)

    def _is_answered(self, operation: Operation) -> None:
        entry, code, due = operation.entry, operation.code, operation.due
        who, api = entry.actor, entry.payload["api"]
        if code is not None and code != due:
            text = f"A {api} of {who} is answered {code}, not {due}"
            self._add(ANSWERED, text, entry, entry, who)
        if operation.speaks is None or code not in (NONE, REBALANCE):
            return
        length_ms = operation.timers.get(("join", who))
        starts = code == REBALANCE and not operation.joins_late
        if starts and length_ms != operation.speaks.rebalance_ms:
            text = (
                f"{who} is notified to join, and has {length_ms} ms, not {operation.speaks.rebalance_ms} ms"
            )
            self._add(TIMED, text, entry, entry, who)
        elif not starts and length_ms is not None:
            text = f"{who} is notified again to join, and its time begins again"
            self._add(TIMED, text, entry, entry, who)

    def _add(self, invariant: str, text: str, first: Entry, last: Entry, who: str) -> None:
        self._violations.add(invariant, text, (first.sequence, last.sequence), (who,))
