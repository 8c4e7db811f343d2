"""The mixes of generated logs: what the groups of a partition do, and how their records lie between one another.

===========  ======================================================================================================
typical      nine tenths offset commits, one to three a request; now and then a member of a group joins or leaves
churn        half commits, all partitions of a member a request; members come and go all the time under ``range``,
             so that each time nearly every target changes (the mix of record types of a cluster in trouble)
many-groups  20,000 small groups with five rebalances each
large-group  one group of 20,000 members on as many partitions that join within some minutes; then three rebalances
===========  ======================================================================================================

Every mix is a function of its parameters and its seed alone, and needs memory for its groups, not for its records.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

from .segment_files import SEGMENT_BYTES, Pair, PartitionLog
from .written_groups import Assignor, WrittenGroup, WrittenMember, ranges, uniform
from .written_values import COMMITS_A_REQUEST_MAX, Topic

START_MS: Final = 1_700_000_000_000
HEARTBEAT_MS: Final = 5_000
OFFSETS_PARTITIONS: Final = 50
"""Kafka's ``offsets.topic.num.partitions``: a group's name decides which of them holds it."""

PARTITION: Final = 17
REVOKED_WITHIN_MS: Final = (50, 500)
"""How long a client takes to give partitions up."""

GROUPS_MAX: Final = 200
MEMBERS: Final = 20
RECORDS_A_GROUP: Final = 5_000
"""Fewer groups in a small log, or it would hold nothing but their beginnings."""

TYPICAL_COMMITS: Final = 0.9
TYPICAL_COMMITS_A_REQUEST: Final = 3
CHURN_COMMITS: Final = 0.52
"""The share of the mix that users' worst logs were first measured with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written: the files in the order of their offsets, and the records by their type."""

    files: tuple[Path, ...]
    groups: tuple[str, ...]
    records: int
    size_bytes: int
    types: Counter[int]


def typical(
    folder: Path, records: int, *, seed: int = 1, partition: int = PARTITION, groups: int | None = None, members: int = MEMBERS,
    segment_bytes: int | None = SEGMENT_BYTES,
) -> Written:  # fmt: skip
    """``records`` or a few more (a request is never cut); the file grows by about 115 bytes a record."""
    play = _Play(folder, seed, partition, segment_bytes, TYPICAL_COMMITS_A_REQUEST)
    play.found(_groups_of(records) if groups is None else groups, members, 3 * members, uniform)
    play.run(records, commits=TYPICAL_COMMITS, least=1, step_ms=2.6)
    return play.end()


def churn(
    folder: Path, records: int, *, seed: int = 1, partition: int = PARTITION, groups: int | None = None, members: int = MEMBERS,
    segment_bytes: int | None = SEGMENT_BYTES,
) -> Written:  # fmt: skip
    play = _Play(folder, seed, partition, segment_bytes)
    play.found(_groups_of(records) if groups is None else groups, members, 2 * members, ranges)
    play.run(records, commits=CHURN_COMMITS, least=COMMITS_A_REQUEST_MAX, step_ms=8.0)
    return play.end()


def many_groups(
    folder: Path,
    groups: int = 20_000,
    *,
    seed: int = 1,
    partition: int = PARTITION,
    segment_bytes: int | None = SEGMENT_BYTES,
) -> Written:
    """Two members join, one leaves, another joins and leaves; everyone commits in between."""
    play = _Play(folder, seed, partition, segment_bytes)
    for group in play.named(groups, 4, uniform, topics=1):
        play.short_life(group, START_MS + play.random.randrange(60_000 + 2 * groups))
    play.drain()
    return play.end()


def large_group(
    folder: Path,
    members: int = 20_000,
    *,
    seed: int = 1,
    partition: int = PARTITION,
    segment_bytes: int | None = SEGMENT_BYTES,
) -> Written:
    play = _Play(folder, seed, partition, segment_bytes)
    (group,) = play.named(1, members, uniform, topics=1)
    joining_ms = 10_000 + 5 * members
    play.assemble(group, members, START_MS, joining_ms)
    for turn in range(3):
        at_ms = START_MS + joining_ms + 60_000 * (turn + 1)
        play.at(at_ms, lambda: play.come_or_go(group, members))
        play.at(at_ms + 30_000, lambda: play.all_commit(group))
    play.drain()
    return play.end()


MIXES: Final[dict[str, Callable[..., Written]]] = {
    "typical": typical,
    "churn": churn,
    "many-groups": many_groups,
    "large-group": large_group,
}


def partition_for(group: str, partitions: int = OFFSETS_PARTITIONS) -> int:
    """The partition of the offsets topic that holds a group: the absolute value of Java's hash of its name.

    Kafka's ``Utils.abs``, of which the least int32 is 0. ``group`` is of characters of one UTF-16 unit.
    """
    hashed = 0
    for character in group:
        hashed = (31 * hashed + ord(character)) & 0xFFFF_FFFF
    signed = hashed - (1 << 32) if hashed >= 1 << 31 else hashed
    return 0 if signed == -(1 << 31) else abs(signed) % partitions


def _groups_of(records: int) -> int:
    return max(1, min(GROUPS_MAX, records // RECORDS_A_GROUP))


class _Play:
    """Clients and coordinator of one partition; what is due is done in the order of its time."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        partition: int,
        segment_bytes: int | None,
        commits_a_request: int = COMMITS_A_REQUEST_MAX,
    ) -> None:
        self.commits_a_request = commits_a_request
        self.random = Random(seed)
        self.partition = partition
        self.log = PartitionLog(folder, partition, segment_bytes)
        self.groups: list[WrittenGroup] = []
        self.now_ms = START_MS
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()

    def named(
        self, groups: int, partitions: int, assignor: Assignor, topics: int = 2
    ) -> Sequence[WrittenGroup]:
        """New groups whose names belong to this partition; every fourth reads two topics, if ``topics`` allows."""
        made: list[WrittenGroup] = []
        for number in count(len(self.groups)):
            if len(made) == groups:
                break
            name = f"service-{number}-consumers"
            if partition_for(name) != self.partition:
                continue
            split = (
                [partitions]
                if topics == 1 or len(made) % 4
                else [partitions - partitions // 3, partitions // 3]
            )
            read = [
                Topic(f"events-{number}" + "-retry" * index, self.random.randbytes(16), size)
                for index, size in enumerate(split)
                if size
            ]
            made.append(WrittenGroup(name, read, self.random, assignor, self.commits_a_request))
        self.groups += made
        return made

    def found(self, groups: int, members: int, partitions: int, assignor: Assignor) -> None:
        self.members = members
        for group in self.named(groups, partitions, assignor):
            self.assemble(group, members, START_MS + self.random.randrange(10_000), 5_000)

    def assemble(self, group: WrittenGroup, members: int, from_ms: int, within_ms: int) -> None:
        for at_ms in sorted(self.random.randrange(within_ms) for _ in range(members)):
            self.at(from_ms + at_ms, lambda: self.join(group))

    def run(self, records: int, *, commits: float, least: int, step_ms: float) -> None:
        """Commits and rebalances in the share of ``commits``, until there are so many records.

        A request commits ``least`` partitions to as many as the log's requests may, where the member has them.
        """
        log, groups, random, due = self.log, self.groups, self.random.random, self._due
        # The pace of a group is the same in a small log as in a large one.
        step_ms *= GROUPS_MAX / len(groups)
        now = float(self.now_ms)
        committed = 0
        choices = self.commits_a_request - least + 1
        while log.next_offset < records:
            now += random() * step_ms
            self.now_ms = int(now)
            while due and due[0][0] <= self.now_ms:
                heapq.heappop(due)[2]()
            group = groups[int(random() * len(groups))]
            if committed >= commits * log.next_offset:
                if due and not group.roster:
                    continue
                self.come_or_go(group, self.members)
                continue
            if not group.roster:
                continue
            member = group.roster[int(random() * len(group.roster))]
            if not member.owned:
                continue
            size, body = group.commit(member, self.now_ms, least + int(random() * choices))
            log.add_commits(self.now_ms, size, body)
            committed += size

    def come_or_go(self, group: WrittenGroup, members: int) -> None:
        size = len(group.roster)
        if size <= 1 or size < members - 2 or (size < members + 2 and self.random.random() < 0.5):
            self.join(group)
        else:
            self.leave(group, group.roster[self.random.randrange(size)])

    def join(self, group: WrittenGroup) -> None:
        _, records = group.join(self.now_ms)
        self.write(records)
        self.wake(group)

    def leave(self, group: WrittenGroup, member: WrittenMember) -> None:
        self.write(group.leave(member))
        self.wake(group)

    def wake(self, group: WrittenGroup) -> None:
        """Everybody's next heartbeat may have something to write."""
        for member in group.roster:
            if not member.awaited:
                self.next_heartbeat(group, member)

    def next_heartbeat(self, group: WrittenGroup, member: WrittenMember) -> None:
        if member.state == 1:
            delay_ms = self.random.randint(*REVOKED_WITHIN_MS)
        else:
            delay_ms = 1 + (member.phase_ms - self.now_ms) % HEARTBEAT_MS
        member.awaited = True
        self.at(self.now_ms + delay_ms, lambda: self.heartbeat(group, member))

    def heartbeat(self, group: WrittenGroup, member: WrittenMember) -> None:
        member.awaited = False
        if member.member_id not in group.members:
            return
        self.write(group.heartbeat(member, self.now_ms))
        if not group.settled(member):
            self.next_heartbeat(group, member)

    def all_commit(self, group: WrittenGroup) -> None:
        for member in group.roster:
            size, body = group.commit(member, self.now_ms, self.commits_a_request)
            if size:
                self.log.add_commits(self.now_ms, size, body)

    def short_life(self, group: WrittenGroup, from_ms: int) -> None:
        for turn, comes in enumerate((True, True, False, True, False)):
            at_ms = from_ms + 20_000 * turn
            if comes:
                self.at(at_ms, lambda: self.join(group))
            else:
                self.at(at_ms, lambda: self.leave(group, group.roster[0]))
            self.at(at_ms + 15_000, lambda: self.all_commit(group))

    def write(self, records: list[Pair]) -> None:
        if records:
            self.log.add(self.now_ms, records)

    def at(self, at_ms: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._due, (at_ms, next(self._order), action))

    def drain(self) -> None:
        while self._due:
            self.now_ms, _, action = heapq.heappop(self._due)
            action()

    def end(self) -> Written:
        self.log.close()
        return Written(
            files=tuple(self.log.files),
            groups=tuple(group.name for group in self.groups),
            records=self.log.next_offset,
            size_bytes=self.log.written_bytes,
            types=self.log.types,
        )
