"""The two sticky assignors: what members keep, whose claim counts, and what a cooperative round withholds."""

from __future__ import annotations

import pytest

from groups.wire.embedded.user_data import encode_cooperative_sticky, encode_sticky
from simulations.protocol.assignors import (
    ASSIGNORS,
    Assignor,
    AssignorError,
    GroupSpec,
    MemberSpec,
    Topic,
)
from tests.simulations.test_classic_assignors import (
    SIX_SEVEN_TWO,
    STICKY,
    member,
    plan,
    shown,
    three,
    topics,
)


@pytest.mark.parametrize("name", STICKY)
@pytest.mark.parametrize(
    ("known", "owned", "expected"),
    [
        ("t1(3) t2(3)", {"c1": "", "c2": ""}, {"c1": "t1-0,2 t2-1", "c2": "t1-1 t2-0,2"}),
        ("t1(2) t2(3)", {"c1": "t1-0 t2-1", "c2": "t1-1 t2-2"}, {"c1": "t1-0 t2-0,1", "c2": "t1-1 t2-2"}),
        (
            "t1(2) t2(2)",
            {"c1": "t1-0 t2-0", "c2": "t1-1 t2-1", "c3": ""},
            {"c1": "t1-0 t2-0", "c2": "t1-1", "c3": "t2-1"},
        ),
        (
            "t1(2) t2(2)",
            {"consumer1": "t1-0 t2-0", "consumer2": "t1-1 t2-1", "consumer3": ""},
            {"consumer1": "t1-0", "consumer2": "t1-1 t2-1", "consumer3": "t2-0"},
        ),
        (
            "t1(2) t2(3)",
            {"c1": "t1-0", "c2": "t1-1", "c3": ""},
            {"c1": "t1-0 t2-1", "c2": "t1-1 t2-2", "c3": "t2-0"},
        ),
        ("t(3)", {"c1": "t-0,1", "c2": "t-0,2", "c3": ""}, {"c1": "t-1", "c2": "t-2", "c3": "t-0"}),
        ("t(4)", {"c1": "t-0,1", "c2": "t-0,2", "c3": ""}, {"c1": "t-1,3", "c2": "t-2", "c3": "t-0"}),
        ("t(4)", {"c1": "t-0,1", "c2": "t-2", "c3": ""}, {"c1": "t-0,1", "c2": "t-2", "c3": "t-3"}),
    ],
)
def test_members_of_one_subscription_keep_what_fits_their_quota(
    name: str, known: str, owned: dict[str, str], expected: dict[str, str]
) -> None:
    everything = " ".join(topics(known))
    members = {m: member(everything, own, generation=1 if own else None) for m, own in owned.items()}
    assert plan(name, topics(known), members) == expected


@pytest.mark.parametrize("name", STICKY)
def test_of_two_claims_the_later_generation_counts(name: str) -> None:
    claims = "t-0,2 u-1"
    members = {"c1": member("t u", claims, generation=10), "c2": member("t u", claims, generation=9)}
    assert plan(name, topics("t(3) u(3)"), members) == {"c1": claims, "c2": "t-1 u-0,2"}
    members = {
        "c1": member("t1 t2 t3", "t1-0 t2-0 t3-0", generation=10),
        "c2": member("t1 t2 t3", "t1-1 t2-1 t3-1", generation=9),
        "c3": member("t1 t2 t3", "t2-1 t3-0,2", generation=8),
    }
    assert plan(name, topics("t1(3) t2(3) t3(3)"), members) == {
        f"c{n + 1}": f"t1-{n} t2-{n} t3-{n}" for n in range(3)
    }


@pytest.mark.parametrize("name", STICKY)
def test_equal_subscriptions_with_racks(name: str) -> None:
    known = topics(SIX_SEVEN_TWO, 1)
    expected = {
        "consumer0": "t1-0,3 t2-0,3,6",
        "consumer1": "t1-1,4 t2-1,4 t3-0",
        "consumer2": "t1-2,5 t2-2,5 t3-1",
    }
    assert plan(name, known, three()) == expected


def test_cooperative_sticky_withholds_what_others_may_still_hold_and_gives_it_in_the_next_round() -> None:
    known = topics(SIX_SEVEN_TWO, 1)
    owned = ("t1-0,1,2,3,4", "t1-5 t2-0,1,2,3", "t2-4,5,6 t3-0,1")
    assignor = ASSIGNORS["classic"]["cooperative-sticky"]()
    first = assignor.assign(GroupSpec(members=three(owned=owned), topics=known))
    assert shown(first.members) == {"consumer0": "t1-0,3", "consumer1": "t2-1", "consumer2": "t2-5 t3-1"}
    assert first.intended is not None
    assert shown(first.intended) == plan("sticky", known, three())
    kept = tuple(shown(first.members)[f"consumer{n}"] for n in range(3))
    second = assignor.assign(GroupSpec(members=three(owned=kept), topics=known))
    assert second.members == second.intended
    assert shown(second.members) == shown(first.intended)


# sticky and cooperative-sticky, different subscriptions


MANY = "topic1(2) topic2(1) topic3(2) topic4(1) topic5(2)"


ODD_TOPICS = "topic1 topic3 topic5"


ALL_TOPICS = "topic1 topic2 topic3 topic4 topic5"


@pytest.mark.parametrize("name", STICKY)
@pytest.mark.parametrize(
    ("known", "members", "expected"),
    [
        (
            topics("t1(3) t2(2)"),
            {"c1": member("t1"), "c2": member("t1 t2"), "c3": member("t1")},
            {"c1": "t1-0,2", "c2": "t2-0,1", "c3": "t1-1"},
        ),
        (
            topics(MANY),
            {
                "c1": member(ALL_TOPICS),
                "c2": member(ODD_TOPICS),
                "c3": member(ODD_TOPICS),
                "c4": member(ALL_TOPICS),
            },
            {
                "c1": "topic2-0 topic3-0",
                "c2": "topic1-0 topic3-1",
                "c3": "topic1-1 topic5-0",
                "c4": "topic4-0 topic5-1",
            },
        ),
        (
            topics(SIX_SEVEN_TWO),
            three("t1 t3"),
            {
                "consumer0": "t1-5 t2-0,2,4,6",
                "consumer1": "t1-3 t2-1,3,5 t3-0",
                "consumer2": "t1-0,1,2,4 t3-1",
            },
        ),
        (
            topics(SIX_SEVEN_TWO, 1),
            three("t1 t3"),
            {
                "consumer0": "t1-3 t2-0,2,3,6",
                "consumer1": "t1-4 t2-1,4,5 t3-0",
                "consumer2": "t1-0,1,2,5 t3-1",
            },
        ),
        (
            topics(SIX_SEVEN_TWO, 2),
            three("t1 t3"),
            {
                "consumer0": "t1-3 t2-0,2,5,6",
                "consumer1": "t1-0 t2-1,3,4 t3-0",
                "consumer2": "t1-1,2,4,5 t3-1",
            },
        ),
    ],
)
def test_members_of_different_subscriptions_are_balanced(
    name: str, known: dict[str, Topic], members: dict[str, MemberSpec], expected: dict[str, str]
) -> None:
    assert plan(name, known, members) == expected


def test_cooperative_sticky_of_different_subscriptions_also_needs_two_rounds() -> None:
    known = topics(SIX_SEVEN_TWO, 1)
    assignor = ASSIGNORS["classic"]["cooperative-sticky"]()
    owned = ("t1-0,1,2,3,4", "t1-5 t2-0,1,2,3", "t2-4,5,6 t3-0,1")
    first = assignor.assign(GroupSpec(members=three("t1 t3", owned), topics=known))
    assert shown(first.members) == {"consumer0": "t1-3", "consumer1": "t2-1", "consumer2": "t3-1"}
    kept = tuple(shown(first.members)[f"consumer{n}"] for n in range(3))
    second = assignor.assign(GroupSpec(members=three("t1 t3", kept), topics=known))
    assert shown(second.members) == plan("sticky", known, three("t1 t3"))


# What members say in user data, and what an assignor remembers


def test_sticky_believes_user_data_and_not_what_is_said_to_be_owned() -> None:
    data = encode_sticky({"previousAssignment": [{"topic": "t", "partitions": [1]}], "generation": 3})
    members = {"c1": member("t"), "c2": member("t", "t-0", user_data=data)}
    assert plan("sticky", topics("t(2)"), members) == {"c1": "t-0", "c2": "t-1"}
    unreadable = {"c1": member("t"), "c2": member("t", "t-0", user_data=b"\0")}
    assert plan("sticky", topics("t(2)"), unreadable) == {"c1": "t-0", "c2": "t-1"}


def test_cooperative_sticky_takes_the_generation_of_user_data_where_the_subscription_has_none() -> None:
    members = {
        "c1": member("t", "t-0", user_data=encode_cooperative_sticky({"generation": 2})),
        "c2": member("t", "t-0", user_data=encode_cooperative_sticky({"generation": 4})),
    }
    # Of an earlier claimer Kafka asks the subscription alone, so both are later than the one before.
    assert plan("cooperative-sticky", topics("t(2)"), members) == {"c1": "t-1", "c2": "t-0"}


def test_an_assignor_remembers_the_newest_generation_from_call_to_call() -> None:
    members = {
        "c1": member("t", "t-0,1,2", generation=3),
        "c2": member("t u"),
    }
    spec = GroupSpec(members=members, topics=topics("t(3) u(1)"))
    fresh: Assignor = ASSIGNORS["classic"]["cooperative-sticky"]()
    before = fresh.assign(spec)
    newer = {"c1": member("t", "t-0", generation=9), "c2": member("t u", generation=9)}
    fresh.assign(GroupSpec(members=newer, topics=topics("t(3) u(1)")))
    assert getattr(fresh, "max_generation", None) == 9
    # What c1 owned then is a claim of an older generation now; it stays with it all the same.
    assert shown(fresh.assign(spec).members) == shown(before.members)


# Kafka's own faults


@pytest.mark.parametrize("name", STICKY)
def test_a_first_member_without_topics_gets_some_and_the_fault_is_named(name: str) -> None:
    known = topics("t(4)")
    assignor = ASSIGNORS["classic"][name]
    first = assignor().assign(
        GroupSpec(members={"B": member(""), "A": member("t"), "C": member("t")}, topics=known)
    )
    assert shown(first.members) == {"B": "t-1", "A": "t-0,3", "C": "t-2"}
    assert first.faults == ("first-member-without-topics",)
    later = assignor().assign(
        GroupSpec(members={"A": member("t"), "B": member(""), "C": member("t")}, topics=known)
    )
    assert shown(later.members) == {"A": "t-0,2", "B": "", "C": "t-1,3"}
    assert later.faults == ()


def test_owned_partitions_that_do_not_exist_any_more_lead_to_an_exception_that_names_the_fault() -> None:
    members = {"c1": member("t", "t-0,1,2,3", generation=1), "c2": member("t", "t-4,5", generation=1)}
    with pytest.raises(AssignorError) as caught:
        plan("sticky", topics("t(2)"), members)
    assert caught.value.fault == "owned-beyond-partition-count"


def test_a_partition_0_that_is_kept_is_none_of_those_that_do_not_exist_any_more() -> None:
    members = {name: member("t1 t2", owned, generation=1) for name, owned in (
        ("c0", "t2-2"), ("c1", "t2-1,2"), ("c2", "t1-0"),
    )}  # fmt: skip
    assert plan("sticky", topics("t1(1) t2(2)"), members) == {"c0": "t2-0", "c1": "t2-1", "c2": "t1-0"}
