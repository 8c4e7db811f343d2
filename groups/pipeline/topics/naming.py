"""What the topics of a group are called, and how many partitions they have, found out from what is at hand.

Records of Kafka 4.1 and newer name topics by id alone. Names come, the surest first, from the cluster's metadata
log, from a file that the user gave, from commits (which report name and id together) and partition metadata records
of older releases, and from a guess that the group's metadata hash proves: the hash covers ids, names and partition
counts, so a guess that reproduces it is right. What is left stays an id.

The result is a list of ``Note``: what is known from which record on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any

from groups.history.story.events import METADATA_LOG
from groups.pipeline.topics.facts import GroupFacts, Hash, Known
from groups.wire.codecs.uuids import base64_to_uuid
from groups.wire.errors import WireError
from groups.wire.metadata_hash import group_hash, topic_hash

GUESSES_MOST = 60_000
"""Guesses for one hash. Each takes about two microseconds; the right one is nearly always among the first few,
and a group of many nameless topics has more orders than could ever be tried."""

MORE_PARTITIONS_MOST = 64
"""How many partitions more than the highest one seen are tried: the hash is written before the target that uses
them, and a topic seldom grows by more at once."""

FEWER_PARTITIONS_MOST = 64
"""How many fewer: the highest partition may have been seen only after the topic grew."""

TOPICS_GUESSED_MOST = 8
"""Topics of one hash; eight nameless ones already have 40,320 orders."""


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
                hashes = [_Hashes(topic_id, name) for name, topic_id in zip(subset, ids, strict=True)]
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


class _Hashes(dict[int, int]):
    """Partition count → the topic's hash, made when it is asked for: the first guess is nearly always right."""

    def __init__(self, topic_id: str, name: str) -> None:
        self.topic_id = topic_id
        self.name = name

    def __missing__(self, count: int) -> int:
        made = self[count] = topic_hash(self.topic_id, self.name, count)
        return made


def id_choices(
    names: Sequence[str], facts: GroupFacts, known: Known, proven: Mapping[str, tuple[str, int]]
) -> Iterator[tuple[str, ...]]:
    """Ways to give each name an id: those that are known stand, the rest in every order."""
    fixed: dict[str, str] = {name: topic_id for name, (topic_id, _) in proven.items()}
    for name in names:
        if name in known.id_of_name:
            fixed.setdefault(name, known.id_of_name[name])
        for place in known.changes_of_name.get(name, ()):
            if known.changes[place].partitions is not None:
                fixed.setdefault(name, known.changes[place].topic_id)
    taken = {fixed[name] for name in names if name in fixed}
    free = [topic_id for topic_id in facts.mentioned if topic_id not in taken and topic_id not in known.names]
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
    for place in known.changes_of_id.get(topic_id, ()):
        partitions = known.changes[place].partitions
        if partitions is not None:
            counts[partitions] = None
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


TOPICS_FILE = "topics file"
COMMIT = "commit"
PARTITION_METADATA = "record"
SHARE_STATE = "share state"
METADATA_HASH = "metadata hash"

SOURCE_TEXTS = {
    METADATA_LOG: "named by the metadata log",
    TOPICS_FILE: "named by the file that was given",
    COMMIT: "named by commits",
    PARTITION_METADATA: "named by records of an older release",
    SHARE_STATE: "named by records of share groups",
    METADATA_HASH: "proven by the group's metadata hash",
}
"""A name's source, in the words of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """From the record at ``offset`` on (or from ``at_ms`` on, whichever comes first) these topics are known.

    ``topics`` is the content of a ``topics`` note: ``{name: {"id", "partitions"}}``, null for one that was deleted.
    """

    offset: int | None
    at_ms: int | None
    topics: Mapping[str, Mapping[str, Any] | None]
    source: str
    payload: Mapping[str, Any] | None = None
    """The whole note, if it is not about topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The notes of a group in their order, and the ids that stay without a name."""

    notes: tuple[Note, ...]
    nameless: tuple[dict[str, Any], ...]


def plan(facts: GroupFacts, known: Known) -> Plan:
    """Names for every topic id that a group's records mention, as far as any source has them."""
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
    """What the metadata log contains about the group's topics: at its time, and no later than their first mention."""
    seen: set[str] = set()
    places: set[int] = set()
    for topic_id in facts.mentioned:
        places.update(known.changes_of_id.get(topic_id, ()))
    for name in facts.subscribed:
        places.update(known.changes_of_name.get(name, ()))
    for place in sorted(places):
        change = known.changes[place]
        mention = facts.mentioned.get(change.topic_id) if change.topic_id not in seen else None
        seen.add(change.topic_id)
        if change.partitions is None:
            yield Note(offset=None, at_ms=change.at_ms, topics={change.name: None}, source=METADATA_LOG)
            continue
        topics = {change.name: {"id": change.topic_id, "partitions": change.partitions}}
        yield Note(offset=mention, at_ms=change.at_ms, topics=topics, source=METADATA_LOG)


def name_notes(facts: GroupFacts, known: Known) -> Iterator[Note]:
    """Names from a file, a commit or an older record, from the id's first mention on."""
    for topic_id, offset in facts.mentioned.items():
        if topic_id in known.changes_of_id or topic_id not in known.names:
            continue
        name, source = known.names[topic_id]
        topics = {name: {"id": topic_id, "partitions": known.partitions.get(topic_id)}}
        yield Note(offset=offset, at_ms=None, topics=topics, source=source)


def prove(facts: GroupFacts, known: Known) -> Iterator[Note]:
    """Names and partition counts that the metadata hashes prove, each from the hash's record on."""
    proven: dict[str, tuple[str, int]] = {}
    for hashed in facts.hashes:
        found = guess(hashed, facts, known, proven)
        news = {
            name: {"id": topic_id, "partitions": count}
            for name, (topic_id, count) in (found or {}).items()
            if topic_id not in known.changes_of_id and proven.get(name) != (topic_id, count)
        }
        proven.update(found or {})
        if news:
            yield Note(offset=hashed.offset, at_ms=None, topics=news, source=METADATA_HASH)


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


class BadTopicsFile(ValueError):
    """The file of topic names has another shape; the message is one line."""


def read_topics_file(data: Any) -> tuple[dict[str, str], dict[str, int]]:
    """Names and partition counts by topic id from ``{id: name}`` or ``{id: {"name", "partitions"}}``."""
    if not isinstance(data, Mapping):
        raise BadTopicsFile('the topics file must hold one JSON object: {"topic id": "name"}')
    names: dict[str, str] = {}
    partitions: dict[str, int] = {}
    for topic_id, value in data.items():
        try:
            base64_to_uuid(topic_id)
        except WireError as error:
            raise BadTopicsFile(f"in the topics file {error}") from error
        name = value.get("name") if isinstance(value, Mapping) else value
        if not isinstance(name, str) or not name:
            raise BadTopicsFile(
                f"the topics file gives {topic_id} no name: a string was expected, or an object with a name"
            )
        names[topic_id] = name
        count = value.get("partitions") if isinstance(value, Mapping) else None
        if isinstance(count, int) and not isinstance(count, bool) and count > 0:
            partitions[topic_id] = count
    return names, partitions
