"""The worked examples of the built-in server assignors, each confirmed by Kafka's own classes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.assignors import (
    SERVER_ASSIGNORS,
    Assignment,
    AssignorError,
    GroupSpec,
    MemberSpec,
    Topic,
    all_subscribe_alike,
)
from simulations.protocol.assignors.consumer.least_loaded import Levels, least_first
from simulations.protocol.assignors.consumer.uniform import UniformAssignor
from simulations.protocol.assignors.explanation import Explanation
from tests.tiers import examples

Owned = dict[str, list[int]]


def group(topics: dict[str, int], **members: tuple[str, Owned]) -> GroupSpec:
    """``A=("T1 T2", {"T1": [0]})``: subscription and old target of each member."""
    specs = {
        member_id: MemberSpec(topics=subscription.split(), owned=owned)
        for member_id, (subscription, owned) in members.items()
    }
    return GroupSpec(
        members=specs,
        topics={t: Topic(partitions=n) for t, n in topics.items()},
        homogeneous=all_subscribe_alike(specs),
    )


def assigned(name: str, spec: GroupSpec) -> Assignment:
    answer = SERVER_ASSIGNORS[name].assign(spec).members
    return {
        member_id: {topic: sorted(partitions) for topic, partitions in answer.get(member_id, {}).items()}
        for member_id in spec.members
    }


BOTH, NEW = "T1 T2", {}

RANGE = [
    (
        group({"T1": 3, "T3": 2}, A=("T1 T3", NEW), B=("T1 T3", NEW)),
        {"A": {"T1": [0, 1], "T3": [0]}, "B": {"T1": [2], "T3": [1]}},
    ),
    (
        group({"T1": 3, "T2": 3, "T3": 2}, A=("T1 T2", NEW), B=("T3", NEW), C=("T2 T3", NEW)),
        {"A": {"T1": [0, 1, 2], "T2": [0, 1]}, "B": {"T3": [0]}, "C": {"T2": [2], "T3": [1]}},
    ),
    (
        group({"T1": 3, "T3": 2}, A=("T1 T3", NEW), B=("T1 T3", NEW), C=("T1 T3", NEW)),
        {"A": {"T1": [0], "T3": [0]}, "B": {"T1": [1], "T3": [1]}, "C": {"T1": [2]}},
    ),
    (
        group({"T1": 2, "T2": 2}, A=(BOTH, {"T1": [0], "T2": [0]}), B=(BOTH, {"T1": [1]}), C=(BOTH, NEW)),
        {"A": {"T1": [0], "T2": [0]}, "B": {"T1": [1], "T2": [1]}, "C": {}},
    ),
    (
        group({"T1": 4, "T2": 3}, A=(BOTH, NEW), B=(BOTH, NEW), C=("T1", NEW)),
        {"A": {"T1": [0, 1], "T2": [0, 1]}, "B": {"T1": [2], "T2": [2]}, "C": {"T1": [3]}},
    ),
]

UNIFORM_ALIKE = [
    (
        group({"T3": 2, "T1": 3}, A=("T1 T3", NEW), B=("T1 T3", NEW)),
        {"A": {"T3": [0, 1]}, "B": {"T1": [0, 1, 2]}},
    ),
    (
        group({"T3": 2}, A=("T3", NEW), B=("T3", NEW), C=("T3", NEW)),
        {"A": {}, "B": {"T3": [0]}, "C": {"T3": [1]}},
    ),
    (
        group(
            {"T1": 3, "T2": 3},
            A=(BOTH, {"T1": [0, 1], "T2": [0, 1]}),
            B=(BOTH, {"T1": [2], "T2": [2]}),
        ),
        {"A": {"T1": [0, 1], "T2": [0]}, "B": {"T1": [2], "T2": [1, 2]}},
    ),
    (
        group({"T2": 5, "T1": 6}, A=(BOTH, {"T1": [0, 2], "T2": [0]}), B=(BOTH, {"T1": [1], "T2": [1, 2]})),
        {"A": {"T1": [0, 2], "T2": [0, 3, 4]}, "B": {"T1": [1, 3, 4, 5], "T2": [1, 2]}},
    ),
    (
        group(
            {"T1": 3, "T2": 3},
            A=(BOTH, {"T1": [0, 2], "T2": [0]}),
            B=(BOTH, {"T1": [1], "T2": [1, 2]}),
            C=(BOTH, NEW),
        ),
        {"A": {"T1": [0, 2]}, "B": {"T1": [1], "T2": [1]}, "C": {"T2": [0, 2]}},
    ),
    (
        group({"T2": 3, "T1": 3}, A=(BOTH, {"T1": [0], "T2": [0]}), B=(BOTH, {"T1": [1], "T2": [1]})),
        {"A": {"T1": [0], "T2": [0, 2]}, "B": {"T1": [1, 2], "T2": [1]}},
    ),
]

UNIFORM_DIFFERENT = [
    (
        group({"T1": 3, "T3": 6}, A=("T1 T3", NEW), B=("T3", NEW)),
        {"A": {"T1": [0, 1, 2], "T3": [4]}, "B": {"T3": [0, 1, 2, 3, 5]}},
    ),
    (
        group({"T1": 2, "T3": 1}, A=("T3", NEW), B=("T3", NEW), C=("T1", NEW)),
        {"A": {"T3": [0]}, "B": {}, "C": {"T1": [0, 1]}},
    ),
    (
        group(
            {"T1": 6, "T2": 4, "T3": 4},
            A=("T1", {"T1": [0, 1, 2]}),
            B=("T1 T2", {"T1": [3], "T2": [0]}),
            C=("T1 T2 T3", {"T1": [4, 5], "T2": [1, 2, 3], "T3": [0, 1, 2, 3]}),
        ),
        {
            "A": {"T1": [0, 1, 2, 5]},
            "B": {"T1": [3], "T2": [0, 1, 2, 3]},
            "C": {"T1": [4], "T3": [0, 1, 2, 3]},
        },
    ),
    (
        group(
            {"T1": 6, "T2": 5, "T3": 3, "T4": 3},
            A=("T1 T3", {"T1": [0, 1, 2, 3], "T3": [0, 1]}),
            B=("T1 T2 T3 T4", {"T2": [0, 1, 2], "T4": [0, 1, 2]}),
        ),
        {"A": {"T1": [0, 1, 2, 3, 4, 5], "T3": [0, 1, 2]}, "B": {"T2": [0, 1, 2, 3, 4], "T4": [0, 1, 2]}},
    ),
    (
        group(
            {"T1": 6, "T2": 7},
            A=("T1", {"T1": [0, 2], "T2": [0]}),
            B=(BOTH, {"T1": [1], "T2": [1, 2]}),
            C=(BOTH, NEW),
        ),
        {"A": {"T1": [0, 2, 3, 4, 5]}, "B": {"T1": [1], "T2": [1, 2, 6]}, "C": {"T2": [0, 3, 4, 5]}},
    ),
    (
        group(
            {"T1": 3, "T2": 8, "T3": 3},
            A=("T1 T3", {"T1": [0, 1, 2], "T3": [0, 1]}),
            B=("T2", {"T2": [3, 4, 5, 6]}),
        ),
        {"A": {"T1": [0, 1, 2], "T3": [0, 1, 2]}, "B": {"T2": [0, 1, 2, 3, 4, 5, 6, 7]}},
    ),
    (
        group(
            {"T1": 3, "T2": 5},
            A=("T1", {"T1": [0, 2], "T2": [1, 3]}),
            B=(BOTH, {"T1": [1], "T2": [0, 2, 4]}),
        ),
        {"A": {"T1": [0, 1, 2]}, "B": {"T2": [0, 1, 2, 3, 4]}},
    ),
    (group({"T1": 3}, A=("T1", NEW), B=("", NEW)), {"A": {"T1": [0, 1, 2]}, "B": {}}),
]


@pytest.mark.parametrize(("spec", "expected"), RANGE)
def test_range_gives_each_member_a_run_of_neighbours(spec: GroupSpec, expected: Assignment) -> None:
    assert assigned("range", spec) == expected


@pytest.mark.parametrize(("spec", "expected"), UNIFORM_ALIKE)
def test_uniform_keeps_what_fits_the_quota_and_hands_unfilled_extras_on(
    spec: GroupSpec, expected: Assignment
) -> None:
    assert spec.homogeneous
    assert assigned("uniform", spec) == expected


@pytest.mark.parametrize(("spec", "expected"), UNIFORM_DIFFERENT)
def test_uniform_balances_members_of_different_subscriptions(spec: GroupSpec, expected: Assignment) -> None:
    assert not spec.homogeneous
    assert assigned("uniform", spec) == expected


def test_static_members_come_first_for_range() -> None:
    spec = GroupSpec(
        members={"A": MemberSpec(topics=["T1"]), "B": MemberSpec(topics=["T1"], instance_id="i")},
        topics={"T1": Topic(partitions=2)},
        homogeneous=True,
    )
    assert assigned("range", spec) == {"A": {"T1": [1]}, "B": {"T1": [0]}}


def test_a_subscription_to_a_topic_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AssignorError, match="T9, which does not exist"):
        assigned("range", group({"T1": 1}, A=("T9", NEW)))


@st.composite
def groups(draw: st.DrawFn) -> tuple[str, GroupSpec]:
    topics = {f"T{n}": draw(st.integers(1, 6)) for n in range(1, draw(st.integers(1, 4)) + 1)}
    subscriptions = st.lists(st.sampled_from(sorted(topics)), unique=True)
    members = {f"m{n}": draw(subscriptions) for n in range(draw(st.integers(1, 5)))}
    owned: dict[str, Owned] = {member_id: {} for member_id in members}
    for topic, partitions in topics.items():
        for partition in range(partitions):
            owner = draw(st.sampled_from([None, *members]))
            if owner is not None:
                owned[owner].setdefault(topic, []).append(partition)
    specs = {m: MemberSpec(topics=members[m], owned=owned[m]) for m in members}
    spec = GroupSpec(
        members=specs,
        topics={t: Topic(partitions=n) for t, n in topics.items()},
        homogeneous=all_subscribe_alike(specs),
    )
    return draw(st.sampled_from(["range", "uniform"])), spec


@examples(150)
@given(groups())
def test_every_subscribed_partition_has_exactly_one_owner_who_subscribes(case: tuple[str, GroupSpec]) -> None:
    name, spec = case
    answer = assigned(name, spec)
    given_out = [(t, p) for owned in answer.values() for t, partitions in owned.items() for p in partitions]
    subscribed = {topic for member in spec.members.values() for topic in member.topics}
    assert sorted(given_out) == sorted((t, p) for t in subscribed for p in range(spec.topics[t].partitions))
    assert all(set(owned) <= set(spec.members[m].topics) for m, owned in answer.items())


@examples(100)
@given(groups())
def test_uniform_of_equal_subscriptions_is_even_and_stays_when_asked_again(
    case: tuple[str, GroupSpec],
) -> None:
    _, spec = case
    if not spec.homogeneous:
        return
    answer = assigned("uniform", spec)
    sizes = [sum(map(len, owned.values())) for owned in answer.values()]
    assert max(sizes) - min(sizes) <= 1
    again = GroupSpec(
        members={m: MemberSpec(topics=spec.members[m].topics, owned=answer[m]) for m in spec.members},
        topics=spec.topics,
        homogeneous=True,
    )
    assert assigned("uniform", again) == answer


@pytest.mark.parametrize("seed", range(40))
def test_uniform_of_equal_subscriptions_gives_the_same_whether_or_not_it_says_why(seed: int) -> None:
    """Runs of members that keep what they had are passed over unless each is to be explained."""
    rng = random.Random(seed)
    topics = {f"t{number}": Topic(partitions=rng.randint(1, 9)) for number in range(rng.randint(1, 4))}
    members = [f"m{number}" for number in range(rng.randint(1, 9))]
    owned: Assignment = {}
    for step in range(8):
        plain, explained = (
            UniformAssignor()
            .assign(
                GroupSpec(
                    members={
                        member: MemberSpec(topics=tuple(topics), owned=owned.get(member, {}))
                        for member in members
                    },
                    topics=dict(topics),
                    homogeneous=True,
                ),
                explain,
            )
            .members
            for explain in (None, Explanation())
        )
        assert listed(plain) == listed(explained)
        owned = plain
        match rng.choice(("join", "leave", "grow", "nothing")):
            case "join":
                members.append(f"n{step}")
            case "leave" if len(members) > 1:
                members.pop(rng.randrange(len(members)))
            case "grow":
                grown = rng.choice(list(topics))
                topics[grown] = Topic(partitions=topics[grown].partitions + rng.randint(1, 4))


def listed(assignment: Assignment) -> dict[str, dict[str, list[int]]]:
    return {
        member: {topic: list(partitions) for topic, partitions in of.items() if partitions}
        for member, of in assignment.items()
    }


def test_range_sorts_members_by_utf16_units_as_java_does() -> None:
    # Beyond the first plane a name's first unit is a surrogate, which is below U+FFFD.
    assert assigned("range", group({"T1": 2}, **{"\ufffd": ("T1", NEW), "\U0001d306": ("T1", NEW)})) == {
        "\ufffd": {"T1": [1]},
        "\U0001d306": {"T1": [0]},
    }


def test_what_uniform_gave_and_moved_is_told_in_its_order_and_adds_up_to_what_a_member_has() -> None:
    """``b`` is all free: it is given, and then moved, before anybody had it."""
    topics = {name: Topic(partitions=count) for name, count in (("a", 2), ("b", 5), ("c", 5))}
    members = {"W": MemberSpec(topics=("b", "c")), "X": MemberSpec(topics=("a", "b", "c"))}
    answer = SERVER_ASSIGNORS["uniform"].assign(GroupSpec(members=members, topics=topics))
    assert set(answer.changes) == {"W", "X"}
    for member, changes in answer.changes.items():
        held: set[tuple[str, int]] = set()
        for topic, partition, gained in changes:
            assert ((topic, partition) in held) is not gained
            held ^= {(topic, partition)}
        assert held == {(t, p) for t, numbers in answer.members[member].items() for p in numbers}


@given(
    sizes=st.lists(st.integers(0, 4), min_size=1, max_size=12),
    counts=st.lists(st.integers(1, 30), min_size=1, max_size=6),
)
def test_levels_deal_topic_after_topic_as_if_subscribers_were_sorted_anew_for_each(
    sizes: list[int], counts: list[int]
) -> None:
    subscribers, now = range(len(sizes)), list(sizes)
    levels = Levels(subscribers, sizes)
    for count in counts:
        takers = least_first(subscribers, now, count)
        assert levels.take(count) == takers
        for taker in takers:
            now[taker] += 1


@pytest.mark.parametrize("seed", range(40))
def test_uniform_answers_the_same_whether_or_not_the_spec_knows_who_owns_each_partition(seed: int) -> None:
    """What a coordinator keeps between calls is a short cut: with a second owner of one partition it is not taken."""
    draw = random.Random(seed)
    topics = {f"t{number}": Topic(partitions=draw.randint(1, 6)) for number in range(5)}
    names = [f"m{number}" for number in range(7)]
    owned: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    subscribed = {name: [t for t in topics if draw.random() < 0.7] or ["t0"] for name in names}
    for topic, known in topics.items():
        for partition in range(known.partitions):
            of = draw.choice(names)
            if draw.random() < 0.6 and topic in subscribed[of]:
                owned[of].setdefault(topic, []).append(partition)

    def spec() -> GroupSpec:
        members = {name: MemberSpec(topics=subscribed[name], owned=owned[name]) for name in names}
        return GroupSpec(members=members, topics=topics)

    known_owners, unknown_owners = spec(), spec()
    assert known_owners.owners() is not None
    unknown_owners._owners.append(None)
    assert UniformAssignor().assign(known_owners) == UniformAssignor().assign(unknown_owners)


@pytest.mark.parametrize(
    "owned",
    [{"t": [0, 0]}, {"t": [2]}, {"t": [-1]}, {"gone": [0]}],
    ids=["twice", "beyond", "below", "no topic"],
)
def test_owners_are_not_known_where_what_is_owned_cannot_be(owned: dict[str, list[int]]) -> None:
    members = {"A": MemberSpec(topics=["t"], owned=owned)}
    assert GroupSpec(members=members, topics={"t": Topic(partitions=2)}).owners() is None
