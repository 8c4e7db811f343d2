"""Members of different subscriptions: keep, fill up, then move from large to small until nothing gets better.

Topics with few subscribers come first. Free partitions go to the smallest subscriber. Then partition after partition
moves to the smallest subscriber of its topic if that is smaller by more than one, again and again; a partition that
some member owned a generation ago goes back to it instead. If that does not improve the balance in all, nothing
moves.

Example: t1 has 3 partitions, t2 has 2; c1 and c3 subscribe to t1, c2 to both: c1 t1{0,2}, c2 t2{0,1}, c3 t1{1}.

Kafka: ``AbstractStickyAssignor.GeneralAssignmentBuilder``. Cost: walks × partitions + moves × log(subscribers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final

from simulations.protocol.assignors.classic.sticky.ownership import (
    NOBODY,
    Ownership,
    TopicPartition,
    free_partitions,
)
from simulations.protocol.assignors.classic.sticky.standing import Standing
from simulations.protocol.assignors.explanation import Explanation, explain_drop, listed
from simulations.protocol.assignors.faults import (
    BEYOND_COUNT,
    GIVEN_BACK_UNSUBSCRIBED,
    PREVIOUS_OWNER_SET_ASIDE,
)
from simulations.protocol.assignors.interface import AssignorError, Owned
from simulations.protocol.assignors.java_orders import DEFAULT_TABLE, int_hash, string_hash

Pair = tuple[int, int]
"""Places of the members from which and to which a partition moved."""

_PRIME: Final = 31


class Movements:
    """The movements of one topic's partitions."""

    __slots__ = ("_moved", "_pairs", "_topic_hash")

    def __init__(self, topic: str) -> None:
        self._topic_hash = string_hash(topic)
        self._moved: dict[int, Pair] = {}
        self._pairs: dict[Pair, _JavaSet] = {}

    def to_be_moved(self, partition: int, old: int, new: int) -> int:
        """The partition to move instead: one that moved the other way round, if there is one."""
        if partition in self._moved:
            old = self._moved[partition][0]
        back = self._pairs.get((new, old))
        return partition if back is None else back.first(self._topic_hash)

    def move(self, partition: int, old: int, new: int) -> None:
        """Notes a move; one that moved before moved from where it first was, and nowhere if it came back."""
        earlier = self._moved.pop(partition, None)
        if earlier is not None:
            pair = self._pairs[earlier]
            pair.remove(partition)
            if not pair:
                del self._pairs[earlier]
            old = earlier[0]
            if old == new:
                return
        self._moved[partition] = (old, new)
        if (old, new) not in self._pairs:
            self._pairs[old, new] = _JavaSet()
        self._pairs[old, new].add(partition)


class _JavaSet:
    """A ``HashSet`` of partitions of one topic, of which only the first is ever asked for."""

    __slots__ = ("_partitions", "_table")

    def __init__(self) -> None:
        self._partitions: dict[int, None] = {}
        self._table = DEFAULT_TABLE

    def __len__(self) -> int:
        return len(self._partitions)

    def add(self, partition: int) -> None:
        self._partitions[partition] = None
        if len(self._partitions) > self._table * 0.75:
            self._table *= 2

    def remove(self, partition: int) -> None:
        del self._partitions[partition]

    def first(self, topic_hash: int) -> int:
        mask = self._table - 1

        def slot(partition: int) -> int:
            # ``TopicPartition.hashCode``.
            mixed = int_hash(_PRIME * (_PRIME + partition) + topic_hash)
            return (mixed ^ mixed >> 16) & mask

        return min(self._partitions, key=slot)


Partitions = Mapping[str, Sequence[int]]


def assign_general(found: Ownership, explain: Explanation | None) -> tuple[list[Owned], list[str]]:
    """What each member gets, and the names of Kafka's faults that show in it."""
    builder = _Builder(found, explain)
    builder.keep_owned()
    builder.balance()
    return builder.shares(), builder.faults


class _Builder(Standing):
    def __init__(self, found: Ownership, explain: Explanation | None) -> None:
        super().__init__(found)
        self.explain = explain
        self.movements: dict[str, Movements] = {}
        self.must_revoke = False
        self.faults: list[str] = []
        if explain is not None:
            explain.say(
                "order",
                f"Subscriptions differ: topics with few subscribers come first: {listed(self.topics)}",
                topics=self.topics,
            )

    # What is kept, and what is free

    def keep_owned(self) -> None:
        found = self.found
        for place, owned in enumerate(found.owned):
            subscribed = self.subscribed[id(found.members[place].topics)]
            racked = bool(found.racks) and found.racks[place] is not None
            for topic, partitions in owned.items():
                if racked or found.beyond or topic not in subscribed:
                    dropped = self._keep(place, topic, partitions, wanted=topic in subscribed)
                    if self.explain is not None:
                        because = (
                            f"no replica stands in its rack, {found.racks[place]}"
                            if topic in subscribed and racked
                            else f"it does not subscribe to {topic}"
                        )
                        explain_drop(self.explain, self.name(place), dropped, because)
                else:
                    self.sizes[place] += len(partitions)

    def _keep(
        self, place: int, topic: str, partitions: Sequence[int], *, wanted: bool
    ) -> list[TopicPartition]:
        """Notes what a member keeps of a topic; returns what it does not."""
        found = self.found
        dropped: list[TopicPartition] = []
        for partition in partitions:
            inside = 0 <= partition < found.counts[topic]
            if wanted and found.matches(place, topic, partition):
                self.sizes[place] += 1
                if not inside:
                    self.besides.setdefault((topic, partition), []).append(place)
            else:
                self.must_revoke = True
                self.touched.add(place)
                dropped.append((topic, partition))
                if inside:
                    self.holders[topic][partition] = NOBODY
        return dropped

    # Filling up

    def balance(self) -> None:
        initializing = not any(self.sizes)
        free = free_partitions(self.holders, self.topics, self.besides)
        whole: Partitions = {topic: range(count) for topic, count in self.found.counts.items()}
        left: Partitions = free
        if self.found.racks:
            left = {t: self._fill(t, partitions, racks=True) for t, partitions in free.items()}
        for topic, partitions in left.items():
            self._fill(topic, partitions, racks=False)
        shared = [topic for topic in self.topics if self.times_named[topic] > 1]
        self.leave_out(frozenset(shared))
        before = {topic: list(self.holders[topic]) for topic in shared}
        sizes = list(self.sizes)
        if not self.must_revoke:
            self._walk_until_still(shared, free)
        if (
            self._walk_until_still(shared, whole)
            and not initializing
            and self.score(self.sizes) >= self.score(sizes)
        ):
            self.holders.update(before)
            self.sizes = sizes
            self._say("restore", "the moves do not improve the balance in all: everything is put back")
        self._look_for_faults()

    def _fill(self, topic: str, partitions: Sequence[int], *, racks: bool) -> list[int]:
        """Gives partitions to the smallest subscriber, if asked for only to one in a replica's rack; returns the rest."""
        members = len(self.sizes)
        heaps: dict[str | None, list[int]] = {}
        for place in self.subscribers[topic]:
            rack = self.found.racks[place] if racks else None
            heaps.setdefault(rack, []).append(self.sizes[place] * members + self.ranks[place])
        for heap in heaps.values():
            heapify(heap)
        left: list[int] = []
        holding = self.holders[topic]
        for partition in partitions:
            if not racks:
                heap = heaps[None]
            else:
                fitting = [heaps[r] for r in (None, *self.found.on[topic][partition]) if r in heaps]
                if not fitting:
                    left.append(partition)
                    continue
                heap = min(fitting, key=_head)
            key = heap[0]
            heapreplace(heap, key + members)
            place = self.by_rank[key % members]
            self.sizes[place] += 1
            self.touched.add(place)
            if holding[partition] != NOBODY:
                self.besides.setdefault((topic, partition), []).append(holding[partition])
            holding[partition] = place
            if self.explain is not None:
                self._say(
                    "give",
                    f"{topic}-{partition} is free and goes to {self.name(place)}, the smallest subscriber that may have it: "
                    f"{self.sizes[place]} with it",
                    partitions=[f"{topic}-{partition}"],
                    member=self.name(place),
                    size=self.sizes[place],
                )
        return left

    # Moving

    def _walk_until_still(self, topics: Sequence[str], lists: Partitions) -> bool:
        """Walks the lists until a whole walk moves nothing; whether anything moved at all."""
        moved = False
        while self._walk(topics, lists):
            moved = True
        return moved

    def _walk(self, topics: Sequence[str], lists: Partitions) -> bool:
        moved = False
        asking = self.foreign or bool(self.besides)
        for topic in topics:
            partitions = lists.get(topic)
            if not partitions:
                continue
            if not asking:
                moved = self._walk_topic(topic, partitions) or moved
                continue
            for partition in partitions:
                if self.balanced():
                    return moved
                new = self._better(topic, partition)
                if new is not None:
                    self._move(topic, partition, new)
                    moved = True
        return moved

    def _walk_topic(self, topic: str, partitions: Sequence[int]) -> bool:
        """One topic where all who hold something, and all who did a generation ago, subscribe."""
        sizes, holding, places = self.sizes, self.holders[topic], self.subscribers[topic]
        largest = max(map(sizes.__getitem__, map(holding.__getitem__, partitions)))
        if largest <= min(map(sizes.__getitem__, places)) + 1:
            return False
        members = len(sizes)
        # Keys of members that changed are left behind and skipped when they come up.
        heap = [sizes[place] * members + self.ranks[place] for place in places]
        heapify(heap)
        moved = False
        previous = self.previous.get(topic, {})
        for partition in partitions:
            if partition in previous and sizes[holding[partition]] > sizes[previous[partition]] + 1:
                new = previous[partition]
                old = self._move(topic, partition, new)
                heappush(heap, sizes[new] * members + self.ranks[new])
                heappush(heap, sizes[old] * members + self.ranks[old])
                moved = True
                continue
            size, rank = divmod(heap[0], members)
            new = self.by_rank[rank]
            while sizes[new] != size:
                heappop(heap)
                size, rank = divmod(heap[0], members)
                new = self.by_rank[rank]
            if sizes[holding[partition]] > size + 1:
                old = self._move(topic, partition, new)
                heappush(heap, sizes[new] * members + rank)
                heappush(heap, sizes[old] * members + self.ranks[old])
                moved = True
        return moved

    def _better(self, topic: str, partition: int) -> int | None:
        """The member that a partition is to move to: its owner of a generation ago, or the smallest subscriber."""
        sizes = self.sizes
        holder = self.holders[topic][partition]
        previous = self.previous.get(topic, {}).get(partition)
        if previous is not None:
            if self.set_aside[previous] or self.set_aside[holder]:
                raise AssignorError(
                    f"{topic}-{partition} was {self.name(previous)}'s a generation ago, which cannot take part",
                    PREVIOUS_OWNER_SET_ASIDE,
                )
            if sizes[holder] > sizes[previous] + 1:
                return previous
        for place in self.subscribers[topic]:
            if self.set_aside[place] or self.set_aside[holder]:
                raise AssignorError(f"{self.name(place)} cannot take part, and is compared", BEYOND_COUNT)
            if sizes[holder] > sizes[place] + 1:
                return min(self.subscribers[topic], key=lambda each: (sizes[each], self.ranks[each]))
        return None

    def _move(self, topic: str, partition: int, new: int) -> int:
        """Moves a partition, or one whose earlier move that undoes; returns the member that lost it."""
        movements = self.movements.get(topic)
        if movements is None:
            movements = self.movements[topic] = Movements(topic)
        holding = self.holders[topic]
        actual = movements.to_be_moved(partition, holding[partition], new)
        old = holding[actual]
        movements.move(actual, old, new)
        holding[actual] = new
        self.sizes[old] -= 1
        self.sizes[new] += 1
        self.touched |= {old, new}
        if self.explain is not None:
            if actual != partition:
                why = f"which undoes an earlier move, in place of {topic}-{partition}"
            elif self.previous.get(topic, {}).get(partition) == new:
                why = "its owner of a generation ago"
            else:
                why = "the smallest subscriber"
            self._say(
                "move",
                f"{topic}-{actual} moves from {self.name(old)} to {self.name(new)}, {why}: they have "
                f"{self.sizes[old]} and {self.sizes[new]} now",
                partitions=[f"{topic}-{actual}"],
                **{"from": self.name(old)},
                to=self.name(new),
            )
        return old

    # The answer

    def shares(self) -> list[Owned]:
        """What each member gets; a member that lost and gained nothing has the lists that it gave."""
        touched = self.touched
        for places in self.besides.values():
            touched.update(places)
        lists: dict[int, dict[str, list[int]]] = {place: {} for place in touched}
        for topic in self.topics if touched else ():
            for partition, place in enumerate(self.holders[topic]):
                if place in touched:
                    lists[place].setdefault(topic, []).append(partition)
        for (topic, partition), places in self.besides.items():
            for place in places:
                lists[place].setdefault(topic, []).append(partition)
        return [lists[place] if place in touched else owned for place, owned in enumerate(self.found.owned)]

    def _look_for_faults(self) -> None:
        for topic, of_topic in self.previous.items() if self.foreign else ():
            holding = self.holders[topic]
            for partition in of_topic:
                if 0 <= partition < len(holding) and not self.subscribes(holding[partition], topic):
                    self.faults.append(GIVEN_BACK_UNSUBSCRIBED)
                    return

    def _say(self, step: str, text: str, **data: object) -> None:
        if self.explain is not None:
            self.explain.say(step, text, **data)


def _head(heap: list[int]) -> int:
    return heap[0]
