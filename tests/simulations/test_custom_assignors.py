"""Assignors that no release of Kafka's clients brings: what each keeps, levels, withholds and tells its members."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.embedded.streams_user_data import read_assignment_info
from simulations.protocol.assignors.broker_order import topic_id_of
from simulations.protocol.assignors.classic.custom import (
    CustomCooperativeAssignor,
    CustomUserDataAssignor,
    StickyBefore23Assignor,
    StreamAssignor,
)
from simulations.protocol.assignors.classic.roundrobin import RoundRobinAssignor
from simulations.protocol.assignors.client_side import FROM_CLASSIC, Metadata, Offer
from simulations.protocol.assignors.interface import GroupAssignment, GroupSpec, MemberSpec, Owned, Topic
from simulations.protocol.assignors.java_orders import HashOrder, int_hash
from simulations.protocol.assignors.validation import problems

Claims = Mapping[str, Owned]


def group(claims: Claims, *, generations: Mapping[str, int] | None = None, **counts: int) -> GroupSpec:
    """Members that subscribe to all topics and say to own this."""
    return GroupSpec(
        members={
            name: MemberSpec(topics=list(counts), owned=owned, generation=(generations or {}).get(name))
            for name, owned in claims.items()
        },
        topics={name: Topic(partitions=count) for name, count in counts.items()},
    )


def plain(answer: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, list[int]]]:
    return {
        member: {topic: sorted(parts) for topic, parts in given_.items() if list(parts)}  # type: ignore[call-overload]
        for member, given_ in answer.items()
    }


def whole(answer: GroupAssignment) -> dict[str, dict[str, list[int]]]:
    assert answer.intended is not None
    return plain(answer.intended)


# -- custom-cooperative


def test_the_cooperative_one_keeps_what_is_owned_and_gives_what_is_free_to_who_has_least() -> None:
    answer = CustomCooperativeAssignor().assign(group({"A": {"T": [0, 1]}, "B": {}, "C": {}}, T=5))
    assert whole(answer) == plain(answer.members) == {"A": {"T": [0, 1]}, "B": {"T": [2, 4]}, "C": {"T": [3]}}


def test_who_has_too_much_gives_up_its_last_and_it_is_withheld_for_a_round() -> None:
    first = CustomCooperativeAssignor().assign(group({"A": {"T": [0, 1, 2, 3]}, "B": {}}, T=4))
    assert whole(first) == {"A": {"T": [0, 1]}, "B": {"T": [2, 3]}}
    assert plain(first.members) == {"A": {"T": [0, 1]}, "B": {}}
    second = CustomCooperativeAssignor().assign(group({"A": {"T": [0, 1]}, "B": {}}, T=4))
    assert plain(second.members) == whole(first)


def test_of_two_claims_the_later_generation_counts_and_of_equal_ones_the_first_members() -> None:
    claims = {"A": {"T": [0]}, "B": {"T": [0]}}
    for generations, owner in (
        ({}, "A"),
        ({"A": 3, "B": 3}, "A"),
        ({"A": 3, "B": 4}, "B"),
        ({"B": 0}, "B"),
        ({"A": 5, "B": 4}, "A"),
    ):
        answer = CustomCooperativeAssignor().assign(group(claims, generations=generations, T=1))
        assert plain(answer.members)[owner] == {"T": [0]}, generations


def test_claims_on_what_is_not_there_or_not_subscribed_to_are_nothing() -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=["T"], owned={"T": [1, 2], "U": [0]}),
            "B": MemberSpec(topics=["T", "U"]),
        },
        topics={"T": Topic(partitions=2), "U": Topic(partitions=1)},
    )
    assert whole(CustomCooperativeAssignor().assign(spec)) == {"A": {"T": [1]}, "B": {"T": [0], "U": [0]}}
    before = StickyBefore23Assignor().assign(group({"A": {}, "B": {}}, T=2))
    assert plain(before.members) == {"A": {"T": [0]}, "B": {"T": [1]}}


@st.composite
def groups(draw: st.DrawFn) -> GroupSpec:
    """One to four members, who may claim the same, what is not there, and what they do not subscribe to."""
    counts = {name: draw(st.integers(1, 4)) for name in draw(st.sampled_from(["T", "TU"]))}
    members = {}
    for name in "ABCD"[: draw(st.integers(1, 4))]:
        owned = {
            topic: draw(st.lists(st.integers(0, 5), unique=True, max_size=4))
            for topic in draw(st.sets(st.sampled_from("TU")))
        }
        generation = draw(st.none() | st.integers(0, 3))
        members[name] = MemberSpec(topics=list(counts), owned=owned, generation=generation)
    return GroupSpec(
        members=members, topics={name: Topic(partitions=count) for name, count in counts.items()}
    )


@given(groups())
def test_the_cooperative_one_is_level_whole_and_takes_from_nobody_what_another_still_has(
    spec: GroupSpec,
) -> None:
    answer = CustomCooperativeAssignor().assign(spec)
    intended = whole(answer)
    assert problems(spec, intended) == []
    sizes = [sum(map(len, given_.values())) for given_ in intended.values()]
    assert max(sizes) - min(sizes) <= 1
    claimed: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for place, (name, member) in enumerate(spec.members.items()):
        for topic, parts in member.owned.items():
            for part in parts:
                generation = -1 if member.generation is None else member.generation
                claimed.setdefault((topic, part), []).append((generation, f"{-place}", name))  # type: ignore[arg-type]
    for name, given_ in plain(answer.members).items():
        for topic, parts in given_.items():
            for part in parts:
                told = claimed.get((topic, part), [])
                newest = [one for one in told if one[0] == max(claim[0] for claim in told)]
                assert not newest or newest[0][2] == name  # type: ignore[misc]


# -- stream


def test_a_task_is_a_partition_number_of_all_topics_and_stays_where_it_is() -> None:
    answer = StreamAssignor().assign(group({"A": {"T": [2], "U": [2]}, "B": {}}, T=3, U=4))
    assert whole(answer) == {"A": {"T": [0, 2], "U": [0, 2]}, "B": {"T": [1], "U": [1, 3]}}


def test_the_greater_share_goes_to_who_has_more_and_what_it_gives_up_is_withheld() -> None:
    answer = StreamAssignor().assign(group({"A": {}, "B": {"T": [0, 1, 2]}}, T=3))
    assert whole(answer) == {"A": {"T": [2]}, "B": {"T": [0, 1]}}
    assert plain(answer.members) == {"A": {}, "B": {"T": [0, 1]}}
    even = StreamAssignor().assign(group({"A": {}, "B": {}}, T=3))
    assert whole(even) == {"A": {"T": [0, 1]}, "B": {"T": [2]}}


def test_tasks_that_are_gone_are_nobodys_and_of_two_claims_the_first_counts() -> None:
    answer = StreamAssignor().assign(group({"A": {"T": [1, 7]}, "B": {"T": [1, 0]}}, T=2))
    assert whole(answer) == plain(answer.members) == {"A": {"T": [1]}, "B": {"T": [0]}}


def test_each_member_is_told_the_tasks_that_it_is_sent() -> None:
    answer = StreamAssignor().assign(group({"A": {}, "B": {"T": [0, 1, 2, 3]}}, T=4))
    for name, sent in plain(answer.members).items():
        info, _ = read_assignment_info(answer.user_data[name])
        assert [(task["topicGroupId"], task["partition"]) for task in info["activeTasks"]] == [
            (0, task) for task in sent.get("T", [])
        ]


@given(groups())
def test_every_task_is_one_members_and_shares_differ_by_one(spec: GroupSpec) -> None:
    intended = whole(StreamAssignor().assign(spec))
    assert problems(spec, intended) == []
    tasks = {name: {p for parts in given_.values() for p in parts} for name, given_ in intended.items()}
    sizes = [len(own) for own in tasks.values()]
    assert sum(sizes) == max(topic.partitions for topic in spec.topics.values())
    assert max(sizes) - min(sizes) <= 1
    again = GroupSpec(
        members={
            name: MemberSpec(topics=member.topics, owned=intended.get(name, {}))
            for name, member in spec.members.items()
        },
        topics=spec.topics,
    )
    assert whole(StreamAssignor().assign(again)) == intended


# -- custom-user-data, and sticky before 2.3


def test_round_robin_with_user_data_assigns_as_round_robin_does() -> None:
    spec = group({"A": {}, "B": {}}, T=3, U=2)
    answer = CustomUserDataAssignor().assign(spec)
    assert plain(answer.members) == plain(RoundRobinAssignor().assign(spec).members)
    assert {name: bool(told) for name, told in answer.user_data.items()} == {"A": True, "B": True}


def claiming(**claims: list[int]) -> GroupSpec:
    return group({name: {"T": parts} for name, parts in claims.items()}, T=4)


def test_before_2_3_two_members_that_claim_one_partition_both_keep_it() -> None:
    answer = StickyBefore23Assignor().assign(claiming(A=[0, 1], B=[1, 2]))
    assert plain(answer.members) == {"A": {"T": [0, 1, 3]}, "B": {"T": [1, 2]}}


def test_before_2_3_nobody_keeps_what_it_does_not_subscribe_to_or_what_is_not_there() -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=("T",), owned={"T": [0, 9], "U": [0]}, generation=1),
            "B": MemberSpec(topics=("T", "U"), generation=1),
        },
        topics={"T": Topic(partitions=1), "U": Topic(partitions=1)},
    )
    assert plain(StickyBefore23Assignor().assign(spec).members) == {"A": {"T": [0]}, "B": {"U": [0]}}


def test_before_2_3_what_nobody_claims_goes_to_who_has_least_and_the_rest_is_levelled() -> None:
    answer = StickyBefore23Assignor().assign(claiming(A=[0, 1, 2, 3, 9], B=[], C=[]))
    sizes = {name: len(given_.get("T", [])) for name, given_ in plain(answer.members).items()}
    assert sorted(sizes.values()) == [1, 1, 2]
    assert problems(claiming(A=[], B=[], C=[]), plain(answer.members)) == []


# -- what else assignors rest on


@pytest.mark.parametrize(
    ("count", "parts", "sentence"),
    [
        (1, [0, 1], "T-1 is given to A, but T has partition 0 alone"),
        (2, [0, 1, 2], "T-2 is given to A, but T has 2 partitions, 0 to 1"),
    ],
)
def test_how_many_partitions_a_topic_has_is_told(count: int, parts: list[int], sentence: str) -> None:
    told = problems(group({"A": {}}, T=count), {"A": {"T": parts}})
    assert [problem.sentence for problem in told] == [sentence]


def test_how_often_and_to_how_many_a_partition_is_given_is_told() -> None:
    spec = group({name: {} for name in "ABCDEFGH"}, T=1)
    assert [p.sentence for p in problems(spec, {"A": {"T": [0, 0, 0]}})] == ["T-0 is given to A 3 times"]
    [everybody] = problems(spec, {name: {"T": [0]} for name in "ABCDEFGH"})
    assert everybody.members == tuple("ABCDEFGH")
    assert " more" in everybody.sentence


def test_the_id_of_a_topic_that_has_none_is_the_uuid_of_its_name_as_java_makes_it() -> None:
    """``UUID.nameUUIDFromBytes``: MD5, version 3, the variant of RFC 4122."""
    raw = base64.urlsafe_b64decode(topic_id_of("orders") + "==")
    made = uuid.UUID(bytes=raw)
    assert (made.version, made.variant, len(topic_id_of("orders"))) == (3, uuid.RFC_4122, 22)
    assert topic_id_of("orders") != topic_id_of("order")


def test_a_copied_set_of_twelve_has_room_for_thirty_two() -> None:
    """``new HashSet<>(c)`` makes a table for ``max((int) (c.size() / .75f) + 1, 16)``: 17 for twelve."""
    assert list(HashOrder.set_copy(int_hash, [16, *range(11)])) == [*range(11), 16]
    assert list(HashOrder.set_copy(int_hash, [16, *range(10)])) == [16, *range(10)]


def test_an_assignor_that_takes_classic_members_has_the_lowest_version() -> None:
    offer = Offer(name="x", minimum_version=FROM_CLASSIC, metadata=Metadata(version=FROM_CLASSIC))
    assert offer.problem() is None
