"""The ways in which a request may have been handled: what the coordinator knew by then, and when that was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from groups.wire.codecs.values import Value
from groups.wire.generated.classic import GROUP_METADATA, OFFSET_COMMIT
from groups.wire.generated.consumer import CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA
from simulations.proof.conformance.comparing import removed_in_order
from simulations.proof.conformance.excuses import EARLIER_STATE
from simulations.proof.conformance.position import CLOCK_SLACK_MS, Position
from simulations.proof.conformance.recording import RecordedRequest
from simulations.proof.conformance.requests import READS, Answered, ask
from simulations.protocol.coordinator.consumer import regexes
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.shard import Shard

TIMES: Final = {
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA: "assignmentTimestamp",
    OFFSET_COMMIT: "commitTimestamp",
    GROUP_METADATA: "currentStateTimestamp",
}
"""By type of record, the field with the time at which its request was handled."""

COMMITTED_MS: Final = 1_000
"""How long a record of a classic group may take to be committed, as far as it matters for the time of a later state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way, on a copy: ``before`` the request, and what ``shard`` became.

    ``images`` further changes of the image and ``tasks_done`` results of tasks were known by then.
    """

    before: Shard
    shard: Shard
    answered: Answered
    now_ms: int
    images: int = 0
    tasks_done: int = 0
    excuse: str | None = None


def attempts(position: Position, asked: RecordedRequest, delay_ms: int) -> Iterator[Variant]:
    """All of them, the least that must be known first; there is one at least. ``delay_ms``: how late its line may be."""
    for images in _image_counts(position, asked):
        for tasks_done in (0, len(position.tasks)) if position.tasks else (0,):
            prepared = _prepared(position, asked, images, tasks_done)
            if prepared is None:
                continue
            for now_ms in _times(position, asked, delay_ms):
                shard = prepared.copy()
                answered = ask(shard, asked, now_ms, committed_ms=_committed_ms(position, now_ms))
                come = position.coming_written(len(answered.records))
                records = removed_in_order(answered.records, [written.payload for written in come])
                yield Variant(
                    before=prepared,
                    shard=shard,
                    answered=replace(answered, records=records),
                    now_ms=now_ms,
                    images=images,
                    tasks_done=tasks_done,
                )
    if asked.api in READS:
        shard = position.shard
        for until_ms, earlier in reversed(position.earlier):
            if until_ms + CLOCK_SLACK_MS >= asked.arrived_ms:
                answered = ask(earlier.copy(), asked, asked.arrived_ms)
                yield Variant(
                    before=shard,
                    shard=shard,
                    answered=answered,
                    now_ms=asked.arrived_ms,
                    excuse=EARLIER_STATE,
                )


def _image_counts(position: Position, asked: RecordedRequest) -> list[int]:
    """How many of the coming image changes were known: those that must be, or more, where it can matter."""
    must = may = 0
    counts: list[int] = []
    for count, change in enumerate(position.coming_images()):
        if change.at_ms > asked.latest_ms + CLOCK_SLACK_MS:
            break
        if position.log.concerned_by(change):
            counts.append(count)
        may = count + 1
        if position.log.known_ms[position.images_seen + count] < asked.arrived_ms:
            must = count + 1
    return list(dict.fromkeys([must, *(count for count in counts if count > must), may]))


def _prepared(position: Position, asked: RecordedRequest, images: int, tasks_done: int) -> Shard | None:
    """A copy that knows so many further images and results; ``None`` if a result would have written records."""
    shard = position.after_images(images, asked.arrived_ms)
    for task, started_ms in position.tasks[:tasks_done]:
        resolution = regexes.resolve(task, shard.image, started_ms)
        if shard.regexes_resolved(resolution, asked.arrived_ms).records:
            return None
    return shard


def _times(position: Position, asked: RecordedRequest, delay_ms: int) -> list[int]:
    """When it may have been handled, the likeliest first: a time inside the next records, theirs, or its own."""
    least, most = asked.arrived_ms - delay_ms, asked.latest_ms + CLOCK_SLACK_MS
    times: list[int] = []
    next_ms = position.next_written_ms()
    if next_ms is not None and least <= next_ms <= most:
        times += [known for each in position.unit() if (known := _reported_ms(each.payload)) is not None]
        times.append(next_ms)
    # A classic group's next record has the time at which its join phase ended, perhaps by this request.
    times += islice(position.log.state_times(position.at), 1)
    times += [asked.arrived_ms, asked.latest_ms, least]
    return list(dict.fromkeys(time for time in times if least <= time <= most))


def _committed_ms(position: Position, now_ms: int) -> int:
    """When the request's record was in the log, from the one after it, which has the time of that state."""
    following = next(islice(position.log.state_times(position.at), 1, None), None)
    return following if following is not None and now_ms <= following <= now_ms + COMMITTED_MS else now_ms


def _reported_ms(record: Record) -> int | None:
    """The handling's own time, if a record contains it."""
    value = record.get("value")
    field = TIMES.get(record["type"])
    if value is None or field is None:
        return None
    known: Value = value.get(field)
    return known if isinstance(known, int) else None
