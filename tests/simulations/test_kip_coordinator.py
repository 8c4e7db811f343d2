"""The proposal's coordinator: what a request must be, expressions, topics that change, fail-over, what is pending."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.state.group import Semantics
from simulations.protocol.assignors.client_side import Metadata, Offer
from simulations.protocol.coordinator.consumer.outcome import VolatileState
from simulations.protocol.coordinator.image import ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import ASSIGNMENT, REBALANCE, SESSION, TimerStart
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import Heartbeat
from tests.simulations.broker import BAR, FOO, GROUP, Broker

ANEW = "AAAAAAAAAAAAAAAAAAAABA"
OK = ErrorCode.NONE
BAD = ErrorCode.INVALID_REQUEST


def settled(**settings: Any) -> Broker:
    """A has all of foo, at epoch 1."""
    broker = Broker("kip", **settings)
    broker.join("a")
    target(broker)
    assert broker.join("a").member_epoch == 1
    return broker


def target(broker: Broker) -> None:
    broker.expire(ASSIGNMENT, None)


RULES: list[tuple[dict[str, Any], ErrorCode]] = [
    ({}, OK),
    ({"group_id": ""}, BAD),
    ({"member_id": "", "member_epoch": 1}, BAD),
    ({"member_epoch": -3}, BAD),
    ({"member_epoch": -2}, BAD),
    ({"instance_id": ""}, BAD),
    ({"rebalance_timeout_ms": 0}, BAD),
    ({"rebalance_timeout_ms": -1}, BAD),
    ({"subscribed_topic_names": None}, BAD),
    ({"subscribed_topic_names": None, "subscribed_topic_regex": "f.*"}, OK),
    ({"subscribed_topic_regex": "f.*"}, OK),
    ({"subscribed_topic_regex": "("}, BAD),
    ({"subscribed_topic_regex": "(?=x)"}, BAD),
    ({"server_assignor": "range", "client_assignors": (Offer(name="x"),)}, BAD),
    ({"client_assignors": (Offer(name=""),)}, BAD),
    ({"client_assignors": (Offer(name="x", minimum_version=-2),)}, BAD),
    ({"client_assignors": (Offer(name="x", minimum_version=-1, maximum_version=-1),)}, BAD),
    ({"client_assignors": (Offer(name="x", minimum_version=2, maximum_version=1),)}, BAD),
    ({"client_assignors": (Offer(name="x", metadata=Metadata(1)),)}, BAD),
    ({"server_assignor": "nobody's"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
    ({"server_assignor": "nobody's", "group_id": ""}, BAD),
]


@pytest.mark.parametrize(("told", "code"), RULES)
def test_a_join_must_keep_the_proposals_rules(told: dict[str, Any], code: ErrorCode) -> None:
    fields = {
        "group_id": GROUP,
        "member_id": "a",
        "member_epoch": 0,
        "subscribed_topic_names": ("foo",),
        "rebalance_timeout_ms": 300_000,
        "owned": {},
    }
    broker = Broker("kip")
    outcome = broker.shard.heartbeat(Heartbeat(**{**fields, **told}), 0)
    assert outcome.answer.error_code == code
    assert bool(outcome.records) == (code == OK)


def test_a_client_that_names_no_id_is_given_one_that_nobody_has() -> None:
    broker = Broker("kip")
    first, second = broker.join("").member_id, broker.join("").member_id
    assert first
    assert second
    assert first != second
    assert set(broker.group.members) == {first, second}


def test_no_member_joins_a_full_group_and_one_that_is_there_goes_on() -> None:
    broker = settled(max_size=1)
    assert broker.join("b").error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert broker.heartbeat("a", 1).error_code == OK


def test_a_member_is_told_what_it_waits_for_and_again_only_when_that_changes() -> None:
    broker = settled()
    broker.join("b")
    target(broker)
    told = broker.join("b")
    assert (told.member_epoch, told.assigned, told.pending) == (2, {}, {FOO: (2,)})
    assert broker.heartbeat("b", 2).assigned is None
    assert broker.heartbeat("a", 1).assigned == {FOO: (0, 1)}
    assert broker.heartbeat("a", 1, {FOO: (0, 1)}).member_epoch == 2
    told = broker.heartbeat("b", 2)
    assert (told.assigned, told.pending) == ({FOO: (2,)}, {})


def test_a_member_that_tells_little_hears_of_its_pending_partitions_when_it_advances() -> None:
    broker = settled(foo=4)
    broker.join("b", "bar")
    target(broker)
    assert broker.join("b", "bar").member_epoch == 2
    broker.heartbeat("b", 2, subscribed_topic_names=("bar", "foo"))
    target(broker)
    told = broker.heartbeat("b", 2)
    assert told.member_epoch == 3
    assert told.assigned == {BAR: (0, 1)}
    assert told.pending == {FOO: (3,)}


def test_an_expression_is_resolved_in_the_heartbeat_and_matches_in_full() -> None:
    broker = Broker("kip")
    broker.join("a", subscribed_topic_names=None, subscribed_topic_regex="fo|bar")
    assert broker.types == [5, 4, 3]
    assert broker.last.tasks == ()
    target(broker)
    assert broker.group.target["a"] == {BAR: (0, 1)}


def test_a_new_match_bumps_the_epoch_at_once_and_other_topics_do_not() -> None:
    broker = Broker("kip")
    broker.join("a", subscribed_topic_names=None, subscribed_topic_regex="fo+.*")
    for name, topic_id, types in (("other", "AAAAAAAAAAAAAAAAAAAABQ", []), ("foo-2", ANEW, [4, 3])):
        image = broker.shard.image.with_topic(ImageTopic(name=name, topic_id=topic_id, partitions=1))
        broker.last = broker.shard.image_changed(image, (name,), 0)
        assert broker.types == types
    target(broker)
    assert broker.group.target["a"] == {FOO: (0, 1, 2), ANEW: (0,)}


def test_another_expression_bumps_the_epoch_and_none_takes_it_back() -> None:
    broker = settled()
    broker.heartbeat("a", 1, subscribed_topic_regex="bar")
    assert broker.types == [5, 4, 3]
    target(broker)
    assert broker.group.target["a"] == {FOO: (0, 1, 2), BAR: (0, 1)}
    broker.heartbeat("a", 1, subscribed_topic_regex="")
    assert broker.types[:3] == [5, 4, 3]


def test_a_topic_made_anew_under_another_id_is_another_topic() -> None:
    broker = settled()
    image = broker.shard.image.without_topic("foo")
    broker.last = broker.shard.image_changed(image, ("foo",), 0)
    assert broker.types == [4, 3]
    image = image.with_topic(ImageTopic(name="foo", topic_id=ANEW, partitions=2))
    broker.last = broker.shard.image_changed(image, ("foo",), 0)
    assert broker.types == [4, 3]
    target(broker)
    assert broker.group.target["a"] == {ANEW: (0, 1)}
    assert broker.heartbeat("a", 1).assigned == {}
    assert broker.heartbeat("a", 1, {}).assigned == {ANEW: (0, 1)}


def test_an_image_in_which_nothing_subscribed_changed_writes_nothing() -> None:
    broker = settled()
    broker.grow("bar", 9)
    assert broker.types == []
    broker.grow("foo", 3)
    assert broker.types == []


def test_a_new_coordinator_starts_sessions_compares_topics_and_wants_the_target_that_was_wanted() -> None:
    broker = Broker("kip")
    broker.join("a")
    written = list(broker.last.records)

    def loaded(image: Any) -> Any:
        shard = Shard(GROUP, Semantics.KIP, Settings(), image)
        shard.load(written)
        return shard.loaded(0)

    same = loaded(broker.shard.image)
    assert [(each.timer, each.member_id) for each in same.timers] == [(SESSION, "a"), (ASSIGNMENT, None)]
    assert same.records == ()
    grown = loaded(broker.shard.image.with_partitions("foo", 9))
    assert [each["type"] for each in grown.records] == [4, 3]
    target(broker)
    written += broker.last.records
    assert [each.timer for each in loaded(broker.shard.image).timers] == [SESSION]


def test_the_rebalance_timeout_counts_from_the_first_answer_that_asks_and_once_more_after_a_fail_over() -> (
    None
):
    broker = settled()
    broker.join("b")
    target(broker)
    started = TimerStart(timer=REBALANCE, member_id="a", length_ms=300_000, bound_epoch=1)
    broker.heartbeat("a", 1)
    assert started in broker.last.timers
    broker.heartbeat("a", 1)
    assert started not in broker.last.timers
    broker.shard.memory = VolatileState()
    broker.heartbeat("a", 1)
    assert started in broker.last.timers


def test_a_groups_own_session_timeout_holds_from_the_next_heartbeat_on() -> None:
    broker = settled()
    broker.shard.configure({"session_timeout_ms": 50_000})
    broker.heartbeat("a", 1)
    assert TimerStart(timer=SESSION, member_id="a", length_ms=50_000) in broker.last.timers


def test_a_commit_needs_the_members_epoch_and_a_member() -> None:
    broker = settled()
    assert broker.commit("a", 1, 0) == [OK]
    assert broker.commit("a", 0, 0) == [ErrorCode.STALE_MEMBER_EPOCH]
    assert broker.commit("a", 2, 0) == [ErrorCode.STALE_MEMBER_EPOCH]
    assert broker.commit("b", 1, 0) == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_partition_counts_are_written_when_they_changed_and_only_then() -> None:
    broker = settled()
    broker.join("b")
    assert broker.types == [5, 3]
    broker.join("c", "bar")
    assert broker.types == [5, 4, 3]
    broker.heartbeat("c", -1)
    assert broker.types == [8, 5, 4, 3]


def test_the_member_id_is_answered_to_a_join_alone() -> None:
    broker = Broker("kip")
    assert broker.join("A", instance_id="i").member_id == "A"
    broker.expire("assignment", None)
    assert (
        broker.heartbeat("A", 0, {}, rebalance_timeout_ms=1, subscribed_topic_names=("foo",)).member_id == "A"
    )
    for epoch in (1, -2, -1):
        answer = broker.heartbeat("A", epoch, instance_id="i")
        assert (answer.member_id, answer.member_epoch, int(answer.error_code)) == (None, epoch, 0)
