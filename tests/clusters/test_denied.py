"""What a broker answers to whom ACLs deny something: as the simulated broker does, request by request."""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from groups.wire.embedded.consumer_protocol import encode_subscription
from simulations.protocol.messages.classic_requests import ClassicHeartbeat, JoinGroup, LeaveGroup, SyncGroup
from simulations.protocol.messages.groups import CommittedOffset, Heartbeat, OffsetCommit
from simulations.world.engine.access import Access
from simulations.world.scenario.access import Operation, Resource, Right
from tests.broker.rpc import Connection
from tests.clusters.secure import Secure, password
from tests.clusters.watched import until

pytestmark = [pytest.mark.broker, pytest.mark.once]

USER = "nobody"
GROUP, TOPIC, OTHER = "denied", "denied.foo", "denied.bar"

RIGHTS: Mapping[Right, tuple[ResourceType, str, AclOperation]] = {
    Right(Operation.READ, Resource.GROUP, GROUP): (ResourceType.GROUP, GROUP, AclOperation.READ),
    **{
        Right(operation, Resource.TOPIC, name): (ResourceType.TOPIC, name, granted)
        for name in (TOPIC, OTHER)
        for operation, granted in (
            (Operation.READ, AclOperation.READ),
            (Operation.DESCRIBE, AclOperation.DESCRIBE),
        )
    },
}

CASES = {
    "nothing is denied": (),
    "READ on the group": (Right(Operation.READ, Resource.GROUP, GROUP),),
    "READ on a topic": (Right(Operation.READ, Resource.TOPIC, TOPIC),),
    "DESCRIBE on a topic": (
        # To be allowed READ is to be allowed DESCRIBE, where it is not denied outright.
        Right(Operation.READ, Resource.TOPIC, TOPIC),
        Right(Operation.DESCRIBE, Resource.TOPIC, TOPIC),
    ),
    "READ on both topics": (
        Right(Operation.READ, Resource.TOPIC, TOPIC),
        Right(Operation.READ, Resource.TOPIC, OTHER),
    ),
}


@dataclass
class LoggedIn(Connection):
    """A connection of one user, by SASL's PLAIN."""

    user: str = USER

    def __post_init__(self) -> None:
        super().__post_init__()
        mechanism = b"PLAIN"
        self._exchange(17, struct.pack(">h", len(mechanism)) + mechanism)
        token = b"\0".join([b"", self.user.encode(), password(self.user).encode()])
        self._exchange(36, struct.pack(">i", len(token)) + token)

    def _exchange(self, key: int, body: bytes) -> None:
        """SaslHandshake and SaslAuthenticate, version 1, which are not flexible."""
        self.correlation += 1
        name = self.client_id.encode()
        message = struct.pack(">hhih", key, 1, self.correlation, len(name)) + name + body
        self._socket.sendall(struct.pack(">i", len(message)) + message)
        answer = self._receive(struct.unpack(">i", self._receive(4))[0])
        assert struct.unpack(">h", answer[4:6]) == (0,), answer


@pytest.fixture(scope="module")
def ids(secure: Secure) -> Mapping[str, str]:
    with Connection(secure.ports["PLAINTEXT"]) as admin:
        return {name: admin.create_topic(name, 2) for name in (TOPIC, OTHER)}


@pytest.fixture
def asks(secure: Secure, ids: Mapping[str, str]) -> Iterator[Connection]:
    del ids
    with LoggedIn(secure.ports["SASLP"]) as connection:
        yield connection


def joined(topics: list[str]) -> str:
    data = encode_subscription({"version": 0, "topics": topics, "userData": None})
    return b64encode(data).decode()


def requests(ids: Mapping[str, str]) -> dict[str, tuple[str, int, dict[str, Any], Any]]:
    """By name: API, version and body for the broker, and the same for the simulated one."""
    offsets = tuple(
        CommittedOffset(topic=name, topic_id=ids[name], partition=0, offset=0) for name in (TOPIC, OTHER)
    )
    commit = OffsetCommit(group_id=GROUP, member_id="", member_epoch=-1, offsets=offsets)
    beat = Heartbeat(
        group_id=GROUP,
        member_id="M" * 22,
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=(TOPIC,),
        owned={},
    )
    alive = Heartbeat(group_id=GROUP, member_id="M" * 22, member_epoch=7)
    member = {"groupId": GROUP, "memberId": "x", "generationId": 1, "groupInstanceId": None}
    classic = {
        "sessionTimeoutMs": 10_000,
        "rebalanceTimeoutMs": 10_000,
        "memberId": "",
        "groupInstanceId": None,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": joined([TOPIC])}],
        "reason": None,
    }
    return {
        "first heartbeat": ("ConsumerGroupHeartbeat", 1, filled(beat.body()), beat),
        "heartbeat": ("ConsumerGroupHeartbeat", 1, filled(alive.body()), alive),
        "join": (
            "JoinGroup",
            9,
            {"groupId": GROUP, **classic},
            JoinGroup(
                group_id=GROUP,
                session_timeout_ms=10_000,
                rebalance_timeout_ms=10_000,
                member_id="",
                protocols=(),
            ),
        ),
        "sync": (
            "SyncGroup",
            5,
            {**member, "protocolType": "consumer", "protocolName": "range", "assignments": []},
            SyncGroup(group_id=GROUP, generation=1, member_id="x"),
        ),
        "classic heartbeat": (
            "Heartbeat",
            4,
            member,
            ClassicHeartbeat(group_id=GROUP, generation=1, member_id="x"),
        ),
        "leave": (
            "LeaveGroup",
            5,
            {"groupId": GROUP, "members": [{"memberId": "x", "groupInstanceId": None, "reason": None}]},
            LeaveGroup(group_id=GROUP, members=()),
        ),
        "commit": ("OffsetCommit", 10, commit_body(commit), commit),
    }


def filled(body: Mapping[str, Any]) -> dict[str, Any]:
    usual = {
        "instanceId": None,
        "rackId": None,
        "rebalanceTimeoutMs": -1,
        "subscribedTopicNames": None,
        "subscribedTopicRegex": None,
        "serverAssignor": None,
        "topicPartitions": None,
    }
    return {**usual, **body}


def commit_body(commit: OffsetCommit) -> dict[str, Any]:
    return {"groupInstanceId": None, **commit.body()}


def of_authorization(body: Mapping[str, Any]) -> dict[str, int]:
    """Each error of authorization, with the topic that it is of, or without."""
    found = {"": body.get("errorCode", 0)}
    for topic in body.get("topics") or ():
        found[topic["topicId"]] = max(each["errorCode"] for each in topic["partitions"])
    return {what: code for what, code in found.items() if code in (29, 30)}


def refused_of(access: Access, ids: Mapping[str, str]) -> set[str]:
    """The names of the requests that the simulated broker refuses."""
    return {name for name, (*_, request) in requests(ids).items() if access.refusal(USER, request)}


@pytest.mark.parametrize("case", CASES)
def test_each_request_is_refused_where_the_simulated_broker_refuses_it(
    secure: Secure, asks: Connection, ids: Mapping[str, str], case: str
) -> None:
    denied = CASES[case]
    granted = [acl for right, acl in RIGHTS.items() if right not in denied]
    secure.grant(USER, granted)
    try:
        access = Access(GROUP, [(USER, right) for right in denied])
        # The controller has answered, and the broker takes the rights over a moment later.
        if "first heartbeat" not in refused_of(access, ids):
            api, version, body, _ = requests(ids)["first heartbeat"]
            until(lambda: not of_authorization(asks.ask(api, version, body)))
        for name, (api, version, body, request) in requests(ids).items():
            refused = access.refusal(USER, request)
            wanted = {"": int(refused)} if refused else {}
            if isinstance(request, OffsetCommit):
                if refused:
                    wanted = {topic: int(refused) for topic in ids.values()}
                else:
                    _, answer = access.passed_on(USER, request)
                    wanted = {topic: code for topic, _, code in answer.error_codes}
            assert of_authorization(asks.ask(api, version, body)) == wanted, (case, name)
    finally:
        secure.revoke(USER, granted)


def test_a_refusal_has_no_message_of_its_own(
    secure: Secure, asks: Connection, ids: Mapping[str, str]
) -> None:
    api, version, body, _ = requests(ids)["first heartbeat"]
    answer = asks.ask(api, version, body)
    assert (answer["errorCode"], answer["errorMessage"], answer["memberEpoch"]) == (30, None, 0)
