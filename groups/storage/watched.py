"""Watch expressions of stored timelines (``groups.history.frames.watch``), and the chunks that they and figures are made of."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, TypedDict

import orjson

from groups.history.frames.changes import Change
from groups.history.frames.shapes import Frame
from groups.history.frames.watch import Step, WatchError, course, parsed
from groups.models import Timeline
from groups.storage.names import named_summary
from groups.storage.timeline_reader import chunk_text, chunks, summary

CHUNKS_MOST: Final = 100
"""Chunks that a figure is drawn of, the newest: as many take about a second to read."""

STEPS_MOST: Final = 5_000
"""Steps of a watch expression that are kept, the newest."""


WATCH_S_MOST: Final = 10.0
"""Each entry of a group of 10,000 partitions takes ``unassigned`` 11 ms, and a hundred chunks have up to 100,000 entries."""


class Watched(TypedDict):
    """``steps``: where the value changed; null is nobody, or not known. ``left_out``: earlier steps.
    ``first_ms``, ``last_ms``: the times between which the expression was followed."""

    of: str
    is_number: bool
    steps: list[Step]
    left_out: int
    first_ms: int
    last_ms: int


def watched(timeline: Timeline, text: str) -> Watched:
    """The course of an expression along the timeline, or along its newest chunks. ``WatchError`` in one line."""
    known = named_summary(summary(timeline), timeline.topic_names)
    names = {member["id"]: member["name"] for member in known.get("cast") or ()}
    expression = parsed(text, [*names.values(), *names], known.get("topics") or ())
    steps: deque[Step] = deque(maxlen=STEPS_MOST)
    count = 0
    end_s = time.monotonic() + WATCH_S_MOST
    followed = ((frame, _in_time(changes, end_s)) for frame, changes in newest_chunks(timeline))
    for step in course(expression, followed, names):
        steps.append(step)
        count += 1
    return {
        "of": expression.text,
        "is_number": expression.is_number,
        "steps": list(steps),
        "left_out": count - len(steps),
        "first_ms": steps[0]["at_ms"] if steps else 0,
        "last_ms": known.get("last_ms") or 0,
    }


def _in_time(changes: Iterable[Change], end_s: float) -> Iterator[Change]:
    for change in changes:
        if time.monotonic() > end_s:
            raise WatchError(
                f"This expression takes more than {WATCH_S_MOST:g} s along this log: its group is too large for it."
            )
        yield change


def newest_chunks(timeline: Timeline) -> Iterator[tuple[Frame, list[Change]]]:
    """The chunks' frames and changes, one after another: a long timeline is never whole in memory."""
    for found in chunks(timeline)[-CHUNKS_MOST:]:
        text = chunk_text(timeline, found.first)
        if text is not None:
            parts = orjson.loads(text[0])
            yield parts["frame"], parts["changes"]
