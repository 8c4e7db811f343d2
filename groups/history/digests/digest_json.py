"""What the browser is given of a digest: rows in runs, names once. The shapes are those of ``static/js/types.d.ts``.

Run ``i`` of row ``r`` (``offsets[r] <= i < offsets[r + 1]``) begins with column ``start[i]`` and lasts until the row's next one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Sized
from typing import Final, TypedDict

from groups.history.digests import values as v
from groups.history.digests.part import Digest, EventGroup, Rows
from groups.history.digests.values import Key, MemberValue, PartitionKey, Value

EVENTS_MOST: Final = 1_000
"""Lines of events in one answer: more are shown as a number, and seen by zooming in."""

BANDS_MOST: Final = 500
"""Times without an owner in one answer, the longest."""

BAND_NAMES_MOST: Final = 5

HARDSHIPS_MOST: Final = 1_000

PARTITIONS_MOST: Final = 20_000
"""Rows in one answer: a screen has a thousand lines; beyond, topics are asked for by name."""

HARD: Final = {
    "killed": v.KILLED,
    "paused": v.PAUSED,
    "cut": v.CUT,
    "fenced": v.FENCED,
    "outside": v.OUTSIDE,
}


class ColumnLists(TypedDict):
    """``unknown``: 1 where entries were not looked at yet; rows have at most their ends, and a later request may get more."""

    first: list[int]
    last: list[int]
    from_ms: list[int]
    to_ms: list[int]
    moments: list[int]
    unknown: list[int]


class MemberAnswer(TypedDict):
    columns: ColumnLists
    ids: list[str]
    facts: list[list[str | None] | None]
    """``[client_id, host, rack_id, instance_id]`` of each."""
    offsets: list[int]
    start: list[int]
    flags: list[int]
    owned: list[int]
    revoking: list[int]
    wanted: list[int]


class TopicRows(TypedDict):
    topic: str
    first_row: int
    partitions: int


class PartitionAnswer(TypedDict):
    """``owner`` is a place in ``ids``, −1 for nobody. Of topics of more than ``PARTITIONS_MOST`` together the first have rows, and
    ``left_out`` is how many more partitions there are."""

    columns: ColumnLists
    topics: list[TopicRows]
    ids: list[str]
    offsets: list[int]
    start: list[int]
    owner: list[int]
    mode: list[int]
    left_out: int


class Stretch(TypedDict):
    """``from`` and ``to`` are columns; ``to`` is ``None`` where it has not ended."""

    begin: int
    end: int | None


class State(Stretch):
    state: str


class Band(Stretch):
    count: int
    some: list[list[str | int]]


class Hardship(Stretch):
    member: str
    kind: str


class CoordinatorStretch(Stretch):
    name: str
    loading_until_ms: int | None


class Event(TypedDict):
    first: int
    last: int
    from_ms: int
    to_ms: int
    count: int
    shape: str
    epoch: int | None
    actor: str | None
    says: str
    cause: int | None
    problem: bool


class Violation(TypedDict):
    """A broken invariant: the sequence and the time of its column, and its sentence."""

    sequence: int
    at_ms: int
    says: str


class GroupAnswer(TypedDict):
    columns: ColumnLists
    unassigned: list[int]
    members: list[int]
    states: list[State]
    epochs: list[dict[str, int]]
    bands: list[Band]
    hardships: list[Hardship]
    coordinators: list[CoordinatorStretch]
    violations: list[Violation]
    events: list[Event]
    more: int


def member_answer(digest: Digest) -> MemberAnswer:
    """Members that are there, or suffer something, in any column."""
    rows = runs_of(digest.members, len(digest.columns))
    ids = sorted(rows, key=lambda member_id: (rows[member_id][0][0], member_id))
    facts = [digest.facts.get(member_id) for member_id in ids]
    runs = [run for member_id in ids for run in rows[member_id]]
    return {
        "columns": _columns(digest),
        "ids": ids,
        "facts": [
            None if each is None else [each.client_id, each.host, each.rack_id, each.instance_id]
            for each in facts
        ],
        "offsets": _offsets(rows[member_id] for member_id in ids),
        "start": [column for column, _ in runs],
        "flags": [value.flags for _, value in runs],
        "owned": [value.owned for _, value in runs],
        "revoking": [value.revoking for _, value in runs],
        "wanted": [value.wanted for _, value in runs],
    }


def partition_answer(digest: Digest, topics: list[str] | None = None) -> PartitionAnswer:
    """All partitions, topics by name and partitions by number; or those of ``topics``, in that order."""
    rows = runs_of(digest.partitions, len(digest.columns))
    counts: dict[str, int] = {}
    for topic, partition in rows:
        counts[topic] = max(counts.get(topic, 0), partition + 1)
    known: list[TopicRows] = []
    at = 0
    for topic in sorted(counts) if topics is None else [topic for topic in topics if topic in counts]:
        drawn = min(counts[topic], PARTITIONS_MOST - at)
        if not drawn:
            break
        known.append({"topic": topic, "first_row": at, "partitions": drawn})
        at += drawn
    runs_by_row = [
        rows.get((each["topic"], partition), []) for each in known for partition in range(each["partitions"])
    ]
    runs = [run for row in runs_by_row for run in row]
    ids = list(dict.fromkeys(value.owner for _, value in runs if value.owner is not None))
    place: dict[str | None, int] = {member_id: at for at, member_id in enumerate(ids)} | {None: -1}
    return {
        "columns": _columns(digest),
        "topics": known,
        "ids": ids,
        "offsets": _offsets(runs_by_row),
        "start": [column for column, _ in runs],
        "owner": [place[value.owner] for _, value in runs],
        "mode": [value.mode for _, value in runs],
        "left_out": sum(counts.values()) - at if topics is None else 0,
    }


def group_answer(digest: Digest) -> GroupAnswer:
    columns, tracks = digest.columns, digest.tracks
    events = digest.events[-EVENTS_MOST:] if len(digest.events) > EVENTS_MOST else digest.events
    return {
        "columns": _columns(digest),
        "unassigned": columns.unassigned,
        "members": columns.members,
        "states": [
            {"begin": at, "end": end, "state": state}
            for (at, state), end in zip(
                tracks.states, _ends([each[0] for each in tracks.states]), strict=True
            )
        ],
        "epochs": [
            {"epoch": epoch, "sequence": columns.first[at], "at_ms": columns.from_ms[at]}
            for at, epoch in tracks.epochs
        ],
        "bands": _bands(digest),
        "hardships": _hardships(digest.members, len(columns)),
        "coordinators": [
            {"begin": at, "end": end, "name": name, "loading_until_ms": until}
            for (at, name, until), end in zip(
                tracks.coordinators, _ends([each[0] for each in tracks.coordinators]), strict=True
            )
        ],
        "violations": [
            {"sequence": columns.first[at], "at_ms": columns.from_ms[at], "says": text}
            for at, text in tracks.violations
        ],
        "events": [_event(event) for event in events],
        "more": sum(event.count for event in digest.events[:-EVENTS_MOST])
        if len(digest.events) > EVENTS_MOST
        else 0,
    }


def _event(event: EventGroup) -> Event:
    return {
        "first": event.first,
        "last": event.last,
        "from_ms": event.from_ms,
        "to_ms": event.to_ms,
        "count": event.count,
        "shape": event.shape,
        "epoch": event.epoch,
        "actor": event.actor,
        "says": event.text,
        "cause": event.cause,
        "problem": event.problem,
    }


def _columns(digest: Digest) -> ColumnLists:
    columns = digest.columns
    return {
        "first": columns.first,
        "last": columns.last,
        "from_ms": columns.from_ms,
        "to_ms": columns.to_ms,
        "moments": columns.moments,
        "unknown": columns.unknown,
    }


def runs_of(rows: Rows[Key, Value], columns: int) -> dict[Key, list[tuple[int, Value]]]:
    """(column, value) of each row where it changes, in order, from the first column on in which it is anything."""
    by_row: defaultdict[Key, list[tuple[int, Value]]] = defaultdict(list)
    for key, value in (rows.start or {}).items():
        by_row[key].append((0, value))
    for column, key, value in rows.changes:
        if column >= columns:
            break
        runs = by_row[key]
        if not runs or runs[-1][1] != value:
            runs.append((column, value))
    return by_row


def _offsets(rows: Iterable[Sized]) -> list[int]:
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    return offsets


def _ends(begins: Sequence[int]) -> list[int | None]:
    """Of each the column at which the next one begins."""
    return [*begins[1:], None] if begins else []


def _bands(digest: Digest) -> list[Band]:
    """Partitions that became free, and got an owner, in the same columns are one band."""
    together: defaultdict[tuple[int, int | None], list[PartitionKey]] = defaultdict(list)
    for key, runs in runs_of(digest.partitions, len(digest.columns)).items():
        since: int | None = None
        for column, value in runs:
            free = value.mode == v.FREE
            if free and since is None:
                since = column
            elif not free and since is not None:
                together[since, column].append(key)
                since = None
        if since is not None:
            together[since, None].append(key)
    last = len(digest.columns)
    longest = sorted(together.items(), key=lambda each: ((each[0][1] or last) - each[0][0]) * len(each[1]))
    bands: list[Band] = [
        {
            "begin": begin,
            "end": end,
            "count": len(keys),
            "some": [list(key) for key in sorted(keys)[:BAND_NAMES_MOST]],
        }
        for (begin, end), keys in longest[-BANDS_MOST:]
    ]
    return sorted(bands, key=lambda band: band["begin"])


def _hardships(members: Rows[str, MemberValue], columns: int) -> list[Hardship]:
    found: list[Hardship] = []
    for member_id, runs in runs_of(members, columns).items():
        open_since: dict[str, int] = {}
        for column, value in [*runs, (columns, v.NOBODY)]:
            for kind, bit in HARD.items():
                if value.flags & bit and column < columns:
                    open_since.setdefault(kind, column)
                elif (begin := open_since.pop(kind, None)) is not None:
                    end = column if column < columns else None
                    found.append({"begin": begin, "end": end, "member": member_id, "kind": kind})
    found.sort(key=lambda each: (each["end"] or columns) - each["begin"])
    return sorted(found[-HARDSHIPS_MOST:], key=lambda each: (each["begin"], each["member"]))
