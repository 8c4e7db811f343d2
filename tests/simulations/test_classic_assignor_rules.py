"""The rules that every answer of a classic assignor keeps, on groups that are drawn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.assignors import (
    ASSIGNORS,
    GroupSpec,
    MemberSpec,
    Topic,
)
from simulations.protocol.assignors.validation import problems
from tests.simulations.test_classic_assignors import STICKY, shown
from tests.tiers import examples

TOPIC_NAMES = ("t1", "t2", "t3")


@st.composite
def groups(draw: st.DrawFn, *, alike: bool | None = None) -> GroupSpec:
    """Healthy groups: every member subscribes, and every partition is owned at most once, by a subscriber."""
    known = {name: Topic(partitions=draw(st.integers(1, 6))) for name in TOPIC_NAMES}
    subscriptions = st.lists(st.sampled_from(TOPIC_NAMES), unique=True, min_size=1).map(tuple)
    same = draw(st.booleans()) if alike is None else alike
    everybody = draw(subscriptions)
    ids = [f"consumer{n}" for n in range(draw(st.integers(1, 6)))]
    subscribed = {m: everybody if same else draw(subscriptions) for m in ids}
    owned: dict[str, dict[str, list[int]]] = {m: {} for m in ids}
    for topic, told in known.items():
        able = [None, *(m for m in ids if topic in subscribed[m])]
        for partition in range(told.partitions):
            if (owner := draw(st.sampled_from(able))) is not None:
                owned[owner].setdefault(topic, []).append(partition)
    return GroupSpec(
        members={m: MemberSpec(topics=subscribed[m], owned=owned[m], generation=1) for m in ids}, topics=known
    )


@examples(120)
@given(groups(), st.sampled_from(list(ASSIGNORS["classic"])))
def test_every_subscribed_partition_goes_to_exactly_one_subscriber(spec: GroupSpec, name: str) -> None:
    answer = ASSIGNORS["classic"][name]().assign(spec)
    assert problems(spec, answer.members if answer.intended is None else answer.intended) == []
    assert problems(spec, answer.members, complete=False) == []
    assert answer.faults == ()


@examples(80)
@given(groups(), st.sampled_from(STICKY))
def test_sticky_leaves_nobody_two_behind_another_in_a_topic_of_both(spec: GroupSpec, name: str) -> None:
    answer = ASSIGNORS["classic"][name]().assign(spec)
    goal = answer.members if answer.intended is None else answer.intended
    sizes = {member_id: sum(map(len, owned.values())) for member_id, owned in goal.items()}
    for larger, owned in goal.items():
        for smaller, told in spec.members.items():
            if sizes[larger] > sizes[smaller] + 1:
                assert not any(topic in told.topics for topic, numbers in owned.items() if numbers)


@examples(80)
@given(groups(), st.sampled_from(STICKY))
def test_sticky_is_still_when_asked_again(spec: GroupSpec, name: str) -> None:
    assignor = ASSIGNORS["classic"][name]()
    answer = assignor.assign(spec)
    goal = answer.members if answer.intended is None else answer.intended
    members = {
        m: MemberSpec(topics=told.topics, owned=goal[m], generation=2) for m, told in spec.members.items()
    }
    again = assignor.assign(GroupSpec(members=members, topics=spec.topics))
    assert shown(again.members) == shown(goal)


@examples(60)
@given(groups(alike=True))
def test_sticky_of_equal_subscriptions_moves_only_what_is_over_quota(spec: GroupSpec) -> None:
    answer = ASSIGNORS["classic"]["sticky"]().assign(spec)
    total = sum(map(len, (p for owned in answer.members.values() for p in owned.values())))
    most = -(-total // len(spec.members))
    for member_id, told in spec.members.items():
        had = sum(map(len, told.owned.values()))
        kept = sum(len(set(ps) & set(answer.members[member_id].get(t, ()))) for t, ps in told.owned.items())
        assert kept >= min(had, total // len(spec.members))
        assert sum(map(len, answer.members[member_id].values())) <= most
