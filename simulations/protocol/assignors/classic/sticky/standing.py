"""Who holds what while partitions are given and moved, and whether that is balanced.

Kafka asks before each partition whether all is balanced, which looks at everything. A walk can also go on where all
*is* balanced: then nothing moves, unless a partition can go back to an owner of a generation ago that does not
subscribe any more. Only then is it asked here, and a pair of members that shows the imbalance is remembered for as
long as it does.

Kafka: ``AbstractStickyAssignor.GeneralAssignmentBuilder``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from simulations.protocol.assignors.classic.sticky.ownership import Ownership, TopicPartition, previous_owners
from simulations.protocol.assignors.faults import BEYOND_COUNT
from simulations.protocol.assignors.interface import AssignorError, MemberSpec
from simulations.protocol.assignors.java_orders import HashOrder, signed_32, string_hash, utf16
from simulations.protocol.assignors.sharing import java_sorted, subscribers_of


def named_again(members: Sequence[MemberSpec]) -> Counter[str]:
    """How often a topic is named by members that have named it already; most subscriptions name each topic once."""
    times = Counter(id(member.topics) for member in members)
    again: Counter[str] = Counter()
    for topics in {id(member.topics): member.topics for member in members}.values():
        if len(frozenset(topics)) < len(topics):
            for topic, named in Counter(topics).items():
                again[topic] += (named - 1) * times[id(topics)]
    return again


class Standing:
    """The members by their places in ``found``: what they hold, how many that are, and who takes part."""

    def __init__(self, found: Ownership) -> None:
        self.found = found
        everybody = subscribers_of(found.members)
        self.subscribers = {topic: everybody[topic] for topic in found.counts}
        # Kafka counts a member that names a topic twice as two: in the topics' order, in whether a topic is shared, and
        # in what the member can have at most.
        again = named_again(found.members)
        self.times_named = {topic: len(self.subscribers[topic]) + again[topic] for topic in found.counts}
        self.topics = sorted(found.counts, key=lambda topic: (self.times_named[topic], utf16(topic)))
        self.holders = found.holders
        self.previous = previous_owners(found)
        self.sizes = [0] * len(found.members)
        # By the identity of subscriptions: members that are alike share one.
        self.subscribed = {id(member.topics): frozenset(member.topics) for member in found.members}
        limits = {
            id(member.topics): sum(found.counts.get(topic, 0) for topic in member.topics)
            for member in {id(member.topics): member for member in found.members}.values()
        }
        self.limits = [limits[id(member.topics)] for member in found.members]
        # Whether a partition may come to be held by a member that does not subscribe.
        self.foreign = any(
            not self.subscribes(place, topic) for topic, of in self.previous.items() for place in of.values()
        )
        self.touched: set[int] = set()
        # A size and a rank by id in one number: the order of Kafka's set of members.
        self.by_rank = self._by_id()
        self.ranks = [0] * len(found.members)
        for rank, place in enumerate(self.by_rank):
            self.ranks[place] = rank
        # Partitions that are held besides ``holders``: beyond the count, or given once more to somebody else.
        self.besides: dict[TopicPartition, list[int]] = {}
        self.set_aside = [False] * len(found.members)
        self.witness: tuple[int, str, int] | None = None

    def subscribes(self, place: int, topic: str) -> bool:
        return topic in self.subscribed[id(self.found.members[place].topics)]

    def _by_id(self) -> list[int]:
        ids = self.found.member_ids
        places = {member_id: place for place, member_id in enumerate(ids)}
        return [places[member_id] for member_id in java_sorted(ids)]

    def name(self, place: int) -> str:
        return self.found.member_ids[place]

    def leave_out(self, shared: frozenset[str]) -> None:
        """Members that hold all they can, and nothing that anybody else could have, take no part."""
        sharing = set()
        for topic in shared:
            sharing.update(self.holders[topic])
        for (topic, _), places in self.besides.items():
            if topic in shared:
                sharing.update(places)
        for place, size in enumerate(self.sizes):
            self.set_aside[place] = size >= self.limits[place] and place not in sharing

    def balanced(self) -> bool:
        """Whether no member could have a partition whose holder has two more than it."""
        if self.besides:
            return self._balanced_as_kafka_asks()
        sizes = self.sizes
        if self.witness is not None:
            place, topic, partition = self.witness
            if (
                sizes[place] != self.limits[place]
                and sizes[self.holders[topic][partition]] > sizes[place] + 1
            ):
                return False
        # Walks begin with the first topic, so an imbalance in the last one is seen for longest.
        for topic in reversed(self.topics):
            able = [
                place
                for place in self.subscribers[topic]
                if sizes[place] != self.limits[place] and not self.set_aside[place]
            ]
            if not able:
                continue
            holding = self.holders[topic]
            smallest = min(able, key=sizes.__getitem__)
            partition = max(range(len(holding)), key=lambda p: sizes[holding[p]])
            if sizes[holding[partition]] > sizes[smallest] + 1:
                self.witness = (smallest, topic, partition)
                return False
        return True

    def _balanced_as_kafka_asks(self) -> bool:
        """The same where partitions are held twice or do not exist, member by member, as what throws matters too."""
        sizes, aside = self.sizes, self.set_aside
        taking_part = sorted(
            (place for place in range(len(sizes)) if not aside[place]),
            key=lambda place: (sizes[place], self.ranks[place]),
        )
        if sizes[taking_part[0]] >= sizes[taking_part[-1]] - 1:
            return True
        walked = [p for p in self._java_places() if not aside[p]]
        for place in taking_part:
            if sizes[place] == self.limits[place]:
                continue
            for topic in self.found.members[place].topics:
                for partition, holder in enumerate(self.holders.get(topic, ())):
                    holding = [holder, *self.besides.get((topic, partition), ())]
                    if place in holding:
                        continue
                    last = max((p for p in holding if not aside[p]), key=walked.index, default=None)
                    if last is None:
                        raise AssignorError(f"nobody who takes part holds {topic}-{partition}", BEYOND_COUNT)
                    if sizes[place] + 1 < sizes[last]:
                        return False
        return True

    def _java_places(self) -> Iterable[int]:
        ids = self.found.member_ids
        places = {member_id: place for place, member_id in enumerate(ids)}
        return (places[member_id] for member_id in HashOrder.filled(string_hash, ids))

    def score(self, sizes: Sequence[int]) -> int:
        """The sum of all differences between two members, in Java's ``int``, which may overflow."""
        ordered = sorted(size for place, size in enumerate(sizes) if not self.set_aside[place])
        below = accumulate(ordered, initial=0)
        return signed_32(
            sum(size * place - less for place, (size, less) in enumerate(zip(ordered, below, strict=False)))
        )
