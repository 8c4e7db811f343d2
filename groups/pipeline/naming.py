"""What the topics of a group are called, and how many partitions they have, found out from what is at hand.

Records of Kafka 4.1 and newer name topics by id alone. Names come, the surest first, from the cluster's metadata
log, from a file that the user gave, from commits (which tell name and id together) and partition metadata records
of older releases, and from a guess that the group's metadata hash proves: the hash covers ids, names and partition
counts, so a guess that reproduces it is right. What is left stays an id.

The result is a list of ``Note``: what is known from which record on.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations, product
from typing import Any

from groups.history.record_types import STREAMS_TYPES, TOPOLOGY, meaning
from groups.history.volatile_moments import METADATA_LOG
from groups.wire.codecs.uuids import base64_to_uuid
from groups.wire.embedded.consumer_protocol import decode_subscription
from groups.wire.errors import RecordError, WireError
from groups.wire.metadata_hash import group_hash, topic_hash

TOPICS_FILE = "topics file"
COMMIT = "commit"
PARTITION_METADATA = "record"
SHARE_STATE = "share state"
METADATA_HASH = "metadata hash"

SAYS = {
    METADATA_LOG: "named by the metadata log",
    TOPICS_FILE: "named by the file that was given",
    COMMIT: "named by commits",
    PARTITION_METADATA: "named by records of an older release",
    SHARE_STATE: "named by records of share groups",
    METADATA_HASH: "proven by the group's metadata hash",
}
"""A name's source, in the words of the page."""

GUESSES_MOST = 60_000
"""Guesses for one hash. Each takes about two microseconds; the right one is nearly always among the first few,
and a group of many nameless topics has more orders than could ever be tried."""

HASHES_MOST = 64
"""Different hashes of one group that are looked at: its partition counts changed fewer times than that."""

MORE_PARTITIONS_MOST = 64
"""How many partitions more than the highest one seen are tried: the hash is written before the target that uses
them, and a topic seldom grows by more at once."""

FEWER_PARTITIONS_MOST = 64
"""How many fewer: the highest partition may have been seen only after the topic grew."""

TOPICS_GUESSED_MOST = 8
"""Topics of one hash; eight nameless ones already have 40,320 orders."""

IDS_MOST = 10_000
"""Topic ids that are remembered for one group; a cluster has fewer topics that one group reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """From the record at ``offset`` on (or from ``at_ms`` on, whichever comes first) these topics are known.

    ``topics`` is the content of a ``topics`` note: ``{name: {"id", "partitions"}}``, null for one that was deleted.
    """

    offset: int | None
    at_ms: int | None
    topics: Mapping[str, Mapping[str, Any] | None]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """What the metadata log tells about a topic at a time; ``partitions`` is None where it was removed."""

    at_ms: int
    topic_id: str
    name: str
    partitions: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of topics before a single group is looked at."""

    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Topic id → its name and the source that tells it."""

    partitions: Mapping[str, int] = field(default_factory=dict)
    """Partition counts from the user's file, by topic id."""

    changes: tuple[TopicChange, ...] = ()
    """The metadata log's story, in its order."""


@dataclass(slots=True)
class Hash:
    """A metadata hash, the names subscribed to when it was written, and where that first was."""

    value: int
    names: frozenset[str]
    offset: int


FACT_TYPES = (2, 3, 5, 7, 8, 10, 11, 13, 14, 15, 16, TOPOLOGY)
"""Record types that tell about topics."""


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
            # Its tasks speak of subtopologies; which topics those read stands in the topology alone.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The notes of a group in their order, and the ids that stay without a name."""

    notes: tuple[Note, ...]
    nameless: tuple[dict[str, Any], ...]


def plan(facts: GroupFacts, known: Known) -> Plan:
    """Names for every topic id that a group's records mention, as far as anything tells them."""
    proofs = list(prove(facts, known))
    notes = [*metadata_notes(facts, known), *name_notes(facts, known), *proofs]
    named = {topic["id"] for note in notes for topic in note.topics.values() if topic is not None}
    nameless = tuple(
        nameless_topic(topic_id, facts, named_names={name for note in notes for name in note.topics})
        for topic_id in facts.mentioned
        if topic_id not in named
    )
    first = -1
    notes.sort(key=lambda note: first if note.offset is None else note.offset)
    return Plan(notes=tuple(notes), nameless=nameless)


def metadata_notes(facts: GroupFacts, known: Known) -> Iterator[Note]:
    """What the metadata log tells of the group's topics: at its time, and no later than their first mention."""
    seen: set[str] = set()
    for change in known.changes:
        if change.topic_id not in facts.mentioned and change.name not in facts.subscribed:
            continue
        mention = facts.mentioned.get(change.topic_id) if change.topic_id not in seen else None
        seen.add(change.topic_id)
        if change.partitions is None:
            yield Note(offset=None, at_ms=change.at_ms, topics={change.name: None}, source=METADATA_LOG)
            continue
        topics = {change.name: {"id": change.topic_id, "partitions": change.partitions}}
        yield Note(offset=mention, at_ms=change.at_ms, topics=topics, source=METADATA_LOG)


def name_notes(facts: GroupFacts, known: Known) -> Iterator[Note]:
    """Names from a file, a commit or an older record, from the id's first mention on."""
    told_by_log = {change.topic_id for change in known.changes}
    for topic_id, offset in facts.mentioned.items():
        if topic_id in told_by_log or topic_id not in known.names:
            continue
        name, source = known.names[topic_id]
        topics = {name: {"id": topic_id, "partitions": known.partitions.get(topic_id)}}
        yield Note(offset=offset, at_ms=None, topics=topics, source=source)


def prove(facts: GroupFacts, known: Known) -> Iterator[Note]:
    """Names and partition counts that the metadata hashes prove, each from the hash's record on."""
    told_by_log = {change.topic_id for change in known.changes}
    proven: dict[str, tuple[str, int]] = {}
    for hashed in facts.hashes:
        found = guess(hashed, facts, known, proven)
        news = {
            name: {"id": topic_id, "partitions": count}
            for name, (topic_id, count) in (found or {}).items()
            if topic_id not in told_by_log and proven.get(name) != (topic_id, count)
        }
        proven.update(found or {})
        if news:
            yield Note(offset=hashed.offset, at_ms=None, topics=news, source=METADATA_HASH)


def guess(
    hashed: Hash, facts: GroupFacts, known: Known, proven: Mapping[str, tuple[str, int]]
) -> dict[str, tuple[str, int]] | None:
    """Name → id and partition count that give this hash; None where none of the guesses in reach does.

    Subscribed topics that do not exist are not in the hash, so subsets of the names are tried, the largest first.
    """
    names = sorted(hashed.names)
    if len(names) > TOPICS_GUESSED_MOST:
        return None
    left = GUESSES_MOST
    for size in range(len(names), 0, -1):
        for subset in combinations(names, size):
            for ids in id_choices(subset, facts, known, proven):
                candidates = [
                    list(count_choices(topic_id, facts, known, proven.get(name)))
                    for name, topic_id in zip(subset, ids, strict=True)
                ]
                hashes = [
                    {count: topic_hash(topic_id, name, count) for count in counts}
                    for name, topic_id, counts in zip(subset, ids, candidates, strict=True)
                ]
                for counts in likely_first(candidates):
                    left -= 1
                    if left < 0:
                        return None
                    rows = {name: hashes[at][counts[at]] for at, name in enumerate(subset)}
                    if group_hash(rows) == hashed.value:
                        return {
                            name: (topic_id, count)
                            for name, topic_id, count in zip(subset, ids, counts, strict=True)
                        }
    return None


def id_choices(
    names: Sequence[str], facts: GroupFacts, known: Known, proven: Mapping[str, tuple[str, int]]
) -> Iterator[tuple[str, ...]]:
    """Ways to give each name an id: those that are known stand, the rest in every order."""
    fixed: dict[str, str] = {name: topic_id for name, (topic_id, _) in proven.items()}
    for topic_id, (name, _) in known.names.items():
        if name in names and (topic_id in facts.mentioned or name not in fixed):
            fixed.setdefault(name, topic_id)
    for change in known.changes:
        if change.name in names and change.partitions is not None:
            fixed.setdefault(change.name, change.topic_id)
    taken = {fixed[name] for name in names if name in fixed} | set(known.names)
    free = [topic_id for topic_id in facts.mentioned if topic_id not in taken]
    open_names = [name for name in names if name not in fixed]
    for chosen in permutations(free, len(open_names)):
        given = dict(zip(open_names, chosen, strict=True))
        yield tuple(fixed.get(name) or given[name] for name in names)


def count_choices(
    topic_id: str, facts: GroupFacts, known: Known, proven: tuple[str, int] | None
) -> Iterator[int]:
    """Partition counts of a topic, the likeliest first."""
    counts: dict[int, None] = {}
    if proven is not None and proven[0] == topic_id:
        counts[proven[1]] = None
    if topic_id in known.partitions:
        counts[known.partitions[topic_id]] = None
    for change in known.changes:
        if change.topic_id == topic_id and change.partitions is not None:
            counts[change.partitions] = None
    seen = facts.highest.get(topic_id, 0) + 1
    for count in range(seen, seen + MORE_PARTITIONS_MOST + 1):
        counts.setdefault(count)
    for count in range(seen - 1, max(0, seen - 1 - FEWER_PARTITIONS_MOST), -1):
        counts.setdefault(count)
    yield from counts


def likely_first(candidates: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every combination of counts: first those in which only one topic's count is not the likeliest."""
    likeliest = tuple(counts[0] for counts in candidates)
    yield likeliest
    for at, counts in enumerate(candidates):
        for count in counts[1:]:
            yield (*likeliest[:at], count, *likeliest[at + 1 :])
    for chosen in product(*candidates):
        if sum(one != likely for one, likely in zip(chosen, likeliest, strict=True)) > 1:
            yield chosen


def nameless_topic(topic_id: str, facts: GroupFacts, *, named_names: set[str]) -> dict[str, Any]:
    """An id without a name, as the page shows it, with a suggestion only if the group's records give one."""
    open_names = [name for name in facts.subscribed if name not in named_names]
    suggestion = None
    if len(open_names) == 1:
        suggestion = {
            "name": open_names[0],
            "why": f"the one topic that the group subscribes to: {open_names[0]}",
        }
    highest = facts.highest.get(topic_id)
    return {"id": topic_id, "highest": highest, "suggestion": suggestion}


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
                # A checkpoint tells again what the log told before it.
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


class BadTopicsFile(ValueError):
    """The file of topic names has another shape; the message is one line."""


def read_topics_file(data: Any) -> tuple[dict[str, str], dict[str, int]]:
    """Names and partition counts by topic id from ``{id: name}`` or ``{id: {"name", "partitions"}}``."""
    if not isinstance(data, Mapping):
        raise BadTopicsFile('the topics file must hold one JSON object: {"topic id": "name"}')
    names: dict[str, str] = {}
    partitions: dict[str, int] = {}
    for topic_id, told in data.items():
        try:
            base64_to_uuid(topic_id)
        except WireError as error:
            raise BadTopicsFile(f"in the topics file {error}") from error
        name = told.get("name") if isinstance(told, Mapping) else told
        if not isinstance(name, str) or not name:
            raise BadTopicsFile(
                f"the topics file gives {topic_id} no name: a string was expected, or an object with a name"
            )
        names[topic_id] = name
        count = told.get("partitions") if isinstance(told, Mapping) else None
        if isinstance(count, int) and not isinstance(count, bool) and count > 0:
            partitions[topic_id] = count
    return names, partitions
