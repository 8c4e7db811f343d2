"""Differences of subscriptions, of expressions, and of topics that change."""

from __future__ import annotations

from functools import partial
from typing import Final

from simulations.proof.differences.exchange import (
    SETTLE,
    Case,
    beat,
    error,
    join,
    leave,
    target,
    topic,
    types,
)
from simulations.proof.differences.scenarios import HEARTBEATS, ScenarioCase, codes, group_of
from simulations.proof.differences.table import Difference, Seen
from simulations.protocol.coordinator.settings import Settings

REGEX: Final = "Regex Subscriptions"

SUBSCRIBING: Final = (
    Difference(
        id="no-topics",
        topic="a join without topics and without an expression",
        section="Group Epoch - Trigger a rebalance",
        proposal="bumps the group epoch, as every join does",
        released="bumps nothing: no topic is subscribed to that was not before",
        seen=Seen.RECORD,
        case=Case(
            operations=(join("A", subscribed_topic_names=()),),
            look=lambda steps: types(steps[0]),
            looks_at="types of the records of the join",
            kip=[5, 4, 3],
            kafka=[5, 8],
        ),
    ),
    Difference(
        id="partitions-added",
        topic="new partitions of a topic",
        section="Case Studies",
        proposal="bump the group epoch at once",
        released="are found by the next heartbeat of any member",
        seen=Seen.TIMING,
        case=Case(
            operations=(join("A"), *SETTLE, topic("foo", 4)),
            look=lambda steps: types(steps[-1]),
            looks_at="types of the records when the coordinator learns of a fourth partition",
            kip=[4, 3],
            kafka=[],
        ),
    ),
    Difference(
        id="partition-counts",
        topic="how the coordinator knows that topics changed",
        section="Records",
        proposal="by the partition counts that it has recorded (type 4)",
        released="by a hash of the topics in the record of the group epoch (type 3)",
        seen=Seen.RECORD,
        case=Case(
            operations=(join("A"),),
            look=lambda steps: [
                4 in types(steps[0]),
                any("metadataHash" in (record["value"] or {}) for record in steps[0]["records"]),
            ],
            looks_at="whether a join writes type 4, and whether it writes a hash",
            kip=[True, False],
            kafka=[False, True],
        ),
    ),
    Difference(
        id="regex-resolved",
        topic="when an expression is resolved",
        section=REGEX,
        proposal="in the heartbeat that brings it, and when the topics change; nothing of it is recorded",
        released="by a task in the background, recorded (type 16); not again within 10 s, and every 10 min",
        seen=Seen.RECORD,
        case=Case(
            operations=(
                join("A", subscribed_topic_names=None, subscribed_topic_regex="fo+"),
                topic("foo", 4),
            ),
            look=lambda steps: [types(step) for step in steps],
            looks_at="types of the records of a join with an expression, and when a matching topic grows",
            kip=[[5, 4, 3], [4, 3]],
            kafka=[[5, 8], []],
        ),
    ),
    Difference(
        id="regex-invalid",
        topic="an expression that does not compile",
        section=REGEX,
        proposal="`INVALID_REQUEST`",
        released="`INVALID_REGULAR_EXPRESSION`",
        seen=Seen.ANSWER,
        case=Case(
            operations=(join("A", subscribed_topic_regex="("),),
            look=lambda steps: error(steps[0]),
            looks_at="error of the join",
            kip=42,
            kafka=128,
        ),
    ),
    Difference(
        id="unresolved-expression",
        topic="a target that is due when somebody joins with a new expression",
        section=REGEX,
        proposal="knows what the expression matches: it is resolved in that heartbeat",
        released="may mean topics for the member that it does not subscribe to, which nobody has until the next "
        "group epoch: the group is taken for one that subscribes alike (a fault)",
        seen=Seen.RECORD,
        case=Case(
            operations=(
                join("A"),
                *SETTLE,
                join("B"),
                target(),
                beat("B"),
                beat("A", owned={}),
                leave("B"),
                join("C", subscribed_topic_names=None, subscribed_topic_regex="none"),
                target(),
            ),
            look=lambda steps: steps[-1]["group"]["target"].get("C"),
            looks_at="how many partitions of `foo` are meant for C, whose expression matches nothing",
            kip=0,
            kafka=1,
        ),
    ),
    Difference(
        id="racks-changed",
        topic="replicas that move to other racks",
        section="Group Epoch - Trigger a rebalance",
        proposal="are nothing that the coordinator compares: only partition counts are",
        released="change the hash, and with the next heartbeat the group epoch",
        seen=Seen.RECORD,
        case=Case(
            operations=(
                join("A"),
                *SETTLE,
                topic("foo", 3, racks=(("r1",), ("r2",), ("r3",))),
                beat("A"),
            ),
            look=lambda steps: steps[-1]["group"]["group_epoch"] - steps[0]["group"]["group_epoch"],
            looks_at="by how much the group epoch has risen when A heartbeats after the replicas of `foo` moved",
            kip=0,
            kafka=1,
        ),
    ),
    Difference(
        id="dropped-topic",
        topic="a topic that a member does not subscribe to any more",
        section="Reconciliation",
        proposal="is taken from it by the next target",
        released="is taken from it at once, whatever the target",
        seen=Seen.RECORD,
        case=Case(
            operations=(
                join("A", subscribed_topic_names=("bar", "foo")),
                *SETTLE,
                beat("A", subscribed_topic_names=("foo",)),
            ),
            look=lambda steps: [types(steps[-1]), steps[-1]["group"]["members"]["A"]["pending_revocation"]],
            looks_at="types of the records when A drops `bar`, with an assignment interval of 15 s, and how many "
            "partitions it is then to revoke",
            kip=[[5, 4, 3], 0],
            kafka=[[5, 3, 8], 2],
            settings=Settings(assignment_interval_ms=15_000),
        ),
    ),
    Difference(
        id="names-and-regex",
        topic="names and an expression together",
        section="ConsumerGroupHeartbeat API",
        proposal="never both (older); at least one of them at epoch 0 (newer)",
        reading="at least one, also both",
        released="at least one, also both",
        seen=Seen.ANSWER,
        unshown="both answer alike",
        scenario=ScenarioCase(
            text=group_of(
                "{at: 0s, send: A, request: ConsumerGroupHeartbeat, fields: {memberId: A, memberEpoch: 0, rebalanceTimeoutMs: 300000, "
                "subscribedTopicNames: [foo], subscribedTopicRegex: fo., topicPartitions: []}}"
            ),
            look=partial(codes, api=HEARTBEATS),
            looks_at="error code of a join with names and an expression",
            kip=[0],
            kafka=[0],
        ),
    ),
)
