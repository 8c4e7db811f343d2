"""Topics that records mention: by id (consumer, share and streams groups), or by name (commits, subscriptions)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from groups.history.entries import Payload
from groups.history.passes.units import LogRecord
from groups.wire.embedded.consumer_protocol import decode_subscription

TOPIC_LISTS: Final = (
    "topicPartitions",
    "assignedPartitions",
    "partitionsPendingRevocation",
    "initializingTopics",
    "initializedTopics",
)

MENTIONS_KEPT_MOST: Final = 10_000
"""Topics of one group that are looked up; one that subscribes to more shows the rest by their ids."""


class TopicFacts(NamedTuple):
    """What a cluster reports of a topic; ``None`` if the release or missing rights leave it out."""

    topic_id: str | None
    partitions: int | None


Topics = Mapping[str, TopicFacts]
"""By name."""


def mentioned(records: Iterable[LogRecord]) -> tuple[set[str], set[str]]:
    """The ids and the names of the topics that records speak of."""
    ids: set[str] = set()
    names: set[str] = set()
    for record in records:
        value = record.payload.get("value")
        key = record.payload.get("key")
        if not isinstance(value, Mapping) or not isinstance(key, Mapping):
            continue
        for part in TOPIC_LISTS:
            ids.update(str(topic["topicId"]) for topic in value.get(part) or ())
        names.update(value.get("subscribedTopicNames") or ())
        if record.payload.get("type") == 1:
            names.add(str(key["topic"]))
        elif record.payload.get("type") == 2 and value.get("protocolType") == "consumer":
            names.update(_subscribed(value.get("members") or ()))
    return ids, names


def _subscribed(members: Iterable[Payload]) -> Iterator[str]:
    for member in members:
        # One client's broken bytes must not hide the others' topics.
        try:
            yield from decode_subscription(base64.b64decode(member["subscription"]))["topics"]
        except ValueError:
            continue
