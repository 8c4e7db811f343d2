"""A group as ConsumerGroupDescribe and ListGroups tell it."""

from __future__ import annotations

from tests.simulations.broker import FOO, GROUP, Broker

THIRD = "AAAAAAAAAAAAAAAAAAAAAw"


def state(broker: Broker) -> str:
    return str(broker.shard.describe()["groupState"])


def test_a_group_that_is_not_there_is_an_error() -> None:
    shard = Broker().shard
    assert shard.listed() is None
    told = shard.describe()
    assert (told["errorCode"], told["errorMessage"]) == (69, "Group orders not found.")
    assert (told["groupState"], told["groupEpoch"], told["members"]) == ("", 0, [])


def test_the_states_of_a_group() -> None:
    broker = Broker(assignment_interval_ms=1_000)
    broker.join("A")
    assert state(broker) == "Stable"
    broker.join("B")
    assert state(broker) == "Assigning"
    broker.now_ms += 1_000
    broker.heartbeat("A", 2)
    assert state(broker) == "Reconciling"
    broker.heartbeat("A", 2, {FOO: (0, 1)})
    broker.heartbeat("B", 2, {})
    assert state(broker) == "Stable"
    broker.heartbeat("A", -1)
    assert state(broker) == "Assigning"
    broker.heartbeat("B", -1)
    assert state(broker) == "Empty"
    assert broker.shard.listed() == {
        "groupId": GROUP,
        "protocolType": "consumer",
        "groupState": "Empty",
        "groupType": "consumer",
    }


def test_who_left_for_now_keeps_a_group_from_being_stable() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A", instance_id="i")
    broker.heartbeat("A", -2, instance_id="i")
    assert state(broker) == "Reconciling"


def test_a_member_is_told_with_what_it_still_has_to_give_up_and_without_topics_that_are_gone() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A", rack_id="r", instance_id="i", server_assignor="range")
    broker.join("B")
    broker.heartbeat("A", 2)
    told = broker.shard.describe()
    assert (told["groupEpoch"], told["assignmentEpoch"], told["assignorName"]) == (3, 3, "range")
    by_id = {member["memberId"]: member for member in told["members"]}
    assert by_id["A"] == {
        "memberId": "A",
        "instanceId": "i",
        "rackId": "r",
        "memberEpoch": 2,
        "clientId": "A",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": ["foo"],
        "subscribedTopicRegex": "",
        "assignment": {"topicPartitions": [{"topicId": FOO, "topicName": "foo", "partitions": [0, 1, 2]}]},
        "targetAssignment": {"topicPartitions": [{"topicId": FOO, "topicName": "foo", "partitions": [0, 1]}]},
        "memberType": 1,
    }
    broker.delete("foo")
    (member, _) = broker.shard.describe()["members"]
    assert member["assignment"] == member["targetAssignment"] == {"topicPartitions": []}


def test_a_group_without_an_epoch_record_is_told_at_its_first_epoch() -> None:
    broker = Broker()
    broker.join("A", subscribed_topic_names=())
    told = broker.shard.describe()
    assert (told["groupEpoch"], told["assignmentEpoch"], told["groupState"]) == (1, 1, "Stable")
    assert told["assignorName"] == "uniform"
