"""An assignor as Kafka Streams would bring it: who gets which task, who stands by, and what is told to everybody instead."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.assignors.client_side import ClientAnswer, ClientGroup, ClientMember, ClientTopic
from simulations.protocol.assignors.streams_like import Reason, StreamsError, StreamsLike, read

Tasks = dict[str, list[int]]


def instance(**fields: Any) -> StreamsLike:
    return StreamsLike(**{"topology": "t1", "topics": ("foo", "bar"), **fields})


def group(had: Tasks, *, foo: int, bar: int = 0, **instances: StreamsLike) -> ClientGroup:
    """Instances of one topology, with the tasks that they have; ``instances`` are those that tell something of their own."""
    members = {}
    for member_id, tasks in had.items():
        offer = instances.get(member_id, instance()).offer()
        members[member_id] = ClientMember(
            topics=("FOO", "BAR"),
            target={"FOO": tuple(task for task in tasks), "BAR": tuple(task for task in tasks if task < bar)},
            reason=offer.reason,
            metadata=offer.metadata,
        )
    topics = {
        "FOO": ClientTopic(name="foo", partitions=foo),
        "BAR": ClientTopic(name="bar", partitions=bar),
    }
    return ClientGroup(members=members, topics=topics, epoch=1)


def active(answer: ClientAnswer) -> Tasks:
    return {member_id: read(told.metadata)["active"] for member_id, told in answer.members.items()}


def standby(answer: ClientAnswer) -> Tasks:
    return {member_id: read(told.metadata)["standby"] for member_id, told in answer.members.items()}


def test_tasks_are_shared_out_in_order_and_the_first_have_one_more() -> None:
    answer = instance().assign(group({"a": [], "b": [], "c": []}, foo=5))
    assert active(answer) == {"a": [0, 1], "b": [2, 3], "c": [4]}
    assert answer.error == StreamsError.NONE


def test_a_task_is_its_number_in_each_topic_that_has_it() -> None:
    answer = instance().assign(group({"a": [], "b": []}, foo=4, bar=3))
    assert answer.members["a"].partitions == {"FOO": (0, 1), "BAR": (0, 1)}
    assert answer.members["b"].partitions == {"FOO": (2, 3), "BAR": (2,)}


def test_who_has_more_keeps_more_and_what_is_over_goes_to_who_has_too_little() -> None:
    answer = instance().assign(group({"a": [0], "b": [1, 2, 3, 4], "c": []}, foo=5))
    assert active(answer) == {"a": [0, 3], "b": [1, 2], "c": [4]}


def test_tasks_that_are_gone_are_nobodys_and_of_two_that_have_one_the_first_keeps_it() -> None:
    answer = instance().assign(group({"a": [0, 7], "b": [0, 1]}, foo=2))
    assert active(answer) == {"a": [0], "b": [1]}


def test_the_next_instance_stands_by_and_with_two_copies_the_next_two() -> None:
    three = {"a": [0], "b": [1], "c": [2]}
    assert standby(instance().assign(group(three, foo=3))) == {"a": [2], "b": [0], "c": [1]}
    two = instance(standbys=2).assign(group(three, foo=3))
    assert standby(two) == {"a": [1, 2], "b": [0, 2], "c": [0, 1]}
    assert standby(instance(standbys=5).assign(group({"a": [0], "b": [1]}, foo=2))) == {"a": [1], "b": [0]}
    assert standby(instance().assign(group({"a": [0]}, foo=1))) == {"a": []}


def test_a_standby_that_has_caught_up_gets_the_task_for_one_that_it_has_not_asked_for() -> None:
    caught_up = instance(wants=Reason.CAUGHT_UP, lags={2: 0})
    answer = instance().assign(group({"a": [0, 1], "b": [2, 3]}, foo=4, a=caught_up))
    assert active(answer) == {"a": [1, 2], "b": [0, 3]}
    grows = instance(wants=Reason.LAG_GROWS, lags={2: 9_000})
    answer = instance().assign(group({"a": [0, 1], "b": [2, 3]}, foo=4, a=grows))
    assert active(answer) == {"a": [0, 1], "b": [2, 3]}, "its lag is another reason"


def test_a_standby_with_nothing_to_give_for_it_gets_nothing() -> None:
    caught_up = instance(wants=Reason.CAUGHT_UP, lags={0: 0, 1: 0})
    answer = instance().assign(group({"a": [0], "b": [1]}, foo=2, a=caught_up))
    assert active(answer) == {"a": [0], "b": [1]}


def test_an_instance_tells_its_topology_its_lags_and_why_it_wants_another_assignment() -> None:
    plain = instance().offer()
    assert (plain.reason, plain.minimum_version, plain.maximum_version, plain.problem()) == (0, 1, 2, None)
    assert read(plain.metadata) == {"topology": "t1", "lags": {}}
    wanting = instance(wants=Reason.LAG_GROWS, lags={3: 7}, maximum_version=1).offer()
    assert (wanting.reason, wanting.metadata.version) == (Reason.LAG_GROWS, 1)
    assert read(wanting.metadata)["lags"] == {"3": 7}


@pytest.mark.parametrize(
    ("computing", "told", "error"),
    [
        (instance(), instance(wants=Reason.SHUT_DOWN), StreamsError.SHUTDOWN),
        (instance(), instance(topology="t2"), StreamsError.INCONSISTENT_TOPOLOGY),
        (instance(topics=("foo", "missing")), instance(), StreamsError.ASSIGNMENT_ERROR),
    ],
)
def test_an_error_is_told_to_everybody_and_everybody_keeps_what_it_has(
    computing: StreamsLike, told: StreamsLike, error: StreamsError
) -> None:
    asked = group({"a": [0, 1], "b": []}, foo=2, b=told)
    answer = computing.assign(asked)
    assert answer.error == error
    kept = {member_id: each.partitions for member_id, each in answer.members.items()}
    assert kept == {member_id: member.target for member_id, member in asked.members.items()}


@given(
    st.integers(1, 12),
    st.lists(st.lists(st.integers(0, 14), max_size=6, unique=True), min_size=1, max_size=5),
    st.integers(0, 3),
)
def test_every_task_has_one_owner_shares_differ_by_one_and_nobody_stands_by_for_itself(
    tasks: int, had: list[list[int]], copies: int
) -> None:
    instances = {f"i{number}": own for number, own in enumerate(had)}
    answer = instance(standbys=copies).assign(group(instances, foo=tasks))
    own = active(answer)
    assert sorted(task for given_ in own.values() for task in given_) == list(range(tasks))
    sizes = [len(given_) for given_ in own.values()]
    assert max(sizes) - min(sizes) <= 1
    backing = standby(answer)
    assert all(set(own[member_id]).isdisjoint(backing[member_id]) for member_id in own)
    held = sorted(task for given_ in backing.values() for task in given_)
    assert held == sorted(list(range(tasks)) * min(copies, len(instances) - 1))
