"""What a coordinator does without being asked: timers that run out, results of expressions, offsets that go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from groups.wire.coordinator_schema import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_REGULAR_EXPRESSION,
)
from simulations.conformance.recording import Written
from simulations.conformance.walk import Walk, change_image
from simulations.coordinator import regexes
from simulations.coordinator.image import Image, ImageTopic
from simulations.coordinator.messages import Heartbeat
from simulations.coordinator.outcome import Outcome, ResolveRegexes
from simulations.coordinator.shard import Shard


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """One thing that may have happened, done on a copy.

    ``images``: further image changes that it implies; ``task``: the task whose result it is; ``deleted``: topics whose
    offsets it removes.
    """

    what: str
    shard: Shard
    outcome: Outcome[None]
    member: str | None = None
    images: int = 0
    task: int | None = None
    deleted: tuple[ImageTopic, ...] = ()


def by_itself(walk: Walk, first: Written) -> Iterator[Unasked]:
    """Everything that may have written the record that comes next, and what follows it."""
    record = first.payload
    removed = record.get("value") is None
    if record["type"] == CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT and removed:
        yield from _expiries(walk, record["key"]["memberId"], first.at_ms)
    if record["type"] == CONSUMER_GROUP_REGULAR_EXPRESSION and not removed:
        yield from _results(walk, first)
    if removed:
        yield from _deletions(walk, first.at_ms)
        shard = walk.shard.copy()
        yield Unasked(what="retention", shard=shard, outcome=shard.expire_offsets(first.at_ms))


def _expiries(walk: Walk, member_id: str, now_ms: int) -> Iterator[Unasked]:
    for images in _counts(walk, now_ms):
        for running in walk.timers.of(member_id):
            if running.earliest_ms <= now_ms:
                shard = _having_heard(walk, images, now_ms)
                outcome = shard.expired(running.timer, member_id, running.bound_epoch, now_ms)
                yield Unasked(
                    what=running.timer, member=member_id, shard=shard, outcome=outcome, images=images
                )


def _results(walk: Walk, first: Written) -> Iterator[Unasked]:
    value = first.payload["value"]
    image = _image_of(walk, value["version"])
    # The task may have seen an image of which the group's own turn to hear came later; or earlier.
    for images in _counts(walk, first.at_ms):
        shard = _having_heard(walk, images, first.at_ms)
        tasks: list[tuple[int | None, ResolveRegexes]] = [
            (index, task) for index, (task, _) in enumerate(walk.tasks)
        ]
        tasks += [(None, task) for task in _could_be_started(shard, first.at_ms)]
        for index, task in tasks:
            resolution = regexes.resolve(task, image, value["timestamp"])
            done = shard.copy()
            outcome = done.regexes_resolved(resolution, first.at_ms)
            yield Unasked(what="regexes", shard=done, outcome=outcome, images=images, task=index)


def _could_be_started(shard: Shard, now_ms: int) -> Iterator[ResolveRegexes]:
    """Tasks that a bare heartbeat would start: one that did may have heard of an image before anything showed it."""
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


def _deletions(walk: Walk, now_ms: int) -> Iterator[Unasked]:
    """Offsets of deleted topics, each deletion an operation of its own."""
    for images in _counts(walk, now_ms):
        heard = [topic for change in islice(walk.images, images) for topic in change.deleted]
        for gone in ([topic] for topic in [*walk.deleted, *heard]):
            shard = _having_heard(walk, images, now_ms)
            outcome = shard.topics_deleted(gone, now_ms)
            yield Unasked(
                what="topic deleted", shard=shard, outcome=outcome, images=images, deleted=tuple(gone)
            )


def _counts(walk: Walk, now_ms: int) -> list[int]:
    """How many further changes may have been heard of: all, none, and what lies between where it can matter."""
    heard = sum(1 for change in walk.images if change.at_ms <= now_ms)
    between = [count for count in range(1, heard) if walk.concerned.by(walk.images[count])]
    return list(dict.fromkeys([0, *between, heard]))


def _having_heard(walk: Walk, images: int, now_ms: int) -> Shard:
    shard = walk.shard.copy()
    for change in islice(walk.images, images):
        change_image(shard, change, now_ms)
    return shard


def _image_of(walk: Walk, version: int) -> Image:
    """The image of a version; the version told may be that of a record that changed no topic."""
    known = [change.image for change in walk.recording.images if change.version <= version]
    return Image(topics=known[-1].topics if known else {}, version=version)
