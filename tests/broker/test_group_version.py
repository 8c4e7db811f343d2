"""``group.version`` is lowered and raised on a released broker, while groups live: what is refused, and what goes on."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groups.history.entries import Kind
from groups.wire.embedded.consumer_protocol import encode_subscription
from simulations.world.engine import run
from simulations.world.scenario import load

from .members import CONSUMER, Member
from .node import Node, running, wait_for_coordinator
from .rpc import Connection

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("released_jars")]

FEATURE = "group.version"

SESSION_MS = 60_000
"""Nobody goes while the test looks."""

HEARTBEAT_S = 1
"""``group.consumer.heartbeat.interval.ms`` of the node."""

UNSUPPORTED_VERSION, INVALID_UPDATE_VERSION, UNKNOWN_MEMBER_ID = 35, 95, 25

SUBSCRIPTION = base64.b64encode(
    encode_subscription(
        {
            "version": 3,
            "topics": ["foo"],
            "userData": None,
            "ownedPartitions": [],
            "generationId": -1,
            "rackId": None,
        }
    )
).decode()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, released_jars: str) -> Iterator[Node]:
    settings = {"group.consumer.session.timeout.ms": SESSION_MS}
    with running(tmp_path_factory.mktemp("group-version"), settings) as node:
        yield node


def heartbeat(connection: Connection, group: str, member: str, epoch: int) -> tuple[int, str | None]:
    joins = epoch == 0
    answer = connection.heartbeat(
        group,
        member,
        epoch,
        subscribed=["foo"] if joins else None,
        rebalance_timeout_ms=10_000 if joins else -1,
        owned={} if joins else None,
    )
    return int(answer["errorCode"]), answer["errorMessage"]


def join_group(connection: Connection, group: str, member: str = "") -> dict[str, Any]:
    body = {
        "groupId": group,
        "sessionTimeoutMs": SESSION_MS,
        "rebalanceTimeoutMs": 10_000,
        "memberId": member,
        "groupInstanceId": None,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
    }
    return connection.ask("JoinGroup", 5, body)


def commit(connection: Connection, group: str, member: str, epoch: int) -> int:
    partition = {
        "partitionIndex": 0,
        "committedOffset": 7,
        "committedLeaderEpoch": -1,
        "committedMetadata": "",
    }
    body = {
        "groupId": group,
        "generationIdOrMemberEpoch": epoch,
        "memberId": member,
        "groupInstanceId": None,
        "topics": [{"name": "foo", "partitions": [partition]}],
    }
    answer = connection.ask("OffsetCommit", 9, body)
    return int(answer["topics"][0]["partitions"][0]["errorCode"])


def listed(connection: Connection, group: str) -> tuple[str, str]:
    found = connection.ask("ListGroups", 5, {"statesFilter": [], "typesFilter": []})["groups"]
    row = next(each for each in found if each["groupId"] == group)
    return row["groupType"], row["groupState"]


def wait_until_loaded(connection: Connection, group: str) -> None:
    """A describe of the consumer protocol, which is refused, tells nothing; that of a classic group does."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        # COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR
        if connection.find_coordinator(group) == 0 and connection.describe_classic_group(group)[
            "errorCode"
        ] not in (14, 15, 16):
            return
        time.sleep(0.1)
    raise AssertionError(f"the coordinator of {group} did not load")


def set_level(connection: Connection, level: int, group: str, *, downgrade: bool = False) -> None:
    """Returns when the broker has heard of it, which is a moment after its controller has answered."""
    assert connection.update_feature(FEATURE, level, downgrade=downgrade) == (0, None)
    deadline = time.monotonic() + 60
    while (connection.describe_consumer_group(group)["errorCode"] == UNSUPPORTED_VERSION) is not (level == 0):
        assert time.monotonic() < deadline, f"the broker did not hear of level {level}"
        time.sleep(0.1)


def is_offered(connection: Connection) -> bool:
    """Whether ApiVersions names ConsumerGroupHeartbeat."""
    told = connection.ask("ApiVersions", 3, {"clientSoftwareName": "t", "clientSoftwareVersion": "1"})
    return any(each["apiKey"] == 68 for each in told["apiKeys"])


def test_a_lowered_feature_refuses_every_heartbeat_and_leaves_the_group_and_its_commits_as_they_are(
    node: Node,
) -> None:
    group = "lowered"
    with node.connect() as connection:
        connection.create_topic("foo", 2)
        wait_for_coordinator(node, group)
        assert heartbeat(connection, group, "a", 0) == (0, None)
        epoch = connection.describe_consumer_group(group)["members"][0]["memberEpoch"]

        code, message = connection.update_feature(FEATURE, 0)
        assert code == INVALID_UPDATE_VERSION
        assert "without setting the upgrade type" in str(message), "an upgrade never lowers"
        set_level(connection, 0, group, downgrade=True)

        for member, at in (("a", epoch), ("new", 0), ("a", -1)):
            assert heartbeat(connection, group, member, at) == (UNSUPPORTED_VERSION, None), (member, at)
        assert heartbeat(connection, "nobody-has-this", "a", 0) == (UNSUPPORTED_VERSION, None)
        assert connection.describe_consumer_group(group)["errorCode"] == UNSUPPORTED_VERSION
        assert is_offered(connection), "ApiVersions offers it all the same"

        assert listed(connection, group)[0] == "consumer"
        assert commit(connection, group, "a", epoch) == 0, "the coordinator is asked, and knows the member"
        assert commit(connection, group, "", -1) == UNKNOWN_MEMBER_ID, "the group has a member"


def test_a_classic_client_joins_the_group_meanwhile_and_who_was_refused_is_still_a_member(node: Node) -> None:
    group = "lowered"
    with node.connect() as connection:
        first = join_group(connection, group)
        assert first["errorCode"] == 79
        joined = join_group(connection, group, first["memberId"])
        assert (joined["errorCode"], joined["leader"]) == (0, "")
        assert listed(connection, group)[0] == "consumer"

        set_level(connection, 1, group)
        members = connection.describe_consumer_group(group)["members"]
        assert {each["memberType"] for each in members} == {0, 1}
        kept = next(each for each in members if each["memberId"] == "a")
        assert heartbeat(connection, group, "a", kept["memberEpoch"]) == (0, None)


def test_a_level_that_no_release_has_is_refused(node: Node) -> None:
    with node.connect() as connection:
        code, message = connection.update_feature(FEATURE, 2)
    assert code == INVALID_UPDATE_VERSION
    assert "only supports versions 0-1" in str(message)


def test_a_coordinator_that_loads_while_the_feature_is_0_has_the_group_with_its_members(
    tmp_path: Path, released_jars: str
) -> None:
    node = Node(tmp_path, {"group.consumer.session.timeout.ms": SESSION_MS})
    node.start()
    try:
        with node.connect() as connection:
            connection.create_topic("foo", 2)
            wait_for_coordinator(node, "loaded")
            assert heartbeat(connection, "loaded", "a", 0) == (0, None)
            epoch = connection.describe_consumer_group("loaded")["members"][0]["memberEpoch"]
            set_level(connection, 0, "loaded", downgrade=True)
        node.stop()
        node.start(same_ports=True)
        with node.connect() as connection:
            wait_until_loaded(connection, "loaded")
            assert listed(connection, "loaded")[0] == "consumer"
            assert heartbeat(connection, "loaded", "a", epoch) == (UNSUPPORTED_VERSION, None)
            assert commit(connection, "loaded", "a", epoch) == 0
            set_level(connection, 1, "loaded")
            assert heartbeat(connection, "loaded", "a", epoch) == (0, None)
    finally:
        node.stop()


SIMULATED = """
topics: {foo: {partitions: 2}}
members: {A: {subscribe: [foo]}}
script:
  - {at: 0s, join: A}
  - {at: 20s, downgrade_feature: {group.version: 0}}
  - {at: 40s, upgrade_feature: {group.version: 1}}
  - {at: 50s, subscribe: A, topics: [foo]}
  - {at: 70s, leave: A}
until: 75s
"""

SIMULATED_OFF = """
topics: {foo: {partitions: 2}}
config: {group_version: 0}
members: {A: {subscribe: [foo]}}
script: [{at: 20s, join: A}, {at: 40s, upgrade_feature: {group.version: 1}}]
until: 60s
"""


TOLD = ("assigned", "revoked", "lost", "threw")


def what(lines: Iterable[str]) -> list[str]:
    """Callbacks and exceptions of a Java consumer, without ids and partitions; what it logs is left out."""
    named = (line.split() for line in lines)
    return [" ".join(told) if told[0] == "threw" else told[0] for told in named if told[0] in TOLD]


def simulated(text: str) -> tuple[list[str], int]:
    """What a simulated member's application is told from 20 s on, and how often the member asks after its first refusal."""
    told: list[str] = []
    asked, refused = 0, False
    for entry in run(load(text, "orders")):
        payload = entry.payload
        if entry.at_ms < 20_000:
            continue
        if payload.get("fault") == "poll_throws":
            told.append(f"threw {payload['exception']}")
        elif entry.kind is Kind.CALLBACK and payload["phase"] == "start":
            told.append(payload["callback"].removeprefix("on_partitions_"))
        elif entry.kind is Kind.REQUEST:
            asked += refused
        elif entry.kind is Kind.RESPONSE:
            refused = refused or payload["body"].get("errorCode") == UNSUPPORTED_VERSION
    return told, asked


def test_a_java_consumer_that_is_refused_ends_its_membership_for_good_as_a_simulated_one_does(
    node: Node,
) -> None:
    """Neither a raised feature nor a new subscription brings it back, and it does not say that it leaves."""
    group = "java-lowered"
    member = Member(node, group, group, group, {**CONSUMER, "member.goes.on": "true"})
    with node.connect() as connection:
        connection.create_topic(group, 2)
        wait_for_coordinator(node, group)
        member.start()
        try:
            member.wait_for("ready")
            member.join()
            member.wait_for(f"assigned {member_of(connection, group)} {group}-0 {group}-1")
            before = len(member.lines)
            set_level(connection, 0, group, downgrade=True)
            member.wait_for("threw")
            set_level(connection, 1, group)
            member.subscribe(group)
            time.sleep(3 * HEARTBEAT_S)
            told = what(member.lines[before:])
            member.leave()
        finally:
            member.kill()
        assert member_of(connection, group), "its session goes on"
    assert told == ["lost", "threw UnsupportedVersionException"]
    assert simulated(SIMULATED) == (told, 0)


def test_a_java_consumer_that_joins_where_the_protocol_is_off_is_refused_once_as_a_simulated_one_is(
    node: Node,
) -> None:
    group = "java-off"
    member = Member(node, group, group, group, {**CONSUMER, "member.goes.on": "true"})
    with node.connect() as connection:
        connection.create_topic(group, 2)
        wait_for_coordinator(node, group)
        set_level(connection, 0, group, downgrade=True)
        member.start()
        try:
            member.wait_for("ready")
            member.join()
            member.wait_for("threw")
            set_level(connection, 1, group)
            time.sleep(3 * HEARTBEAT_S)
            told = what(member.lines)
        finally:
            member.kill()
        # GROUP_ID_NOT_FOUND
        assert connection.describe_consumer_group(group)["errorCode"] == 69
    assert told == ["threw UnsupportedVersionException"]
    assert simulated(SIMULATED_OFF) == (told, 0)


def member_of(connection: Connection, group: str) -> str:
    """The id of the group's only member, once it has joined."""
    deadline = time.monotonic() + 60
    while not (found := connection.describe_consumer_group(group)["members"]):
        assert time.monotonic() < deadline, f"nobody joins {group}"
        time.sleep(0.1)
    return str(found[0]["memberId"])
