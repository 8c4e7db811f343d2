"""What the released coordinator refuses of a heartbeat, in its order and in its words; an error changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from simulations.protocol.assignors import AssignorError
from simulations.protocol.assignors.consumer import uniform
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.errors import AnotherProtocol
from simulations.protocol.messages.groups import Heartbeat
from tests.simulations.broker import FOO, GROUP, Broker

JOINS: dict[str, Any] = {"rebalance_timeout_ms": 300_000, "subscribed_topic_names": ("foo",), "owned": {}}
BLANK_ALL: dict[str, Any] = {
    "member_id": " ",
    "group_id": " ",
    "instance_id": " ",
    "rack_id": " ",
    "version": 1,
}

GREATER = (
    "The consumer group member has a greater member epoch ({}) than the one known by the group coordinator ({}). "
    "The member must abandon all its partitions and rejoin."
)
SMALLER = GREATER.replace("greater", "smaller")


@pytest.mark.parametrize(
    ("epoch", "fields", "code", "message"),
    [
        (0, BLANK_ALL, 42, "MemberId can't be empty."),
        (0, {**BLANK_ALL, "member_id": ""}, 42, "MemberId can't be empty."),
        (0, {**BLANK_ALL, "member_id": "\t\x01\n"}, 42, "MemberId can't be empty."),
        (3, {**BLANK_ALL, "version": 0}, 42, "MemberId can't be empty."),
        (-1, {**BLANK_ALL, "version": 0}, 42, "MemberId can't be empty."),
        (0, {**BLANK_ALL, "version": 0}, 42, "GroupId can't be empty."),
        (0, {**BLANK_ALL, "member_id": "\u3000"}, 42, "GroupId can't be empty."),
        (-2, {**BLANK_ALL, "version": 0}, 42, "GroupId can't be empty."),
        (0, {**BLANK_ALL, "member_id": "A", "group_id": GROUP}, 42, "InstanceId can't be empty."),
        (0, {"rack_id": "", "subscribed_topic_names": None}, 42, "RackId can't be empty."),
        (0, {}, 42, "RebalanceTimeoutMs must be provided in first request."),
        (0, {"rebalance_timeout_ms": 0}, 42, "TopicPartitions must be empty when (re-)joining."),
        (
            0,
            {"rebalance_timeout_ms": -7, "owned": {}},
            42,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (-2, {"server_assignor": "x"}, 42, "InstanceId can't be null."),
        (-3, {"server_assignor": "x"}, 42, "MemberEpoch is invalid."),
        (
            7,
            {"server_assignor": "x"},
            112,
            "ServerAssignor x is not supported. Supported assignors: uniform, range.",
        ),
        (7, {}, 69, "Consumer group orders not found."),
        (-1, {}, 69, "Group orders not found."),
        (-2, {"instance_id": "i"}, 69, "Group orders not found."),
    ],
)
def test_a_request_is_looked_at_rule_by_rule_before_any_group_is(
    epoch: int, fields: dict[str, Any], code: int, message: str
) -> None:
    broker = Broker()
    answer = broker.heartbeat("A", epoch, **fields)
    assert (int(answer.error_code), answer.error_message) == (code, message)
    assert (answer.member_id, answer.member_epoch, answer.heartbeat_interval_ms) == (None, 0, 0)
    assert (broker.last.records, broker.last.timers, broker.last.memory) == ((), (), None)


@pytest.mark.parametrize("told", [{"subscribed_topic_names": ()}, {"subscribed_topic_regex": ""}])
def test_an_empty_subscription_and_any_timeout_but_minus_one_will_do(told: dict[str, Any]) -> None:
    for timeout_ms in (0, -2):
        broker = Broker()
        fields = {**JOINS, "subscribed_topic_names": None, **told, "rebalance_timeout_ms": timeout_ms}
        assert broker.heartbeat("A", 0, **fields).error_code == 0


def test_a_client_of_version_zero_is_given_an_id_that_the_driver_drew() -> None:
    broker = Broker()
    request = {**JOINS, "member_id": "", "version": 0}
    with pytest.raises(ValueError, match="has to draw one"):
        broker.heartbeat("A", 0, **request)
    heartbeat = Heartbeat(group_id=GROUP, member_epoch=0, **request)
    outcome = broker.shard.heartbeat(heartbeat, broker.now_ms, drawn_id="drawn")
    assert outcome.answer.member_id == "drawn"
    assert list(broker.group.members) == ["drawn"]


def in_a_group() -> Broker:
    """A at epoch 3 after 2 with 0 and 1; B static at 3 with 2; C static, left for now."""
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B", instance_id="i-B")
    broker.heartbeat("A", 2)
    broker.heartbeat("A", 2, {FOO: (0, 1)})
    broker.heartbeat("B", 3, {}, instance_id="i-B")
    return broker


@pytest.mark.parametrize(
    ("who", "epoch", "owned", "instance", "code", "message"),
    [
        ("Z", 3, None, None, 25, "Member Z is not a member of group orders."),
        ("Z", -1, None, None, 25, "Member Z is not a member of group orders."),
        ("A", 3, None, "i-Z", 25, "Instance id i-Z is unknown."),
        ("A", -1, None, "i-Z", 25, "Instance id i-Z is unknown."),
        ("A", -2, None, "i-Z", 25, "Instance id i-Z is unknown."),
        ("A", 3, None, "i-B", 82, "Static member A with instance id i-B was fenced by member B."),
        ("A", -2, None, "i-B", 82, "Static member A with instance id i-B was fenced by member B."),
        (
            "Z",
            0,
            {},
            "i-B",
            111,
            "Static member Z with instance id i-B cannot join the group because the instance id is owned by B member.",
        ),
        (
            "B",
            0,
            {},
            "i-B",
            111,
            "Static member B with instance id i-B cannot join the group because the instance id is owned by B member.",
        ),
        ("A", 4, None, None, 110, GREATER.format(4, 3)),
        ("A", 1, {}, None, 110, SMALLER.format(1, 3)),
        ("A", 2, None, None, 110, SMALLER.format(2, 3)),
        ("A", 2, {FOO: (2,)}, None, 110, SMALLER.format(2, 3)),
        ("A", 2, {FOO: (1,)}, None, 0, None),
        ("A", 2, {}, None, 0, None),
        ("A", 3, None, None, 0, None),
        ("B", -1, None, None, 0, None),
    ],
)
def test_a_member_is_who_it_says_and_at_the_epoch_that_it_says(
    who: str,
    epoch: int,
    owned: dict[str, tuple[int, ...]] | None,
    instance: str | None,
    code: int,
    message: str | None,
) -> None:
    broker = in_a_group()
    before = broker.shard.state
    fields = {key: value for key, value in JOINS.items() if key != "owned"} if epoch == 0 else {}
    answer = broker.heartbeat(who, epoch, owned, instance_id=instance, **fields)
    assert (int(answer.error_code), answer.error_message) == (code, message)
    if code:
        assert broker.shard.state is before
        assert broker.last.timers == ()


def test_a_full_group_is_refused_before_the_member_is_looked_for_a_replacement_too() -> None:
    broker = Broker(assignment_interval_ms=0, max_size=1)
    broker.join("A", instance_id="i")
    broker.heartbeat("A", -2, instance_id="i")
    full = (81, "The consumer group has reached its maximum capacity of 1 members.")
    for answer in (broker.join("B"), broker.heartbeat("B", 5), broker.join("B", instance_id="i")):
        assert (int(answer.error_code), answer.error_message) == full
    assert broker.join("A", instance_id="i").error_code == 0


def test_who_left_for_now_is_fenced_with_a_greater_epoch() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A", instance_id="i")
    broker.heartbeat("A", -2, instance_id="i")
    assert broker.heartbeat("A", 2, instance_id="i").error_message == GREATER.format(2, -2)


def classic(*members: str) -> Record:
    listed = [{"memberId": member, "clientId": "c", "clientHost": "/h"} for member in members]
    value = {"protocolType": "consumer", "generation": 4, "members": listed}
    return {"type": 2, "key": {"group": GROUP}, "version": 3, "value": value}


def test_an_empty_classic_group_is_replaced_and_one_with_members_is_another_matter() -> None:
    broker = Broker()
    broker.shard.load([classic()])
    for epoch in (1, -1):
        assert broker.heartbeat("A", epoch).error_message == "Group orders is not a consumer group."
    broker.join("A")
    assert broker.types == [2, 5, 3, 7, 6, 8]
    other = Broker()
    other.shard.load([classic("C")])
    assert other.heartbeat("A", 4).error_message == "Group orders is not a consumer group."
    with pytest.raises(AnotherProtocol):
        other.join("A")


def test_partition_metadata_of_an_older_release_are_deleted_once() -> None:
    broker = Broker(assignment_interval_ms=0)
    value = {"topics": [{"topicId": FOO, "topicName": "foo", "numPartitions": 3, "partitionMetadata": []}]}
    broker.shard.load([{"type": 4, "key": {"groupId": GROUP}, "version": 0, "value": value}])
    broker.join("A")
    assert broker.types == [5, 3, 4, 7, 6, 8]
    assert broker.last.records[2]["value"] is None
    broker.join("B")
    assert broker.types == [5, 3, 7, 7, 6, 8]


def test_an_assignor_that_fails_is_an_unknown_error_and_what_was_started_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise AssignorError("no")

    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    monkeypatch.setattr(uniform.UniformAssignor, "assign", fails)
    answer = broker.join("B", subscribed_topic_regex="ba.")
    assert (int(answer.error_code), answer.error_message) == (-1, None)
    assert (broker.last.records, broker.last.timers) == ((), ())
    assert list(broker.group.members) == ["A"]
    assert broker.last.tasks[0].regexes == ("ba.",)
    assert broker.shard.memory.resolving
