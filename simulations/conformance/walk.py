"""What is known along the way: the state that was reached, what comes next, and how exact the log's times are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final, Protocol

from groups.history.units import units
from simulations.conformance.configs import group_settings
from simulations.conformance.recording import ImageChange, Recording, Written
from simulations.conformance.timers import Timers
from simulations.coordinator.image import ImageTopic
from simulations.coordinator.outcome import ResolveRegexes
from simulations.coordinator.shard import Shard

CLOCK_SLACK_MS: Final = 5
"""Times in the log are rounded to a millisecond, and a line may be written a moment after its answer was sent."""

LOG_DELAY_MS: Final = 250
"""A line's time is when it was written, which a busy machine does late; a request may so seem to have been read later
than it was handled. The first guess is that it was not."""

IMAGE_LAG_MS: Final = 10_000
"""How long after a change of the metadata the coordinator may not have heard of it: milliseconds, but three seconds were
seen on a machine with five times the work that it can do."""

UNIT_RECORDS_MOST: Final = 20_000
"""As far as one operation's records are looked for: each member of the largest group once, and some."""


class Concerned:
    """Which changes of the metadata can make a difference to a group; the others need not be tried one by one."""

    def __init__(self, recording: Recording) -> None:
        self._group = recording.group
        self._names: set[str] = set()
        self._all = False
        for asked in recording.asked:
            self._names.update(asked.request.get("subscribedTopicNames") or ())
            self._names.update(
                name for topic in asked.request.get("topics") or () if (name := topic.get("name"))
            )
            self._all = self._all or bool(asked.request.get("subscribedTopicRegex"))
        for written in recording.written:
            value = written.payload.get("value") or {}
            self._names.update(value.get("subscribedTopicNames") or ())
            self._names.update(filter(None, [written.payload["key"].get("topic")]))
            self._all = self._all or bool(value.get("subscribedTopicRegex"))

    def by(self, change: ImageChange) -> bool:
        configured = change.configs is not None and self._group in change.configs
        return configured or self._all or not self._names.isdisjoint(change.names)


class Walk(Protocol):
    """What is looked at of the walk along a group's log."""

    recording: Recording
    written: tuple[Written, ...]
    at: int
    shard: Shard
    timers: Timers
    tasks: list[tuple[ResolveRegexes, int]]
    deleted: list[ImageTopic]
    concerned: Concerned

    @property
    def images(self) -> Sequence[ImageChange]: ...

    @property
    def earlier(self) -> Sequence[tuple[int, Shard]]:
        """States that are past, each with when everybody had to know of the next one."""


def change_image(shard: Shard, change: ImageChange, now_ms: int) -> None:
    """The coordinator hears of a change. It writes nothing for it."""
    if change.configs and (config := change.configs.get(shard.state.group)):
        group_settings(shard, config)
    if change.names:
        shard.image_changed(change.image, change.names, now_ms)


def unit_at(walk: Walk) -> list[Written]:
    """The records of the operation that comes next in the log."""
    return next(units(islice(walk.written, walk.at, walk.at + UNIT_RECORDS_MOST)))
