"""What a conversion carries over: of a classic group that becomes a consumer group, and of one that becomes classic again."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.payloads.records import MemberMetadata
from groups.wire.embedded.consumer_protocol import decode_assignment
from groups.wire.errors import RecordError
from simulations.invariants.consumer_protocol import assigned_by
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.model import Held, Member, Topics
from simulations.invariants.violations import Violations, named

CONVERTED: Final = "conversion_carries_over"
SENT_BACK: Final = "conversion_sends_back"


GROUP, MEMBER, EPOCH, TARGET_EPOCH, TARGET = 2, 5, 3, 6, 7
"""Types of the records that this reads."""


@dataclass(slots=True)
class Speaks:
    """A classic member as its record has it; ``names`` are the protocols that it lists, the first first."""

    session_ms: int
    rebalance_ms: int
    names: tuple[str, ...]


@dataclass(slots=True)
class Operation:
    """What followed a request or a timer that ran out, and what of the group it found."""

    entry: Entry
    was_consumer: bool
    sender: Member | None = None
    speaks: Speaks | None = None
    holder: str | None = None
    due: int | None = None
    joins_late: bool = False
    listed_by_all: frozenset[str] | None = None
    code: int | None = None
    records: list[Entry] = field(default_factory=list)
    timers: dict[tuple[str, str | None], int] = field(default_factory=dict)


class ConversionChecks:
    """What is asked of an operation that makes the group one of the other kind."""

    def __init__(
        self, violations: Violations, group: GroupChecks, topics: Topics, *, kafka: bool = True
    ) -> None:
        self._violations = violations
        self._kafka = kafka
        self._data: dict[str, str] = {}
        """What a custom assignor sent the members of the classic group: the proposal carries it over, in version -1."""
        self._group = group
        self._topics = topics

    def upgrades(self, operation: Operation | None, entry: Entry, members: Iterable[MemberMetadata]) -> None:
        """A classic group of these members ends: with a member's heartbeat it is converted, if it had members."""
        if operation is None or operation.entry.kind is not Kind.REQUEST:
            return
        if operation.entry.payload["api"] != "ConsumerGroupHeartbeat":
            return
        self._data = {each["memberId"]: data for each in members if (data := _user_data(each["assignment"]))}
        if self._kafka:
            for who in self._data:
                text = f"The group is converted, and drops the data of {who}'s custom assignor"
                self._add(CONVERTED, text, operation.entry, entry, who)

    def downgrades(
        self,
        operation: Operation | None,
        entry: Entry,
        members: Iterable[MemberMetadata],
        were: Mapping[str, Set[Held]],
    ) -> None:
        """A consumer group ends in a classic one, whose members have their targets: ``were`` is what these were."""
        if operation is None or not operation.was_consumer:
            return
        for member in members:
            who = member["memberId"]
            due = set(self._topics.named(self._topics.present(were.get(who, frozenset()))))
            given = assigned_by(member["assignment"])
            if who in were and given is not None and given != due:
                which = given ^ due
                text = f"The group is converted, and {who} is given other partitions than its target: {named(which)}"
                self._add(CONVERTED, text, operation.entry, entry, who)

    def rebalances(self, operation: Operation) -> None:
        """A group that became classic because its last member of the consumer protocol is gone joins again."""
        entry = operation.entry
        became = [record for record in operation.records if record.payload["type"] == GROUP]
        if not operation.was_consumer or not became or became[-1].payload["value"] is None:
            return
        if entry.payload.get("api") == "JoinGroup" or not became[-1].payload["value"]["members"]:
            return  # A member that replaces the last one may leave the group as it is.
        if ("join", None) not in operation.timers:
            text = "The group has become a classic one, and nobody is waited for to join"
            self._violations.add(CONVERTED, text, (entry.sequence, became[-1].sequence))

    def are_sent_back(self, entry: Entry, parked: Iterable[Entry]) -> None:
        """Nobody waits in a classic group that is converted, or was tried to be in its first join phase."""
        for asked in parked:
            if asked.sequence < entry.sequence:
                text = f"A member joins with the consumer protocol, and a {asked.payload['api']} of {asked.actor} waits on"
                self._add(SENT_BACK, text, asked, entry, asked.actor)

    def is_converted(self, operation: Operation, generation: int) -> None:
        """The group epoch of the conversion is the generation, and every classic member has a session."""
        members = [record for record in operation.records if record.payload["type"] == MEMBER]
        first = next(record for record in operation.records if record.payload["type"] == EPOCH)
        classic = [
            record
            for record in members
            if record.sequence < first.sequence
            and (record.payload["value"] or {}).get("classicMemberMetadata") is not None
        ]
        if not classic:
            return  # It was empty, and restarts.
        epoch = first.payload["value"]["epoch"]
        if epoch != generation:
            text = f"Generation {generation} becomes group epoch {epoch}"
            self._add(CONVERTED, text, operation.entry, first, operation.entry.actor)
        for record in operation.records if not self._kafka else ():
            who = record.payload["key"].get("memberId", "")
            if record.payload["type"] != TARGET or record.payload["value"] is None or who not in self._data:
                continue
            if record.payload["value"].get("metadataBytes", "") != self._data.pop(who):
                text = f"The group is converted, and drops the data of {who}'s custom assignor"
                self._add(CONVERTED, text, operation.entry, record, who)
        for record in classic:
            who = record.payload["key"]["memberId"]
            session_ms = (record.payload["value"].get("classicMemberMetadata") or {}).get("sessionTimeoutMs")
            if who in self._group.members and operation.timers.get(("session", who)) != session_ms:
                if who == operation.entry.actor:
                    continue  # It took its own place, with a session of the other protocol.
                text = f"{who} is a member of the converted group, and no session of {session_ms} ms starts"
                self._add(CONVERTED, text, operation.entry, record, who)

    def _add(self, invariant: str, text: str, first: Entry, last: Entry, who: str) -> None:
        self._violations.add(invariant, text, (first.sequence, last.sequence), (who,))


def _user_data(data: str) -> str:
    try:
        return (data and decode_assignment(b64decode(data))["userData"]) or ""
    except RecordError:
        return ""
