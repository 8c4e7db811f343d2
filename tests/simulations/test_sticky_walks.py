"""The general sticky builder's short way against the rule that it shortens, and what is named where claims are odd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.assignors import ASSIGNORS, AssignorError, GroupSpec, MemberSpec, Topic
from simulations.protocol.assignors.classic import RangeAssignor
from simulations.protocol.assignors.classic.sticky.general import _Builder
from simulations.protocol.assignors.classic.sticky.standing import Standing
from simulations.protocol.assignors.client_side import Adapted

Plan = dict[str, dict[str, list[int]]]


def sticky(spec: GroupSpec) -> Plan:
    answer = ASSIGNORS["classic"]["sticky"]().assign(spec).members
    return {member_id: {t: sorted(p) for t, p in owned.items()} for member_id, owned in answer.items()}


def partition_by_partition(self: _Builder, topic: str, partitions: Sequence[int]) -> bool:
    """``performReassignments``: of each partition it is asked anew who is to have it."""
    moved = False
    for partition in partitions:
        new = self._better(topic, partition)
        if new is not None:
            self._move(topic, partition, new)
            moved = True
    return moved


@st.composite
def groups_of_two_generations(draw: st.DrawFn) -> GroupSpec:
    """Subscriptions differ; most partitions are held by few members, and members of a generation ago claim some of them, too."""
    counts = {"t": draw(st.integers(1, 7)), "u": draw(st.integers(1, 7))}
    ids = "ABCD"[: draw(st.integers(3, 4))]
    subscribed = {m: draw(st.sampled_from([("t",), ("t", "u"), ("u",)])) for m in ids}
    newest = {m: draw(st.integers(0, 2)) > 0 for m in ids}
    owned: dict[str, dict[str, list[int]]] = {m: {} for m in ids}
    for topic, count in counts.items():
        now = [m for m in ids if topic in subscribed[m] and newest[m]]
        before = [m for m in ids if topic in subscribed[m] and not newest[m]]
        for partition in range(count):
            for able in (now, before):
                if able and draw(st.integers(0, 9)):
                    holder = able[0] if draw(st.integers(0, 3)) else draw(st.sampled_from(able))
                    owned[holder].setdefault(topic, []).append(partition)
    return GroupSpec(
        members={
            m: MemberSpec(topics=subscribed[m], owned=owned[m], generation=2 if newest[m] else 1) for m in ids
        },
        topics={topic: Topic(partitions=count) for topic, count in counts.items()},
    )


@given(groups_of_two_generations())
def test_a_topic_is_walked_as_if_each_partition_were_asked_for_anew(spec: GroupSpec) -> None:
    quick = sticky(spec)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_Builder, "_walk_topic", partition_by_partition)
        assert sticky(spec) == quick


def test_who_got_a_partition_back_may_be_the_smallest_that_gets_the_next_one() -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=("t1",), generation=1),
            "B": MemberSpec(topics=("t0", "t1"), owned={"t0": [0, 3]}, generation=1),
            "C": MemberSpec(topics=("t0", "t1"), generation=1),
            "D": MemberSpec(topics=("t0", "t1"), owned={"t0": [0, 1, 2, 3], "t1": [0]}, generation=2),
        },
        topics={"t0": Topic(partitions=4), "t1": Topic(partitions=1)},
    )
    assert sticky(spec) == {"A": {"t1": [0]}, "B": {"t0": [0, 2]}, "C": {"t0": [1]}, "D": {"t0": [3]}}


def test_a_claim_on_what_is_not_there_is_no_fault_where_nobody_is_given_it() -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=("t",), owned={"t": [0, 5]}, generation=1),
            "B": MemberSpec(topics=("t",), generation=1),
        },
        topics={"t": Topic(partitions=2)},
    )
    answer = ASSIGNORS["classic"]["sticky"]().assign(spec)
    assert (answer.members, answer.faults) == ({"A": {"t": [0]}, "B": {"t": [1]}}, ())


def test_what_a_spec_has_found_out_is_no_part_of_it() -> None:
    members = {"A": MemberSpec(topics=("t",), owned={"t": [0]})}
    topics = {"t": Topic(partitions=2)}
    asked, fresh = (GroupSpec(members=members, topics=topics) for _ in range(2))
    asked.unassigned()
    asked.owners()
    assert (asked, repr(asked)) == (fresh, repr(fresh))
    kept = [field for field in fields(GroupSpec) if field.name.startswith("_")]
    assert kept
    assert not any(field.init or field.compare or field.repr for field in kept)


def test_a_classic_assignor_on_a_client_has_no_reason_for_another_assignment() -> None:
    offer = Adapted(RangeAssignor).offer()
    assert (offer.name, offer.reason, offer.problem()) == ("range", 0, None)


@st.composite
def groups_that_dropped_topics(draw: st.DrawFn) -> GroupSpec:
    """Members of a generation ago claim partitions of topics that they do not subscribe to any more."""
    counts = {topic: draw(st.integers(1, 6)) for topic in "tuv"}
    ids = "ABCDE"[: draw(st.integers(3, 5))]
    names = st.lists(st.sampled_from("tuv"), min_size=1, unique=True).map(lambda told: tuple(sorted(told)))
    subscribed = {m: draw(names) for m in ids}
    newest = {m: draw(st.integers(0, 2)) > 0 for m in ids}
    owned: dict[str, dict[str, list[int]]] = {m: {} for m in ids}
    for topic, count in counts.items():
        now = [m for m in ids if topic in subscribed[m] and newest[m]]
        before = [m for m in ids if not newest[m]]
        for partition in range(count):
            if now and draw(st.integers(0, 9)):
                owned[now[0]].setdefault(topic, []).append(partition)
            if before and draw(st.booleans()):
                owned[draw(st.sampled_from(before))].setdefault(topic, []).append(partition)
    return GroupSpec(
        members={
            m: MemberSpec(topics=subscribed[m], owned=owned[m], generation=2 if newest[m] else 1) for m in ids
        },
        topics={topic: Topic(partitions=count) for topic, count in counts.items()},
    )


def outcome(spec: GroupSpec) -> Plan | str:
    try:
        return sticky(spec)
    except AssignorError as error:
        return str(error)


@given(groups_that_dropped_topics())
def test_whether_all_is_balanced_is_answered_as_by_looking_at_every_member(spec: GroupSpec) -> None:
    quick = outcome(spec)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Standing, "balanced", Standing._balanced_as_kafka_asks)
        assert outcome(spec) == quick


def test_nothing_goes_back_to_an_owner_of_a_generation_ago_once_all_is_balanced() -> None:
    """C had t1-0 and t1-1, which it does not subscribe to any more: with them it holds as much as it may have."""
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=("t0", "t1"), owned={"t0": [0, 1], "t1": [0, 1, 2, 3]}, generation=2),
            "B": MemberSpec(topics=("t0", "t1", "t2"), owned={"t2": [0, 1]}, generation=2),
            "C": MemberSpec(topics=("t0",), owned={"t0": [0, 1], "t1": [0, 1]}, generation=1),
        },
        topics={"t0": Topic(partitions=2), "t1": Topic(partitions=5), "t2": Topic(partitions=2)},
    )
    assert sticky(spec) == {
        "A": {"t0": [0, 1], "t1": [2, 3]},
        "B": {"t1": [4], "t2": [0, 1]},
        "C": {"t1": [0, 1]},
    }
