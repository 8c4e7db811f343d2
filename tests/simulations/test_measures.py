"""What an answer's numbers count, and the least number of moves that its balance asks for."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.assignors.interface import GroupAssignment, GroupSpec, MemberSpec, Topic
from simulations.protocol.assignors.measures import (
    RebalanceProtocol,
    concluded,
    measure,
    protocol_of,
)
from tests.simulations.optimum import least_moves
from tests.tiers import examples

Owned = dict[str, list[int]]


def group(topics: dict[str, int], **members: tuple[str, Owned]) -> GroupSpec:
    """``A=("T1 T2", {"T1": [0]})``: subscription and claims of each member."""
    return GroupSpec(
        members={
            member_id: MemberSpec(topics=subscription.split(), owned=owned)
            for member_id, (subscription, owned) in members.items()
        },
        topics={name: Topic(partitions=count) for name, count in topics.items()},
    )


JOINED = group({"T": 6}, A=("T", {"T": [0, 1, 2]}), B=("T", {"T": [3, 4, 5]}), C=("T", {}))
EVEN = {"A": {"T": [0, 1]}, "B": {"T": [3, 4]}, "C": {"T": [2, 5]}}


def figures(
    spec: GroupSpec, answer: GroupAssignment, protocol: str = "consumer", assignor: str = "uniform"
) -> dict[str, int | None]:
    return measure(spec, answer, protocol_of(protocol, assignor)).to_json()


def test_an_eager_protocol_interrupts_everybody_and_the_others_only_those_that_give_something_up() -> None:
    answer = GroupAssignment(members=EVEN)
    everywhere = {"moved": 2, "revoked": 2, "min": 2, "max": 2, "rebalances": 1, "local": None, "placed": 6}
    assert figures(JOINED, answer) == everywhere | {"interrupted": 2, "paused": 2}
    assert figures(JOINED, answer, "classic", "sticky") == everywhere | {"interrupted": 2, "paused": 6}
    one_gives = GroupAssignment(members={"A": {"T": [0]}, "B": {"T": [3, 4, 5]}, "C": {"T": [1, 2]}})
    assert figures(JOINED, one_gives)["interrupted"] == 1
    assert figures(JOINED, one_gives, "classic", "range")["interrupted"] == 2


def test_what_a_cooperative_round_withholds_costs_a_second_rebalance_and_counts_as_moved() -> None:
    sent = GroupAssignment(members=EVEN | {"C": {}}, intended=EVEN)
    told = figures(JOINED, sent, "classic", "cooperative-sticky")
    assert (told["moved"], told["revoked"], told["paused"], told["rebalances"], told["min"]) == (
        2,
        2,
        2,
        2,
        2,
    )
    settled = GroupAssignment(members=EVEN, intended=EVEN)
    assert figures(JOINED, settled, "classic", "cooperative-sticky")["rebalances"] == 1


def test_claims_on_what_no_longer_exists_are_revoked_but_nobody_waits_for_them() -> None:
    spec = group({"T": 2}, A=("T", {"T": [0, 1, 9], "gone": [0]}))
    told = figures(spec, GroupAssignment(members={"A": {"T": range(2)}}))
    assert (told["moved"], told["revoked"], told["interrupted"], told["paused"]) == (0, 2, 0, 0)


def test_a_partition_that_two_claim_is_not_paused_where_one_of_them_keeps_it() -> None:
    spec = group({"T": 2}, A=("T", {"T": [0, 1]}), B=("T", {"T": [0]}))
    told = figures(spec, GroupAssignment(members={"A": {"T": [1]}, "B": {"T": [0]}}))
    assert (told["moved"], told["revoked"], told["interrupted"], told["paused"]) == (0, 1, 1, 0)


def test_a_partition_is_local_where_a_replica_stands_in_its_readers_rack() -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=["T"], rack_id="a"),
            "B": MemberSpec(topics=["T"], rack_id="b"),
            "C": MemberSpec(topics=["T"]),
        },
        topics={"T": Topic(partitions=4, racks={0: ["a", "b"], 1: ["b"], 2: ["a"]})},
    )
    answer = GroupAssignment(members={"A": {"T": [0, 1]}, "B": {"T": [3]}, "C": {"T": [2]}})
    told = figures(spec, answer)
    assert (told["local"], told["placed"]) == (1, 4)


@pytest.mark.parametrize(
    ("spec", "assigned", "least"),
    [
        (JOINED, EVEN, 2),
        # The one more goes to whoever holds it already.
        (
            group({"T": 3}, A=("T", {"T": [0]}), B=("T", {"T": [1, 2]})),
            {"A": {"T": [0, 1]}, "B": {"T": [2]}},
            0,
        ),
        # What nobody held moves nobody.
        (group({"T": 4}, A=("T", {}), B=("T", {})), {"A": {"T": [0, 1]}, "B": {"T": [2, 3]}}, 0),
        # A partition claimed twice stays with either.
        (
            group({"T": 2}, A=("T", {"T": [0, 1]}), B=("T", {"T": [0]})),
            {"A": {"T": [0]}, "B": {"T": [1]}},
            0,
        ),
        # Round three members: each holds what the next one claims.
        (
            group(
                {"T1": 1, "T2": 1, "T3": 1},
                A=("T1 T2", {"T1": [0]}),
                B=("T2 T3", {"T2": [0]}),
                C=("T1 T3", {"T3": [0]}),
            ),
            {"A": {"T2": [0]}, "B": {"T3": [0]}, "C": {"T1": [0]}},
            0,
        ),
    ],
)
def test_the_least_moves_are_those_that_the_sizes_themselves_ask_for(
    spec: GroupSpec, assigned: dict[str, Owned], least: int
) -> None:
    assert least_moves(spec, assigned) == least


def test_large_groups_are_counted_where_all_subscribe_alike_and_left_alone_otherwise() -> None:
    owned = {f"m{i:03}": ("T", {"T": list(range(10 * i, 10 * i + 10))}) for i in range(100)}
    assigned = {member_id: {"T": range(10 * i, 10 * i + 10)} for i, member_id in enumerate(owned)}
    assert least_moves(group({"T": 1000}, **owned), assigned) == 0
    assert least_moves(group({"T": 1000, "U": 0}, **owned | {"m000": ("T U", {})}), assigned) is None


@st.composite
def small_groups(draw: st.DrawFn) -> tuple[GroupSpec, dict[str, Owned]]:
    topics = {"T": draw(st.integers(1, 3)), "U": draw(st.integers(1, 2))}
    members = {}
    for name in "ABC":
        subscribed = draw(st.sampled_from(["T", "U", "T U", "T U"]))
        claims = {t: sorted(draw(st.sets(st.integers(0, n - 1)))) for t, n in topics.items()}
        members[name] = (subscribed, claims)
    spec = group(topics, **members)
    answer: dict[str, Owned] = {name: {} for name in members}
    for topic, count in topics.items():
        takers = [name for name in members if topic in spec.members[name].topics]
        for partition in range(count if takers else 0):
            answer[draw(st.sampled_from(takers))].setdefault(topic, []).append(partition)
    return spec, answer


@given(small_groups())
@examples(60)
def test_no_other_assignment_of_the_same_sizes_moves_fewer(case: tuple[GroupSpec, dict[str, Owned]]) -> None:
    spec, answer = case
    assert least_moves(spec, answer) == by_trying_all(spec, answer)


def by_trying_all(spec: GroupSpec, answer: dict[str, Owned]) -> int:
    partitions = [(t, p) for owned in answer.values() for t, listed in owned.items() for p in listed]
    takers = [[m for m in spec.members if t in spec.members[m].topics] for t, _ in partitions]
    wanted = sizes(spec, [m for m, owned in answer.items() for listed in owned.values() for _ in listed])
    return min(
        sum(moves(spec, holder, *partition) for holder, partition in zip(holders, partitions, strict=True))
        for holders in product(*takers)
        if sizes(spec, list(holders)) == wanted
    )


def moves(spec: GroupSpec, holder: str, topic: str, partition: int) -> bool:
    claimers = [name for name, member in spec.members.items() if partition in member.owned.get(topic, ())]
    return bool(claimers) and holder not in claimers


def sizes(spec: GroupSpec, holders: list[str]) -> dict[object, list[int] | int]:
    """Of members of one subscription only the sizes count, where they may change them among each other."""
    alike: dict[frozenset[str], dict[str, int]] = {}
    for name, member in spec.members.items():
        alike.setdefault(frozenset(member.topics), {})[name] = holders.count(name)
    overlap = len({(t, p) for m in spec.members.values() for t, ps in m.owned.items() for p in ps}) < sum(
        len(ps) for m in spec.members.values() for ps in m.owned.values()
    )
    told: dict[object, list[int] | int] = {}
    for topics, counted in alike.items():
        if max(counted.values()) - min(counted.values()) <= 1 or (len(alike) == 1 and not overlap):
            told[topics] = sorted(counted.values())
        else:
            told |= counted
    return told


def test_the_protocol_of_an_answer_follows_from_the_assignor_alone() -> None:
    assert protocol_of("consumer", "range") is RebalanceProtocol.CONSUMER
    assert protocol_of("classic", "range") is RebalanceProtocol.EAGER
    assert protocol_of("classic", "cooperative-sticky") is RebalanceProtocol.COOPERATIVE


def test_an_answer_comes_to_a_sentence() -> None:
    answer = GroupAssignment(members=EVEN)
    withheld = GroupAssignment(members=EVEN | {"C": {}}, intended=EVEN)

    def said(answer: GroupAssignment, protocol: RebalanceProtocol) -> str:
        return concluded(measure(JOINED, answer, protocol), protocol)

    assert said(answer, RebalanceProtocol.EAGER) == (
        "2 each; eager: before this could start, 2 members gave up everything, 6 partitions, "
        "also 4 that nobody else gets"
    )
    assert said(withheld, RebalanceProtocol.COOPERATIVE) == (
        "2 each; given up now, given on in a second rebalance: 2 partitions of 2 members"
    )
    assert said(answer, RebalanceProtocol.CONSUMER) == (
        "2 each; only what its owner does not keep stops being read: 2 partitions of 2 members"
    )
    kept = GroupAssignment(members={"A": {"T": [0, 1, 2]}, "B": {"T": [3, 4, 5]}})
    assert said(kept, RebalanceProtocol.CONSUMER) == "0 to 3 each; nobody stops reading anything"
