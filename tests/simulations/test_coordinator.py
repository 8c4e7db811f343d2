"""The released coordinator, request by request: what it refuses and with which words, what it writes and when."""

from __future__ import annotations

from typing import Any

import pytest

from simulations.protocol.coordinator.timers import TimerCancel, TimerStart
from simulations.protocol.messages.groups import HeartbeatAnswer
from tests.simulations.broker import FOO, Broker

JOINS: dict[str, Any] = {"rebalance_timeout_ms": 300_000, "subscribed_topic_names": ("foo",), "owned": {}}


def refusal(answer: HeartbeatAnswer) -> tuple[int, str | None]:
    assert answer.member_id is None
    assert (answer.member_epoch, answer.heartbeat_interval_ms, answer.assigned) == (0, 0, None)
    return int(answer.error_code), answer.error_message


@pytest.mark.parametrize(
    ("epoch", "fields", "code", "message"),
    [
        (0, {**JOINS, "member_id": " "}, 42, "MemberId can't be empty."),
        (0, {**JOINS, "group_id": " "}, 42, "GroupId can't be empty."),
        (0, {**JOINS, "instance_id": ""}, 42, "InstanceId can't be empty."),
        (0, {**JOINS, "rack_id": " "}, 42, "RackId can't be empty."),
        (
            0,
            {**JOINS, "rebalance_timeout_ms": -1},
            42,
            "RebalanceTimeoutMs must be provided in first request.",
        ),
        (0, {**JOINS, "owned": None}, 42, "TopicPartitions must be empty when (re-)joining."),
        (0, {**JOINS, "owned": {FOO: (0,)}}, 42, "TopicPartitions must be empty when (re-)joining."),
        (
            0,
            {**JOINS, "subscribed_topic_names": None},
            42,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (-2, {}, 42, "InstanceId can't be null."),
        (-3, {}, 42, "MemberEpoch is invalid."),
        (
            0,
            {**JOINS, "server_assignor": "sticky"},
            112,
            "ServerAssignor sticky is not supported. Supported assignors: uniform, range.",
        ),
        (5, {}, 69, "Consumer group orders not found."),
        (-1, {}, 69, "Group orders not found."),
    ],
)
def test_a_request_that_breaks_a_rule_is_refused_with_kafkas_words(
    epoch: int, fields: dict[str, Any], code: int, message: str
) -> None:
    broker = Broker()
    assert refusal(broker.heartbeat("A", epoch, **fields)) == (code, message)
    assert broker.last.records == broker.last.timers == ()


def test_a_stranger_is_unknown_and_a_full_group_takes_no_more() -> None:
    broker = Broker(max_size=1)
    broker.join("A")
    assert refusal(broker.heartbeat("B", 2)) == (
        81,
        "The consumer group has reached its maximum capacity of 1 members.",
    )
    assert refusal(broker.join("B"))[0] == 81
    assert broker.join("A").member_epoch == 2
    roomy = Broker()
    roomy.join("A")
    assert refusal(roomy.heartbeat("B", 2)) == (25, "Member B is not a member of group orders.")
    assert refusal(roomy.heartbeat("B", -1)) == (25, "Member B is not a member of group orders.")


def test_a_wrong_epoch_is_fenced_and_nothing_is_written() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    words = "The consumer group member has a {} member epoch ({}) than the one known by the group coordinator (2). "
    end = "The member must abandon all its partitions and rejoin."
    assert refusal(broker.heartbeat("A", 3)) == (110, words.format("greater", 3) + end)
    assert refusal(broker.heartbeat("A", 1, {FOO: (0,)})) == (110, words.format("smaller", 1) + end)
    assert broker.last.records == broker.last.timers == ()


def test_a_request_whose_answer_was_lost_may_be_repeated_and_moves_nothing() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    broker.heartbeat("A", 2)
    broker.heartbeat("A", 2, {FOO: (0, 1)})
    moved = broker.member("A")
    assert (moved.epoch, moved.previous_epoch) == (3, 2)
    answer = broker.heartbeat(
        "A", 2, {FOO: (0, 1)}, rebalance_timeout_ms=300_000, subscribed_topic_names=("foo",)
    )
    assert answer.member_epoch == 3
    assert answer.assigned == {FOO: (0, 1)}
    assert broker.types == []
    assert refusal(broker.heartbeat("A", 2))[0] == 110, "it has to tell what it owns"
    assert refusal(broker.heartbeat("A", 2, {FOO: (0, 2)}))[0] == 110, "and own nothing else"


def test_a_known_member_may_join_again_and_keeps_what_it_has() -> None:
    broker = Broker()
    broker.join("A")
    answer = broker.join("A")
    assert (answer.member_epoch, answer.assigned) == (2, {FOO: (0, 1, 2)})
    assert broker.types == []


def test_within_the_assignment_interval_a_join_waits_for_a_later_heartbeat_of_anybody() -> None:
    broker = Broker(assignment_interval_ms=1_000)
    broker.join("A")
    broker.now_ms += 999
    answer = broker.join("B")
    assert broker.types == [5, 3, 8]
    assert (broker.group.group_epoch, broker.group.assignment_epoch) == (3, 2)
    assert (answer.member_epoch, answer.assigned) == (2, {}), "the epoch is the target's"
    broker.now_ms += 1
    broker.heartbeat("A", 2)
    assert broker.types == [7, 7, 6, 8]
    assert broker.group.assignment_epoch == 3


def test_an_interval_of_zero_computes_at_once() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    assert broker.types == [5, 3, 7, 7, 6, 8]


def test_a_new_epoch_with_an_unchanged_target_is_a_lone_target_epoch() -> None:
    broker = Broker(assignment_interval_ms=0, foo=1)
    broker.join("A")
    broker.join("B")
    broker.heartbeat("A", -1)
    assert broker.types == [8, 7, 5, 3]
    broker.heartbeat("B", 3, {})
    assert broker.types[-2:] == [6, 8]


def test_other_fields_write_the_member_and_bump_nothing() -> None:
    broker = Broker()
    broker.join("A")
    broker.heartbeat("A", 2, rack_id="r1", server_assignor="range")
    assert broker.types == [5]
    assert broker.group.group_epoch == 2
    broker.heartbeat("A", 2, subscribed_topic_names=("foo",))
    assert broker.types == []


def test_another_subscription_bumps_and_what_is_not_subscribed_must_be_given_up() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A", "foo", "bar")
    answer = broker.heartbeat("A", 2, subscribed_topic_names=("bar",))
    assert broker.types == [5, 3, 7, 6, 8]
    assert answer.member_epoch == 2
    assert FOO in broker.member("A").pending_revocation
    assert (
        broker.heartbeat("A", 2, {t: tuple(p) for t, p in (answer.assigned or {}).items()}).member_epoch == 3
    )


def test_a_dropped_topic_is_cut_before_the_next_target_too() -> None:
    broker = Broker(assignment_interval_ms=1_000)
    broker.join("A", "foo", "bar")
    broker.heartbeat("A", 2, subscribed_topic_names=("bar",))
    assert broker.types == [5, 3, 8]
    member = broker.member("A")
    assert (member.epoch, member.previous_epoch, member.state) == (2, 2, 1)
    assert set(member.pending_revocation) == {FOO}


def test_a_member_that_subscribes_to_nothing_joins_without_an_epoch() -> None:
    broker = Broker()
    answer = broker.heartbeat("A", 0, owned={}, rebalance_timeout_ms=300_000, subscribed_topic_names=())
    assert broker.types == [5, 8]
    assert (answer.member_epoch, answer.assigned) == (1, {})


def test_a_group_without_an_epoch_record_is_there_all_the_same() -> None:
    broker = Broker()
    broker.heartbeat("A", 0, owned={}, rebalance_timeout_ms=300_000, subscribed_topic_names=())
    assert broker.heartbeat("A", 1, {}).error_code == 0
    assert int(broker.heartbeat("B", 1).error_code) == 25
    assert broker.commit("A", 1, 0) == [0]
    broker.heartbeat("A", 1, subscribed_topic_names=("foo",))
    assert broker.types == [5, 3, 7, 6, 8]
    broker.heartbeat("A", -1)
    assert broker.types == [8, 7, 5, 3]


def test_new_partitions_are_found_by_the_next_heartbeat_of_anybody() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    old = broker.group.metadata_hash
    broker.heartbeat("B", 3, {})
    broker.grow("bar", 9)
    broker.heartbeat("B", 3)
    assert broker.types == [], "nobody subscribes to it"
    broker.grow("foo", 6)
    assert broker.types == []
    broker.heartbeat("B", 3)
    assert broker.types == [3, 7, 7, 6, 8]
    assert broker.group.metadata_hash != old


def test_the_rebalance_timer_runs_while_a_member_gives_up_and_is_bound_to_its_epoch() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    broker.heartbeat("A", 2)
    assert broker.last.timers[0] == TimerStart(
        timer="rebalance", member_id="A", length_ms=300_000, bound_epoch=2
    )
    broker.expire("rebalance", "A", 1)
    assert broker.types == [], "of an epoch that it has left"
    broker.heartbeat("A", 2)
    assert [timer.timer for timer in broker.last.timers] == ["session"]
    broker.heartbeat("A", 2, {FOO: (0, 1)})
    assert broker.last.timers[0] == TimerCancel(timer="rebalance", member_id="A")


def test_a_member_that_never_gives_up_is_removed_and_its_partitions_are_free() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    broker.heartbeat("A", 2)
    broker.expire("rebalance", "A", 2)
    assert broker.types == [8, 7, 5, 3]
    broker.heartbeat("B", 3, {})
    assert dict(broker.member("B").assigned) == {FOO: {0: 4, 1: 4, 2: 4}}
    broker.expire("session", "A")
    assert broker.types == []


def test_the_last_leave_empties_the_group_and_the_next_joiner_goes_on_with_its_epochs() -> None:
    broker = Broker()
    broker.join("A")
    answer = broker.heartbeat("A", -1)
    assert (answer.member_id, answer.member_epoch, answer.heartbeat_interval_ms) == ("A", -1, 0)
    assert broker.last.records[-1]["value"] == {"epoch": 3}
    assert (broker.group.group_epoch, broker.group.assignment_epoch) == (3, 2)
    broker.now_ms += 1_000
    assert broker.join("B").member_epoch == 4


def test_kept_partitions_stand_in_javas_order() -> None:
    broker = Broker(assignment_interval_ms=0, foo=5)
    broker.join("b")
    broker.join("c")
    broker.heartbeat("b", 2)
    broker.heartbeat("b", 2, {FOO: (0, 1, 2)})
    broker.heartbeat("c", 3, {})
    assert list(broker.member("c").assigned[FOO]) == [3, 4]
    broker.heartbeat("c", 3, rack_id="r1")
    broker.grow("foo", 6)
    broker.heartbeat("b", 3)
    broker.heartbeat("c", 3)
    written = broker.last.records[-1]["value"]["assignedPartitions"][0]["partitions"]
    assert written == [4, 5, 3], "a copied table of four slots, and the new one after"


def test_most_members_choose_the_assignor_and_of_two_the_one_that_is_new() -> None:
    broker = Broker(assignment_interval_ms=0, foo=5)
    broker.join("A", server_assignor="range")
    broker.join("B")
    assert targets(broker) == {"A": (0, 1, 2), "B": (3, 4)}
    broker.join("C", server_assignor="uniform")
    assert targets(broker) == {"A": (0, 1), "B": (3, 4), "C": (2,)}, "range would cut it anew"


def targets(broker: Broker) -> dict[str, tuple[int, ...]]:
    return {member: target[FOO] for member, target in broker.group.target.items()}


@pytest.mark.parametrize(
    ("member_id", "epoch", "partitions", "codes"),
    [
        ("A", 3, (0, 1), [0, 0]),
        ("A", 4, (0,), [113]),
        ("A", 2, (0, 1), [0, 0]),
        ("A", 2, (0, 2), [113, 113]),
        ("A", 1, (0,), [113]),
        ("A", -1, (0,), [113]),
        ("X", 3, (0,), [25]),
        ("", -1, (0,), [25]),
        ("B", 3, (2,), [0]),
        ("B", 2, (2,), [113]),
    ],
)
def test_a_commit_of_an_older_epoch_is_taken_for_partitions_held_since(
    member_id: str, epoch: int, partitions: tuple[int, ...], codes: list[int]
) -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    broker.heartbeat("A", 2)
    broker.heartbeat("A", 2, {FOO: (0, 1)})
    broker.heartbeat("B", 3, {})
    assert broker.commit(member_id, epoch, *partitions) == codes
    assert broker.types == [1] * codes.count(0)


def test_a_partition_with_too_long_metadata_is_refused_for_itself() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    broker.heartbeat("A", 2)
    broker.heartbeat("A", 2, {FOO: (0, 1)})
    assert broker.commit("A", 2, 2, metadata="x" * 5_000) == [12]


def test_commits_need_a_group_and_an_empty_one_takes_those_of_no_member() -> None:
    broker = Broker()
    assert broker.commit("A", 2, 0) == [69]
    broker.join("A")
    broker.heartbeat("A", -1)
    assert broker.commit("", -1, 0) == [0]
    assert broker.commit("", -1, 0, metadata="x" * 5_000) == [12]


def test_the_proposal_fences_by_removing_and_computes_the_target_by_itself() -> None:
    broker = Broker("kip")
    assert broker.join("A").member_epoch == 0
    assert broker.types == [5, 4, 3]
    broker.expire("assignment", None)
    assert broker.types == [7, 6]
    assert broker.join("A").assigned == {FOO: (0, 1, 2)}
    answer = broker.heartbeat("A", 5)
    assert int(answer.error_code) == 110
    assert broker.types == [8, 5, 4, 3], "and nobody subscribes to the topic any more"
    assert not broker.group.members
    assert "A" in broker.group.target, "until the next target"
    broker.expire("assignment", None)
    assert broker.types == [7, 6]
    assert not broker.group.target


def test_the_proposal_refuses_a_stranger_and_takes_a_repeated_request() -> None:
    broker = Broker("kip")
    assert int(broker.heartbeat("A", 1).error_code) == 25
    broker.join("A")
    broker.expire("assignment", None)
    broker.join("A")
    assert broker.heartbeat("A", 0, {}, **{k: v for k, v in JOINS.items() if k != "owned"}).member_epoch == 1


def test_the_proposal_takes_an_older_epoch_only_for_the_answer_that_was_just_lost() -> None:
    """D.21: the epoch must be the previous one and what is owned within what is assigned, as in the release."""
    broker = Broker("kip")
    broker.join("A")
    broker.expire("assignment", None)
    broker.join("A")
    broker.join("B")
    broker.expire("assignment", None)
    broker.heartbeat("A", 1, {FOO: (0, 1)})
    assert (broker.member("A").epoch, broker.member("A").previous_epoch) == (2, 1)
    assert broker.heartbeat("A", 1, {FOO: (0, 1)}).member_epoch == 2
    broker.join("C")
    broker.expire("assignment", None)
    broker.heartbeat("A", 2, {FOO: (0,)})
    assert (broker.member("A").epoch, broker.member("A").previous_epoch) == (3, 2)
    assert int(broker.heartbeat("A", 1, {FOO: (0,)}).error_code) == 110


def test_range_gives_a_joiner_without_topics_a_part_where_the_group_was_not_looked_at_anew() -> None:
    broker = Broker(assignment_interval_ms=0, foo=5)
    broker.join("A", server_assignor="range")
    broker.join("B", "foo")
    broker.heartbeat("B", -1)
    broker.join("C", subscribed_topic_names=())
    assert broker.types == [5, 7, 6, 8], "the part of A is what it was"
    assert {who: dict(target) for who, target in broker.group.target.items()} == {
        "A": {FOO: (0, 1, 2)},
        "C": {FOO: (3, 4)},
    }
    assert dict(broker.member("C").assigned) == {}, "it does not subscribe to it"
