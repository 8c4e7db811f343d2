"""``uniform`` for members whose subscriptions differ: revoke, assign, balance.

Members are numbered in the order given. Topics are taken by partitions per subscriber (many first), then by
subscribers (few first), then by id. Free partitions go to the subscriber with the least; then topic after topic
gives partitions from its subscriber with the most to the one with the least, until sizes differ by one at most or
a whole round moved nothing.

Example: A subscribes to T1 (3 partitions) and T3 (6), B to T3 alone, both new: A T1{0,1,2} T3{4},
B T3{0,1,2,3,5}.

Kafka: ``UniformHeterogeneousAssignmentBuilder``. Cost: rounds × partitions × log.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulations.assignors.faults import BEYOND_COUNT
from simulations.assignors.interface import AssignorError, GroupSpec

MOST_ROUNDS = 16
"""Rounds over all topics before balancing gives up; Kafka's ``MAX_ITERATION_COUNT``."""

NOBODY = -1


class _Balancer:
    """Finds the least and the most loaded subscriber of one topic without sorting again after each move.

    ``sizes`` is shared with the builder and changes between calls. The subscribers stand in an array sorted by
    size once; a *least range* at its front and a *most range* at its end hold those that are now at the least and
    at the most level, and each range is walked in turn.
    """

    __slots__ = (
        "least_end",
        "least_level",
        "least_next",
        "members",
        "most_end",
        "most_level",
        "most_next",
        "most_start",
        "sizes",
    )

    def __init__(self, subscribers: Sequence[int], sizes: list[int]) -> None:
        self.sizes = sizes
        self.members = sorted(subscribers, key=lambda member: (sizes[member], member))
        self.least_end = 0
        self.least_level = sizes[self.members[0]] - 1
        self.least_next = 0
        self.most_start = self.most_end = len(self.members)
        self.most_level = sizes[self.members[-1]] + 1
        self.most_next = len(self.members) - 1

    def balanced(self) -> bool:
        return self.most_level - self.least_level <= 1

    def next_least(self) -> int:
        if self.least_next >= self.least_end:
            self.least_level += 1
            while (
                self.least_end < len(self.members)
                and self.sizes[self.members[self.least_end]] == self.least_level
            ):
                self.least_end += 1
            self.least_next = 0
        member = self.members[self.least_next]
        self.least_next += 1
        return member

    def next_most(self) -> int | None:
        if self.most_next < self.most_start:
            if self.most_start == self.most_end and self.most_start > 0:
                # Everybody at this level was excluded: go straight to the next level that is inhabited.
                self.most_level = self.sizes[self.members[self.most_start - 1]]
            else:
                self.most_level -= 1
            while self.most_start > 0 and self.sizes[self.members[self.most_start - 1]] == self.most_level:
                self.most_start -= 1
            self.most_next = self.most_end - 1
        if self.most_next < 0:
            return None
        member = self.members[self.most_next]
        self.most_next -= 1
        return member

    def exclude(self) -> None:
        """Takes the member that ``next_most`` returned last out of the running."""
        last, at = self.most_end - 1, self.most_next + 1
        self.members[at], self.members[last] = self.members[last], self.members[at]
        self.most_end -= 1


def assign_heterogeneous(spec: GroupSpec) -> dict[str, dict[str, list[int]]]:
    """A balanced target for members of different subscriptions."""
    member_ids = list(spec.members)
    subscribers: dict[str, list[int]] = {}
    for index, member in enumerate(spec.members.values()):
        for topic in dict.fromkeys(member.topics):
            subscribers.setdefault(topic, []).append(index)
    ranks = {topic: rank for rank, topic in enumerate(spec.topic_ranks or spec.topics)}
    counts = {topic: spec.partitions(topic) for topic in subscribers}
    topics = sorted(
        subscribers,
        key=lambda topic: (
            -(counts[topic] / len(subscribers[topic])),
            len(subscribers[topic]),
            ranks[topic],
        ),
    )

    owners = {topic: [NOBODY] * counts[topic] for topic in topics}
    sizes = [0] * len(member_ids)
    held: list[dict[str, list[int]]] = []
    for index, member in enumerate(spec.members.values()):
        wanted = set(member.topics)
        held.append({topic: list(owned) for topic, owned in member.owned.items() if topic in wanted})
        for topic, partitions in held[index].items():
            if any(partition >= counts[topic] for partition in partitions):
                raise AssignorError(
                    f"{member_ids[index]} has a partition of {topic} that is beyond its {counts[topic]}",
                    BEYOND_COUNT,
                )
            for partition in partitions:
                owners[topic][partition] = index
            sizes[index] += len(partitions)

    for topic in topics:
        balancer = _Balancer(subscribers[topic], sizes)
        for partition, owner in enumerate(owners[topic]):
            if owner == NOBODY:
                least = balancer.next_least()
                owners[topic][partition] = least
                held[least].setdefault(topic, []).append(partition)
                sizes[least] += 1
    shared = [topic for topic in topics if len(subscribers[topic]) >= 2]
    _balance(shared, subscribers, owners, held, sizes)
    return dict(zip(member_ids, held, strict=True))


def _balance(
    topics: Sequence[str],
    subscribers: dict[str, list[int]],
    owners: dict[str, list[int]],
    held: list[dict[str, list[int]]],
    sizes: list[int],
) -> None:
    """Rounds over the topics; ends where a whole round since the last move moved nothing."""
    last_moved = -1
    for _ in range(MOST_ROUNDS):
        for index, topic in enumerate(topics):
            if index == last_moved:
                return
            moved = False
            for partition, most, least in _moves(subscribers[topic], owners[topic], sizes):
                owners[topic][partition] = least
                held[most][topic].remove(partition)
                if not held[most][topic]:
                    del held[most][topic]
                gained = held[least].setdefault(topic, [])
                # Two members may claim one partition in a log of the world: it is not given to one of them twice.
                if partition not in gained:
                    gained.append(partition)
                moved = True
            if moved or last_moved == -1:
                last_moved = index


def _moves(
    subscribers: Sequence[int], owner_of: Sequence[int], sizes: list[int]
) -> list[tuple[int, int, int]]:
    """Partitions of one topic that go from the most to the least loaded: ``(partition, from, to)``; counts them."""
    moves: list[tuple[int, int, int]] = []
    balancer = _Balancer(subscribers, sizes)
    if sizes[balancer.members[-1]] - sizes[balancer.members[0]] <= 1:
        return moves
    slices: dict[int, list[int]] = {}
    for partition, owner in enumerate(owner_of):
        slices.setdefault(owner, []).append(partition)
    while not balancer.balanced():
        most = balancer.next_most()
        while most is not None and not slices.get(most):
            balancer.exclude()
            most = balancer.next_most()
        if most is None:
            break
        least = balancer.next_least()
        if balancer.balanced():
            break
        moves.append((slices[most].pop(), most, least))
        sizes[most] -= 1
        sizes[least] += 1
    return moves
