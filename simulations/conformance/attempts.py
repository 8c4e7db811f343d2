"""The ways in which a request may have been handled: what the coordinator knew by then, and when that was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from groups.wire.coordinator_schema import CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA, OFFSET_COMMIT
from simulations.conformance.asking import READS, Answered, ask
from simulations.conformance.recording import Asked
from simulations.conformance.walk import (
    CLOCK_SLACK_MS,
    IMAGE_LAG_MS,
    LOG_DELAY_MS,
    Walk,
    change_image,
    unit_at,
)
from simulations.coordinator import regexes
from simulations.coordinator.outcome import Record
from simulations.coordinator.shard import Shard


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One way, on a copy: ``before`` the request, and what ``shard`` became.

    ``images`` further changes of the image and ``tasks_done`` results of tasks were known by then.
    """

    before: Shard
    shard: Shard
    answered: Answered
    now_ms: int
    images: int = 0
    tasks_done: int = 0


def attempts(walk: Walk, asked: Asked) -> Iterator[Attempt]:
    """All of them, the least that must be known first; there is one at least."""
    for images in _image_counts(walk, asked):
        for tasks_done in (0, len(walk.tasks)) if walk.tasks else (0,):
            prepared = _prepared(walk, asked, images, tasks_done)
            if prepared is None:
                continue
            for now_ms in _times(walk, asked):
                shard = prepared.copy()
                yield Attempt(
                    before=prepared,
                    shard=shard,
                    answered=ask(shard, asked, now_ms),
                    now_ms=now_ms,
                    images=images,
                    tasks_done=tasks_done,
                )
    if asked.api in READS:
        for until_ms, earlier in reversed(walk.earlier):
            if until_ms + CLOCK_SLACK_MS >= asked.arrived_ms:
                answered = ask(earlier.copy(), asked, asked.arrived_ms)
                yield Attempt(before=walk.shard, shard=walk.shard, answered=answered, now_ms=asked.arrived_ms)


def _image_counts(walk: Walk, asked: Asked) -> list[int]:
    """How many of the coming image changes were known: those that must be, or more, where it can matter."""
    must = may = 0
    counts: list[int] = []
    for count, change in enumerate(walk.images):
        if change.at_ms > asked.done_ms + CLOCK_SLACK_MS:
            break
        if walk.concerned.by(change):
            counts.append(count)
        may = count + 1
        if change.at_ms + IMAGE_LAG_MS < asked.arrived_ms:
            must = count + 1
    return list(dict.fromkeys([must, *(count for count in counts if count > must), may]))


def _prepared(walk: Walk, asked: Asked, images: int, tasks_done: int) -> Shard | None:
    """A copy that knows so many further images and results; ``None`` if a result would have written records."""
    shard = walk.shard.copy()
    for change in islice(walk.images, images):
        change_image(shard, change, asked.arrived_ms)
    for task, started_ms in walk.tasks[:tasks_done]:
        resolution = regexes.resolve(task, shard.image, started_ms)
        if shard.regexes_resolved(resolution, asked.arrived_ms).records:
            return None
    return shard


def _times(walk: Walk, asked: Asked) -> list[int]:
    """When it may have been handled, the likeliest first: a time inside the next records, theirs, or its own."""
    least, most = asked.arrived_ms - LOG_DELAY_MS, asked.done_ms + CLOCK_SLACK_MS
    times: list[int] = []
    if walk.at < len(walk.written) and least <= walk.written[walk.at].at_ms <= most:
        unit = unit_at(walk)
        times += [told for written in unit if (told := _told_ms(written.payload)) is not None]
        times.append(unit[0].at_ms)
    times += [asked.arrived_ms, asked.done_ms, least]
    return list(dict.fromkeys(time for time in times if least <= time <= most))


def _told_ms(record: Record) -> int | None:
    """The handling's own time, where a record tells it."""
    value: Any = record.get("value")
    if value is None:
        return None
    if record["type"] == CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA:
        told = value.get("assignmentTimestamp")
    elif record["type"] == OFFSET_COMMIT:
        told = value.get("commitTimestamp")
    else:
        return None
    return told if isinstance(told, int) else None
