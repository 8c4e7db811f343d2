"""Runs of commits: nine tenths of a real log, told in sum, so that a reader can find them with vectors.

Folding a run gives what folding its entries one by one gives, exactly: the state, the findings and the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from groups.history.evidence.paces import Place
from groups.history.replay.offsets import all_committed, deleted
from groups.history.state.copying import draft, sealed
from groups.history.state.group import Offset, State, with_topic


class CommitRun(NamedTuple):
    """Entries of one timeline that follow each other, all of them OffsetCommit records (type 1) of whole units.

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
    last_request: int
    """The sequence of the last entry of the last of them; 0 if there is none."""
    latest: Mapping[Place, Offset | None]
    """Each partition's offset at the end: ``None`` if it was deleted last."""
    topic_ids: Sequence[tuple[str, str]]
    """Topic and topic id, in order, whenever the id differs from the one that the run told of the topic before. The id
    that means none is not told."""
    value_times_ms: Sequence[int]
    """``at_ms`` of every record with a value, in order; the four that follow are of the same records."""
    places: Sequence[Place]
    committed: Sequence[int]
    ids: Sequence[str | None]
    """The topic id that the record tells; ``None`` for none."""
    sequences: Sequence[int]
    batch_times_ms: Sequence[int]
    """``at_ms`` of the first record of each batch, in order; of the first batch even if it began before the run."""
    first_batch: int | None
    """Base offsets of the first and of the last batch; ``None`` where entries tell none."""
    last_batch: int | None


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
