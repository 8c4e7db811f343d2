"""Finds the moments at which the rows of a proposal's table end, and notes them in the log.

Rows stand in order. Each waits for one event (``simulations.world.scenario.Event``). One moment can end several rows, as a
released join does what the proposal describes in three; and a row whose event came out of order, yet in the same group
epoch, ends together with the row before it. Heartbeats and the like are no such events: they must come after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groups.history.entries import Entry, Kind
from groups.history.state.classic_group import ClassicGroup
from groups.history.state.consumer import ConsumerGroup, ConsumerMember
from groups.history.state.epochs import Assignment
from simulations.invariants import INVARIANT_FAULT
from simulations.world.engine.log import COORDINATOR, Log
from simulations.world.engine.step_events import MOMENTS, PASSING, Seen, seen_in_entry
from simulations.world.scenario import Event, NarratedStep


class Narration:
    """Called for every settled moment; writes a ``step`` note for each row that ends there."""

    def __init__(self, steps: tuple[NarratedStep, ...], log: Log) -> None:
        self._steps = steps
        self._log = log
        self._next = 0
        self._unclaimed: list[Seen] = []
        self._watched: list[Seen] = []
        self._group = log.state.consumer
        self._classic = log.state.classic
        if steps:
            log.watch = self._watch

    def begin(self) -> None:
        """What has been written so far is where the rows start from."""
        self._group = self._log.state.consumer

    def settled(self, at_ms: int, seen_events: Iterable[Seen]) -> None:
        """A moment has settled. ``seen_events`` are the events that neither the records nor other entries show."""
        if self._next == len(self._steps):
            return
        before, after = self._group, self._log.state.consumer
        was, now = self._classic, self._log.state.classic
        self._group, self._classic = after, now
        if before.group_epoch != after.group_epoch or was.generation != now.generation:
            self._unclaimed.clear()
        seen_events = [*self._watched, *seen_events]
        self._watched.clear()
        self._unclaimed += [
            *shown(before, after),
            *shown_of_classic(was, now),
            *(seen for seen in seen_events if seen[0] not in PASSING),
        ]
        passing = [seen for seen in seen_events if seen[0] in PASSING]
        while self._next < len(self._steps):
            step = self._steps[self._next]
            waited = (step.event, step.who)
            events = passing if step.event in PASSING else self._unclaimed
            if waited not in events:
                return
            events.remove(waited)
            self._next += 1
            payload = {"note": "step", "step": self._next, "says": step.narration}
            self._log.write(Kind.NOTE, COORDINATOR, at_ms, payload, cause=self._log.last)

    def _watch(self, entry: Entry) -> None:
        self._watched += seen_in_entry(entry)
        if entry.kind in MOMENTS and entry.payload.get("fault") != INVARIANT_FAULT:
            # What the checker finds is within an operation; everything else of these is a moment by itself.
            self.settled(entry.at_ms, ())


def shown(before: ConsumerGroup, after: ConsumerGroup) -> list[Seen]:
    """The events that two states of a group differ by."""
    if before is after:
        return []
    events: list[Seen] = [(Event.REMOVED, member) for member in before.members if member not in after.members]
    if before.assignment_epoch != after.assignment_epoch:
        events.append((Event.TARGET, None))
    for member_id, member in after.members.items():
        old = before.members.get(member_id)
        if old is member:
            continue
        if old is None:
            events.append((Event.JOIN, member_id))
            old = ConsumerMember(member_id=member_id)
        if any(not member.holds(topic_id, partition) for topic_id, partition in _held(old)):
            events.append((Event.ACKNOWLEDGES, member_id))
        if member.epoch > old.epoch:
            events.append((Event.ADVANCES, member_id))
        if _grew(old.assigned, member.assigned):
            events.append((Event.GAINS, member_id))
    return events


def shown_of_classic(before: ClassicGroup, after: ClassicGroup) -> list[Seen]:
    """The same of a classic group, whose records come once a generation."""
    if before is after:
        return []
    events: list[Seen] = [(Event.REMOVED, member) for member in before.members if member not in after.members]
    events += [(Event.JOIN, member) for member in after.members if member not in before.members]
    if before.generation != after.generation:
        events.append((Event.GENERATION, None))
    for member_id, member in after.members.items():
        old = before.members.get(member_id)
        had = old.assigned if old is not None else {}
        if any(set(numbers) - set(had.get(topic, ())) for topic, numbers in member.assigned.items()):
            events.append((Event.GAINS, member_id))
    return events


def _held(member: ConsumerMember) -> Iterator[tuple[str, int]]:
    for assignment in (member.assigned, member.pending_revocation):
        for topic_id, numbers in assignment.items():
            for partition in numbers:
                yield topic_id, partition


def _grew(before: Assignment, after: Assignment) -> bool:
    return any(set(numbers) - set(before.get(topic_id, ())) for topic_id, numbers in after.items())
