"""The commits of a followed group between two other entries: they wait here, and become one entry.

A busy group commits some ten times a second for days, and rebalances a few times a day: with an entry for each commit its timeline
would contain little else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import CommitLine, CommitsPayload, Entry, Kind, Payload
from groups.history.passes.units import LogRecord
from groups.history.replay.commit_runs import Place
from groups.history.replay.offsets import offset_of
from groups.wire.generated.classic import OFFSET_COMMIT

RUN_MS_MOST: Final = 60_000
"""The time that one entry covers at most: an address in a timeline stays exact to a minute, also where an old log is read at once."""

RUN_RECORDS_MOST: Final = 20_000
"""Commits of one entry at most: some 300 KB, which a page shows and a socket sends."""


@dataclass(slots=True)
class Commits:
    """Requests that only commit, of one group, in the order of the log."""

    first_ms: int = 0
    last_ms: int = 0
    requests: int = 0
    records: int = 0
    from_offset: int = 0
    to_offset: int = 0
    lines: dict[Place, CommitLine] = field(default_factory=dict)
    topic_ids: dict[str, str | None] = field(default_factory=dict)
    """The id with which each topic was committed last; null for none."""

    def takes(self, unit: Sequence[LogRecord]) -> bool:
        """Whether the request belongs to the same entry: it follows within a minute, and no topic has another id."""
        if not self.lines:
            return True
        now_ms = unit[0].at_ms
        return (
            self.last_ms <= now_ms <= self.first_ms + RUN_MS_MOST
            and self.records < RUN_RECORDS_MOST
            and all(self.topic_ids.get(topic, topic_id) == topic_id for topic, topic_id in _topics(unit))
        )

    def add(self, records: Iterable[LogRecord | Entry], requests: int = 1) -> None:
        """Add commits in the order of their times; where others wait, ``takes`` allowed them."""
        self.requests += requests
        for record in records:
            offset = record.offset or 0
            if not self.lines:
                self.first_ms, self.from_offset = record.at_ms, offset
            place, value = _place(record.payload), record.payload["value"]
            line = self.lines.get(place)
            if line is None:
                line = self.lines[place] = _begun(place)
            line["after_ms"].append(record.at_ms - self.first_ms)
            line["offsets"].append(value["offset"])
            line["version"], line["value"] = record.payload["version"], value
            self.topic_ids[place[0]] = value.get("topicId")
            self.last_ms = record.at_ms
            self.records += 1
            self.from_offset = min(self.from_offset, offset)
            self.to_offset = max(self.to_offset, offset)

    def payload(self, partition: int) -> CommitsPayload:
        """The payload of the entry; ``partition`` is the log's."""
        return {
            "first_ms": self.first_ms,
            "requests": self.requests,
            "records": self.records,
            "thinned": 0,
            "partition": partition,
            "from_offset": self.from_offset,
            "to_offset": self.to_offset,
            "commits": list(self.lines.values()),
        }


def _begun(place: Place) -> CommitLine:
    topic, partition = place
    return {"topic": topic, "partition": partition, "after_ms": [], "offsets": [], "version": 0, "value": {}}


def _place(payload: Payload) -> Place:
    return payload["key"]["topic"], payload["key"]["partition"]


def _topics(unit: Iterable[LogRecord]) -> Iterator[tuple[str, str | None]]:
    """Topic and topic id of each commit."""
    for record in unit:
        yield record.payload["key"]["topic"], record.payload["value"].get("topicId")


def is_commit_unit(unit: Sequence[LogRecord], group: str) -> bool:
    """Whether a request is of commits that can be stored in columns: no topic has two ids in it."""
    if not all(is_readable_commit(record.payload, group) for record in unit):
        return False
    pairs = set(_topics(unit))
    return len(pairs) == len({topic for topic, _ in pairs})


def is_readable_commit(payload: Payload, group: str) -> bool:
    """Whether a record is a commit of the group that can be stored in columns. A deletion is none: it is an entry of its own."""
    if payload.get("type") != OFFSET_COMMIT or payload.get("value") is None:
        return False
    try:
        offset_of(payload["value"])
    except (LookupError, TypeError, ValueError, AttributeError):
        return False
    return bool(payload["key"]["group"] == group)


def records_of(entry: Entry, group: str) -> list[Entry]:
    """The last commit of each partition of a ``commits`` entry, as the records that they were."""
    payload = entry.payload
    return [
        Entry(
            sequence=entry.sequence,
            at_ms=payload["first_ms"] + line["after_ms"][-1],
            kind=Kind.RECORD,
            actor=entry.actor,
            provenance=entry.provenance,
            payload={
                "type": OFFSET_COMMIT,
                "key": {"group": group, "topic": line["topic"], "partition": line["partition"]},
                "version": line["version"],
                "value": line["value"],
            },
            partition=payload["partition"],
            offset=payload["to_offset"],
        )
        for line in payload["commits"]
    ]
