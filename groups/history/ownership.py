"""Who owned what and when, seen by the coordinator: moves, times without an owner, and who was waited for.

A partition is owned by the member that has it assigned or is still giving it up. Before its first owner, and while
the group is empty, nobody was meant to own it, so that time is not counted.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from groups.history.entries import Entry, Kind
from groups.history.state import EPOCH_JUMP, Protocol
from groups.history.steps import Key, Step, holdings, keys

MOVES_KEPT_MAX: Final = 200
"""Moves that are told one by one; all are counted. The first ones: they are what the reader sees begin."""

GAPS_KEPT_MAX: Final = 100
"""The longest times without an owner that are kept; all are counted."""


class Ownerless(NamedTuple):
    """A time without an owner; ordered by length, longest last."""

    length_ms: int
    topic: str
    partition: int
    from_ms: int
    from_sequence: int
    to_sequence: int
    before: str
    after: str

    def to_json(self) -> list[Any]:
        return list(self)


class Free(NamedTuple):
    """A partition that is free now: since when, and whose it was. ``given_up``: its owner acknowledged, or left."""

    since_ms: int
    sequence: int
    owner: str
    given_up: bool


class Wait(NamedTuple):
    """A partition that somebody else should have: ``waiter`` waits for ``holder``."""

    since_ms: int
    sequence: int
    holder: str
    waiter: str


class Ownership:
    """An incremental fold over steps; ``to_json`` and ``from_json`` carry it over a checkpoint."""

    def __init__(self) -> None:
        self.owner: dict[Key, str] = {}
        self.free: dict[Key, Free] = {}
        self.waits: dict[Key, Wait] = {}
        self.ownerless: list[Ownerless] = []
        self.ownerless_count = 0
        self.moves: list[list[Any]] = []
        """``[topic, partition, from, to, released at sequence, taken at sequence]``."""
        self.moves_count = 0
        self.moves_last_sequence = 0
        # How many members' targets hold a partition, counted once that is asked; and which of the free ones nobody may be
        # meant to have any more.
        self._aims: dict[Key, int] | None = None
        self._doubtful: set[Key] = set()
        self.overlapped = False
        """Whether a partition was taken before its owner had given it up, as far as the log tells: in the same step,
        earlier, or after its owner was removed, who may not know of that for a while."""
        self.waited: dict[str, list[Any]] = {}
        """Holder → ``[ms, topic, partition, waiter, from sequence, to sequence, given up]`` of the longest wait for
        it; not given up: the holder was removed."""

    def add(self, step: Step, *, leaves: bool = False, hole: bool = False) -> None:
        """Fold one step. ``leaves``: who is removed in it asked for that. ``hole``: something is missing before it.

        Of a share group there is nothing to tell: its partitions have readers, and no owner.
        """
        if step.after.protocol is Protocol.SHARE:
            self.owner.clear()
            self.free.clear()
            self.waits.clear()
            self._aims = None
            return
        if hole or is_hole(step):
            # Who had what in between is not known, so no time is measured over it.
            self.free.clear()
            self.waits.clear()
        if step.migrates:
            self.owner = holdings(step.after)
            self.free.clear()
            self.waits.clear()
            self._aims = None
            return
        self._aim(step)
        taken = {key: change.member_id for change in step.members for key in sorted(change.gained)}
        for change in step.members:
            for key in sorted(change.released):
                if self.owner.get(key) == change.member_id:
                    given_up = leaves or change.member_id not in step.removed
                    self._release(step, key, change.member_id, taken, given_up=given_up)
        for key, member_id in taken.items():
            self._take(step, key, member_id)
        for retarget in step.retargets:
            self._retarget(step, retarget.partition, retarget.after)
        if step.target_computed and self._doubtful:
            self._forget_unmeant(step)
        if _is_empty(step) and step.removed:
            # An empty group has no owners by nature.
            self.free.clear()
            self.waits.clear()

    def _aim(self, step: Step) -> None:
        """Keeps count of the targets that hold each partition."""
        aims = self._aims
        if aims is None:
            return
        for key in step.aims_found:
            aims[key] = aims.get(key, 0) + 1
        for key in step.aims_lost:
            left = aims[key] - 1
            if left:
                aims[key] = left
                continue
            del aims[key]
            if key in self.free:
                self._doubtful.add(key)

    def _forget_unmeant(self, step: Step) -> None:
        """Partitions that are free because nobody is meant to have them are without an owner by design."""
        if self._aims is None:
            self._aims = Counter(key for target in step.after.modern.target.values() for key in keys(target))
            self._doubtful = set(self.free)
        for key in self._doubtful:
            if key not in self._aims:
                self.free.pop(key, None)
        self._doubtful.clear()

    def _release(
        self, step: Step, key: Key, member_id: str, taken: Mapping[Key, str], *, given_up: bool
    ) -> None:
        wait = self.waits.pop(key, None)
        if wait is not None and wait.holder == member_id:
            self._waited(step, key, wait, given_up=given_up)
        if key in taken:
            return
        del self.owner[key]
        self.free[key] = Free(step.after.at_ms, step.sequence, member_id, given_up)
        self._doubtful.add(key)

    def _take(self, step: Step, key: Key, member_id: str) -> None:
        free, before = self.free.pop(key, None), self.owner.get(key)
        self.owner[key] = member_id
        if free is not None:
            before = free.owner
            self.ownerless_count += 1
            length = max(step.after.at_ms - free.since_ms, 0)
            interval = Ownerless(
                length, *key, free.since_ms, free.sequence, step.sequence, free.owner, member_id
            )
            heapq.heappush(self.ownerless, interval)
            if len(self.ownerless) > GAPS_KEPT_MAX:
                heapq.heappop(self.ownerless)
        if before is None or before == member_id or step.replaced.get(before) == member_id:
            return
        self.moves_count += 1
        self.moves_last_sequence = step.sequence
        self.overlapped = self.overlapped or free is None or not free.given_up
        if len(self.moves) < MOVES_KEPT_MAX:
            released = free.sequence if free is not None else step.sequence
            self.moves.append([*key, before, member_id, released, step.sequence])

    def _retarget(self, step: Step, key: Key, after: str | None) -> None:
        holder = self.owner.get(key)
        if after is None or holder is None or holder == after:
            self.waits.pop(key, None)
            return
        old = self.waits.get(key)
        if old is None or old.holder != holder:
            self.waits[key] = Wait(step.after.at_ms, step.sequence, holder, after)
        else:
            self.waits[key] = Wait(old.since_ms, old.sequence, holder, after)

    def _waited(self, step: Step, key: Key, wait: Wait, *, given_up: bool) -> None:
        length = max(step.after.at_ms - wait.since_ms, 0)
        longest = self.waited.get(wait.holder)
        if longest is None or longest[0] < length:
            self.waited[wait.holder] = [length, *key, wait.waiter, wait.sequence, step.sequence, given_up]

    def still_waited(self) -> dict[str, tuple[Key, Wait]]:
        """Holder → the longest of the waits for it that are not over."""
        longest: dict[str, tuple[Key, Wait]] = {}
        for key, wait in self.waits.items():
            known = longest.get(wait.holder)
            if known is None or (wait.since_ms, wait.sequence, key) < (*_since(known[1]), known[0]):
                longest[wait.holder] = (key, wait)
        return longest

    def longest_first(self) -> list[Ownerless]:
        return sorted(
            self.ownerless, key=lambda one: (-one.length_ms, one.from_sequence, one.topic, one.partition)
        )

    def to_json(self) -> dict[str, Any]:
        owners: dict[str, dict[str, list[int]]] = {}
        for (topic, partition), member_id in self.owner.items():
            owners.setdefault(member_id, {}).setdefault(topic, []).append(partition)
        # Sorted: in which order they were taken is nobody's concern, and is not the same after a checkpoint.
        of_members = {
            member_id: {topic: sorted(numbers) for topic, numbers in sorted(topics.items())}
            for member_id, topics in sorted(owners.items())
        }
        return {
            "owners": of_members,
            "free": [
                [*key, free.since_ms, free.sequence, free.owner, free.given_up]
                for key, free in self.free.items()
            ],
            "waits": [
                [*key, wait.since_ms, wait.sequence, wait.holder, wait.waiter]
                for key, wait in self.waits.items()
            ],
            "ownerless": [one.to_json() for one in self.longest_first()],
            "ownerless_count": self.ownerless_count,
            "moves": [list(move) for move in self.moves],
            "moves_count": self.moves_count,
            "moves_last_sequence": self.moves_last_sequence,
            "overlapped": self.overlapped,
            "waited": {holder: list(wait) for holder, wait in self.waited.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Ownership:
        new = cls()
        new.owner = {
            (topic, partition): member_id
            for member_id, topics in data["owners"].items()
            for topic, partitions in topics.items()
            for partition in partitions
        }
        new.free = {(free[0], free[1]): Free(*free[2:]) for free in data["free"]}
        new._doubtful = set(new.free)
        new.waits = {(wait[0], wait[1]): Wait(*wait[2:]) for wait in data["waits"]}
        new.ownerless = [Ownerless(*one) for one in data["ownerless"]]
        heapq.heapify(new.ownerless)
        new.ownerless_count = data["ownerless_count"]
        new.moves = [list(move) for move in data["moves"]]
        new.moves_count = data["moves_count"]
        new.moves_last_sequence = data["moves_last_sequence"]
        new.overlapped = data["overlapped"]
        new.waited = {holder: list(wait) for holder, wait in data["waited"].items()}
        return new


def _since(wait: Wait) -> tuple[int, int]:
    return wait.since_ms, wait.sequence


def is_hole(step: Step) -> bool:
    """Whether something is missing right before this step: a gap, or changes of the group that nobody saw."""
    if any(anomaly.kind == EPOCH_JUMP for anomaly in step.anomalies):
        return True
    return any(is_gap(entry) and not entry.payload.get("compacted") for entry in step.entries)


def is_gap(entry: Entry) -> bool:
    """Whether the entry tells of records that are missing: here, or (``compacted``) here and there from here on."""
    return entry.kind is Kind.NOTE and entry.payload.get("note") == "gap"


def _is_empty(step: Step) -> bool:
    after = step.after
    return not (after.classic.members if after.protocol is Protocol.CLASSIC else after.modern.members)
