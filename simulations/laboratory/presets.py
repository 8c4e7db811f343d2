"""The axes of Kafka's own benchmark of assignors, and cases along them.

Kafka: ``ServerSideAssignorBenchmark`` and ``ClientSideAssignorBenchmark``: members, topics, partitions, subscriptions,
racks, and the event. Here the partitions of topics can be skewed, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from simulations.laboratory.cases import RACKS, Before, Case, CaseError, CaseTopic, Event, Member

CYCLE: Final = 3
"""Disjoint and nested subscriptions repeat after so many members."""


class Sizes(StrEnum):
    EQUAL = "equal"
    SKEWED = "skewed"


class Subscriptions(StrEnum):
    """All to all; each topic to a third of the members; all topics, two thirds of them, one third."""

    SAME = "same"
    DISJOINT = "disjoint"
    NESTED = "nested"


class Racks(StrEnum):
    NONE = "none"
    THREE = "three"


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a group is."""

    members: int
    topics: int
    partitions: int


SHAPES: Final = (
    Shape(3, 1, 6),
    Shape(6, 3, 21),
    Shape(12, 3, 30),
    Shape(30, 5, 120),
    Shape(60, 10, 600),
    Shape(200, 10, 2_000),
    Shape(500, 20, 5_000),
)
"""From a group that one counts at a glance to the largest that the laboratory takes."""


def sizes_of(kind: Sizes, topics: int, partitions: int) -> tuple[int, ...]:
    """Partitions of each topic, the larger first; skewed, each topic has half of the one before, one at least."""
    if not 1 <= topics <= partitions:
        raise CaseError(
            f"a group needs a topic, and {topics} topics as many partitions, not {partitions}", "topics"
        )
    if kind is Sizes.EQUAL:
        least, more = divmod(partitions, topics)
        return tuple(least + (place < more) for place in range(topics))
    sizes: list[int] = []
    left = partitions
    for place in range(topics):
        behind = topics - place - 1
        # The shares from here on are 1, 1/2, 1/4, …; beyond thirty of them the rest is nothing.
        whole = 2 - 0.5 ** min(behind, 30)
        size = left if behind == 0 else max(1, min(round(left / whole), left - behind))
        sizes.append(size)
        left -= size
    return tuple(sizes)


def subscription_of(kind: Subscriptions, place: int, topics: int) -> tuple[int, ...]:
    """The topics of the member at a place."""
    turn = place % CYCLE
    if kind is Subscriptions.SAME:
        return tuple(range(topics))
    if kind is Subscriptions.NESTED:
        return tuple(range(-(-topics * (CYCLE - turn) // CYCLE)))
    ways = min(CYCLE, topics)
    return tuple(topic for topic in range(topics) if topic % ways == place % ways)


def rack_of(kind: Racks, place: int) -> str | None:
    return RACKS[place % len(RACKS)] if kind is Racks.THREE else None


def preset(
    shape: Shape,
    *,
    sizes: Sizes = Sizes.EQUAL,
    subscriptions: Subscriptions = Subscriptions.SAME,
    racks: Racks = Racks.NONE,
    event: Event = Event.STABLE,
    count: int | None = None,
    before: Before = Before.RANGE,
    seed: int = 1,
) -> Case:
    """The case at a point of the axes; ``count`` is how many join, leave, or partitions a topic gets."""
    counts = sizes_of(sizes, shape.topics, shape.partitions)
    topics = tuple(CaseTopic(partitions=partitions) for partitions in counts)
    members = tuple(
        Member(topics=subscription_of(subscriptions, place, shape.topics), rack=rack_of(racks, place))
        for place in range(shape.members)
    )
    return happening(Case(members=members, topics=topics, before=before, seed=seed), event, count)


def happening(case: Case, event: Event, count: int | None = None) -> Case:
    """The case with another event, of the usual size if ``count`` does not say."""
    case = replace(case, event=Event.STABLE, joining=(), leaving=(), grown=None)
    if event is Event.JOIN:
        return with_newcomers(case, 1 if count is None else count)
    if event is Event.LEAVE:
        return replace(
            case, event=event, leaving=those_who_leave(len(case.members), 1 if count is None else count)
        )
    if event is Event.GROW:
        by = max(1, case.topics[0].partitions // 4) if count is None else count
        return replace(case, event=event, grown=(0, by))
    return replace(case, event=event)


def with_newcomers(case: Case, count: int) -> Case:
    """``count`` members join; they subscribe and stand in racks as the others do."""
    there = len(case.members)
    subscriptions = subscriptions_in(case)
    racks = racks_in(case) or Racks.THREE
    names: Sequence[str | None] = [None] * count
    if any(member.name for member in case.members):
        names = _free_names(case, count)
    joining = tuple(
        Member(
            name=name,
            # Where members follow no rule, a newcomer reads everything.
            topics=subscription_of(subscriptions or Subscriptions.SAME, place, len(case.topics)),
            rack=rack_of(racks, place),
        )
        for place, name in enumerate(names, there)
    )
    return replace(case, event=Event.JOIN, joining=joining, leaving=(), grown=None)


def those_who_leave(members: int, count: int) -> tuple[int, ...]:
    """Spread over the group: the third of six, every second of half of them."""
    if count >= members or count < 1:
        raise CaseError(f"of {members} members, 1 to {members - 1} can leave, not {count}", "event")
    if count == 1:
        return (min(2, members - 1),)
    return tuple(sorted({(2 * place + 1) * members // (2 * count) for place in range(count)}))


def _free_names(case: Case, count: int) -> list[str]:
    taken = {*case.names, *case.ids}
    free = (name for number in itertools.count(1) if (name := f"new-{number}") not in taken)
    return list(itertools.islice(free, count))


def sizes_in(case: Case) -> Sizes | None:
    """The preset that a case is at, or none."""
    counts = case.sizes_before
    for kind in Sizes:
        if sizes_of(kind, len(counts), sum(counts)) == counts:
            return kind
    return None


def subscriptions_in(case: Case) -> Subscriptions | None:
    for kind in Subscriptions:
        if all(
            member.topics == subscription_of(kind, place, len(case.topics))
            for place, member in enumerate(case.everybody)
        ):
            return kind
    return None


def racks_in(case: Case) -> Racks | None:
    for kind in Racks:
        if all(member.rack == rack_of(kind, place) for place, member in enumerate(case.everybody)):
            return kind
    return None
