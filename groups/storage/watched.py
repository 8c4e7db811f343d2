"""Watch expressions of stored timelines (``groups.history.frames.watch``), and the chunks that they and figures are made of."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, TypedDict

import orjson

from groups.history.frames.changes import Change
from groups.history.frames.shapes import Frame
from groups.history.frames.watch import Step, course, parsed
from groups.models import Timeline
from groups.storage.names import named_summary
from groups.storage.timeline_reader import chunk_text, chunks, summary

CHUNKS_MOST: Final = 100
"""Chunks that a figure is drawn of, the newest: as many take about a second to read."""

STEPS_MOST: Final = 5_000
"""Steps of a watch expression that are kept, the newest."""


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
    for step in course(expression, newest_chunks(timeline), names):
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


def newest_chunks(timeline: Timeline) -> Iterator[tuple[Frame, list[Change]]]:
    """The chunks' frames and changes, one after another: a long timeline is never whole in memory."""
    for found in chunks(timeline)[-CHUNKS_MOST:]:
        text = chunk_text(timeline, found.first)
        if text is not None:
            parts = orjson.loads(text[0])
            yield parts["frame"], parts["changes"]
