"""Runs of commits: nine tenths of a real log, replayed as sums, so that a reader can find them with vectors.

Folding a run gives what folding its entries one by one gives, exactly: the state, the findings and the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from groups.history.entries import CommitLine, Entry, Payload
from groups.history.replay.fields import integer
from groups.history.replay.offsets import all_committed, deleted, offset_of
from groups.history.state.copying import draft, sealed
from groups.history.state.group import Offset, State, with_topic

GAP_KEPT_MS: Final = 5_000
GAP_KEPT_TIMES: Final = 3
"""Thinning keeps both ends of a partition's longest pause where it is longer than these (a silence may begin there)."""

Place = tuple[str, int]
"""A partition by its topic's name, as commits have it."""


class CommitRun(NamedTuple):
    """Entries of one timeline that follow each other, all of them OffsetCommit records (type 1) of whole units; or one ``commits`` entry.

    Their keys are of the timeline's group, and each has a value that can be read: a deletion is an entry of its own, since
    what it means depends on the commits before and after it. The order within ``latest`` has no meaning.
    """

    first: int
    """The sequence of its first entry."""
    last: int
    first_ms: int
    """``at_ms`` of the first and of the last entry."""
    last_ms: int
    requests: int
    """Units whose last record has a value: what the finding ``commits`` counts."""
    records: int
    """Commits of single partitions: more than the columns have where they were thinned."""
    last_request: int
    """The sequence of the last entry of the last of them; 0 if there is none."""
    latest: Mapping[Place, Offset | None]
    """Each partition's offset at the end: ``None`` if it was deleted last."""
    topic_ids: Sequence[tuple[str, str]]
    """Topic and topic id, in order, whenever the id differs from the topic's one before in the run. The id
    that means none is left out."""
    value_times_ms: Sequence[int]
    """``at_ms`` of every record with a value, in order; the four that follow are of the same records."""
    places: Sequence[Place]
    committed: Sequence[int]
    ids: Sequence[str | None]
    """The record's topic id; ``None`` if it has none."""
    sequences: Sequence[int]
    batch_times_ms: Sequence[int]
    """``at_ms`` of the first record of each batch, in order; of the first batch even if it began before the run."""
    first_batch: int | None
    """Base offsets of the first and of the last batch; ``None`` where entries have none."""
    last_batch: int | None
    between: Sequence[int] = ()
    """Of each record with a value: the commits of its partition before it that were thinned; empty where none was."""


def replay_commits(state: State, run: CommitRun) -> State:
    """The state after a run; ``ValueError`` if the run does not follow the state's entry."""
    if run.first != state.sequence + 1:
        raise ValueError(
            f"commits from entry {run.first} on came after {state.sequence}; sequences are dense"
        )
    offsets = state.offsets
    by_topic: dict[str, dict[int, Offset]] = {}
    for (topic, partition), offset in run.latest.items():
        if offset is None:
            offsets = deleted(offsets, topic, partition)
        elif topic in by_topic:
            by_topic[topic][partition] = offset
        else:
            by_topic[topic] = {partition: offset}
    # A copy of a topic's offsets for all of its commits, and not one for each.
    offsets = all_committed(offsets, by_topic)
    state = draft(state, sequence=run.last, at_ms=run.last_ms, anomalies=(), offsets=offsets)
    for topic, topic_id in run.topic_ids:
        if state.topic_id(topic) != topic_id:
            state = with_topic(state, topic, topic_id=topic_id)
    return sealed(state.with_simple_group() if run.value_times_ms else state)


def run_of(entry: Entry) -> CommitRun:
    """The run that a ``commits`` entry contains; errors of ``groups.history.replay.fields`` for a payload of another shape.

    Its columns are by partition, so commits of one time have the order of their partitions, and each time counts as one batch.
    """
    payload, sequence = entry.payload, entry.sequence
    first_ms = integer(payload["first_ms"])
    latest: dict[Place, Offset | None] = {}
    rows: list[tuple[int, Place, int, str | None, int]] = []
    for line in payload["commits"]:
        place = str(line["topic"]), integer(line["partition"])
        last = latest[place] = offset_of(line["value"])
        between = line.get("between") or [0] * len(line["offsets"])
        rows += [
            (first_ms + integer(after_ms), place, integer(offset), last.topic_id, integer(thinned))
            for after_ms, offset, thinned in zip(line["after_ms"], line["offsets"], between, strict=True)
        ]
    rows.sort(key=lambda row: row[0])
    topic_ids: list[tuple[str, str]] = []
    known: dict[str, str] = {}
    for _, (topic, _), _, topic_id, _ in rows:
        if topic_id is not None and known.get(topic) != topic_id:
            known[topic] = topic_id
            topic_ids.append((topic, topic_id))
    times_ms = [at_ms for at_ms, *_ in rows]
    return CommitRun(
        first=sequence,
        last=sequence,
        first_ms=entry.at_ms,
        last_ms=entry.at_ms,
        requests=integer(payload["requests"]),
        records=integer(payload["records"]),
        last_request=sequence,
        latest=latest,
        topic_ids=topic_ids,
        value_times_ms=times_ms,
        places=[place for _, place, *_ in rows],
        committed=[offset for _, _, offset, *_ in rows],
        ids=[topic_id for *_, topic_id, _ in rows],
        sequences=[sequence] * len(rows),
        batch_times_ms=sorted(set(times_ms)),
        first_batch=payload["from_offset"],
        last_batch=payload["to_offset"],
        between=[thinned for *_, thinned in rows] if payload.get("thinned") else (),
    )


def thinned(payload: Payload) -> Payload:
    """A ``commits`` entry's payload with few commits of each partition: the first, the last, and what findings are made of.

    The state after the entry stays what it was. ``between`` counts the commits that were removed before each one that is left.
    """
    if payload["thinned"]:
        return payload
    lines = [_thinned_line(line) for line in payload["commits"]]
    left = sum(len(line["offsets"]) for line in lines)
    return {**payload, "thinned": payload["records"] - left, "commits": lines}


def _thinned_line(line: CommitLine) -> CommitLine:
    times, offsets = line["after_ms"], line["offsets"]
    last = len(offsets) - 1
    kept = {0, last}
    gaps = [later - earlier for earlier, later in pairwise(times)]
    if gaps and max(gaps) > max(GAP_KEPT_MS, GAP_KEPT_TIMES * times[last] // last):
        longest = gaps.index(max(gaps))
        kept |= {longest, longest + 1}
    for at, (before, offset) in enumerate(pairwise(offsets)):
        if offset < before:
            kept |= {at, at + 1}
    if len(kept) > last:
        return line
    places = sorted(kept)
    return {
        **line,
        "after_ms": [times[at] for at in places],
        "offsets": [offsets[at] for at in places],
        "between": [0, *(later - earlier - 1 for earlier, later in pairwise(places))],
    }
