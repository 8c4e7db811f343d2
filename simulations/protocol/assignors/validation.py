"""Is an assignment sound: each partition of a subscribed topic given exactly once, and only to a subscriber?

What KIP-848 has the coordinator check of a client's assignment, what Kafka's own tests ask of every assignor, and what
Kafka's faults break. Cost: partitions + members × topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from groups.history.state.declared import document
from simulations.protocol.assignors.interface import GroupSpec, Owned

MEMBERS_NAMED: Final = 3
"""Members named in one sentence; of more only the number is shown."""

RUNS_NAMED: Final = 8
"""Runs of partitions named in one sentence; of more only the number of partitions is shown."""


@document
@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with some partitions of a topic.

    ``kind`` is one of ``unknown-member``, ``unknown-topic``, ``no-such-partition``, ``not-subscribed``, ``twice``,
    ``unassigned``; ``members`` those that were given the partitions, a member twice if it was given them twice.
    """

    kind: str
    topic: str
    partitions: tuple[int, ...]
    members: tuple[str, ...]
    sentence: str


def problems(spec: GroupSpec, assigned: Mapping[str, Owned], *, complete: bool = True) -> list[Problem]:
    """Everything that is wrong with an assignment, like partitions together; empty if it is sound.

    ``complete=False`` allows that partitions are given to nobody: what ``cooperative-sticky`` sends in its first
    round. A subscribed topic that does not exist has no partitions to give.
    """
    given: dict[str, dict[str, Sequence[int]]] = {}
    for member_id, owned in assigned.items():
        for topic, partitions in owned.items():
            if partitions:
                given.setdefault(topic, {})[member_id] = partitions
    found: list[Problem] = []
    for topic, by_member in given.items():
        found += _wrongly_given(spec, topic, by_member)
    wanted = dict.fromkeys(topic for member in spec.members.values() for topic in member.topics)
    for topic in (*(topic for topic in wanted if topic not in given), *given):
        if topic in spec.topics:
            found += _times_given(
                topic,
                spec.topics[topic].partitions,
                given.get(topic, {}),
                complete=complete and topic in wanted,
            )
    return found


def _wrongly_given(spec: GroupSpec, topic: str, by_member: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
    known = spec.topics.get(topic)
    for member_id, partitions in by_member.items():
        member = spec.members.get(member_id)
        if member is None:
            yield _problem(
                "unknown-member", topic, partitions, [member_id], "which is no member of the group"
            )
        if known is None:
            yield _problem("unknown-topic", topic, partitions, [member_id], f"but there is no topic {topic}")
            continue
        beyond = [partition for partition in partitions if not 0 <= partition < known.partitions]
        if beyond:
            yield _problem(
                "no-such-partition", topic, beyond, [member_id], f"but {_extent(topic, known.partitions)}"
            )
        if member is not None and topic not in member.topics:
            yield _problem(
                "not-subscribed", topic, partitions, [member_id], f"which does not subscribe to {topic}"
            )


def _times_given(
    topic: str, count: int, by_member: Mapping[str, Sequence[int]], *, complete: bool
) -> Iterator[Problem]:
    total = sum(map(len, by_member.values()))
    once = {
        partition for partitions in by_member.values() for partition in partitions if 0 <= partition < count
    }
    if len(once) < total:
        takers: dict[int, list[str]] = {}
        for member_id, partitions in by_member.items():
            for partition in partitions:
                takers.setdefault(partition, []).append(member_id)
        like: dict[tuple[str, ...], list[int]] = {}
        for partition, members in takers.items():
            if len(members) > 1 and partition in once:
                like.setdefault(tuple(members), []).append(partition)
        for doubled, shared in like.items():
            yield _problem("twice", topic, shared, doubled, "")
    if complete and len(once) < count:
        yield _problem("unassigned", topic, [p for p in range(count) if p not in once], (), "")


def _problem(
    kind: str, topic: str, partitions: Iterable[int], members: Sequence[str], because: str
) -> Problem:
    listed = tuple(sorted(partitions))
    what = (
        f"{partitions_named(topic, listed)} {'is' if len(listed) == 1 else 'are'} given to {_takers(members)}"
    )
    return Problem(kind, topic, listed, tuple(members), f"{what}, {because}" if because else what)


def _takers(members: Sequence[str]) -> str:
    if not members:
        return "nobody"
    names = list(dict.fromkeys(members))
    if len(names) == 1:
        return names[0] if len(members) == 1 else f"{names[0]} {_times(len(members))}"
    if len(names) > MEMBERS_NAMED:
        return f"{', '.join(names[:MEMBERS_NAMED])} and {len(names) - MEMBERS_NAMED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number} times"


def _extent(topic: str, count: int) -> str:
    if count == 0:
        return f"{topic} has no partitions"
    return (
        f"{topic} has {count} partitions, 0 to {count - 1}" if count > 1 else f"{topic} has partition 0 alone"
    )


def partitions_named(topic: str, partitions: Sequence[int]) -> str:
    """Sorted partitions of a topic in a sentence, runs as runs: ``orders-0 to 3, 7``."""
    runs: list[tuple[int, int]] = []
    for partition in dict.fromkeys(partitions):
        if runs and runs[-1][1] == partition - 1:
            runs[-1] = (runs[-1][0], partition)
        else:
            runs.append((partition, partition))
    names = ", ".join(
        str(first) if first == last else f"{first}{' to ' if last > first + 1 else ', '}{last}"
        for first, last in runs[:RUNS_NAMED]
    )
    left = sum(last - first + 1 for first, last in runs[RUNS_NAMED:])
    return f"{topic}-{names}" + (f" and {left} more" if left else "")
