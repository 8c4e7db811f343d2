"""What a coordinator does without being asked: timers that run out, results of expressions, offsets that go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, permutations, product
from typing import Final

from groups.wire.generated.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_REGULAR_EXPRESSION,
)
from simulations.proof.conformance.excuses import UNSEEN_TASK
from simulations.proof.conformance.position import (
    CLOCK_SLACK_MS,
    LOG_DELAY_MOST_MS,
    LOG_DELAY_MS,
    Position,
)
from simulations.proof.conformance.recording import Written
from simulations.proof.conformance.timeouts import InternalEvents, timeout
from simulations.protocol.coordinator.consumer import regexes
from simulations.protocol.coordinator.consumer.outcome import Outcome, ResolveRegexes
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.transactions import TRANSACTION_END, producers_of
from simulations.protocol.messages.groups import Heartbeat

PRODUCERS_ORDERED_MOST: Final = 4
"""More open transactions of one group have too many orders to try them all."""


def by_itself(position: Position, first: Written) -> Iterator[InternalEvents]:
    """Everything that may have written the record that comes next, and what follows it."""
    record = first.payload
    removed = record.get("value") is None
    if record["type"] == TRANSACTION_END:
        shard = position.shard.copy()
        shard.load([record])
        yield InternalEvents(
            what="transaction",
            now_ms=first.at_ms,
            shard=shard,
            outcome=Outcome(answer=None, records=(record,)),
        )
        return
    if record["type"] == CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT and removed:
        yield from _expiries(position, record["key"]["memberId"], first.at_ms)
    if record["type"] == CONSUMER_GROUP_REGULAR_EXPRESSION and not removed:
        yield from _results(position, first)
    if removed:
        yield from _deletions(position, first.at_ms)
        shard = position.shard.copy()
        outcome = shard.expire_offsets(first.at_ms)
        yield InternalEvents(what="retention", now_ms=first.at_ms, shard=shard, outcome=outcome)


def _expiries(position: Position, member_id: str, now_ms: int) -> Iterator[InternalEvents]:
    """Removals; where one turns the group into a classic one, the first record need not be of the member that goes."""
    due = sorted(position.timers.due(now_ms), key=lambda running: running.member_id != member_id)
    # The classic group's record has the time of the coordinator's clock.
    known = islice(position.log.state_times(position.at), 1)
    times = dict.fromkeys([now_ms, *(time for time in known if now_ms - LOG_DELAY_MS <= time <= now_ms)])
    for images in _counts(position, now_ms):
        for running in due:
            for time in times:
                yield timeout(position, running, time, images=images)


def _results(position: Position, first: Written) -> Iterator[InternalEvents]:
    value = first.payload["value"]
    assert value is not None
    begun_ms = value["timestamp"]
    if begun_ms > first.at_ms + CLOCK_SLACK_MS:
        return
    # A task waits for a thread of its own: its time is when it got that, not when its heartbeat came.
    known: list[tuple[int | None, ResolveRegexes]] = [
        (index, task)
        for index, (task, started_ms) in enumerate(position.tasks)
        if started_ms - LOG_DELAY_MOST_MS <= begun_ms
    ]
    # One that was not seen to be started needs a heartbeat that may have.
    may_be_unseen = position.log.heartbeat_at(begun_ms, LOG_DELAY_MOST_MS)
    image = _image_of(position, value["version"])
    # The task may have seen an image of which the group's own turn to hear came later; or earlier.
    for images in _counts(position, first.at_ms):
        shard = position.after_images(images, first.at_ms)
        tasks = list(known)
        if may_be_unseen:
            tasks += [(None, task) for task in _could_be_started(shard, first.at_ms)]
        for index, task in tasks:
            resolution = regexes.resolve(task, image, value["timestamp"])
            done = shard.copy()
            outcome = done.regexes_resolved(resolution, first.at_ms)
            yield InternalEvents(
                what="regexes",
                now_ms=first.at_ms,
                shard=done,
                outcome=outcome,
                images=images,
                task=index,
                excuse=UNSEEN_TASK if index is None else None,
            )


def _could_be_started(shard: Shard, now_ms: int) -> Iterator[ResolveRegexes]:
    """Tasks that a bare heartbeat would start: one that did may have seen an image before anything showed it."""
    for member in shard.state.consumer.members.values():
        probe = Heartbeat(
            group_id=shard.state.group,
            member_id=member.member_id,
            member_epoch=member.epoch,
            instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
        )
        yield from shard.copy().heartbeat(probe, now_ms).tasks


def _deletions(position: Position, now_ms: int) -> Iterator[InternalEvents]:
    """Offsets of deleted topics, each deletion an operation of its own."""
    for images in _counts(position, now_ms):
        known = [topic for change in islice(position.coming_images(), images) for topic in change.deleted]
        for topic, producers in product([*position.deleted, *known], _orders(position)):
            gone = [topic]
            shard = position.after_images(images, now_ms)
            outcome = shard.topics_deleted(gone, now_ms, producers)
            yield InternalEvents(
                what="topic deleted",
                now_ms=now_ms,
                shard=shard,
                outcome=outcome,
                images=images,
                deleted=tuple(gone),
            )


def _orders(position: Position) -> Iterable[tuple[int, ...]]:
    """Orders of the producers with open transactions: their table is that of all groups of the coordinator."""
    producers = producers_of(position.shard.memory.pending_offsets)
    return permutations(producers) if len(producers) <= PRODUCERS_ORDERED_MOST else [producers]


def _counts(position: Position, now_ms: int) -> list[int]:
    """How many further changes may have been seen: all, none, and what lies between where it can matter."""
    known = [change for change in position.coming_images() if change.at_ms <= now_ms]
    between = [count for count, change in enumerate(known) if count and position.log.concerned_by(change)]
    return list(dict.fromkeys([0, *between, len(known)]))


def _image_of(position: Position, version: int) -> Image:
    """The image of a version, which may be that of a record that changed no topic."""
    known = [change.image for change in position.log.images if change.version <= version]
    return Image(topics=known[-1].topics if known else {}, version=version)
