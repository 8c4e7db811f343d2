"""What a group has committed, where its partitions end, and its settings: as far as the rights reach."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from groups.clusters.allowed import DESCRIBE_CONFIGS, LATEST, LIST_OFFSETS, METADATA, OFFSET_FETCH
from groups.clusters.brokers import Brokers, Listed
from groups.clusters.faults import ClusterError
from groups.history.following.topics import TopicFacts
from groups.history.polls import reading
from groups.history.polls.description import GROUP_AUTHORIZATION_FAILED, Undescribed

MANY_GROUPS: Final = 8
"""The first version of OffsetFetch that is about several groups."""

GROUP_RESOURCE: Final = 32
"""``ConfigResource.Type.GROUP``."""


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
    told = await connection.ask(OFFSET_FETCH, {"groups": wanted, "requireStable": False})
    return {group["groupId"]: _committed(group) for group in told["groups"]}


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


async def topics(cluster: Brokers, names: Sequence[str] | None = None) -> dict[str, dict[int, int]]:
    """Topic → partition → the broker that leads it; all that may be seen, or those of these names. Makes none."""
    asked = None if names is None else [{"topicId": reading.NO_ID, "name": name} for name in names]
    told = await cluster.ask_any(
        METADATA,
        {
            "topics": asked,
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
            "includeClusterAuthorizedOperations": False,
        },
    )
    return {
        topic["name"]: {row["partitionIndex"]: row["leaderId"] for row in topic["partitions"]}
        for topic in told["topics"]
        if not topic["errorCode"] and topic["name"]
    }


async def topic_facts(cluster: Brokers) -> dict[str, TopicFacts]:
    """Id and count of partitions of all topics that may be seen, by name. Makes none."""
    told = await cluster.ask_any(
        METADATA,
        {
            "topics": None,
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
            "includeClusterAuthorizedOperations": False,
        },
    )
    return {
        topic["name"]: TopicFacts(
            # Releases before 2.8 have no ids, and none of their records speaks of one.
            topic_id if (topic_id := topic.get("topicId", reading.NO_ID)) != reading.NO_ID else None,
            len(topic["partitions"]),
        )
        for topic in told["topics"]
        if not topic["errorCode"] and topic["name"]
    }


async def ends(cluster: Brokers, wanted: Mapping[str, Iterable[int]]) -> dict[tuple[str, int], int]:
    """The end offset of each partition that a leader told; the others are missing."""
    leaders = await topics(cluster, list(wanted)) if wanted else {}
    by_node: dict[int, dict[str, list[int]]] = {}
    for topic, partitions in wanted.items():
        for partition in partitions:
            node = leaders.get(topic, {}).get(partition, -1)
            if node in cluster.brokers:
                by_node.setdefault(node, {}).setdefault(topic, []).append(partition)

    async def one(node: int) -> dict[tuple[str, int], int]:
        rows = [
            {"name": topic, "partitions": [_latest(each) for each in partitions]}
            for topic, partitions in by_node[node].items()
        ]
        try:
            connection = await cluster.connection(node)
            told = await connection.ask(LIST_OFFSETS, {"replicaId": -1, "isolationLevel": 0, "topics": rows})
        except ClusterError:
            return {}
        return {
            (topic["name"], row["partitionIndex"]): row["offset"]
            for topic in told["topics"]
            for row in topic["partitions"]
            if not row["errorCode"]
        }

    found: dict[tuple[str, int], int] = {}
    for each in await asyncio.gather(*map(one, by_node)):
        found |= each
    return found


async def may_read_settings(cluster: Brokers, group: str) -> bool:
    """Whether a group's settings may be read; true, too, where this release has none. A group that is not there will do."""
    resource = {"resourceType": GROUP_RESOURCE, "resourceName": group, "configurationKeys": None}
    try:
        told = await cluster.ask_any(
            DESCRIBE_CONFIGS,
            {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False},
        )
    except ClusterError:
        return True
    return all(row["errorCode"] != GROUP_AUTHORIZATION_FAILED for row in told["results"])


async def group_configs(cluster: Brokers, groups: Sequence[str]) -> dict[str, dict[str, str] | None]:
    """A group's own settings; null where they may not be read, or this release has none."""
    resources = [
        {"resourceType": GROUP_RESOURCE, "resourceName": group, "configurationKeys": None} for group in groups
    ]
    try:
        told = await cluster.ask_any(
            DESCRIBE_CONFIGS,
            {"resources": resources, "includeSynonyms": False, "includeDocumentation": False},
        )
    except ClusterError:
        return dict.fromkeys(groups)
    return {
        row["resourceName"]: None
        if row["errorCode"]
        else {each["name"]: each["value"] for each in row["configs"] if each["value"] is not None}
        for row in told["results"]
    }


def _latest(partition: int) -> dict[str, int]:
    return {"partitionIndex": partition, "currentLeaderEpoch": -1, "timestamp": LATEST}
