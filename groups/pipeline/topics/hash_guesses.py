"""Guesses at a group's topics that its metadata hash proves: ids, names and partition counts.

A hash covers all three, so that a guess which reproduces it is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations, product

from groups.pipeline.topics.facts import GroupFacts, Hash, Known
from groups.wire.metadata_hash import group_hash, topic_hash

GUESSES_MOST = 60_000
"""Guesses for one hash. Each takes about two microseconds; the right one is nearly always among the first few,
and a group of many nameless topics has more orders than could ever be tried."""

MORE_PARTITIONS_MOST = 64
"""How many partitions more than the highest one seen are tried: the hash is written before the target that uses
them, and a topic seldom grows by more at once."""

FEWER_PARTITIONS_MOST = 64
"""How many fewer: the highest partition may have been seen only after the topic grew."""

TOPICS_GUESSED_MOST = 8
"""Topics of one hash; eight nameless ones already have 40,320 orders."""


def guess(
    hashed: Hash, facts: GroupFacts, known: Known, proven: Mapping[str, tuple[str, int]]
) -> dict[str, tuple[str, int]] | None:
    """Name → id and partition count that give this hash; None where none of the guesses in reach does.

    Subscribed topics that do not exist are not in the hash, so subsets of the names are tried, the largest first.
    """
    names = sorted(hashed.names)
    if len(names) > TOPICS_GUESSED_MOST:
        return None
    left = GUESSES_MOST
    for size in range(len(names), 0, -1):
        for subset in combinations(names, size):
            for ids in id_choices(subset, facts, known, proven):
                candidates = [
                    list(count_choices(topic_id, facts, known, proven.get(name)))
                    for name, topic_id in zip(subset, ids, strict=True)
                ]
                hashes = [_Hashes(topic_id, name) for name, topic_id in zip(subset, ids, strict=True)]
                for counts in likely_first(candidates):
                    left -= 1
                    if left < 0:
                        return None
                    rows = {name: hashes[at][counts[at]] for at, name in enumerate(subset)}
                    if group_hash(rows) == hashed.value:
                        return {
                            name: (topic_id, count)
                            for name, topic_id, count in zip(subset, ids, counts, strict=True)
                        }
    return None


class _Hashes(dict[int, int]):
    """Partition count → the topic's hash, made when it is asked for: the first guess is nearly always right."""

    def __init__(self, topic_id: str, name: str) -> None:
        self.topic_id = topic_id
        self.name = name

    def __missing__(self, count: int) -> int:
        made = self[count] = topic_hash(self.topic_id, self.name, count)
        return made


def id_choices(
    names: Sequence[str], facts: GroupFacts, known: Known, proven: Mapping[str, tuple[str, int]]
) -> Iterator[tuple[str, ...]]:
    """Ways to give each name an id: those that are known stand, the rest in every order."""
    fixed: dict[str, str] = {name: topic_id for name, (topic_id, _) in proven.items()}
    for name in names:
        if name in known.id_of_name:
            fixed.setdefault(name, known.id_of_name[name])
        for place in known.changes_of_name.get(name, ()):
            if known.changes[place].partitions is not None:
                fixed.setdefault(name, known.changes[place].topic_id)
    taken = {fixed[name] for name in names if name in fixed}
    free = [topic_id for topic_id in facts.mentioned if topic_id not in taken and topic_id not in known.names]
    open_names = [name for name in names if name not in fixed]
    for chosen in permutations(free, len(open_names)):
        given = dict(zip(open_names, chosen, strict=True))
        yield tuple(fixed.get(name) or given[name] for name in names)


def count_choices(
    topic_id: str, facts: GroupFacts, known: Known, proven: tuple[str, int] | None
) -> Iterator[int]:
    """Partition counts of a topic, the likeliest first."""
    counts: dict[int, None] = {}
    if proven is not None and proven[0] == topic_id:
        counts[proven[1]] = None
    if topic_id in known.partitions:
        counts[known.partitions[topic_id]] = None
    for place in known.changes_of_id.get(topic_id, ()):
        partitions = known.changes[place].partitions
        if partitions is not None:
            counts[partitions] = None
    seen = facts.highest.get(topic_id, 0) + 1
    for count in range(seen, seen + MORE_PARTITIONS_MOST + 1):
        counts.setdefault(count)
    for count in range(seen - 1, max(0, seen - 1 - FEWER_PARTITIONS_MOST), -1):
        counts.setdefault(count)
    yield from counts


def likely_first(candidates: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every combination of counts: first those in which only one topic's count is not the likeliest."""
    likeliest = tuple(counts[0] for counts in candidates)
    yield likeliest
    for at, counts in enumerate(candidates):
        for count in counts[1:]:
            yield (*likeliest[:at], count, *likeliest[at + 1 :])
    for chosen in product(*candidates):
        if sum(one != likely for one, likely in zip(chosen, likeliest, strict=True)) > 1:
            yield chosen
