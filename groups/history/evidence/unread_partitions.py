"""What nobody read: partitions whose reader's process was killed or paused, until another client, or the same one, reads them.

The coordinator does not notice: such partitions stay assigned until the session expires, and the group is Stable all the time.
A client reads a partition from the end of ``on_partitions_assigned`` on. Only faults and callbacks report this, so it is known of
simulated runs alone; of a log of commits ``Rhythm`` infers it.

An incremental fold over steps, like ``Ownership``.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple

from groups.history.entries import Entry, Kind
from groups.history.evidence.steps import Step
from groups.history.replay.fields import integer, mapping, text
from groups.history.state.declared import ROWS, As, document
from groups.history.state.group import Client, State

UNREAD_KEPT_MAX: Final = 100
"""The longest intervals that are kept; all are counted."""

STOPPED_MAX: Final = 20_000
"""Partitions of which is remembered that nobody reads them now: twice as many as the largest group that is simulated has."""

KILLS_KEPT_MAX: Final = 2_000
"""Members of which is remembered when they were killed; as many as have names."""

Place = tuple[str, int]
"""A topic's name and a partition's number, as clients call it."""


class Unread(NamedTuple):
    """A time in which nobody read a partition; ordered by length, longest last. ``to_member`` is who read it then."""

    length_ms: int
    topic: str
    partition: int
    from_ms: int
    from_sequence: int
    to_sequence: int
    member: str
    to_member: str
    why: str


class Stop(NamedTuple):
    """Since when nobody reads a partition: whose process stopped, ``killed`` or ``paused``."""

    since_ms: int
    sequence: int
    member: str
    why: str


def _longest_first(unread: Iterable[Unread]) -> list[Unread]:
    return sorted(unread, key=lambda one: (-one.length_ms, one.from_sequence, one.topic, one.partition))


@document
@dataclass(slots=True)
class Reading:
    """``stopped`` are the partitions that nobody reads now, ``killed`` when processes ended: member → time, sequence."""

    stopped: Annotated[dict[Place, Stop], ROWS] = field(default_factory=dict)
    unread: Annotated[list[Unread], As(list[Unread], _longest_first, sorted)] = field(default_factory=list)
    """A heap; a sorted list is one, too."""
    unread_count: int = 0
    killed: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, step: Step) -> None:
        """Fold one step."""
        entry = step.entries[-1]
        if entry.kind is Kind.FAULT:
            member = text(entry.payload.get("member"))
            fault = entry.payload.get("fault")
            if member is None:
                return
            if fault == "kill":
                if len(self.killed) < KILLS_KEPT_MAX:
                    self.killed[member] = (entry.at_ms, entry.sequence)
                self._stops(step.before, entry, member, "killed")
            elif fault == "pause":
                self._stops(step.before, entry, member, "paused")
            elif fault == "resume":
                mine = [place for place, stop in self.stopped.items() if stop.member == member]
                self._reads(entry, member, mine)
        elif entry.kind is Kind.CALLBACK and self.stopped:
            payload = entry.payload
            if payload.get("callback") == "on_partitions_assigned" and payload.get("phase") != "start":
                self._reads(entry, entry.actor, _places(payload.get("partitions")))

    def _stops(self, before: State, entry: Entry, member: str, why: str) -> None:
        clients = before.clients or {}
        client = clients.get(member)
        others = [one for other, one in clients.items() if other != member and _is_running(one)]
        for place in _places(client.owned) if client is not None else _assigned(before, member):
            if place in self.stopped or len(self.stopped) >= STOPPED_MAX:
                continue
            if not any(place[1] in one.owned.get(place[0], ()) for one in others):
                self.stopped[place] = Stop(entry.at_ms, entry.sequence, member, why)

    def _reads(self, entry: Entry, member: str, places: Iterable[Place]) -> None:
        for place in places:
            stop = self.stopped.pop(place, None)
            if stop is None:
                continue
            self.unread_count += 1
            length_ms = max(entry.at_ms - stop.since_ms, 0)
            one = Unread(
                length_ms, *place, stop.since_ms, stop.sequence, entry.sequence, stop.member, member, stop.why
            )
            heapq.heappush(self.unread, one)
            if len(self.unread) > UNREAD_KEPT_MAX:
                heapq.heappop(self.unread)

    def longest_first(self) -> list[Unread]:
        return _longest_first(self.unread)


def _is_running(client: Client) -> bool:
    return not client.killed and not client.paused


def _assigned(state: State, member_id: str) -> list[Place]:
    """What the coordinator has assigned to a member whose client was not seen yet."""
    member = state.modern.members.get(member_id)
    if member is None:
        return []
    return [(state.topic_name(topic), p) for topic, held in member.assigned.items() for p in sorted(held)]


def _places(partitions: object) -> list[Place]:
    return [(str(name), integer(p)) for name, numbers in mapping(partitions).items() for p in numbers]
