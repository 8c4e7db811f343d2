"""Logs with many commits, and the runs that a reader with vectors would make of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

from groups.history.entries import Entry, Kind, Provenance
from groups.history.replay.commit_runs import CommitRun
from groups.history.replay.offsets import ZERO_TOPIC_ID
from groups.history.state.group import Offset
from tests.history.corpus import dense
from tests.history.logs import FOO, record

TOPICS: Final = (("foo", FOO), ("foo", "ICAgICAgICAgICAgICAgIA"), ("bar", ZERO_TOPIC_ID), ("baz", "baz-id"))


def with_commits(entries: Sequence[Entry], group: str, random: Random) -> list[Entry]:
    """The log with requests that commit, or delete, between its units; many follow each other, and clocks go back."""
    mixed: list[Entry] = []
    batch = mark = 0
    for entry in (None, *entries):
        if entry is not None:
            mixed.append(entry)
            if not entry.settled:
                continue
        at_ms = entry.at_ms if entry is not None else 0
        for _ in range(random.choice((0, 0, 1, 2, 9))):
            at_ms += random.choice((0, 1, 7, 900, 29_999, 30_000, 95_000, -3))
            batch += random.randrange(2)
            mark -= 1
            mixed += _request(group, at_ms, batch, mark, random)
    return dense(mixed)


def _request(group: str, at_ms: int, batch: int, mark: int, random: Random) -> Iterator[Entry]:
    """``mark`` is the same for all records of the request; ``dense`` puts the sequence there."""
    for _ in range(random.choice((1, 1, 2, 3))):
        topic, topic_id = random.choice(TOPICS)
        key = {"group": group, "topic": topic, "partition": random.randrange(4)}
        value = {
            "offset": random.randrange(100),
            "leaderEpoch": -1,
            "metadata": random.choice(("", "m")),
            "commitTimestamp": at_ms,
            "topicId": topic_id,
        }
        yield Entry(
            sequence=0,
            at_ms=at_ms,
            kind=Kind.RECORD,
            actor="coordinator",
            provenance=Provenance.RECORDED,
            payload=record(1, key, value if random.random() < 0.9 else None),
            partition=0,
            offset=batch,
            batch=batch,
            unit=mark,
        )


def runs_in(entries: Sequence[Entry], group: str, random: Random) -> Iterator[Entry | CommitRun]:
    """The log with stretches of commits told in sum, cut where chance wants it."""
    held: list[Entry] = []
    at = 0
    while at < len(entries):
        end = at
        while not entries[end].settled and end + 1 < len(entries):
            end += 1
        unit = entries[at : end + 1]
        at = end + 1
        if all(is_commit(entry, group) for entry in unit) and unit[-1].settled:
            held += unit
            if random.random() < 0.8:
                continue
            unit = []
        if held:
            yield run_of(held)
            held = []
        yield from unit
    if held:
        yield run_of(held)


def is_commit(entry: Entry, group: str) -> bool:
    """Whether it is a commit of the group that can be read. A deletion is none: it is in no run."""
    key, value = entry.payload.get("key"), entry.payload.get("value")
    return (
        entry.kind is Kind.RECORD
        and entry.payload.get("type") == 1
        and isinstance(key, dict)
        and key.get("group") == group
        and isinstance(value, dict)
        and "offset" in value
        and entry.cause is None
    )


def run_of(entries: Sequence[Entry]) -> CommitRun:
    """The run that whole units of commits are."""
    latest: dict[tuple[str, int], Offset | None] = {}
    topic_ids: list[tuple[str, str]] = []
    told: dict[str, str] = {}
    requests = last_request = 0
    for entry in entries:
        key, value = entry.payload["key"], entry.payload["value"]
        latest[key["topic"], key["partition"]] = None if value is None else _offset(value)
        topic_id = value and value.get("topicId")
        if topic_id and topic_id != ZERO_TOPIC_ID and told.get(key["topic"]) != topic_id:
            told[key["topic"]] = topic_id
            topic_ids.append((key["topic"], topic_id))
        if entry.settled and value:
            requests, last_request = requests + 1, entry.sequence
    begins = [
        entry
        for before, entry in zip((None, *entries), entries, strict=False)
        if before is None or before.batch != entry.batch
    ]
    valued = [entry for entry in entries if entry.payload["value"] is not None]
    return CommitRun(
        first=entries[0].sequence,
        last=entries[-1].sequence,
        first_ms=entries[0].at_ms,
        last_ms=entries[-1].at_ms,
        requests=requests,
        records=len(valued),
        last_request=last_request,
        latest=latest,
        topic_ids=topic_ids,
        value_times_ms=[entry.at_ms for entry in valued],
        places=[(entry.payload["key"]["topic"], entry.payload["key"]["partition"]) for entry in valued],
        committed=[entry.payload["value"]["offset"] for entry in valued],
        ids=[_topic_id(entry.payload["value"]) for entry in valued],
        sequences=[entry.sequence for entry in valued],
        batch_times_ms=[entry.at_ms for entry in begins],
        first_batch=entries[0].batch,
        last_batch=entries[-1].batch,
    )


def _topic_id(value: dict[str, Any]) -> str | None:
    topic_id = value.get("topicId")
    return None if topic_id == ZERO_TOPIC_ID else topic_id


def _offset(value: dict[str, Any]) -> Offset:
    topic_id = value.get("topicId")
    expires_ms = value.get("expireTimestamp", -1)
    return Offset(
        offset=value["offset"],
        leader_epoch=value.get("leaderEpoch", -1),
        metadata=value.get("metadata") or "",
        commit_timestamp_ms=value.get("commitTimestamp", -1),
        topic_id=None if topic_id == ZERO_TOPIC_ID else topic_id,
        expire_timestamp_ms=expires_ms if expires_ms >= 0 else None,
    )
