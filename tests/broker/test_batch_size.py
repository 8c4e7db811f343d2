"""What is larger than a batch of ``__consumer_offsets``: refused on a real broker as by the simulated coordinator, to the byte."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from groups.history.state.group import Semantics
from groups.wire.embedded.consumer_protocol import encode_subscription
from simulations.protocol.coordinator.batch_size import RecordTooLarge, batch_bytes
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.groups import CommittedOffset, OffsetCommit

from .acting import Group
from .node import Node
from .rpc import Connection

pytestmark = pytest.mark.broker

USUAL, TINY = 1_048_588, 300
TOPIC = 2
KNOWN_LIMIT_S = 90


@pytest.fixture(scope="module")
def node(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    del released_jars
    node = Node(tmp_path_factory.mktemp("batches"))
    node.start()
    try:
        yield node
    finally:
        node.stop()


@pytest.fixture
def group(node: Node, request: pytest.FixtureRequest) -> Iterator[Group]:
    group = Group(node, request.param)
    try:
        yield group
    finally:
        group.close()


def limit(connection: Connection, bytes_most: int) -> None:
    """Sets ``max.message.bytes`` of the topic, and waits until the broker knows it."""
    config = {"name": "max.message.bytes", "configOperation": 0, "value": str(bytes_most)}
    resource = {"resourceType": TOPIC, "resourceName": "__consumer_offsets", "configs": [config]}
    connection.call("IncrementalAlterConfigs", {"resources": [resource], "validateOnly": False})
    asked = {"resourceType": TOPIC, "resourceName": "__consumer_offsets", "configurationKeys": None}
    deadline = time.monotonic() + KNOWN_LIMIT_S
    while True:
        request = {"resources": [asked], "includeSynonyms": False, "includeDocumentation": False}
        (answer,) = connection.call("DescribeConfigs", request)["results"]
        if {each["name"]: each["value"] for each in answer["configs"]}["max.message.bytes"] == str(
            bytes_most
        ):
            return
        assert time.monotonic() < deadline, f"max.message.bytes is not {bytes_most} yet"
        time.sleep(0.05)


def codes(answer: dict[str, Any]) -> set[int]:
    return {each["errorCode"] for topic in answer["topics"] for each in topic["partitions"]}


@pytest.mark.parametrize("group", ["commits"], indirect=True)
def test_a_commit_is_written_whole_up_to_the_last_byte_of_a_batch_and_refused_beyond_it(group: Group) -> None:
    name, count = group.topic("foo", 20), 20
    commit = OffsetCommit(
        group_id="commits",
        member_id="",
        member_epoch=-1,
        offsets=tuple(
            CommittedOffset(topic=name, topic_id=group.ids["foo"], partition=number, offset=7)
            for number in range(count)
        ),
    )
    image = Image(topics={name: ImageTopic(name=name, topic_id=group.ids["foo"], partitions=count)})
    shard = Shard("commits", Semantics.KAFKA, Settings(), image)
    size_bytes = batch_bytes(shard.copy().commit(commit, 1_700_000_000_000).records)
    body = {"groupInstanceId": None, **commit.body()}
    told = {}
    for bytes_most in (size_bytes - 1, size_bytes):
        limit(group.connection(), bytes_most)
        shard.settings = Settings(max_message_bytes=bytes_most)
        told[bytes_most] = codes(group.connection().ask("OffsetCommit", 10, body))
        if bytes_most < size_bytes:
            with pytest.raises(RecordTooLarge):
                shard.copy().commit(commit, 1_700_000_000_000)
        else:
            assert len(shard.copy().commit(commit, 1_700_000_000_000).records) == count
    limit(group.connection(), USUAL)
    assert told == {size_bytes - 1: {-1}, size_bytes: {0}}


@pytest.mark.parametrize("group", ["targets"], indirect=True)
def test_a_member_whose_target_no_batch_holds_is_told_of_a_server_error_and_is_no_member(
    group: Group,
) -> None:
    group.topic("foo", 10)
    limit(group.connection(), TINY // 2)
    refused = group.join("A", ["foo"], error=-1)
    assert (refused["errorMessage"], refused["memberEpoch"], refused["assignment"]) == (None, 0, None)
    group.beat("A", 1, error=69)
    limit(group.connection(), USUAL)
    assert group.join("A", ["foo"])["memberEpoch"] > 0
    group.leave("A")


@pytest.mark.parametrize("group", ["classic"], indirect=True)
def test_a_leader_whose_assignment_no_batch_holds_is_told_so_and_everybody_joins_again(group: Group) -> None:
    connection = group.connection()
    metadata = b64encode(encode_subscription({"version": 0, "topics": ["foo"], "userData": None})).decode()
    join = {
        "groupId": "classic",
        "sessionTimeoutMs": 6_000,
        "rebalanceTimeoutMs": 6_000,
        "memberId": "",
        "groupInstanceId": None,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": metadata}],
        "reason": None,
    }
    join["memberId"] = connection.ask("JoinGroup", 9, join)["memberId"]
    joined = connection.ask("JoinGroup", 9, join)
    assert (joined["errorCode"], joined["leader"]) == (0, join["memberId"])
    member = {"groupId": "classic", "memberId": join["memberId"], "groupInstanceId": None}
    sync = {
        **member,
        "generationId": joined["generationId"],
        "protocolType": "consumer",
        "protocolName": "range",
        "assignments": [{"memberId": join["memberId"], "assignment": b64encode(bytes(2 * TINY)).decode()}],
    }
    limit(connection, TINY)
    assert connection.ask("SyncGroup", 5, sync)["errorCode"] == -1
    beat = connection.ask("Heartbeat", 4, {**member, "generationId": joined["generationId"]})
    assert beat["errorCode"] == 27
    again = connection.ask("JoinGroup", 9, join)
    assert (again["errorCode"], again["generationId"]) == (0, joined["generationId"] + 1)
    limit(connection, USUAL)
    sync["generationId"] = again["generationId"]
    assert connection.ask("SyncGroup", 5, sync)["errorCode"] == 0
