"""``range`` of the classic protocol: each topic is cut into runs of neighbours, one for each subscriber.

Partitions of the same number in topics of the same size meet at one member. Where racks can help, partitions first go
to members in a replica's rack as far as the cut allows: one number of all co-partitioned topics together, or, where a
topic has no others like it, that topic alone.

Example: consumers on racks a, b, c and a topic of 6 partitions, each with one replica on a, b, c, a, b, c:
{0,3}, {1,4}, {2,5}; without racks {0,1}, {2,3}, {4,5}.

Kafka: ``RangeAssignor`` of the clients. Cost: members × groups of topics that are alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from simulations.protocol.assignors.classic.metadata import (
    partition_counts,
    rack_of,
    racks_by_topic,
    racks_help,
)
from simulations.protocol.assignors.explanation import Explanation, counted, listed
from simulations.protocol.assignors.interface import GroupAssignment, GroupSpec
from simulations.protocol.assignors.sharing import (
    Shares,
    alike,
    cut,
    cut_explained,
    cuts_explained,
    members_in_order,
    put,
    shares_in_words,
    subscribers_of,
)


class RangeAssignor:
    name = "range"

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        ordered = members_in_order(spec.members)
        subscribers = subscribers_of(spec.members[member_id] for member_id in ordered)
        counts = partition_counts(spec, subscribers)
        shares: Shares = [{} for _ in ordered]
        racks = [rack_of(spec.members[member_id]) for member_id in ordered]
        on = racks_by_topic(spec, counts) if any(racks) else {}
        helped = {
            topic
            for topic, each in on.items()
            if racks_help({rack for place in subscribers[topic] if (rack := racks[place])}, each)
        }
        for places, count, topics in alike(counts, subscribers):
            if not helped or (len(topics) == 1 and topics[0] not in helped):
                cut(shares, places, count, topics)
                continue
            taking = _Taking(places, count)
            if len(topics) > 1:
                _co_partitioned(taking, racks, [on[topic] for topic in topics])
            else:
                for place in places:
                    rack, each = racks[place], on[topics[0]]
                    taking.take(place, (p for p in taking.free if rack is None or rack in each[p]))
            for place in places:
                taking.take(place, taking.free)
            for place, partitions in taking.given.items():
                put(shares, place, topics, sorted(partitions))
        if explain is not None:
            _explain(explain, ordered, shares, counts, subscribers, helped, racks)
        return GroupAssignment(members=dict(zip(ordered, shares, strict=True)))


def _explain(
    explain: Explanation,
    members: Sequence[str],
    shares: Shares,
    counts: Mapping[str, int],
    subscribers: Mapping[str, list[int]],
    helped: Collection[str],
    racks: Sequence[str | None],
) -> None:
    """Explains how each topic was cut, racks first where they can help."""
    if not helped:
        cuts_explained(explain, members, counts, subscribers)
        return
    placed = [f"{member} {rack or 'in none'}" for member, rack in zip(members, racks, strict=True)]
    # A set of names is in another order in every process.
    gaining = [topic for topic in counts if topic in helped]
    explain.say(
        "racks",
        f"Racks first, as far as a member's share goes; {listed(gaining)} can gain by it. Members: {listed(placed)}",
        topics=gaining,
        racks=dict(zip(members, racks, strict=True)),
    )
    for places, count, topics in alike(counts, subscribers):
        least, extra = divmod(count, len(places))
        if len(topics) == 1 and topics[0] not in helped:
            cut_explained(explain, topics[0], count, [members[place] for place in places])
            continue
        how = (
            "one number of all of them together to the first member with room that is in a replica's rack for each"
            if len(topics) > 1
            else "to the first member with room that is in a replica's rack"
        )
        explain.say(
            "place",
            f"{listed(topics)}: {counted(count, 'partition')}, {counted(len(places), 'subscriber')}, so {shares_in_words(least, extra, 'fill up')}: {how}, "
            "the rest to who has room",
            topics=topics,
            partitions=count,
            given={members[place]: list(shares[place].get(topics[0], ())) for place in places},
        )


class _Taking:
    """How much of a topic each subscriber may still take, and what is left."""

    __slots__ = ("extra", "free", "given", "least", "places")

    def __init__(self, places: Sequence[int], count: int) -> None:
        self.places = places
        self.least, self.extra = divmod(count, len(places))
        self.free = dict.fromkeys(range(count))
        self.given: dict[int, list[int]] = {}

    def room(self, place: int) -> int:
        return max(0, self.least + (self.extra > 0) - len(self.given.get(place, ())))

    def take(self, place: int, wanted: Iterable[int]) -> None:
        taken = list(islice(wanted, self.room(place)))
        if not taken:
            return
        for partition in taken:
            del self.free[partition]
        given = self.given.setdefault(place, [])
        given += taken
        self.extra -= len(given) > self.least


def _co_partitioned(
    taking: _Taking, racks: Sequence[str | None], on: Sequence[Sequence[frozenset[str]]]
) -> None:
    """Number after number to the first subscriber with room that is in a replica's rack in every one of the topics."""
    remaining = dict.fromkeys(taking.places)
    for partition in list(taking.free):
        shared = frozenset.intersection(*{each[partition] for each in on})
        found = next(
            (p for p in remaining if taking.room(p) and (racks[p] is None or racks[p] in shared)), None
        )
        if found is None:
            continue
        taking.take(found, [partition])
        if taking.room(found) == 0:
            del remaining[found]
        if not remaining:
            break
