"""A group as lines of logs name it so far, and the entries that its inferred records and requests are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groups.history.entries import Kind, Payload, Provenance
from groups.texts.found import LogEvent, TextEntry
from groups.texts.inferred_values import (
    Facts,
    Partitions,
    given_by_leader,
    given_to_clients,
    rebalance_under_way,
)
from groups.texts.log_lines import BROKER
from groups.texts.one_axis import COORDINATOR, note, number

UUID: Final = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_JOINS: Final = frozenset({"joined", "joined_modern"})

SETTLES: Final = ("assigned", "finished", "synced", "joined_generation")
"""Events that end a rebalance of the classic protocol, the surest first."""


@dataclass(slots=True)
class InferredMember:
    client_id: str = ""
    assigned: Partitions | None = None
    epoch: int = 0


class InferredGroup:
    """Looks ahead for what later lines report of a generation, and writes the entries that each protocol's lines make."""

    def __init__(self, events: Sequence[LogEvent], recorded: bool) -> None:
        self.events, self.recorded = events, recorded
        self.group = events[0].group
        self.at_ms = events[0].at_ms
        self.out: list[TextEntry] = []
        self.members: dict[str, InferredMember] = {}
        self.new: set[str] = set()
        """Members that join within the lines, by a line that states it."""
        self.member_of: dict[str, str] = {}
        self.client_of: dict[str, str] = {}
        self.facts: dict[str, Facts] = {}
        self.topics: list[str] = []
        self.given: dict[int, dict[str, Partitions]] = {}
        self.led: set[int] = set()
        """Generations of which a leader's line names every member, with what it gets."""
        self.protocols: dict[int, str] = {}
        self.leaders: dict[int, str] = {}
        self.synced: dict[int, set[str]] = {}
        self.settles: dict[int, str] = {}
        """Generation → the kind of event with which it is shown: the coordinator's line where there is one."""
        self.written: set[int] = set()
        self.joining: list[str] = []
        self.reached: dict[str, int] = {}
        """The epoch that each member's client has named last."""
        self.epoch = 0
        self.reconciling: dict[str, Partitions] = {}
        self.phases = any(event.what == "preparing" for event in events)
        """Whether the coordinator's own lines say when a rebalance begins."""
        self.modern = any(
            event.what
            in ("joined_modern", "bumped", "target", "fenced", "state", "left_for_now", "took_over_modern")
            for event in events
        )
        self._look_ahead()
        named = {
            event.fields["member"]
            for event in events
            if event.what in (*_JOINS, "fenced", "left_modern", "state") and "member" in event.fields
        }
        clients = {event.source for event in events if event.what in ("reconciling", "acknowledged")}
        self.whole = any(event.what == "bumped" for event in events) and all(
            self.client_of.get(member) in clients for member in named
        )
        """Whether the lines name all members, with what each has: else one that has nothing is not known from one without a line."""
        if self.modern and not self.whole:
            self.topics = []

    def _look_ahead(self) -> None:
        came: set[str] = set()
        for event in self.events:
            fields = event.fields
            member = fields.get("member", "")
            generation = number(fields.get("generation"))
            if event.source != BROKER and member:
                self.client_of.setdefault(member, event.source)
            if member and not fields.keys().isdisjoint(("clientHost", "groupInstanceId", "instanceId")):
                self.facts[member] = {**self.facts.get(member, {}), **fields}
            if event.what == "subscribed" and not self.topics:
                self.topics = [topic.strip() for topic in fields["topics"].split(",")]
            if event.what in SETTLES and generation is not None:
                before = self.settles.get(generation)
                if before is None or SETTLES.index(event.what) < SETTLES.index(before):
                    self.settles[generation] = event.what
                self.protocols.setdefault(generation, fields.get("protocol", ""))
                if fields.get("leader"):
                    self.leaders[generation] = fields["leader"]
                if event.what == "finished":
                    self.given[generation] = given_by_leader(fields["assignments"])
                    self.led.add(generation)
                elif member:
                    self.synced.setdefault(generation, set()).add(member)
                    self.protocols[generation] = fields.get("protocol", "") or self.protocols[generation]
            # A member that no line says to have joined was there before the first line.
            if (
                member
                and member not in came
                and event.what in ("failed", "left", "removed", "fenced", "left_modern")
            ):
                self.members[member] = InferredMember(self._client(member))
            if member and (event.what in (*_JOINS, "given_id") or event.fields.get("new") == "JOINING"):
                self.new.add(member)
            if member and (member in self.new or event.what in ("joined_generation", "named", "state")):
                came.add(member)
        for generation, given in given_to_clients(self.events).items():
            if generation not in self.led:
                self.given[generation] = given

    def _client(self, member: str) -> str:
        """The client's id: of its own lines, else what Kafka puts before the random part of a classic member's id."""
        named = self.client_of.get(member)
        return named or (UUID.sub("", member) if UUID.search(member) else "")

    def _of_group(self, number: int, value: Payload) -> None:
        self._record({"type": number, "key": {"groupId": self.group}, "version": 0, "value": value})

    def _of_member(
        self, number: int, member: str, value: Payload | None, *, settled: bool = True, caused: bool = False
    ) -> None:
        key, version = {"groupId": self.group, "memberId": member}, None if value is None else 0
        payload: Payload = {"type": number, "key": key, "version": version, "value": value}
        self._record(payload, settled=settled, caused=caused)

    def _record(self, payload: Payload, *, settled: bool = True, caused: bool = False) -> None:
        entry = TextEntry(self.group, self.at_ms, Kind.RECORD, COORDINATOR, payload, Provenance.INFERRED)
        self.out.append(entry._replace(settled=settled, caused=caused))

    def _fires(self, timer: str, member: str) -> None:
        payload = {"timer": timer, "member": member, "event": "fired", "deadline_ms": self.at_ms}
        self._add(Kind.TIMER, COORDINATOR, payload)

    def _note(self, text: str) -> None:
        self.out.append(note(self.group, self.at_ms, text))

    def _add(self, kind: Kind, actor: str, payload: Payload) -> None:
        self.out.append(TextEntry(self.group, self.at_ms, kind, actor, payload))

    def _phase(self, state: str) -> None:
        """A rebalance under way, with those who are members as far as lines name them."""
        if self.recorded or self.modern:
            return
        clients = {member: each.client_id for member, each in self.members.items()}
        self._add(Kind.OBSERVATION, COORDINATOR, rebalance_under_way(state, clients))
