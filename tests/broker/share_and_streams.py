"""A share group and a streams group on a real broker: their members' heartbeats, and what the broker says meanwhile.

The members are heartbeats that this module sends itself, in an order of its own, so that every snapshot is of a known
state and nothing waits for a client's own interval. What their applications would read plays no part in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .node import Node, wait_for_coordinator, wait_for_topic
from .rpc import Connection

SHARE = "share-orders"
STREAMS = "streams-counts"
GROUPS = (SHARE, STREAMS)

SETTINGS: dict[str, object] = {
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.share.assignment.interval.ms": 0,
    "group.streams.assignment.interval.ms": 0,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.streams.num.standby.replicas": 1,
}
"""Targets at once; one state topic of a single replica; a standby for each task of a stateful subtopology."""

TURN_LIMIT_S = 90

JOBS, MAIL = "jobs", "mail"
TOPICS = {JOBS: 4, MAIL: 3}

Snapshots = list[dict[str, Any]]

TOPOLOGY = {
    "epoch": 0,
    "subtopologies": [
        {
            "subtopologyId": "0",
            "sourceTopics": [JOBS],
            "sourceTopicRegex": [],
            "stateChangelogTopics": [
                {"name": "counts-changelog", "partitions": 0, "replicationFactor": 1, "topicConfigs": []}
            ],
            "repartitionSinkTopics": [],
            "repartitionSourceTopics": [],
            "copartitionGroups": [],
        },
        {
            "subtopologyId": "1",
            "sourceTopics": [MAIL],
            "sourceTopicRegex": [],
            "stateChangelogTopics": [],
            "repartitionSinkTopics": [],
            "repartitionSourceTopics": [],
            "copartitionGroups": [],
        },
    ],
}


def play(node: Node, *, after: Callable[[str], None] = lambda group: None) -> Snapshots:
    """Both groups, from their first member to the last one's leaving; ``after`` is called behind each heartbeat.

    Snapshots are ``{"group", "said"}`` in order, each taken after a heartbeat was answered.
    """
    with node.connect() as connection:
        for name, partitions in TOPICS.items():
            connection.create_topic(name, partitions)
    for group in GROUPS:
        wait_for_coordinator(node, group)
    for name in TOPICS:
        wait_for_topic(node, name, beside=SHARE)
    with node.connect("share") as share, node.connect("streams") as streams:
        return [*_share(share, after), *_streams(streams, after)]


def _share(connection: Connection, after: Callable[[str], None]) -> Snapshots:
    snapshots: Snapshots = []
    epochs: dict[str, int] = {}

    def beat(member: str, epoch: int | None = None, subscribed: list[str] | None = None) -> dict[str, Any]:
        request = {
            "groupId": SHARE,
            "memberId": member,
            "memberEpoch": epochs[member] if epoch is None else epoch,
            "rackId": "east" if epoch == 0 else None,
            "subscribedTopicNames": subscribed,
        }
        answer = connection.call("ShareGroupHeartbeat", request)
        assert answer["errorCode"] == 0, answer
        epochs[member] = answer["memberEpoch"]
        snapshots.append({"group": SHARE, "said": describe_share(connection)})
        after(SHARE)
        return answer

    def until_all_read(partitions: int, *members: str) -> None:
        """Partitions are given out once their state is initialised, which takes a write to another topic."""

        def read() -> bool:
            for member in members:
                beat(member)
            said = snapshots[-1]["said"]
            here = list(said["members"].values())
            read = {(topic, p) for each in here for topic, ps in each["assignment"].items() for p in ps}
            return len(read) == partitions and all(each["epoch"] == said["epoch"] for each in here)

        _until(read)

    beat("m1", 0, [JOBS])
    until_all_read(4, "m1")
    beat("m2", 0, [JOBS, MAIL])
    until_all_read(7, "m1", "m2")
    for number in range(3, 7):
        beat(f"m{number}", 0, [JOBS])
    until_all_read(7, *epochs)
    beat("m2", subscribed=[MAIL])
    until_all_read(7, *epochs)
    for number in range(3, 7):
        beat(f"m{number}", -1)
        del epochs[f"m{number}"]
    until_all_read(7, *epochs)
    beat("m1", -1)
    beat("m2", -1)
    return snapshots


def _streams(connection: Connection, after: Callable[[str], None]) -> Snapshots:
    snapshots: Snapshots = []
    epochs: dict[str, int] = {}
    owned: dict[str, dict[str, Any]] = {}
    kinds = ("activeTasks", "standbyTasks", "warmupTasks")

    def beat(member: str, epoch: int | None = None, **fields: Any) -> dict[str, Any]:
        request = {
            "groupId": STREAMS,
            "memberId": member,
            "memberEpoch": epochs[member] if epoch is None else epoch,
            "rebalanceTimeoutMs": 60_000,
            **(owned.get(member, {}) if epoch is None else dict.fromkeys(kinds, ())),
            **fields,
        }
        answer = connection.call("StreamsGroupHeartbeat", request)
        assert answer["errorCode"] == 0, answer
        epochs[member] = answer["memberEpoch"]
        if answer["activeTasks"] is not None:
            owned[member] = {kind: answer[kind] or [] for kind in kinds}
        snapshots.append({"group": STREAMS, "said": describe_streams(connection)})
        after(STREAMS)
        return answer

    def join(member: str) -> None:
        beat(
            member,
            0,
            topology=TOPOLOGY,
            processId=f"process-{member}",
            userEndpoint={"host": "localhost", "port": 60_000},
            clientTags=[{"key": "zone", "value": "east"}],
        )

    def until_stable(*members: str) -> None:
        def stable() -> bool:
            for member in members:
                beat(member)
            return snapshots[-1]["said"]["state"] == "Stable"

        _until(stable)

    join("s1")
    # Until the broker has made the changelog topic, the topology is not ready and nothing is assigned.
    until_stable("s1")
    join("s2")
    until_stable("s1", "s2")
    beat("s1", -1)
    until_stable("s2")
    beat("s2", -1)
    return snapshots


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TURN_LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, f"not within {TURN_LIMIT_S} s"
        time.sleep(0.2)


def describe_share(connection: Connection) -> dict[str, Any]:
    """The share group by ShareGroupDescribe, reduced to what a frame can be compared with."""
    request = {"groupIds": [SHARE], "includeAuthorizedOperations": False}
    answer = connection.call("ShareGroupDescribe", request)["groups"][0]
    return {
        "group": SHARE,
        "protocol": "share",
        "state": answer["groupState"],
        "epoch": answer["groupEpoch"],
        "assignment_epoch": answer["assignmentEpoch"],
        "members": {
            member["memberId"]: {
                "epoch": member["memberEpoch"],
                "client_id": member["clientId"],
                "host": member["clientHost"],
                "rack_id": member["rackId"],
                "subscribed": sorted(member["subscribedTopicNames"]),
                "assignment": {
                    topic["topicName"]: sorted(topic["partitions"])
                    for topic in member["assignment"]["topicPartitions"]
                },
            }
            for member in answer["members"]
        },
    }


def describe_streams(connection: Connection) -> dict[str, Any]:
    """The streams group by StreamsGroupDescribe, in the same way."""
    request = {"groupIds": [STREAMS], "includeAuthorizedOperations": False}
    answer = connection.call("StreamsGroupDescribe", request)["groups"][0]
    return {
        "group": STREAMS,
        "protocol": "streams",
        "state": answer["groupState"],
        "epoch": answer["groupEpoch"],
        "assignment_epoch": answer["assignmentEpoch"],
        "topology_epoch": answer["topology"]["epoch"],
        "subtopologies": {
            each["subtopologyId"]: each["sourceTopics"] for each in answer["topology"]["subtopologies"]
        },
        "members": {
            member["memberId"]: {
                "epoch": member["memberEpoch"],
                "client_id": member["clientId"],
                "host": member["clientHost"],
                "topology_epoch": member["topologyEpoch"],
                "process_id": member["processId"],
                "endpoint": f"{member['userEndpoint']['host']}:{member['userEndpoint']['port']}",
                "tags": {tag["key"]: tag["value"] for tag in member["clientTags"]},
                "assignment": _tasks(member["assignment"]),
                "target": _tasks(member["targetAssignment"]),
            }
            for member in answer["members"]
        },
    }


def _tasks(assignment: dict[str, Any]) -> dict[str, dict[str, list[int]]]:
    return {
        kind: {each["subtopologyId"]: sorted(each["partitions"]) for each in assignment[f"{kind}Tasks"]}
        for kind in ("active", "standby", "warmup")
    }
