"""What a group has committed, where its partitions end, and its settings: as far as the rights reach."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from groups.clusters.allowed import (
    DESCRIBE_CONFIGS,
    EARLIEST,
    LATEST,
    LIST_OFFSETS,
    METADATA,
    OFFSET_FETCH,
)
from groups.clusters.brokers import GROUPS_A_REQUEST, Brokers, Listed
from groups.clusters.faults import ClusterError
from groups.history.following.topics import TopicFacts
from groups.history.lag.samples import NO_ANSWER, NO_RIGHT
from groups.history.polls import described_groups
from groups.history.polls.description import (
    GROUP_AUTHORIZATION_FAILED,
    TOPIC_AUTHORIZATION_FAILED,
    GroupKind,
    Undescribed,
)

MANY_GROUPS: Final = 8
"""The first version of OffsetFetch that is about several groups."""

GROUP_RESOURCE: Final = 32
BROKER_RESOURCE: Final = 4
"""``ConfigResource.Type``."""

SESSION_SETTINGS: Final[Mapping[GroupKind, str]] = {
    GroupKind.CONSUMER: "consumer.session.timeout.ms",
    GroupKind.SHARE: "share.session.timeout.ms",
    GroupKind.STREAMS: "streams.session.timeout.ms",
}
"""A group's setting; the broker's has the same name after ``group.``."""

_MILLISECONDS = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A committed offset; ``end`` and ``lag`` are null where the rights do not reach, or nobody answers."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    end: int | None = None

    @property
    def lag(self) -> int | None:
        return None if self.end is None or self.offset < 0 else self.end - self.offset


async def committed(cluster: Brokers, row: Listed) -> list[Committed] | Undescribed:
    """The committed offsets of a group, without the ends of their partitions."""
    return (await committed_of(cluster, row.broker, [row.group]))[row.group]


async def committed_of(
    cluster: Brokers, node: int, groups: Sequence[str]
) -> dict[str, list[Committed] | Undescribed]:
    """The committed offsets of groups that one broker coordinates: in one request, or in one each where it is older than 3.0."""
    connection = await cluster.connection(node)
    version = connection.version(OFFSET_FETCH)
    if version is not None and version < MANY_GROUPS:
        found = {}
        for group in groups:
            body = {"groupId": group, "topics": None, "requireStable": False}
            found[group] = _committed({"groupId": group, **await connection.ask(OFFSET_FETCH, body)})
        return found
    wanted = [{"groupId": group, "memberId": None, "memberEpoch": -1, "topics": None} for group in groups]
    response = await connection.ask(OFFSET_FETCH, {"groups": wanted, "requireStable": False})
    return {group["groupId"]: _committed(group) for group in response["groups"]}


def _committed(group: Mapping[str, Any]) -> list[Committed] | Undescribed:
    if group["errorCode"]:
        return Undescribed(group=group["groupId"], code=group["errorCode"])
    return [
        Committed(
            topic=topic["name"],
            partition=partition["partitionIndex"],
            offset=partition["committedOffset"],
            # Releases before 2.1 do not have it.
            leader_epoch=partition.get("committedLeaderEpoch", -1),
            metadata=partition["metadata"] or "",
        )
        for topic in group["topics"]
        for partition in topic["partitions"]
        if not partition["errorCode"]
    ]


async def _metadata(cluster: Brokers, names: Sequence[str] | None = None) -> Mapping[str, Any]:
    """Of all topics that may be seen, or of those of these names. Makes none."""
    asked = None if names is None else [{"topicId": described_groups.NO_ID, "name": name} for name in names]
    return await cluster.ask_any(
        METADATA,
        {
            "topics": asked,
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
            "includeClusterAuthorizedOperations": False,
        },
    )


async def topics(cluster: Brokers, names: Sequence[str] | None = None) -> dict[str, dict[int, int]]:
    """Topic → partition → the broker that leads it; all that may be seen, or those of these names."""
    response = await _metadata(cluster, names)
    return {
        topic["name"]: {row["partitionIndex"]: row["leaderId"] for row in topic["partitions"]}
        for topic in response["topics"]
        if not topic["errorCode"] and topic["name"]
    }


async def topic_facts(cluster: Brokers) -> dict[str, TopicFacts]:
    """Id and count of partitions of all topics that may be seen, by name."""
    response = await _metadata(cluster)
    return {
        topic["name"]: TopicFacts(
            # Releases before 2.8 have no ids, and none of their records speaks of one.
            topic_id
            if (topic_id := topic.get("topicId", described_groups.NO_ID)) != described_groups.NO_ID
            else None,
            len(topic["partitions"]),
        )
        for topic in response["topics"]
        if not topic["errorCode"] and topic["name"]
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOffsets:
    """``ends`` and ``starts`` by topic and partition; a negative one is the reason why there is none (``groups.history.lag.samples``).

    ``starts`` is empty where it was not asked for. ``topic_ids``: of brokers since 2.8.
    """

    ends: Mapping[str, Mapping[int, int]]
    starts: Mapping[str, Mapping[int, int]]
    topic_ids: Mapping[str, str]


async def log_offsets(
    cluster: Brokers, wanted: Mapping[str, Iterable[int]], *, with_starts: bool = False
) -> LogOffsets:
    """Where the logs of these partitions end, and where they start if that is asked for. Makes no topic."""
    if not wanted:
        return LogOffsets(ends={}, starts={}, topic_ids={})
    described = (await _metadata(cluster, list(wanted)))["topics"]
    reasons = {row["name"]: NO_RIGHT for row in described if row["errorCode"] == TOPIC_AUTHORIZATION_FAILED}
    by_node: dict[int, dict[str, list[int]]] = {}
    for row in described:
        asked = frozenset(wanted.get(row["name"] or "", ()))
        for partition in () if row["errorCode"] else row["partitions"]:
            if partition["partitionIndex"] in asked and partition["leaderId"] in cluster.brokers:
                of_node = by_node.setdefault(partition["leaderId"], {})
                of_node.setdefault(row["name"], []).append(partition["partitionIndex"])
    timestamps = (LATEST, EARLIEST) if with_starts else (LATEST,)
    answers = await asyncio.gather(
        *(_listed_offsets(cluster, node, by_node[node], at) for at in timestamps for node in by_node)
    )

    def merged(some: Iterable[Mapping[str, Mapping[int, int]]]) -> dict[str, dict[int, int]]:
        found = {
            topic: dict.fromkeys(partitions, reasons.get(topic, NO_ANSWER))
            for topic, partitions in wanted.items()
        }
        for answer in some:
            for topic, offsets in answer.items():
                found[topic].update(offsets)
        return found

    return LogOffsets(
        ends=merged(answers[: len(by_node)]),
        starts=merged(answers[len(by_node) :]) if with_starts else {},
        topic_ids={
            row["name"]: topic_id
            for row in described
            if not row["errorCode"]
            and (topic_id := row.get("topicId", described_groups.NO_ID)) != described_groups.NO_ID
        },
    )


async def _listed_offsets(
    cluster: Brokers, node: int, wanted: Mapping[str, Sequence[int]], timestamp: int
) -> dict[str, dict[int, int]]:
    """What one leader answers, of the partitions of which it gives an offset."""
    rows = [
        {
            "name": topic,
            "partitions": [
                {"partitionIndex": each, "currentLeaderEpoch": -1, "timestamp": timestamp}
                for each in partitions
            ],
        }
        for topic, partitions in wanted.items()
    ]
    try:
        connection = await cluster.connection(node)
        response = await connection.ask(LIST_OFFSETS, {"replicaId": -1, "isolationLevel": 0, "topics": rows})
    except ClusterError:
        return {}
    return {
        topic["name"]: {
            row["partitionIndex"]: row["offset"] for row in topic["partitions"] if not row["errorCode"]
        }
        for topic in response["topics"]
        if topic["name"] in wanted
    }


async def ends(cluster: Brokers, wanted: Mapping[str, Iterable[int]]) -> dict[tuple[str, int], int]:
    """The end offset of each partition that a leader gave; the others are missing."""
    found = await log_offsets(cluster, wanted)
    return {
        (topic, partition): offset
        for topic, offsets in found.ends.items()
        for partition, offset in offsets.items()
        if offset >= 0
    }


async def session_timeouts(cluster: Brokers, groups: Mapping[str, GroupKind]) -> dict[str, dict[str, int]]:
    """By group the session timeout that its coordinator applies, by the setting's name; those that cannot be read are missing.

    A classic client brings its own, and before 4.0 groups have no settings: there the broker's is read.
    """
    wanted = {group: SESSION_SETTINGS[kind] for group, kind in groups.items() if kind in SESSION_SETTINGS}
    found: dict[str, dict[str, int]] = {}
    for first in range(0, len(wanted), GROUPS_A_REQUEST):
        names = list(wanted)[first : first + GROUPS_A_REQUEST]
        settings = await _configs(cluster, [(GROUP_RESOURCE, name, [wanted[name]]) for name in names])
        for name in names:
            if (length_ms := _milliseconds(settings.get(name), wanted[name])) is not None:
                found[name] = {wanted[name]: length_ms}
    rest = {group: name for group, name in wanted.items() if group not in found}
    if rest and cluster.brokers:
        node = str(min(cluster.brokers))
        settings = await _configs(
            cluster, [(BROKER_RESOURCE, node, sorted({f"group.{name}" for name in rest.values()}))]
        )
        for group, name in rest.items():
            if (length_ms := _milliseconds(settings.get(node), f"group.{name}")) is not None:
                found[group] = {name: length_ms}
    return found


def _milliseconds(configs: Mapping[str, str] | None, name: str) -> int | None:
    """A setting's value; null if the broker gave none, or something that is no number of milliseconds."""
    value = (configs or {}).get(name, "")
    return int(value) if _MILLISECONDS.fullmatch(value) else None


async def may_read_settings(cluster: Brokers, group: str) -> bool:
    """Whether a group's settings may be read; true, too, where this release has none. A group that is not there will do."""
    resource = {"resourceType": GROUP_RESOURCE, "resourceName": group, "configurationKeys": None}
    try:
        response = await cluster.ask_any(
            DESCRIBE_CONFIGS,
            {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False},
        )
    except ClusterError:
        return True
    return all(row["errorCode"] != GROUP_AUTHORIZATION_FAILED for row in response["results"])


async def group_configs(cluster: Brokers, groups: Sequence[str]) -> dict[str, dict[str, str] | None]:
    """A group's own settings; null where they may not be read, or this release has none."""
    settings = await _configs(cluster, [(GROUP_RESOURCE, group, None) for group in groups])
    return {group: settings.get(group) for group in groups}


async def _configs(
    cluster: Brokers, wanted: Sequence[tuple[int, str, Sequence[str] | None]]
) -> dict[str, dict[str, str] | None]:
    """Settings of resources (type, name, names of settings), by the resource's name; null or missing where they cannot be read."""
    resources = [
        {"resourceType": kind, "resourceName": name, "configurationKeys": keys} for kind, name, keys in wanted
    ]
    try:
        response = await cluster.ask_any(
            DESCRIBE_CONFIGS,
            {"resources": resources, "includeSynonyms": False, "includeDocumentation": False},
        )
    except ClusterError:
        return {}
    return {
        row["resourceName"]: None
        if row["errorCode"]
        else {each["name"]: each["value"] for each in row["configs"] if each["value"] is not None}
        for row in response["results"]
    }
