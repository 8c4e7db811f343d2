"""The worked examples of the classic protocol's assignors, each confirmed by Kafka's own classes, and their rules."""

from __future__ import annotations

from typing import Any

import pytest

from simulations.protocol.assignors import (
    ASSIGNORS,
    Assignment,
    GroupSpec,
    MemberSpec,
    Topic,
)
from simulations.protocol.assignors.classic.custom import CUSTOM_COOPERATIVE
from simulations.protocol.assignors.classic.strategies import COOPERATIVE, EAGER, rebalance_protocol

STICKY = ("sticky", "cooperative-sticky")
RACKS = ("a", "b", "c")


def partitions(text: str) -> dict[str, list[int]]:
    """``"t1-0,2 t2-1"``: partitions of topics, in the order told."""
    return {
        topic: [int(number) for number in numbers.split(",")]
        for topic, numbers in (each.rsplit("-", 1) for each in text.split())
    }


def topics(text: str, replicas: int = 0, racks: str = "abc") -> dict[str, Topic]:
    """``"t1(6) t2(7)"``; with replicas, on the racks in turn, a topic beginning where the one before ended."""
    told: dict[str, Topic] = {}
    start = 0
    for each in text.split():
        name, count = each.rstrip(")").split("(")
        on = {
            p: [racks[(start + p + copy) % len(racks)] for copy in range(replicas)] for p in range(int(count))
        }
        told[name] = Topic(partitions=int(count), racks=on if replicas else None)
        start += int(count)
    return told


def member(subscribed: str, owned: str = "", **more: Any) -> MemberSpec:
    return MemberSpec(topics=tuple(subscribed.split()), owned=partitions(owned), **more)


def plan(name: str, known: dict[str, Topic], members: dict[str, MemberSpec]) -> dict[str, str]:
    """The plan in the notation of ``partitions``; a member without partitions has an empty text."""
    answer = ASSIGNORS["classic"][name]().assign(GroupSpec(members=members, topics=known))
    return shown(answer.members if answer.intended is None else answer.intended)


def shown(assignment: Assignment) -> dict[str, str]:
    return {
        member_id: " ".join(f"{t}-{','.join(map(str, sorted(ps)))}" for t, ps in sorted(owned.items()) if ps)
        for member_id, owned in assignment.items()
    }


# roundrobin


@pytest.mark.parametrize(
    ("known", "members", "expected"),
    [
        (
            "t0(3) t1(3)",
            {"C0": member("t0 t1"), "C1": member("t0 t1")},
            {"C0": "t0-0,2 t1-1", "C1": "t0-1 t1-0,2"},
        ),
        (
            "t0(1) t1(2) t2(3)",
            {"C0": member("t0"), "C1": member("t0 t1"), "C2": member("t0 t1 t2")},
            {"C0": "t0-0", "C1": "t1-0", "C2": "t1-1 t2-0,1,2"},
        ),
        (
            "t1(3) t2(2)",
            {"consumer1": member("t1"), "consumer2": member("t1 t2"), "consumer3": member("t1")},
            {"consumer1": "t1-0", "consumer2": "t1-1 t2-0,1", "consumer3": "t1-2"},
        ),
        (
            "t1(3) t2(3)",
            {"consumer-a": member("t1 t2"), "consumer-b": member("t1 t2", instance_id="instance1")},
            {"consumer-b": "t1-0,2 t2-1", "consumer-a": "t1-1 t2-0,2"},
        ),
    ],
)
def test_roundrobin_goes_round_the_ring_from_topic_to_topic_past_those_who_do_not_subscribe(
    known: str, members: dict[str, MemberSpec], expected: dict[str, str]
) -> None:
    assert plan("roundrobin", topics(known), members) == expected


# range

SIX_SEVEN_TWO = "t1(6) t2(7) t3(2)"
FIVES = "t1(5) t2(5) t3(5)"


def three(last: str = "t1 t2 t3", owned: tuple[str, str, str] = ("", "", "")) -> dict[str, MemberSpec]:
    """consumer0, 1, 2 on racks a, b, c; the last one may subscribe to less."""
    subscribed = ("t1 t2 t3", "t1 t2 t3", last)
    return {
        f"consumer{n}": member(
            subscribed[n], owned[n], rack_id=RACKS[n], generation=1 if any(owned) else None
        )
        for n in range(3)
    }


@pytest.mark.parametrize(
    ("known", "replicas", "last", "expected"),
    [
        (SIX_SEVEN_TWO, 0, "t1 t2 t3", ("t1-0,1 t2-0,1,2 t3-0", "t1-2,3 t2-3,4 t3-1", "t1-4,5 t2-5,6")),
        (SIX_SEVEN_TWO, 1, "t1 t2 t3", ("t1-0,3 t2-0,3,6", "t1-1,4 t2-1,4 t3-0", "t1-2,5 t2-2,5 t3-1")),
        (SIX_SEVEN_TWO, 2, "t1 t2 t3", ("t1-0,2 t2-0,2,3 t3-1", "t1-1,3 t2-1,4 t3-0", "t1-4,5 t2-5,6")),
        (SIX_SEVEN_TWO, 1, "t1 t3", ("t1-0,3 t2-0,2,3,6", "t1-1,4 t2-1,4,5 t3-0", "t1-2,5 t3-1")),
        (SIX_SEVEN_TWO, 2, "t1 t3", ("t1-0,2 t2-0,2,3,5 t3-1", "t1-1,3 t2-1,4,6 t3-0", "t1-4,5")),
        (FIVES, 1, "t1 t2 t3", ("t1-0,1 t2-0,1 t3-0,1", "t1-2,3 t2-2,3 t3-2,3", "t1-4 t2-4 t3-4")),
        (FIVES, 2, "t1 t2 t3", ("t1-0,1 t2-0,1 t3-0,1", "t1-2,3 t2-2,3 t3-2,3", "t1-4 t2-4 t3-4")),
        (FIVES, 1, "t1 t3", ("t1-0,1 t2-0,1,4 t3-0,1", "t1-2,3 t2-2,3 t3-2,3", "t1-4 t3-4")),
        (FIVES, 2, "t1 t3", ("t1-2 t2-0,1,3 t3-2", "t1-0,3 t2-2,4 t3-0,3", "t1-1,4 t3-1,4")),
    ],
)
def test_range_looks_for_racks_as_far_as_the_cut_and_co_partitioning_allow(
    known: str, replicas: int, last: str, expected: tuple[str, str, str]
) -> None:
    given_out = plan("range", topics(known, replicas), three(last))
    assert tuple(given_out[f"consumer{n}"] for n in range(3)) == expected


def test_range_keeps_co_partitioned_topics_together_on_two_racks() -> None:
    racks = ("a", "b", "b", "a")
    known = topics("t1(6) t2(6) t3(2) t4(2)", 1, "ab")
    halves = {f"c{n}": member("t1 t2" if n < 2 else "t3 t4", rack_id=racks[n]) for n in range(4)}
    assert plan("range", known, halves) == {
        "c0": "t1-0,2,4 t2-0,2,4",
        "c1": "t1-1,3,5 t2-1,3,5",
        "c2": "t3-1 t4-1",
        "c3": "t3-0 t4-0",
    }
    everything = {f"c{n}": member("t1 t2 t3 t4", rack_id=racks[n]) for n in range(4)}
    assert plan("range", known, everything) == {
        "c0": "t1-0,2 t2-0,2 t3-0 t4-0",
        "c1": "t1-1,3 t2-1,3 t3-1 t4-1",
        "c2": "t1-5 t2-5",
        "c3": "t1-4 t2-4",
    }


def test_range_without_racks_cuts_topics_for_static_members_first() -> None:
    both = {
        "consumer-b": member("t1 t2", instance_id="instance1"),
        "consumer-a": member("t1 t2", instance_id="instance2"),
    }
    assert plan("range", topics("t1(3) t2(3)"), both) == {
        "consumer-b": "t1-0,1 t2-0,1",
        "consumer-a": "t1-2 t2-2",
    }
    mixed = {f"c{n}": member("t1 t2", instance_id=f"instance{n}") for n in (1, 2, 3)}
    expected = {"c1": "t1-0,1 t2-0", "c2": "t1-2 t2-1", "c3": "t1-3 t2-2"}
    for dynamic in ("c4", "a-new-one"):
        given_out = plan("range", topics("t1(5) t2(4)"), {dynamic: member("t1 t2"), **mixed})
        assert given_out == {**expected, dynamic: "t1-4 t2-3"}


# sticky and cooperative-sticky, equal subscriptions


@pytest.mark.parametrize(
    ("strategies", "protocol"),
    [
        (["cooperative-sticky"], COOPERATIVE),
        (["range", "cooperative-sticky"], EAGER),
        (["range"], EAGER),
        ([CUSTOM_COOPERATIVE], COOPERATIVE),
        ([CUSTOM_COOPERATIVE, "range"], None),
    ],
)
def test_a_client_rebalances_as_all_of_its_strategies_support_the_cooperative_way_first(
    strategies: list[str], protocol: str | None
) -> None:
    assert rebalance_protocol(strategies) == protocol
