"""Entries of a group's timeline, inferred from all lines of logs that name it.

With records of the same group the lines add what no record has: reasons, leaves, sessions that expired, what clients were given. Each
source of lines is moved onto the records' axis by the skew that its generations or epochs show. Without records the lines alone make the
group: its members as far as a line names them, and its assignments as far as a leader's or a client's line has them. A member that no
line reports as gone is there; why a member went is what a line states, or unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from groups.history.entries import Kind, Payload, Provenance
from groups.history.state.classic_group import UNKNOWN_GENERATION
from groups.history.state.epochs import FIRST_EPOCH
from groups.history.story.events import ERROR_NAMES
from groups.history.words import listed, listed_partitions
from groups.texts.found import LogEvent, TextEntry
from groups.texts.inferred_values import (
    CALLBACKS,
    Facts,
    Partitions,
    Value,
    classic_group,
    current_assignment,
    given_by_leader,
    given_to_clients,
    member_metadata,
    partitions,
    partitions_by_id,
    rebalance_under_way,
    refused_commits,
)
from groups.texts.log_lines import BROKER
from groups.texts.one_axis import COORDINATOR, Recorded, note, number, on_one_axis

_UUID: Final = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_JOINS: Final = frozenset({"joined", "joined_modern"})
ONE_REQUEST_MS: Final = 1_000
"""A coordinator logs what one request does within a moment."""

REFUSED_SHOWN: Final = 3
"""Partitions of a refused commit that its note names."""

AWAY: Final = -2
"""Kafka's epoch of a static member that has left for now."""

UNNAMED: Final = "-id-that-no-line-names"

_SETTLES: Final = ("assigned", "finished", "synced", "joined_generation")


def inferred_entries(events: Sequence[LogEvent], recorded: Recorded) -> list[TextEntry]:
    """The entries that lines of one group make, in the order of their times. ``events``: in any order."""
    moved, notes = on_one_axis(events, recorded)
    moved.sort(key=lambda event: event.at_ms)
    if not moved:
        return []
    return [*notes, *_Group(moved, recorded.any).entries()]


@dataclass(slots=True)
class _Member:
    client_id: str = ""
    assigned: Partitions | None = None
    epoch: int = 0


class _Group:
    """Goes through the events twice: first for what later lines say of a generation, then for the entries."""

    def __init__(self, events: Sequence[LogEvent], recorded: bool) -> None:
        self.events, self.recorded = events, recorded
        self.group = events[0].group
        self.at_ms = events[0].at_ms
        self.out: list[TextEntry] = []
        self.members: dict[str, _Member] = {}
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

    def entries(self) -> list[TextEntry]:
        for event in self.events:
            self.at_ms = event.at_ms
            if (handle := _HANDLERS.get(event.what)) is not None:
                handle(self, event)
            if event.what in _SETTLES and not (self.recorded or self.modern):
                self._settle(event)
        return self.out

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
            if event.what in _SETTLES and generation is not None:
                before = self.settles.get(generation)
                if before is None or _SETTLES.index(event.what) < _SETTLES.index(before):
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
                self.members[member] = _Member(self._client(member))
            if member and (event.what in (*_JOINS, "given_id") or event.fields.get("new") == "JOINING"):
                self.new.add(member)
            if member and (member in self.new or event.what in ("joined_generation", "named", "state")):
                came.add(member)
        for generation, given in given_to_clients(self.events).items():
            if generation not in self.led:
                self.given[generation] = given

    # -- what both protocols have

    def _named(self, event: LogEvent) -> None:
        if member := event.fields.get("member"):
            self.member_of[event.source] = member

    def _reason(self, event: LogEvent) -> None:
        self._note(f"{event.source} logs: {event.fields['reason'].strip()}")

    def _refused_commit(self, event: LogEvent) -> None:
        """A client logs which commits were refused, and as what; the coordinator logs nothing of it."""
        refused = refused_commits(event.fields)
        if refused is None:
            return
        code, offsets = refused
        member = self.member_of.get(event.source)
        places = [f"{topic}-{number} at {offset}" for topic, number, offset in offsets]
        shown = listed(
            places
            if len(places) <= REFUSED_SHOWN
            else [*places[:REFUSED_SHOWN], f"{len(places) - REFUSED_SHOWN} more"]
        )
        self._note(f"{event.source} logs: its commit of {shown} was refused ({ERROR_NAMES[code]})")
        if member is not None:
            asked, topics = (
                [{"name": topic, "partitions": [{"partitionIndex": number, what: value}]} for topic, number, value in some]
                for what, some in (
                    ("committedOffset", offsets),
                    ("errorCode", [(topic, number, code) for topic, number, _ in offsets]),
                )
            )  # fmt: skip
            commit = {"api": "OffsetCommit", "version": 9}
            request = {"groupId": self.group, "memberId": member, "topics": asked}
            self._add(Kind.REQUEST, member, {**commit, "body": request})
            body = {"throttleTimeMs": 0, "topics": topics}
            self._add(Kind.RESPONSE, COORDINATOR, {**commit, "to": member, "body": body})

    def _callback(self, event: LogEvent) -> None:
        given = partitions(event.fields.get("partitions", ""))
        if given:
            names = [f"{topic}-{number}" for topic, numbers in given.items() for number in numbers]
            self._note(f"{event.source} {CALLBACKS[event.what]} {listed_partitions(names)}")

    def _failed(self, event: LogEvent) -> None:
        """The coordinator logs it where a session ran out."""
        member = event.fields["member"]
        self._fires("session", member)
        self.members.pop(member, None)

    def _left(self, event: LogEvent) -> None:
        member = event.fields["member"]
        if member not in self.members and not self.recorded:
            return
        leaving = {"memberId": member, "groupInstanceId": None, "reason": event.fields.get("reason")}
        body = {"groupId": self.group, "members": [leaving]}
        self._add(Kind.REQUEST, member, {"api": "LeaveGroup", "version": 3, "body": body})
        if self.members.pop(member, None) is not None and self.members and not self.phases:
            self.out[-1] = self.out[-1]._replace(settled=False)
            self._phase("PreparingRebalance")

    # -- the classic protocol

    def _joined(self, event: LogEvent) -> None:
        if member := event.fields.get("member"):
            self.members[member] = _Member(self._client(member))

    def _removed(self, event: LogEvent) -> None:
        for member in list(self.members):
            if member in event.fields["members"]:
                del self.members[member]
        self._note(f"The coordinator removed members that had not joined: {event.fields['members'][:400]}")

    def _took_over(self, event: LogEvent) -> None:
        """A static member is back: its generation goes on, with another id in its place."""
        before, instance = event.fields["before"].rstrip("."), event.fields["groupInstanceId"]
        if self.recorded or before not in self.members or not self.written:
            return
        ids = (each.fields.get("member", "") for each in self.events if each.at_ms >= self.at_ms)
        member = next((one for one in ids if one != before and _UUID.sub("", one) == instance), None)
        member = member or f"{instance}{UNNAMED}"
        self.members[member] = self.members.pop(before)
        self.facts[member] = {**self.facts.get(before, {}), **self.facts.get(member, {})}
        generation = max(self.written)
        if self.leaders.get(generation) == before:
            self.leaders[generation] = member
        self._write(generation, self.members, self.topics)

    def _moved(self, _event: LogEvent) -> None:
        self._note("The group's coordinator moved, or was started again")

    def _preparing(self, event: LogEvent) -> None:
        self._phase("PreparingRebalance")
        self._note(f"The coordinator prepares a rebalance: {event.fields['reason']}")

    def _stabilized(self, _event: LogEvent) -> None:
        self._phase("CompletingRebalance")

    def _empty(self, event: LogEvent) -> None:
        self.members = {}
        if not self.recorded and not self.modern:
            self._write(number(event.fields["generation"]) or 0, {}, [])

    def _phase(self, state: str) -> None:
        """A rebalance under way, with those who are members as far as lines name them."""
        if self.recorded or self.modern:
            return
        clients = {member: each.client_id for member, each in self.members.items()}
        self._add(Kind.OBSERVATION, COORDINATOR, rebalance_under_way(state, clients))

    def _settle(self, event: LogEvent) -> None:
        generation = number(event.fields.get("generation"))
        if generation is None or generation in self.written or self.settles[generation] != event.what:
            return
        given = self.given.get(generation, {})
        self.members = {
            member: self.members.get(member) or _Member(self._client(member))
            for member in self._members_of(generation, given)
        }
        # Who gets nothing cannot be distinguished from who has no line, unless all have one.
        count = number(event.fields.get("count"))
        whole = generation in self.led or (count == len(self.members) and self.members.keys() <= given.keys())
        for member, each in self.members.items():
            each.assigned = given.get(member) if whole else None
        if not self.written and generation > 1 and self.new & self.members.keys():
            # A first record lists its members as there before: those that join come after one without them.
            there = self.members.items()
            before = {name: _Member(each.client_id) for name, each in there if name not in self.new}
            self._write(UNKNOWN_GENERATION, before, [])
        self._write(generation, self.members, self.topics if whole else [])
        if count is not None and count != len(self.members):
            text = f"The coordinator counts {count} members in generation {generation}; the lines name {len(self.members)}"
            self._note(text)

    def _members_of(self, generation: int, given: Mapping[str, Partitions]) -> Iterable[str]:
        """A leader's line names all members of its generation; else those that are there, and those that say they are."""
        if generation in self.led:
            return sorted(given)
        return sorted({*self.members, *self.synced.get(generation, ()), *given})

    def _write(self, generation: int, members: Mapping[str, _Member], topics: list[str]) -> None:
        self.written.add(generation)
        rows = {
            member: (each.client_id, each.assigned, self.facts.get(member, {}))
            for member, each in members.items()
        }
        value = classic_group(
            generation,
            self.at_ms,
            rows,
            topics,
            protocol=self.protocols.get(generation, ""),
            leader=self.leaders.get(generation),
        )
        self._record({"type": 2, "key": {"group": self.group}, "version": 4, "value": value})

    # -- the consumer protocol

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
        self.members[member] = _Member(self._client(member), epoch=self.epoch)
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
            self.members[member] = _Member(self._client(member), epoch=epoch)
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

    # -- entries

    def _client(self, member: str) -> str:
        """The client's id: of its own lines, else what Kafka puts before the random part of a classic member's id."""
        named = self.client_of.get(member)
        return named or (_UUID.sub("", member) if _UUID.search(member) else "")

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


_HANDLERS: Final[Mapping[str, Callable[[_Group, LogEvent], None]]] = {
    **dict.fromkeys(CALLBACKS, _Group._callback),
    "given_id": _Group._named,
    "named": _Group._named,
    "reason": _Group._reason,
    "refused_commit": _Group._refused_commit,
    "refused_commits": _Group._refused_commit,
    "failed": _Group._failed,
    "left": _Group._left,
    "joined": _Group._joined,
    "removed": _Group._removed,
    "took_over": _Group._took_over,
    "moved": _Group._moved,
    "left_for_now": _Group._left_for_now,
    "took_over_modern": _Group._took_over_modern,
    "resubscribed": _Group._resubscribed,
    "preparing": _Group._preparing,
    "stabilized": _Group._stabilized,
    "empty": _Group._empty,
    "joined_generation": _Group._named,
    "joined_modern": _Group._joined_modern,
    "state": _Group._state,
    "reconciling": _Group._reconciling,
    "acknowledged": _Group._acknowledged,
    "bumped": _Group._bumped,
    "target": _Group._target,
    "fenced": _Group._fenced,
    "left_modern": _Group._left_modern,
}
