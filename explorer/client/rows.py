"""Rows of one level, as pandas takes them: ``pandas.DataFrame(client.rebalances(timeline))``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class TimelineRow(TypedDict):
    id: str
    title: str
    group: str
    protocol: str
    source: str
    status: str
    entries: int
    first_ms: int
    last_ms: int
    created: str
    verdict: str
    headline: str
    severity: str
    url: str


class FindingRow(TypedDict):
    kind: str
    text: str
    certain: bool
    at_ms: int | None
    to_ms: int | None
    first: int
    """The first entry that proves it."""

    sequences: list[int]
    url: str
    """The timeline at that entry."""


class RebalanceRow(TypedDict):
    epoch: int
    sequence: int
    at_ms: int
    until_ms: int | None
    causes: str
    who: str
    moved: int
    blocked: str
    unassigned_partition_ms: int | None
    unread_partition_ms: int | None
    unread_partition_ms_most: int | None
    records_waited: int | None
    url: str


class MotifRow(TypedDict):
    kind: str
    text: str
    at_ms: int
    sequences: list[int]
    """The proof, in order; the motif was complete at the last."""

    url: str


class EntryRow(TypedDict):
    sequence: int
    at_ms: int
    kind: str
    actor: str | None
    cause: int | None
    provenance: str
    payload: dict[str, Any]
    """As its kind has it: the one column that stays as it is."""


class OwnerRow(TypedDict):
    """A partition at a moment."""

    topic: str
    partition: int
    owner: str | None
    """The member that reads it."""

    target: str | None
    """The member that the target gives it to."""


class NoteRow(TypedDict):
    """A note, a question, or a reply to the note ``parent``; ``text`` is empty where it was deleted and has replies."""

    id: str
    sequence: int
    at_ms: int | None
    kind: str
    parent: str | None
    author: str
    text: str
    mentions: str
    created: str
    edited: str | None
    url: str


# ``Any``: answers are JSON.
Answer = Mapping[str, Any]


def timeline_row(answer: Answer, server: str) -> TimelineRow:
    verdict = (answer.get("summary") or {}).get("verdict") or {}
    headline = verdict.get("headline") or {}
    return {
        "id": answer["id"],
        "title": answer["title"],
        "group": answer["group"],
        "protocol": answer["protocol"],
        "source": answer["source"],
        "status": answer["status"],
        "entries": answer["entries"],
        "first_ms": answer["first_ms"],
        "last_ms": answer["last_ms"],
        "created": answer["created"],
        "verdict": verdict.get("text", ""),
        "headline": headline.get("text", ""),
        "severity": headline.get("severity") or "",
        "url": link(server, answer["id"]),
    }


def finding_row(finding: Answer, timeline: str, server: str) -> FindingRow:
    sequences = finding["sequences"]
    first = min(sequences, default=0)
    return {
        "kind": finding["kind"],
        "text": finding["says"],
        "certain": finding["certain"],
        "at_ms": finding.get("at_ms", finding.get("from_ms")),
        "to_ms": finding.get("to_ms"),
        "first": first,
        "sequences": sequences,
        "url": link(server, timeline, first),
    }


def motif_row(motif: Answer, timeline: str, server: str) -> MotifRow:
    sequences = motif["sequences"]
    return {
        "kind": motif["kind"],
        "text": motif["text"],
        "at_ms": motif["at_ms"],
        "sequences": sequences,
        "url": link(server, timeline, sequences[-1]),
    }


def rebalance_row(row: Answer, timeline: str, server: str) -> RebalanceRow:
    cost = row.get("cost") or {}
    return {
        "epoch": row["epoch"],
        "sequence": row["sequence"],
        "at_ms": row["at_ms"],
        "until_ms": row["until_ms"],
        "causes": "; ".join(row["causes"]),
        "who": ", ".join(row["who"]),
        "moved": row["moved"],
        "blocked": "; ".join(row["blocked"]),
        "unassigned_partition_ms": cost.get("unassigned_partition_ms"),
        "unread_partition_ms": cost.get("unread_partition_ms"),
        "unread_partition_ms_most": cost.get("unread_partition_ms_most"),
        "records_waited": cost.get("records_waited"),
        "url": link(server, timeline, row["sequence"]),
    }


def note_row(note: Answer, timeline: str, server: str) -> NoteRow:
    return {
        "id": note["id"],
        "sequence": note["at"],
        "at_ms": note["at_ms"],
        "kind": note["kind"],
        "parent": note["parent"],
        "author": note["author"],
        "text": note["text"],
        "mentions": ", ".join(note["mentions"]),
        "created": note["created"],
        "edited": note["edited"],
        "url": link(server, timeline, note["at"]),
    }


def owner_rows(frame: Answer) -> list[OwnerRow]:
    """Each partition of a frame that somebody reads or that the target names."""
    owners = _by_partition({member: client["owned"] for member, client in frame["clients"].items()})
    targets = _by_partition(frame["target"] or {})
    return [
        {"topic": topic, "partition": number, "owner": owners.get(key), "target": targets.get(key)}
        for key in sorted(owners.keys() | targets.keys())
        for topic, number in [key]
    ]


def link(server: str, timeline: str, sequence: int = 0) -> str:
    """The page of a timeline, at an entry."""
    return f"{server}/t/{timeline}" + (f"?at={sequence}" if sequence else "")


def _by_partition(held: Mapping[str, Mapping[str, list[int]]]) -> dict[tuple[str, int], str]:
    return {
        (topic, number): member
        for member, topics in held.items()
        for topic, numbers in topics.items()
        for number in numbers
    }
