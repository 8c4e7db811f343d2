"""The stored form of a digest: five JSON texts, so that a request for members reads no partitions, and one that continues reads no start.

Rows stand in columns of numbers, names once. ``Packed.unpack`` reads those that are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final, TypedDict

import orjson

from groups.history.digests.levels import later
from groups.history.digests.part import Columns, Digest, EventGroup, Facts, Rows, Tracks
from groups.history.digests.values import Key, MemberValue, PartitionKey, PartitionValue, Value
from groups.history.state.declared import document
from groups.history.story.moment import Moment

COLUMNS: Final = ("first", "last", "from_ms", "to_ms", "moments", "unassigned", "members", "unknown")


@document
@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """``columns`` and ``moments`` are counts, ``members_most`` as many as were there at once. A start is ``None`` where the digest begins no chunk, or was not asked for."""

    begins: bool
    columns: int
    moments: int
    members_most: int
    group: bytes
    members: bytes | None
    partitions: bytes | None
    members_start: bytes | None
    partitions_start: bytes | None

    @classmethod
    def of(cls, digest: Digest) -> Packed:
        starts = digest.members.start, digest.partitions.start
        return cls(
            begins=digest.begins,
            columns=len(digest.columns),
            moments=sum(digest.columns.moments),
            members_most=max(digest.columns.members, default=0),
            group=orjson.dumps(_group(digest)),
            members=orjson.dumps(_members(digest.members.changes, digest.facts)),
            partitions=orjson.dumps(_partitions(digest.partitions.changes)),
            members_start=None
            if starts[0] is None
            else orjson.dumps(_members(_at_start(starts[0]), digest.facts)),
            partitions_start=None if starts[1] is None else orjson.dumps(_partitions(_at_start(starts[1]))),
        )

    def unpack(self) -> Digest:
        digest = _read_group(orjson.loads(self.group), begins=self.begins)
        digest.members = _rows(self.members, self.members_start, _read_members, digest.facts)
        digest.partitions = _rows(self.partitions, self.partitions_start, _read_partitions, digest.facts)
        return digest


class _Group(TypedDict):
    """``columns``: a list each, by ``COLUMNS``. ``events``: the fields of ``EventGroup``, in their order."""

    columns: dict[str, list[int]]
    states: list[tuple[int, str]]
    epochs: list[tuple[int, int]]
    coordinators: list[tuple[int, str, int | None]]
    violations: list[tuple[int, str]]
    events: list[tuple[int, int, int, int, int, str, int | None, str | None, str, int | None, bool, bool]]


class _Places(TypedDict):
    """Of each change its column, and the places of its row and its value among those that are named once."""

    at: list[int]
    row: list[int]
    value: list[int]


class _Members(_Places):
    """``facts``: client id, host, rack id and instance id."""

    ids: list[str]
    facts: list[tuple[str | None, str | None, str | None, str | None] | None]
    values: list[tuple[int, int, int, int]]


class _Partitions(_Places):
    """``topic``: of each row the place of its topic; ``number``: its partition."""

    topics: list[str]
    topic: list[int]
    number: list[int]
    values: list[tuple[str | None, int]]


def _at_start(rows: Mapping[Key, Value]) -> list[tuple[int, Key, Value]]:
    return [(0, key, value) for key, value in rows.items()]


def _group(digest: Digest) -> _Group:
    tracks = digest.tracks
    return {
        "columns": dict(zip(COLUMNS, digest.columns.lists(), strict=True)),
        "states": tracks.states,
        "epochs": tracks.epochs,
        "coordinators": tracks.coordinators,
        "violations": tracks.violations,
        "events": [astuple(event) for event in digest.events],
    }


def _read_group(known: _Group, *, begins: bool) -> Digest:
    digest = Digest(begins=begins)
    digest.columns = Columns(**known["columns"])
    digest.tracks = Tracks(
        states=[(at, state) for at, state in known["states"]],
        epochs=[(at, epoch) for at, epoch in known["epochs"]],
        coordinators=[(at, name, until) for at, name, until in known["coordinators"]],
        violations=[(at, text) for at, text in known["violations"]],
    )
    digest.events = [EventGroup(*event) for event in known["events"]]
    return digest


def _members(changes: Sequence[tuple[int, str, MemberValue]], facts: Mapping[str, Facts]) -> _Members:
    ids = list(dict.fromkeys(key for _, key, _ in changes))
    values = list(dict.fromkeys(value for _, _, value in changes))
    return {
        "ids": ids,
        "facts": [_facts(facts.get(member_id)) for member_id in ids],
        "values": [(*value,) for value in values],
        **_places(changes, ids, values),
    }


def _places(
    changes: Sequence[tuple[int, Key, Value]], keys: Sequence[Key], values: Sequence[Value]
) -> _Places:
    """Few rows and few values come again and again: each change names them by their place."""
    row = {key: at for at, key in enumerate(keys)}
    place = {value: at for at, value in enumerate(values)}
    return {
        "at": [at for at, _, _ in changes],
        "row": [row[key] for _, key, _ in changes],
        "value": [place[value] for _, _, value in changes],
    }


def _changes(known: _Places, keys: Sequence[Key], values: Sequence[Value]) -> list[tuple[int, Key, Value]]:
    """The inverse, without a step of Python for each change."""
    return list(
        zip(
            known["at"],
            map(keys.__getitem__, known["row"]),
            map(values.__getitem__, known["value"]),
            strict=True,
        )
    )


def _facts(facts: Facts | None) -> tuple[str | None, str | None, str | None, str | None] | None:
    return None if facts is None else (facts.client_id, facts.host, facts.rack_id, facts.instance_id)


def _read_members(text: bytes, facts: dict[str, Facts]) -> list[tuple[int, str, MemberValue]]:
    known: _Members = orjson.loads(text)
    ids = known["ids"]
    for member_id, each in zip(ids, known["facts"], strict=True):
        if each is not None:
            facts[member_id] = Facts(*each)
    return _changes(known, ids, [MemberValue(*value) for value in known["values"]])


def _partitions(changes: Sequence[tuple[int, PartitionKey, PartitionValue]]) -> _Partitions:
    keys = list(dict.fromkeys(key for _, key, _ in changes))
    values = list(dict.fromkeys(value for _, _, value in changes))
    topics = {topic: at for at, topic in enumerate(dict.fromkeys(topic for topic, _ in keys))}
    return {
        "topics": list(topics),
        "topic": [topics[topic] for topic, _ in keys],
        "number": [number for _, number in keys],
        "values": [(*value,) for value in values],
        **_places(changes, keys, values),
    }


def _read_partitions(text: bytes, _facts: dict[str, Facts]) -> list[tuple[int, PartitionKey, PartitionValue]]:
    known: _Partitions = orjson.loads(text)
    topics = known["topics"]
    keys: list[PartitionKey] = list(zip((topics[at] for at in known["topic"]), known["number"], strict=True))
    return _changes(known, keys, [PartitionValue(*value) for value in known["values"]])


def _rows(
    changes: bytes | None,
    start: bytes | None,
    read: Callable[[bytes, dict[str, Facts]], list[tuple[int, Key, Value]]],
    facts: dict[str, Facts],
) -> Rows[Key, Value]:
    return Rows(
        start=None if start is None else {key: value for _, key, value in read(start, facts)},
        changes=[] if changes is None else read(changes, facts),
    )


def later_digests(digests: Sequence[Packed], after: int, moments: Iterable[Moment]) -> tuple[Packed, ...]:
    """The part after entry ``after`` (with those ``moments``) at every level: the finest, since a coarser one cannot be cut there."""
    left = Packed.of(later(digests[0].unpack(), after, moments))
    return tuple(left for _ in digests)
