"""``uniform`` for members whose subscriptions differ: revoke, assign, balance.

Members are numbered in the order given. Topics are taken by partitions per subscriber (many first), then by
subscribers (few first), then by id. Free partitions go to the subscriber with the least; then topic after topic
gives partitions from its subscriber with the most to the one with the least, until sizes differ by one at most or
a whole round moved nothing.

Example: A subscribes to T1 (3 partitions) and T3 (6), B to T3 alone, both new: A T1{0,1,2} T3{4},
B T3{0,1,2,3,5}.

Kafka: ``UniformHeterogeneousAssignmentBuilder``. Cost: what is owned, subscribers × topics with free partitions, and
rounds × topics that are out of balance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simulations.protocol.assignors.consumer.least_loaded import Levels, are_apart, least_first
from simulations.protocol.assignors.explanation import Explanation, explain_drop, listed
from simulations.protocol.assignors.faults import BEYOND_COUNT, TARGET_OVERLAPS
from simulations.protocol.assignors.interface import AssignorError, Change, GroupAssignment, GroupSpec, Owned
from simulations.protocol.assignors.sharing import subscribers_of

MOST_ROUNDS: Final = 16
"""Rounds over all topics before balancing gives up; Kafka's ``MAX_ITERATION_COUNT``."""

NOBODY: Final = -1


def assign_heterogeneous(spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
    """A balanced target for members of different subscriptions."""
    builder = _Builder(spec, explain)
    builder.revoke()
    builder.assign()
    builder.balance()
    members: dict[str, Owned] = dict(zip(builder.member_ids, builder.held, strict=True))
    faults = (TARGET_OVERLAPS,) if builder.gave_twice() else ()
    return GroupAssignment(members=members, faults=faults, changes=builder.changes())


class _Builder:
    def __init__(self, spec: GroupSpec, explain: Explanation | None) -> None:
        self.explain = explain
        self.spec = spec
        self.member_ids = list(spec.members)
        self.subscribers = subscribers_of(spec.members.values())
        self.counts = {topic: spec.partitions(topic) for topic in self.subscribers}
        ranks = {topic: rank for rank, topic in enumerate(spec.topic_ranks or spec.topics)}
        self.topics = sorted(
            self.subscribers,
            key=lambda topic: (
                -(self.counts[topic] / len(self.subscribers[topic])),
                len(self.subscribers[topic]),
                ranks[topic],
            ),
        )
        self.owners = {topic: [NOBODY] * self.counts[topic] for topic in self.topics}
        self.sizes: list[int] = []
        if explain is not None:
            explain.say(
                "order",
                "Subscriptions differ, so topic after topic, those with the most partitions a subscriber first: "
                f"{listed(self.topics)}",
                topics=self.topics,
            )
        # Lists that members had are passed on as they are; one that grows or shrinks is made again.
        self.held: list[dict[str, Sequence[int]]] = []
        self.overlaps = False
        # What was given and moved, in order: a topic, its partitions, who takes each, and from whom.
        self.steps: list[tuple[str, Sequence[int], Sequence[int], Sequence[int] | None]] = []
        # Most gains are of one partition: these are shared, and no work for the garbage collector.
        self.singles = [range(p, p + 1) for p in range(max(self.counts.values(), default=0))]

    def revoke(self) -> None:
        """Drops topics that are no longer subscribed, and notes who owns the rest."""
        if self._keeps_all():
            return
        wanted_by: dict[int, frozenset[str]] = {}
        owners = self.owners
        total = 0
        for index, member in enumerate(self.spec.members.values()):
            wanted = wanted_by.get(id(member.topics))
            if wanted is None:
                wanted = wanted_by[id(member.topics)] = frozenset(member.topics)
            owned = member.owned
            if not owned.keys() <= wanted:
                owned = {topic: partitions for topic, partitions in owned.items() if topic in wanted}
                if self.explain is not None:
                    gone = [(t, p) for t, numbers in member.owned.items() if t not in wanted for p in numbers]
                    explain_drop(
                        self.explain, self.member_ids[index], gone, "it does not subscribe to the topic"
                    )
            size = 0
            for topic, partitions in owned.items():
                of_topic = owners[topic]
                size += len(partitions)
                try:
                    for partition in partitions:
                        of_topic[partition] = index
                except IndexError:
                    raise AssignorError(
                        f"{self.member_ids[index]} has a partition of {topic} that is beyond its {len(of_topic)}",
                        BEYOND_COUNT,
                    ) from None
            self.held.append(dict(owned))
            self.sizes.append(size)
            total += size
        noted = sum(len(of_topic) - of_topic.count(NOBODY) for of_topic in owners.values()) if total else 0
        self.overlaps = noted < total

    def _keeps_all(self) -> bool:
        """Whether everybody still subscribes to all that it owns: then owners are those that the spec keeps, as a coordinator does."""
        known = self.spec.owners()
        if known is None:
            return False
        wanted_by: dict[int, frozenset[str]] = {}
        for member in self.spec.members.values():
            if not member.owned:
                continue
            wanted = wanted_by.get(id(member.topics))
            if wanted is None:
                wanted = wanted_by[id(member.topics)] = frozenset(member.topics)
            if not wanted.issuperset(member.owned):
                return False
        for topic, of_topic in known.items():
            self.owners[topic] = of_topic.copy()
        self.held = [dict(member.owned) for member in self.spec.members.values()]
        self.sizes = list(self.spec.owned_sizes())
        return True

    def assign(self) -> None:
        """Free partitions of each topic go to the subscriber with the least, level by level."""
        sizes = self.sizes
        levels: dict[int, Levels] | None = None
        for topic in self.topics:
            of_topic = self.owners[topic]
            count = of_topic.count(NOBODY)
            if not count:
                continue
            places = self.subscribers[topic]
            if levels is None:
                levels = self._levels()
            takers = levels[id(places)].take(count) if levels else least_first(places, sizes, count)
            free: Sequence[int]
            if count == len(of_topic):
                self.owners[topic], free = takers, range(count)
            else:
                free = [partition for partition, owner in enumerate(of_topic) if owner == NOBODY]
                for partition, taker in zip(free, takers, strict=True):
                    of_topic[partition] = taker
            for taker in takers:
                sizes[taker] += 1
            # A copy: the owners of a topic that was all free are this very list, and are moved about later.
            self.steps.append((topic, free, tuple(takers), None))
            self._gain(topic, free, takers)
            if self.explain is not None:
                self._say_given(topic, free, takers)

    def _levels(self) -> dict[int, Levels]:
        """The levels of each class of subscribers; none where classes share members, whose levels would not hold."""
        classes = {id(places): places for places in self.subscribers.values()}
        return (
            {key: Levels(places, self.sizes) for key, places in classes.items()}
            if are_apart(classes.values())
            else {}
        )

    def _gain(self, topic: str, partitions: Sequence[int], takers: Sequence[int]) -> None:
        held, singles = self.held, self.singles
        if partitions == range(self.counts[topic]) and len(partitions) <= len(set(takers)):
            # Nobody had any of the topic, and each gets one.
            for taker, single in zip(takers, singles, strict=False):
                held[taker][topic] = single
            return
        gained: dict[int, list[int]] = {}
        for partition, taker in zip(partitions, takers, strict=True):
            own = held[taker]
            if topic in own:
                gained.setdefault(taker, []).append(partition)
            else:
                own[topic] = singles[partition]
        for taker, numbers in gained.items():
            had = self.held[taker][topic]
            # Two members may claim one partition in a log of the world: it is not given to one of them twice.
            known = set(had) if self.overlaps else ()
            self.held[taker][topic] = [*had, *(number for number in numbers if number not in known)]

    def balance(self) -> None:
        """Rounds over the topics; ends where a whole round since the last move moved nothing."""
        topics = [topic for topic in self.topics if len(self.subscribers[topic]) >= 2]
        last_moved = -1
        even: dict[int, bool] = {}
        for _ in range(MOST_ROUNDS):
            for index, topic in enumerate(topics):
                if index == last_moved:
                    return
                places = self.subscribers[topic]
                if id(places) not in even:
                    sizes = [self.sizes[place] for place in places]
                    even[id(places)] = max(sizes) - min(sizes) <= 1
                moves = [] if even[id(places)] else _moves(places, self.owners[topic], self.sizes)
                if moves:
                    self._move(topic, moves)
                    even.clear()
                if moves or last_moved == -1:
                    last_moved = index

    def changes(self) -> dict[str, list[Change]]:
        """Of the members between whom something was moved, all that they gained and lost after ``revoke``."""
        between = {
            member
            for _, _, takers, givers in self.steps
            if givers is not None
            for member in (*takers, *givers)
        }
        changes: dict[int, list[Change]] = {member: [] for member in between}
        for topic, partitions, takers, givers in self.steps if between else ():
            for at, partition in enumerate(partitions):
                if takers[at] in between:
                    changes[takers[at]].append((topic, partition, True))
                if givers is not None:
                    changes[givers[at]].append((topic, partition, False))
        return {self.member_ids[member]: changed for member, changed in changes.items()}

    def gave_twice(self) -> bool:
        """Whether more was given than there is."""
        given = (
            sum(len(partitions) for held in self.held for partitions in held.values()) if self.overlaps else 0
        )
        return given > sum(self.counts.values())

    def _move(self, topic: str, moves: Sequence[tuple[int, int, int]]) -> None:
        of_topic = self.owners[topic]
        lost: dict[int, set[int]] = {}
        for partition, most, least in moves:
            of_topic[partition] = least
            lost.setdefault(most, set()).add(partition)
        for member, gone in lost.items():
            left = [partition for partition in self.held[member][topic] if partition not in gone]
            if left:
                self.held[member][topic] = left
            else:
                del self.held[member][topic]
        moved, takers = [partition for partition, _, _ in moves], [least for _, _, least in moves]
        self.steps.append((topic, moved, takers, [most for _, most, _ in moves]))
        self._gain(topic, moved, takers)
        if self.explain is not None:
            for partition, most, least in moves:
                giver, taker = self.member_ids[most], self.member_ids[least]
                self.explain.say(
                    "move",
                    f"{topic}-{partition} moves from {giver}, which has the most of those with {topic} to give, to {taker}, "
                    "which has the least of its subscribers",
                    partitions=[f"{topic}-{partition}"],
                    **{"from": giver},
                    to=taker,
                )

    def _say_given(self, topic: str, partitions: Sequence[int], takers: Sequence[int]) -> None:
        assert self.explain is not None
        for partition, taker in zip(partitions, takers, strict=True):
            self.explain.say(
                "give",
                f"{topic}-{partition} is free and goes to {self.member_ids[taker]}, which has the least of {topic}'s "
                "subscribers",
                partitions=[f"{topic}-{partition}"],
                member=self.member_ids[taker],
            )


class _Balancer:
    """Finds the least and the most loaded subscriber of one topic without sorting again after each move.

    ``sizes`` is shared with the builder and changes between calls. ``subscribers`` ascend. The subscribers stand in an array sorted by
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
        # Subscribers ascend, so members of one size stay in their order.
        self.members = sorted(subscribers, key=sizes.__getitem__)
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


def _moves(
    subscribers: Sequence[int], owner_of: Sequence[int], sizes: list[int]
) -> list[tuple[int, int, int]]:
    """Partitions of one topic that go from the most to the least loaded: ``(partition, from, to)``; counts them."""
    moves: list[tuple[int, int, int]] = []
    balancer = _Balancer(subscribers, sizes)
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
