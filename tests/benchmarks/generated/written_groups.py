"""One group of the consumer protocol, as its coordinator (4.3.1) writes it: a request in, its records out.

A small model of the coordinator's normal paths, fast enough to write millions of records: join, leave, heartbeat and
commit; targets at most once an interval; a member gives up and confirms before another takes. Static members, regular
expressions and classic members are left to the simulator. One difference is known: the targets of one computation
stand in the order of joining, where Kafka has that of its hash map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from .segment_files import Pair
from .written_values import COMMITS_A_REQUEST_MAX, GroupValues, Topic

FIRST_EPOCH: Final = 1
"""Of a group before its first record."""

ASSIGNMENT_INTERVAL_MS: Final = 1_000
"""Kafka's ``group.consumer.assignment.interval.ms``."""

MOST_PROGRESS: Final = 500
"""Records of the topic between two commits of a partition, at most."""

STABLE, UNREVOKED, UNRELEASED = 0, 1, 2


class WrittenMember:
    """A member as the coordinator remembers it; ``assigned`` and ``pending`` hold the epochs of their partitions."""

    __slots__ = (
        "assigned", "awaited", "current_key", "epoch", "key", "member_id", "owned", "pending", "phase_ms",
        "previous", "state", "target", "target_key", "target_written", "turn",
    )  # fmt: skip

    def __init__(self, member_id: str, keys: tuple[bytes, bytes, bytes], phase_ms: int) -> None:
        self.member_id = member_id
        self.key, self.target_key, self.current_key = keys
        self.phase_ms = phase_ms
        self.epoch, self.previous, self.state = 0, -1, STABLE
        self.assigned: dict[int, int] = {}
        self.pending: dict[int, int] = {}
        self.target: list[int] = []
        self.target_written = False
        self.owned: list[int] = []
        self.turn = 0
        self.awaited = False
        """Whether a heartbeat of it is on its way (for whoever plays the clients)."""


Assignor = Callable[["WrittenGroup"], list[WrittenMember]]
"""Sets the targets of a group's members anew and returns those members whose target changed."""


class WrittenGroup:
    """A group and its members; every method returns the records of one request."""

    def __init__(
        self,
        name: str,
        topics: Sequence[Topic],
        random: Random,
        assignor: Assignor,
        commits_a_request: int = COMMITS_A_REQUEST_MAX,
    ) -> None:
        self.name = name
        self.values = GroupValues(name, topics, commits_a_request)
        self.assignor = assignor
        self.random = random
        self.members: dict[str, WrittenMember] = {}
        self.roster: list[WrittenMember] = []
        self.epoch = self.target_epoch = FIRST_EPOCH
        self.target_ms = 0
        self.free = list(range(len(self.values.places)))
        """Partitions that are in nobody's target."""
        self.holders: list[WrittenMember | None] = [None] * len(self.values.places)
        self.offsets = [0] * len(self.values.places)
        self.joined = 0

    def join(self, now_ms: int) -> tuple[WrittenMember, list[Pair]]:
        drawn = self.random.getrandbits(128)
        member_id = f"{drawn:032x}"
        keys = self.values.member_keys(member_id)
        member = WrittenMember(member_id, keys, self.random.getrandbits(16))
        self.members[member_id] = member
        self.roster.append(member)
        self.joined += 1
        host = f"/10.{drawn >> 16 & 3}.{drawn >> 8 & 255}.{drawn & 255}"
        self.epoch += 1
        records: list[Pair] = [
            (member.key, self.values.member(f"{self.name}-{self.joined}", host)),
            self.values.epoch(self.epoch),
        ]
        self._assign(now_ms, records)
        self._reconcile(member, records)
        return member, records

    def leave(self, member: WrittenMember) -> list[Pair]:
        """It leaves, or its session expired: the log looks the same."""
        del self.members[member.member_id]
        self.roster.remove(member)
        self.free += member.target
        for place in (*member.assigned, *member.pending):
            self.holders[place] = None
        self.epoch += 1
        return [
            (member.current_key, None),
            (member.target_key, None),
            (member.key, None),
            self.values.epoch(self.epoch, empty=not self.roster),
        ]

    def heartbeat(self, member: WrittenMember, now_ms: int) -> list[Pair]:
        """A heartbeat of a member that has given up what it was asked to; without effect it writes nothing."""
        records: list[Pair] = []
        self._assign(now_ms, records)
        self._reconcile(member, records)
        return records

    def commit(self, member: WrittenMember, now_ms: int, most: int) -> tuple[int, bytes]:
        """Commits up to ``most`` of its partitions, the next ones at its next turn: how many, and their framed records."""
        owned, offsets, random = member.owned, self.offsets, self.random.random
        held = len(owned)
        if held <= most:
            places = owned
        else:
            turn = member.turn
            places = owned[turn : turn + most]
            member.turn = (turn + most) % held
        for place in places:
            offsets[place] += 1 + int(random() * MOST_PROGRESS)
        return len(places), self.values.commits(now_ms, places, offsets)

    def settled(self, member: WrittenMember) -> bool:
        """Whether the next heartbeats of this member have nothing to write."""
        return member.state == STABLE and member.epoch == self.epoch

    def _assign(self, now_ms: int, records: list[Pair]) -> None:
        if self.target_epoch >= self.epoch or now_ms < self.target_ms + ASSIGNMENT_INTERVAL_MS:
            return
        self.target_epoch, self.target_ms = self.epoch, now_ms
        changed = set(self.assignor(self))
        for member in self.roster:
            if member in changed or not member.target_written:
                member.target_written = True
                records.append((member.target_key, self.values.target(member.target)))
        records.append(self.values.target_epoch(self.epoch, now_ms))

    def _reconcile(self, member: WrittenMember, records: list[Pair]) -> None:
        """The member's next step, by the rules of Kafka's ``CurrentAssignmentBuilder``."""
        if member.state == STABLE and member.epoch == self.target_epoch:
            return
        old, pending, holders = member.assigned, member.pending, self.holders
        wanted = set(member.target)
        revoked = {place: epoch for place, epoch in old.items() if place not in wanted}
        previous = member.epoch
        assigned = {place: epoch for place, epoch in old.items() if place in wanted}
        if revoked:
            state = UNREVOKED
        else:
            state, member.epoch = STABLE, self.target_epoch
            for place in member.target:
                if place not in old:
                    if holders[place] is None or place in pending:
                        assigned[place] = self.target_epoch
                    else:
                        state = UNRELEASED
        same = (previous, member.state, old, pending) == (member.epoch, state, assigned, revoked)
        if same and previous == member.previous:
            return
        for place in (*old, *pending):
            holders[place] = None
        for place in (*assigned, *revoked):
            holders[place] = member
        member.previous, member.state = previous, state
        member.assigned, member.pending = assigned, revoked
        member.owned = sorted(assigned)
        member.turn = 0
        value = self.values.current(member.epoch, previous, state, assigned, revoked)
        records.append((member.current_key, value))


def uniform(group: WrittenGroup) -> list[WrittenMember]:
    """Balanced counts, and as few moves as that needs (as Kafka's ``uniform`` for equal subscriptions)."""
    if not group.roster:
        return []
    quota, larger = divmod(len(group.values.places), len(group.roster))
    changed: dict[WrittenMember, None] = {}
    free = group.free
    for member in group.roster:
        limit = quota
        if len(member.target) > quota and larger:
            limit, larger = quota + 1, larger - 1
        if len(member.target) > limit:
            free += member.target[limit:]
            member.target = member.target[:limit]
            changed[member] = None
    free.sort(reverse=True)
    for member in group.roster:
        missing = quota - len(member.target)
        if missing >= 0 and larger:
            missing, larger = missing + 1, larger - 1
        if missing > 0:
            member.target = [*member.target, *(free.pop() for _ in range(missing))]
            changed[member] = None
    return list(changed)


def ranges(group: WrittenGroup) -> list[WrittenMember]:
    """Each topic's partitions in ranges by member id (as Kafka's ``range``): whoever comes or goes moves many."""
    members = sorted(group.roster, key=lambda member: member.member_id)
    targets: list[list[int]] = [[] for _ in members]
    first = 0
    for topic in group.values.topics if members else ():
        quota, larger = divmod(topic.partitions, len(members))
        at = first
        for index, target in enumerate(targets):
            size = quota + (index < larger)
            target += range(at, at + size)
            at += size
        first += topic.partitions
    changed = []
    for member, target in zip(members, targets, strict=True):
        if member.target != target:
            member.target = target
            changed.append(member)
    group.free = []
    return changed
