"""Whole runs of partitions, for members and topics that are alike.

Topics with the same subscribers and the same number of partitions are cut alike, so each cut is made once and put under
all their names. Partitions of one topic that go to every n-th member are a ``range`` with a step.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from simulations.protocol.assignors.explanation import Explanation, counted, listed
from simulations.protocol.assignors.interface import MemberSpec
from simulations.protocol.assignors.java_orders import utf16

Shares = list[dict[str, Sequence[int]]]
"""For each member, in the order in which members were given: topic → partitions."""


def java_sorted(names: Iterable[str]) -> list[str]:
    """Names in the order of Java's strings, by UTF-16 units."""
    all_names = list(names)
    # Below the surrogates, units and code points are the same.
    return sorted(all_names) if "".join(all_names).isascii() else sorted(all_names, key=utf16)


def members_in_order(members: Mapping[str, MemberSpec]) -> list[str]:
    """``MemberInfo`` of Kafka's clients, and the server's ``range``: static members first, by instance id."""
    static = [(utf16(m.instance_id), i) for i, m in members.items() if m.instance_id is not None]
    dynamic = [member_id for member_id, member in members.items() if member.instance_id is None]
    return [*(member_id for _, member_id in sorted(static, key=lambda s: s[0])), *java_sorted(dynamic)]


def subscribers_of(members: Iterable[MemberSpec]) -> dict[str, list[int]]:
    """Topic → places of its subscribers, ascending; topics with the same subscribers share one list."""
    seen: dict[int, int] = {}
    classes: dict[tuple[str, ...], int] = {}
    places: list[list[int]] = []
    for place, member in enumerate(members):
        number = seen.get(id(member.topics))
        if number is None:
            topics = tuple(member.topics)
            number = classes.setdefault(topics, len(places))
            if number == len(places):
                places.append([])
            seen[id(member.topics)] = number
        places[number].append(place)
    of_topic: dict[str, list[int]] = {}
    for topics, number in classes.items():
        for topic in topics:
            of_topic.setdefault(topic, []).append(number)
    merged: dict[tuple[int, ...], list[int]] = {}
    answer: dict[str, list[int]] = {}
    for topic, numbers in of_topic.items():
        # Of a subscription that names a topic twice its members count once.
        key = tuple(dict.fromkeys(numbers)) if len(numbers) > 1 else tuple(numbers)
        if key not in merged:
            merged[key] = (
                places[key[0]]
                if len(key) == 1
                else sorted(chain.from_iterable(places[number] for number in key))
            )
        answer[topic] = merged[key]
    return answer


def put(shares: Shares, place: int, topics: Sequence[str], partitions: Sequence[int]) -> None:
    """Gives a member the same partitions of each of the topics."""
    if len(topics) == 1:
        shares[place][topics[0]] = partitions
    elif shares[place]:
        shares[place].update(dict.fromkeys(topics, partitions))
    else:
        shares[place] = dict.fromkeys(topics, partitions)


def alike(
    counts: Mapping[str, int], subscribers: Mapping[str, list[int]]
) -> Iterator[tuple[list[int], int, list[str]]]:
    """Topics with the same subscribers and as many partitions: ``(subscribers, partitions, topics)``."""
    groups: dict[tuple[int, int], tuple[list[int], int, list[str]]] = {}
    for topic, count in counts.items():
        places = subscribers[topic]
        groups.setdefault((id(places), count), (places, count, []))[2].append(topic)
    return iter(groups.values())


def cut(shares: Shares, places: Sequence[int], count: int, topics: Sequence[str]) -> None:
    """Runs of neighbours: each place in turn gets ``count // len(places)``, the first ones one more."""
    least, extra = divmod(count, len(places))
    start = 0
    for position, place in enumerate(places):
        size = least + (position < extra)
        if size == 0:
            break
        put(shares, place, topics, range(start, start + size))
        start += size


def deal(shares: Shares, counts: Mapping[str, int], subscribers: Mapping[str, list[int]]) -> None:
    """One partition after the other, to the next subscriber in the ring of all members; the ring goes on from topic
    to topic, in the order of ``counts``."""
    members = len(shares)
    pointer = 0
    groups: dict[tuple[int, int, int], tuple[list[int], list[str]]] = {}
    for topic, count in counts.items():
        places = subscribers[topic]
        first = bisect_left(places, pointer) % len(places)
        groups.setdefault((id(places), count, first), (places, []))[1].append(topic)
        pointer = (places[(first + count - 1) % len(places)] + 1) % members
    steps: dict[tuple[int, int], list[range]] = {}
    for (_, count, first), (places, topics) in groups.items():
        ring = len(places)
        if (count, ring) not in steps:
            steps[count, ring] = [range(turn, count, ring) for turn in range(min(count, ring))]
        takers = [*places[first:], *places[:first]]
        if len(topics) == 1:
            topic = topics[0]
            # The ring is longer than the steps where there are fewer partitions than subscribers.
            for place, partitions in zip(takers, steps[count, ring], strict=False):
                shares[place][topic] = partitions
        else:
            for place, partitions in zip(takers, steps[count, ring], strict=False):
                put(shares, place, topics, partitions)


def cuts_explained(
    explain: Explanation,
    members: Sequence[str],
    counts: Mapping[str, int],
    subscribers: Mapping[str, list[int]],
) -> None:
    """Explains how each topic is cut."""
    explain.say(
        "order",
        f"Members in order, static ones first: {listed(members)}. Each topic is cut up on its own",
        members=list(members),
    )
    for topic, count in counts.items():
        cut_explained(explain, topic, count, [members[place] for place in subscribers[topic]])


def cut_explained(explain: Explanation, topic: str, count: int, subscribers: list[str]) -> None:
    """Explains how one topic is cut."""
    least, extra = divmod(count, len(subscribers))
    explain.say(
        "cut",
        f"{topic}: {counted(count, 'partition')}, {counted(len(subscribers), 'subscriber')}, so {shares_in_words(least, extra)}",
        topic=topic,
        partitions=count,
        least=least,
        with_one_more=extra,
        members=subscribers,
    )


def deals_explained(
    explain: Explanation,
    members: Sequence[str],
    counts: Mapping[str, int],
    subscribers: Mapping[str, list[int]],
) -> None:
    """Explains how the partitions of each topic go round the ring of members."""
    explain.say("order", f"Members stand in a ring: {listed(members)}", members=list(members))
    pointer = 0
    for topic, count in counts.items():
        places = subscribers[topic]
        first = bisect_left(places, pointer) % len(places)
        last = places[(first + count - 1) % len(places)]
        pointer = (last + 1) % len(members)
        explain.say(
            "deal",
            f"{topic}: one partition each, round its subscribers: {topic}-0 goes to {members[places[first]]}"
            + (f", {topic}-{count - 1} to {members[last]}" if count > 1 else "")
            + "; the next topic goes on from there",
            topic=topic,
            partitions=count,
            members=[members[place] for place in (*places[first:], *places[:first])],
        )


def shares_in_words(least: int, extra: int, to_do: str = "") -> str:
    """How even shares are: ``2 each, one more for the first 3``; ``to_do`` is what they are the first to do."""
    spread = f"{least} each" if least else "none each"
    if not extra:
        return spread
    return f"{spread}, one more for the first{'' if extra == 1 else f' {extra}'}{to_do and ' to '}{to_do}"
