"""Who is taken to own what: the first pass of both sticky assignors, over the claims of all members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from groups.wire.embedded.user_data import NO_GENERATION
from simulations.protocol.assignors.claims import NOTHING, Claims, claims_of_all
from simulations.protocol.assignors.classic.metadata import (
    partition_counts,
    rack_of,
    racks_by_topic,
    racks_help,
)
from simulations.protocol.assignors.explanation import Explanation, explain_drop
from simulations.protocol.assignors.interface import GroupSpec, MemberSpec, Owned

NOBODY: Final = -1

TopicPartition = tuple[str, int]


@dataclass(slots=True)
class Ownership:
    """Members by their place in the order given.

    ``counts`` are the partitions of subscribed topics that have any. ``owned`` is what each member is taken to own,
    of those topics, perhaps beyond the count; ``holders`` the same by partition within the count. ``twice`` are
    partitions that two members of one generation claim. ``alike`` is Kafka's idea of equal subscriptions.
    ``racks`` is empty unless racks can help; then ``on`` has the racks of each partition.
    """

    member_ids: list[str]
    members: list[MemberSpec]
    counts: dict[str, int]
    claims: list[Claims]
    max_generation: int
    owned: list[Owned] = field(default_factory=list)
    holders: dict[str, list[int]] = field(default_factory=dict)
    beyond: bool = False
    twice: set[TopicPartition] = field(default_factory=set)
    alike: bool = True
    racks: list[str | None] = field(default_factory=list)
    on: dict[str, list[frozenset[str]]] = field(default_factory=dict)

    def matches(self, place: int, topic: str, partition: int) -> bool:
        """Whether a member may have a partition as far as racks go; all may where racks cannot help."""
        rack = self.racks[place] if self.racks else None
        if rack is None:
            return True
        return 0 <= partition < self.counts[topic] and rack in self.on[topic][partition]


def ownership(assignor: str, spec: GroupSpec, max_generation: int) -> Ownership:
    """Reads all claims and settles which of them count. ``max_generation`` is the highest of earlier calls."""
    members = list(spec.members.values())
    subscribed: dict[str, None] = {}
    for topics in {id(member.topics): member.topics for member in members}.values():
        subscribed.update(dict.fromkeys(topics))
    counts = partition_counts(spec, subscribed)
    found = Ownership(list(spec.members), members, counts, claims_of_all(assignor, members), max_generation)
    found.alike = _alike(members)
    found.holders = {topic: [NOBODY] * count for topic, count in counts.items()}
    _settle(found)
    racks = [rack_of(member) for member in members]
    if any(racks):
        on = racks_by_topic(spec, counts)
        if racks_help({rack for rack in racks if rack}, {each for of in on.values() for each in of}):
            found.racks, found.on = racks, on
    return found


def explain_claims(explain: Explanation, found: Ownership) -> None:
    """Explains which claims do not count, and why."""
    for place, (member_id, claims) in enumerate(zip(found.member_ids, found.claims, strict=True)):
        kept = {topic: frozenset(partitions) for topic, partitions in found.owned[place].items()}
        lost = [(t, p) for t, partitions in claims.partitions for p in partitions if p not in kept.get(t, ())]
        gone = [claim for claim in lost if claim[0] not in found.counts]
        explain_drop(explain, member_id, gone, "nobody subscribes to such a topic that exists")
        twice = [claim for claim in lost if claim in found.twice]
        explain_drop(explain, member_id, twice, "another member of the same generation claims it too")
        stale = [claim for claim in lost if claim not in found.twice and claim[0] in found.counts]
        later: list[TopicPartition] = []
        compared: list[TopicPartition] = []
        generation = NO_GENERATION if claims.generation is None else claims.generation
        for topic, partition in stale:
            holding = found.holders[topic]
            winner = holding[partition] if 0 <= partition < len(holding) else NOBODY
            theirs = NO_GENERATION if winner == NOBODY else found.claims[winner].generation
            odd = winner != NOBODY and (NO_GENERATION if theirs is None else theirs) <= generation
            (compared if odd else later).append((topic, partition))
        explain_drop(explain, member_id, later, "another member claims it, of a later generation")
        explain_drop(
            explain,
            member_id,
            compared,
            "another member claims it after, and is compared with this one's subscription, not its user data",
        )


def _alike(members: Sequence[MemberSpec]) -> bool:
    """Members that come first and subscribe to nothing are not compared: a fault of Kafka's.

    Kafka keeps the first subscription as a set: one that names a topic twice is like no list that names it twice, too.
    """
    first: Sequence[str] = ()
    names: frozenset[str] = frozenset()
    for member in members:
        if not first:
            first, names = member.topics, frozenset(member.topics)
        elif (member.topics is not first or len(first) > len(names)) and not (
            len(member.topics) == len(names) and names.issuperset(member.topics)
        ):
            return False
    return True


def _settle(found: Ownership) -> None:
    holders = found.holders
    claimers: dict[TopicPartition, int] = {}
    unowned: set[TopicPartition] = set()
    taken_away: dict[int, set[TopicPartition]] = {}
    # What a conflict asks an earlier claimer for is its subscription's generation, whatever its user data say.
    generations = [
        NO_GENERATION if m.generation is None or m.generation < 0 else m.generation for m in found.members
    ]
    for place, claims in enumerate(found.claims):
        if claims is NOTHING:
            found.owned.append({})
            continue
        generation = NO_GENERATION if claims.generation is None else claims.generation
        found.max_generation = max(found.max_generation, generation)
        own: dict[str, Sequence[int]] = {}
        for topic, partitions in claims.partitions:
            holding = holders.get(topic)
            if holding is None or not partitions:
                continue
            count = len(holding)
            clear = 0
            for partition in partitions:
                if not (0 <= partition < count and holding[partition] == NOBODY):
                    break
                holding[partition] = place
                clear += 1
            if clear == len(partitions):
                own[topic] = partitions if topic not in own else [*own[topic], *partitions]
                continue
            mine = [*own.get(topic, ()), *partitions[:clear]]
            for partition in partitions[clear:]:
                claimed = (topic, partition)
                inside = 0 <= partition < count
                other = holding[partition] if inside else claimers.get(claimed, NOBODY)
                if other != NOBODY:
                    if generation < generations[other]:
                        continue
                    if other == place:
                        if partition in mine:
                            mine.remove(partition)
                    else:
                        taken_away.setdefault(other, set()).add(claimed)
                    if generation == generations[other]:
                        found.twice.add(claimed)
                        unowned.add(claimed)
                if inside:
                    holding[partition] = place
                else:
                    claimers[claimed] = place
                if other == NOBODY or generation > generations[other]:
                    mine.append(partition)
                    unowned.discard(claimed)
                    found.beyond = found.beyond or not inside
            own[topic] = mine
        # What a member asks to own and nobody disputes is passed on as it is.
        owned = found.members[place].owned
        undisputed = len(own) == len(owned) and all(own[topic] is owned.get(topic) for topic in own)
        found.owned.append(owned if undisputed else own)
    for place, gone in taken_away.items():
        found.owned[place] = {
            topic: [p for p in partitions if (topic, p) not in gone]
            for topic, partitions in found.owned[place].items()
        }
    for topic, partition in unowned:
        if 0 <= partition < len(holders[topic]):
            holders[topic][partition] = NOBODY


def free_partitions(
    holders: Mapping[str, Sequence[int]], topics: Iterable[str], kept: Iterable[TopicPartition]
) -> dict[str, Sequence[int]]:
    """Partitions that nobody keeps, by topic in the order of ``topics``; ``kept`` are those that do not exist.

    Kafka steps through all partitions next to the sorted list of what is kept. One of that list which does not exist is
    never reached, so all that comes behind it counts as free.
    """
    odd: dict[str, list[int]] = {}
    for topic, partition in kept:
        odd.setdefault(topic, []).append(partition)
    free: dict[str, Sequence[int]] = {}
    stuck = False
    for topic in topics:
        holding = holders[topic]
        stuck = stuck or any(partition < 0 for partition in odd.get(topic, ()))
        if stuck:
            free[topic] = range(len(holding))
        elif NOBODY in holding:
            free[topic] = [partition for partition, place in enumerate(holding) if place == NOBODY]
        stuck = stuck or topic in odd
    return free


def previous_owners(found: Ownership) -> dict[str, dict[int, int]]:
    """Claims of generations before the newest, the latest of each partition: topic → partition → member."""
    latest: dict[str, dict[int, tuple[int, int]]] = {}
    for place, claims in enumerate(found.claims):
        generation = NO_GENERATION if claims.generation is None else claims.generation
        if generation < found.max_generation:
            for topic, partitions in claims.partitions:
                if topic not in found.holders:
                    continue
                of_topic = latest.setdefault(topic, {})
                for partition in partitions:
                    known = of_topic.get(partition)
                    if known is None or generation > known[0]:
                        of_topic[partition] = (generation, place)
    return {
        topic: {partition: place for partition, (_, place) in of_topic.items()}
        for topic, of_topic in latest.items()
    }
