"""Checks what clients of a classic group do with their partitions: G.2 as far as it is asked of the classic protocol.

A client that missed a rebalance goes on until it hears so; that is no violation, as it is none in the consumer protocol.
What is one: two clients that both took part in the group's present generation process one partition. No assignor may
bring that about; an old leader that does not understand what cooperative members keep does (KIP-429's reason for two
rolling bounces), and so does ``sticky`` before KIP-341 (KAFKA-7026).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from groups.history.entries import Entry, Kind, Payload
from groups.history.payloads.classic_bodies import JoinAnswerBody
from groups.history.payloads.records import GroupMetadataValue
from groups.history.state.group import State
from groups.wire.embedded.consumer_protocol import decode_assignment
from simulations.invariants.classic_groups import ClassicGroupChecker
from simulations.invariants.classic_operations import OperationChecks
from simulations.invariants.classic_parts import ClassicLimits
from simulations.invariants.classic_rounds import RoundChecks
from simulations.invariants.liveness import Bounds
from simulations.invariants.payloads import AnyAnswer
from simulations.invariants.violations import Partition, Violation, Violations, named

ONE_PROCESSOR: Final = "one_processor_of_a_generation"
CALLBACKS: Final = "callbacks_of_classic"
GENERATIONS: Final = "generations"


CLASSIC_APIS: Final = frozenset({"JoinGroup", "SyncGroup", "Heartbeat"})
OLD_LEAVE: Final = 4
"""The newest LeaveGroup of clients before 3.2."""
RENAMED: Final = frozenset({22, 25})
"""ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID: who hears that may come back under another id."""


def commit_codes(body: AnyAnswer) -> set[int]:
    """The errors of an answer to OffsetCommit."""
    return {partition["errorCode"] for topic in body.get("topics") or () for partition in topic["partitions"]}


class RunChecker(Protocol):
    """What a run reports to its checker."""

    def see(self, entry: Entry, state: State) -> list[Violation]: ...

    def steady(self, entry: Entry) -> list[Violation]: ...

    def end(self, at_ms: int) -> list[Violation]: ...

    def travels(self, travel_ms: int) -> None: ...

    def asks_for(self, who: str, names: Iterable[str], regex: str | None, at_ms: int) -> None: ...

    def has_rested(self, at_ms: int, for_ms: int) -> bool: ...

    def demand_convergence(self) -> list[Violation]: ...

    @property
    def unjudged(self) -> str | None: ...

    @property
    def known_fault(self) -> str | None: ...


@dataclass(slots=True)
class _Client:
    """``owned``: partition → the entry that gave it; ``generation`` is the last that it joined.

    ``stale`` is what it owned in a membership that is over, until it hears what it has in the new one.
    """

    owned: dict[Partition, int] = field(default_factory=dict)
    generation: int = -1
    calling: str | None = None
    stale: set[Partition] = field(default_factory=set)


class ClassicClientChecker:
    """``see`` each entry of a run with members of the classic protocol, in order, from its first on."""

    def __init__(self, *, bounds: Bounds | None = None, limits: ClassicLimits | None = None) -> None:
        self._violations = Violations()
        self._operations = OperationChecks(
            self._violations,
            limits or ClassicLimits(),
            settles_at_once=not (bounds or Bounds()).settle_ms,
        )
        self._group = ClassicGroupChecker(settle_ms=(bounds or Bounds()).settle_ms)
        self._clients: dict[str, _Client] = {}
        self._rounds = RoundChecks(self._violations, self._clients, bounds or Bounds())
        self._last = 0
        self._generation = self._written = -1
        """The latest generation that was sent to members, and the latest in a record."""
        self._restarts = False
        self._fenced: set[str] = set()
        self._asked = self._converted = False
        self._senders: set[str] = set()
        self._processes: set[str] = set()
        """Ids with which a process began: none that one took later, since that is drawn as its JoinGroup is sent."""

    def see(self, entry: Entry, state: State) -> list[Violation]:
        """The invariants that the entry broke."""
        payload = entry.payload
        self._last = entry.sequence
        self._operations.see(entry)
        match entry.kind:
            case Kind.RESPONSE if (
                payload["api"] == "OffsetCommit" and commit_codes(payload["body"]) & RENAMED
            ):
                self._fenced.add(payload["to"])
            case Kind.RESPONSE if payload["api"] == "LeaveGroup" and payload["version"] <= OLD_LEAVE:
                # A client before 2.6 that leaves as it gives something up joins again with the rest.
                self._fenced.add(payload["to"])
            case Kind.RESPONSE if payload["api"] in CLASSIC_APIS:
                if payload["body"]["errorCode"] in RENAMED:
                    self._fenced.add(payload["to"])
                elif payload["api"] == "JoinGroup":
                    self._joined(entry)
                elif payload["api"] == "SyncGroup" and not payload["body"]["errorCode"]:
                    self._synced(entry)
            case Kind.REQUEST:
                self._asked = True
                self._senders.add(entry.actor)
                if payload["api"] == "JoinGroup" and entry.actor not in self._processes:
                    self._renamed(entry.actor, payload["body"])
            case Kind.CALLBACK:
                self._called(entry)
            case Kind.FAULT if payload["fault"] == "kill" and payload.get("member"):
                self._clients.pop(payload["member"], None)
            case Kind.RECORD if payload["type"] == 2:
                self._recorded(payload["value"])
            case Kind.FAULT if payload["fault"] == "fail_over":
                self._failed_over()
            case Kind.NOTE if payload["note"] in ("delete_group", "expire_offsets"):
                # A group that is deleted restarts.
                self._generation, self._restarts = -1, True
        self._rounds.see(entry)
        return [*self._violations.take(), *self._group.see(entry)]

    def steady(self, entry: Entry) -> list[Violation]:
        """A heartbeat that is accepted changes nothing of what clients do."""
        self._last = entry.sequence
        self._operations.steady(entry)
        return [*self._violations.take(), *self._group.see(entry)]

    def end(self, _at_ms: int) -> list[Violation]:
        """The last operation is over."""
        self._operations.end()
        return self._violations.take()

    def travels(self, travel_ms: int) -> None:
        """From now on a message may take so long; a bound only grows."""
        self._rounds.travel_ms = max(self._rounds.travel_ms, travel_ms)

    def asks_for(self, who: str, names: Iterable[str], regex: str | None, at_ms: int) -> None:
        """An application subscribes: a reason for another round. Who has sent nothing before is a new process."""
        if who not in self._senders:
            self._processes.add(who)
        self._rounds.disturbed()

    def has_rested(self, at_ms: int, for_ms: int) -> bool:
        """Whether the group has converged, and nothing has disturbed it for longer than this."""
        return self._rounds.has_rested(at_ms, for_ms)

    def demand_convergence(self) -> list[Violation]:
        """Everything was healed, and there was time enough."""
        self._rounds.demand(self._last)
        return self._violations.take()

    @property
    def known_fault(self) -> str | None:
        """What a released client is known to do wrong and did in this run: nothing more is asked of it."""
        return self._rounds.known_fault

    @property
    def unjudged(self) -> str | None:
        """What the end of a run could not be asked."""
        return self._rounds.unjudged

    def _renamed(self, who: str, body: Payload) -> None:
        """A process that is no member any more comes back under another id, with what it has not given up.

        It was turned away; or it is a static member without an id, which has left without a word as its poll was late.
        """
        former = set(self._fenced)
        if body.get("groupInstanceId") and not body["memberId"]:
            former |= self._clients.keys()
        for other in ids_before(who, former, self._processes):
            self._fenced.discard(other)
            client = self._clients.pop(other, None)
            if client is not None and who not in self._clients:
                self._clients[who] = client
                client.generation, client.stale = -1, set(client.owned)

    def _recorded(self, value: GroupMetadataValue | None) -> None:
        """A member that a record does not name was removed, or another process has its instance."""
        if value is None:
            self._generation, self._written, self._converted = -1, -1, True
            return
        self._converted = False
        if not self._asked:
            # The group was there when the log began: who is in it took part in its generation.
            self._generation = value["generation"]
            for member in value["members"]:
                self._client(member["memberId"]).generation = self._generation
        if self._restarts and not value["members"]:
            return  # Of the last life, or of this one: which members have joined since is unknown.
        self._written = value["generation"]
        members = {member["memberId"] for member in value["members"]}
        for who, client in self._clients.items():
            if who not in members and client.generation <= self._written:
                client.generation = -1

    def _failed_over(self) -> None:
        """A generation that no record reports is lost, and the next one may have its number."""
        for client in self._clients.values():
            if client.generation > self._written:
                client.generation = -1
        self._generation = min(self._generation, self._written)

    def _joined(self, entry: Entry) -> None:
        body: JoinAnswerBody = entry.payload["body"]
        if body["errorCode"]:
            return
        who, generation = entry.payload["to"], body["generationId"]
        # In a group of the consumer protocol it is the member's own epoch, which begins at 0.
        before = (self._client(who).generation if generation else 0) if self._converted else self._generation
        if generation < before:
            text = f"{who} receives generation {generation}, after generation {before}"
            self._violations.add(GENERATIONS, text, (entry.sequence,), (who,))
        members = {member["memberId"] for member in body["members"]}
        if members and body["leader"] not in members:
            text = f"{body['leader']} leads generation {generation} and is none of its members"
            self._violations.add(GENERATIONS, text, (entry.sequence,), (who,))
        self._generation = max(self._generation, generation)
        self._client(who).generation = generation
        self._fenced.discard(who)

    def _synced(self, entry: Entry) -> None:
        """The leader believed a stale claim: a member is to keep what another one reads, and reads it already."""
        who = entry.payload["to"]
        client = self._client(who)
        given = decode_assignment(b64decode(entry.payload["body"]["assignment"]))["assignedPartitions"]
        kept = {(topic["topic"], p) for topic in given for p in topic["partitions"]} & client.stale
        client.stale -= kept
        for other, its in self._clients.items():
            both = kept & (its.owned.keys() - its.stale)
            if both and other != who and its.generation == self._generation == client.generation:
                self._shared(entry, who, other, both)

    def _shared(self, entry: Entry, who: str, other: str, both: set[Partition]) -> None:
        its = self._clients[other]
        proof = [its.owned[key] for key in both]
        text = (
            f"{who} and {other} both process {named(both)} in generation {self._generation}: "
            f"{other} has not revoked {'it' if len(both) == 1 else 'them'}"
        )
        self._violations.add(ONE_PROCESSOR, text, (*proof, entry.sequence), (who, other), both)

    def _called(self, entry: Entry) -> None:
        payload, who = entry.payload, entry.actor
        client = self._client(who)
        keys = {(str(topic), int(p)) for topic, numbers in payload["partitions"].items() for p in numbers}
        callback, starts = str(payload["callback"]), payload["phase"] == "start"
        if starts and client.calling is not None:
            text = f"{who} runs {callback} while {client.calling} runs"
            self._violations.add(CALLBACKS, text, (entry.sequence,), (who,))
        client.calling = callback if starts else None
        if callback == "on_partitions_assigned":
            if starts:
                self._gains(entry, client, keys)
            return
        if starts and (strange := keys - client.owned.keys()):
            text = f"{who} runs {callback} for {named(strange)}, which it does not own"
            self._violations.add(CALLBACKS, text, (entry.sequence,), (who,), strange)
        if not starts:
            self._owns_otherwise(entry, client)
            for key in keys:
                client.owned.pop(key, None)

    def _gains(self, entry: Entry, client: _Client, keys: set[Partition]) -> None:
        who = entry.actor
        if again := keys & client.owned.keys():
            text = f"{who} is assigned {named(again)}, which it owns"
            self._violations.add(CALLBACKS, text, (entry.sequence,), (who,), again)
        for other, its in self._clients.items() if client.generation >= 0 else ():
            if other == who or its.generation != self._generation or client.generation != self._generation:
                continue
            if both := keys & (its.owned.keys() - its.stale):
                self._shared(entry, who, other, both)
        self._owns_otherwise(entry, client)
        client.owned |= dict.fromkeys(keys, entry.sequence)

    def _owns_otherwise(self, entry: Entry, client: _Client) -> None:
        self._rounds.owns_otherwise(entry.actor, client.owned, entry.at_ms)

    def _client(self, who: str) -> _Client:
        return self._clients.setdefault(who, _Client())


def ids_before(who: str, ids: Iterable[str], processes: Iterable[str]) -> list[str]:
    """Which of the ids the process of ``who`` may have had: none that is older than the member's newest process."""

    def life(each: str) -> int:
        return int(each.partition("~")[2] or 1)

    stem = who.partition("~")[0]
    began = max((life(each) for each in processes if each.partition("~")[0] == stem), default=1)
    return [each for each in ids if each != who and each.partition("~")[0] == stem and life(each) >= began]
