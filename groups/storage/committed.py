"""Committed offsets of partitions, as lines over time, of a window of a timeline."""

from __future__ import annotations

from typing import Final, TypedDict

from groups.history.evidence.committed import Committed, TopicPartition, thinned
from groups.models import Timeline
from groups.storage.logs import log_of

COMMITS_WITHIN: Final = 200_000
"""Entries of one window: as many are read in a second, and more would hold up other answers."""

LINES_MOST: Final = 64
"""Partitions of one answer: more lines are not distinguished."""

POINTS_MOST: Final = 2_000


class CommittedLine(TypedDict):
    """``points``: sequence, ``at_ms`` and offset (null where the commit was deleted or has expired), in order of the log."""

    topic: str
    partition: int
    commits: int
    points: list[tuple[int, int, int | None]]


class CommittedLines(TypedDict):
    """``more``: partitions that were committed, too, and have no line."""

    lines: list[CommittedLine]
    more: int


def committed_lines(
    timeline: Timeline, first: int, last: int, points: int, partitions: list[TopicPartition] | None
) -> CommittedLines:
    """Lines of these partitions, in their order, or of all by name, of about ``points`` points each.

    Partitions go by the names that a user gave to topics, where somebody did.
    """
    ids = {name: topic_id for topic_id, name in timeline.topic_names.items()}
    wanted = None if partitions is None else [(ids.get(topic, topic), number) for topic, number in partitions]
    found: dict[TopicPartition, list[Committed]] = {place: [] for place in wanted or ()}
    among = None if wanted is None else frozenset(wanted)
    for place, committed in log_of(timeline).committed_between(first, last, among):
        found.setdefault(place, []).append(committed)
    places = wanted if wanted is not None else sorted(found)
    return {
        "lines": [
            {
                "topic": timeline.topic_names.get(topic, topic),
                "partition": number,
                "commits": sum(1 + one.between for one in found[topic, number]),
                "points": [
                    (one.sequence, one.at_ms, one.offset)
                    for one in thinned(found[topic, number], max(1, points // 2))
                ],
            }
            for topic, number in places[:LINES_MOST]
        ],
        "more": max(0, len(places) - LINES_MOST),
    }
