"""What is known of topics before a group is looked at, and what the group's own records say of them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from groups.history.replay.record_types import STREAMS_TYPES, TOPOLOGY, meaning
from groups.wire.embedded.consumer_protocol import decode_subscription
from groups.wire.errors import RecordError

HASHES_MOST = 64
"""Different hashes of one group that are looked at: its partition counts changed fewer times than that."""

IDS_MOST = 10_000
"""Topic ids that are remembered for one group; a cluster has fewer topics that one group reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """What the metadata log contains about a topic at a time; ``partitions`` is None where it was removed."""

    at_ms: int
    topic_id: str
    name: str
    partitions: int | None


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of topics before a single group is looked at.

    A cluster has as many topics as groups: the topics of one group are looked up in the indexes.
    """

    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Topic id → its name and the name's source."""

    partitions: Mapping[str, int] = field(default_factory=dict)
    """Partition counts from the user's file, by topic id."""

    changes: tuple[TopicChange, ...] = ()
    """The metadata log's story, in its order."""

    @cached_property
    def id_of_name(self) -> Mapping[str, str]:
        """By name the first id of ``names`` that has it."""
        found: dict[str, str] = {}
        for topic_id, (name, _) in self.names.items():
            found.setdefault(name, topic_id)
        return found

    @cached_property
    def changes_of_id(self) -> Mapping[str, Sequence[int]]:
        """By topic id the places of its changes, ascending: all ids in the metadata log."""
        return self._places(lambda change: change.topic_id)

    @cached_property
    def changes_of_name(self) -> Mapping[str, Sequence[int]]:
        """By topic name the places of its changes, ascending."""
        return self._places(lambda change: change.name)

    def _places(self, key: Callable[[TopicChange], str]) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for place, change in enumerate(self.changes):
            found.setdefault(key(change), []).append(place)
        return found


def metadata_story(records: Iterable[tuple[int, Mapping[str, Any]]]) -> tuple[TopicChange, ...]:
    """The metadata log's records about topics (time, record), in their order, as the counts that they add up to.

    A topic and its partitions come in one batch, so that partitions that follow each other at one time are one change.
    """
    names: dict[str, str] = {}
    counts: dict[str, set[int]] = {}
    story: list[TopicChange] = []
    for at_ms, record in records:
        value = record["value"]
        topic_id = value["topicId"]
        match record["type"]:
            case "TopicRecord":
                # A checkpoint contains again what the log contained before it.
                names[topic_id] = value["name"]
                counts.setdefault(topic_id, set())
            case "PartitionRecord" if topic_id in names:
                partition = value["partitionId"]
                if partition in counts[topic_id]:
                    continue
                counts[topic_id].add(partition)
                count = max(counts[topic_id]) + 1
                change = TopicChange(at_ms=at_ms, topic_id=topic_id, name=names[topic_id], partitions=count)
                if story and story[-1].topic_id == topic_id and story[-1].at_ms == at_ms:
                    story[-1] = change
                else:
                    story.append(change)
            case "RemoveTopicRecord" if topic_id in names:
                story.append(
                    TopicChange(at_ms=at_ms, topic_id=topic_id, name=names[topic_id], partitions=None)
                )
    return tuple(story)


@dataclass(slots=True)
class Hash:
    """A metadata hash, the names subscribed to when it was written, and where that first was."""

    value: int
    names: frozenset[str]
    offset: int


FACT_TYPES = (2, 3, 5, 7, 8, 10, 11, 13, 14, 15, 16, TOPOLOGY)
"""Record types about topics."""


@dataclass(slots=True)
class GroupFacts:
    """What a group's records say about its topics; ``add`` takes them in order."""

    mentioned: dict[str, int] = field(default_factory=dict)
    """Topic id → offset of the first record that speaks of it."""

    highest: dict[str, int] = field(default_factory=dict)
    """Topic id → highest partition seen."""

    hashes: list[Hash] = field(default_factory=list)
    _members: dict[str, frozenset[str]] = field(default_factory=dict)
    _regexes: dict[str, frozenset[str]] = field(default_factory=dict)
    subscribed: dict[str, None] = field(default_factory=dict)
    """Every topic name that the group ever subscribed to."""

    def add(self, offset: int, payload: Mapping[str, Any]) -> None:
        """Takes in a record of ``FACT_TYPES``; others say nothing here."""
        key, value = payload.get("key"), payload.get("value")
        if not key:
            return
        if payload["type"] in STREAMS_TYPES:
            # Its tasks speak of subtopologies; which topics those read is in the topology alone.
            if value and payload["type"] == TOPOLOGY:
                self._topology(value)
            return
        match meaning(payload["type"]):
            case 2 if value:
                self._classic(value)
            case 3 if value:
                self._hash(offset, value)
            case 5:
                self._member(str(key["memberId"]), value)
            case 7 if value:
                self._mention(offset, value.get("topicPartitions"))
            case 8 if value:
                self._mention(offset, value.get("assignedPartitions"))
                self._mention(offset, value.get("partitionsPendingRevocation"))
            case 15 if value:
                self._mention(offset, value.get("initializingTopics"))
                self._mention(offset, value.get("initializedTopics"))
            case 16:
                topics = frozenset(value["topics"]) if value else frozenset()
                self._regexes[str(key["regularExpression"])] = topics
                self._subscribe(topics)

    def names_now(self) -> frozenset[str]:
        return frozenset().union(*self._members.values(), *self._regexes.values())

    def _member(self, member: str, value: Mapping[str, Any] | None) -> None:
        if value is None:
            self._members.pop(member, None)
            return
        names = frozenset(value.get("subscribedTopicNames") or ())
        self._members[member] = names
        self._subscribe(names)

    def _classic(self, value: Mapping[str, Any]) -> None:
        for member in value.get("members") or ():
            try:
                topics = decode_subscription(b64decode(member.get("subscription") or ""))["topics"]
            except (RecordError, ValueError):
                # A group of another protocol type (Connect) keeps other bytes there.
                continue
            self._subscribe(topics)

    def _topology(self, value: Mapping[str, Any]) -> None:
        for subtopology in value.get("subtopologies") or ():
            self._subscribe(subtopology.get("sourceTopics") or ())
            self._subscribe(topic["name"] for topic in subtopology.get("repartitionSourceTopics") or ())

    def _subscribe(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            if len(self.subscribed) < IDS_MOST:
                self.subscribed.setdefault(name)

    def _hash(self, offset: int, value: Mapping[str, Any]) -> None:
        hash_value = value.get("metadataHash") or 0
        names = self.names_now()
        if not hash_value or not names or len(self.hashes) >= HASHES_MOST:
            return
        if not self.hashes or (self.hashes[-1].value, self.hashes[-1].names) != (hash_value, names):
            self.hashes.append(Hash(hash_value, names, offset))

    def _mention(self, offset: int, topics: Sequence[Mapping[str, Any]] | None) -> None:
        for topic in topics or ():
            topic_id = topic["topicId"]
            if topic_id not in self.mentioned:
                if len(self.mentioned) >= IDS_MOST:
                    continue
                self.mentioned[topic_id] = offset
            if topic["partitions"]:
                self.highest[topic_id] = max(self.highest.get(topic_id, -1), *topic["partitions"])
