"""Where a walk along a group's log is: what is used up, what is known, and how exact the log's times are."""

from __future__ import annotations

from base64 import b64decode
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, islice
from typing import Final

from groups.history.passes.units import units
from groups.wire.embedded.consumer_protocol import read_blob
from groups.wire.errors import RecordError
from groups.wire.generated.classic import GROUP_METADATA
from groups.wire.generated.consumer import CONSUMER_GROUP_REGULAR_EXPRESSION
from groups.wire.generated.embedded import SUBSCRIPTION
from simulations.proof.conformance.configs import group_settings
from simulations.proof.conformance.recording import ImageChange, RecordedRequest, Recording, Written, loads_of
from simulations.proof.conformance.requests import HEARTBEAT
from simulations.proof.conformance.timers import Timers
from simulations.protocol.coordinator.consumer.outcome import ResolveRegexes
from simulations.protocol.coordinator.image import ImageTopic
from simulations.protocol.coordinator.shard import Shard

CLOCK_SLACK_MS: Final = 5
"""Times in the log are rounded to a millisecond, and a line may be written a moment after its answer was sent."""

LOG_DELAY_MS: Final = 250
"""A line's time is when it was written, which a busy machine does late; a request may so seem to have been read later
than it was handled. The first guess is that it was not."""

LOG_DELAY_MOST_MS: Final = 5_000
"""As late is believed where nothing else explains what was recorded: a machine that does not move for seconds was seen."""

IMAGE_LAG_LEAST_MS: Final = 20_000
"""How long after a change of the metadata the coordinator may not have seen it, as far as nothing is slow. A broker at
rest hears of it in milliseconds; one that makes a hundred topics hears of them one after another, up to fifteen seconds
late, and answers requests at once meanwhile."""

IMAGE_SHOWN_LAG_MS: Final = 2_000
"""The same once a record of the group has shown that its broker had the image."""

IMAGE_LAG_SLOWEST: Final = 20
"""As many times the slowest request of the recording may it be where something is: a machine that does not move again and
again lets requests wait for it, too."""

IMAGE_LAG_MOST_MS: Final = 60_000
"""Later than this is believed of no machine."""

LATE_IMAGE_MS: Final = 1_000
"""What is seen later than this is excused, and counted."""

UNIT_RECORDS_MOST: Final = 20_000
"""As far as one operation's records are looked for: each member of the largest group once, and some."""

INFINITE_MS: Final = 2**63
"""After every time that is written down."""

READ_LAG_STATES: Final = 64
"""Earlier states that a reading request may still have seen."""


class Log:
    """What was recorded, as the walk looks at it. It stays the same; a ``Position`` has what of it is used up."""

    def __init__(self, recording: Recording) -> None:
        self.group = recording.group
        self.asked = recording.asked
        self.written = recording.written
        self.images = recording.images
        self.loads = loads_of(recording)
        self.known_ms = _known_ms(recording)
        """When each of ``images`` had to be known at the latest."""
        self._recording = recording
        self._heartbeats = sorted(
            (asked.arrived_ms, asked.done_ms) for asked in recording.asked if asked.api == HEARTBEAT
        )
        self._heartbeats_done = list(accumulate((done for _, done in self._heartbeats), max))
        self._group_states = [
            (number, known)
            for number, written in enumerate(recording.written)
            if written.payload["type"] == GROUP_METADATA
            and (value := written.payload.get("value"))
            and isinstance(known := value.get("currentStateTimestamp"), int)
        ]

    def heartbeat_at(self, at_ms: int, delay_ms: int) -> bool:
        """Whether a heartbeat of the group may have been handled at this time."""
        read = bisect_right(self._heartbeats, (at_ms + delay_ms, INFINITE_MS))
        return read > 0 and self._heartbeats_done[read - 1] >= at_ms - CLOCK_SLACK_MS

    def state_times(self, at: int) -> Iterator[int]:
        """When a classic group came to the state in its record, for each such record from this one on."""
        first = bisect_left(self._group_states, (at, -INFINITE_MS))
        return (known for _, known in islice(self._group_states, first, None))

    @cached_property
    def _concerned(self) -> frozenset[str] | None:
        """Topics whose changes can make a difference to the group; ``None``: any."""
        names: set[str] = set()
        for asked in self._recording.asked:
            if asked.request.get("subscribedTopicRegex"):
                return None
            names.update(asked.request.get("subscribedTopicNames") or ())
            for protocol in asked.request.get("protocols") or ():
                names.update(_subscribed(protocol["metadata"]))
            names.update(name for topic in asked.request.get("topics") or () if (name := topic.get("name")))
        for written in self._recording.written:
            value = written.payload.get("value") or {}
            if value.get("subscribedTopicRegex"):
                return None
            names.update(value.get("subscribedTopicNames") or ())
            names.update(filter(None, [written.payload["key"].get("topic")]))
        return frozenset(names)

    def concerned_by(self, change: ImageChange) -> bool:
        """Whether the change can matter to the group; those that cannot need not be tried one by one."""
        if self.group in change.configs:
            return True
        return self._concerned is None or not self._concerned.isdisjoint(change.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """One point of the walk. ``shard`` is never changed: requests go to a copy.

    Records are used up to ``at``, requests up to ``taken`` and those ``ahead`` of it, image changes up to ``images_seen``, other
    coordinators' loads up to ``loads``. ``tasks`` were started (and when) and have no result yet; offsets of ``deleted``
    topics are still there; ``earlier`` are past states, each with when everybody had to know of the next one.
    ``parked`` requests are used up and wait for their answers, of which ``answered`` have come.
    """

    log: Log
    shard: Shard
    at: int = 0
    taken: int = 0
    ahead: frozenset[int] = frozenset()
    images_seen: int = 0
    loads: int = 0
    tasks: tuple[tuple[ResolveRegexes, int], ...] = ()
    deleted: tuple[ImageTopic, ...] = ()
    timers: Timers = field(default_factory=Timers)
    earlier: tuple[tuple[int, Shard], ...] = ()
    parked: tuple[RecordedRequest, ...] = ()
    answered: int = 0

    @property
    def progress(self) -> int:
        """Requests and records that are used up, and answers that came later."""
        return self.at + self.taken + len(self.ahead) + self.answered

    @property
    def is_over(self) -> bool:
        return self.all_asked and self.all_written and not self.parked

    @property
    def answer_due(self) -> RecordedRequest | None:
        """Of the requests that wait, the one that was answered first."""
        return min(self.parked, key=lambda asked: asked.done_ms, default=None)

    @property
    def all_asked(self) -> bool:
        return self.taken == len(self.log.asked)

    @property
    def all_written(self) -> bool:
        return self.at == len(self.log.written)

    def waiting(self) -> Iterator[tuple[int, RecordedRequest]]:
        """Requests that are not used up, with their numbers."""
        for number in range(self.taken, len(self.log.asked)):
            if number not in self.ahead:
                yield number, self.log.asked[number]

    def coming_images(self) -> Iterator[ImageChange]:
        """Changes that the group has not seen."""
        return (self.log.images[number] for number in range(self.images_seen, len(self.log.images)))

    def coming_written(self, count: int) -> Sequence[Written]:
        """The next records, so many if there are."""
        return self.log.written[self.at : self.at + count]

    def next_written_ms(self) -> int | None:
        return None if self.all_written else self.log.written[self.at].at_ms

    def unit(self) -> list[Written]:
        """The records of the operation that comes next in the log."""
        last = min(self.at + UNIT_RECORDS_MOST, len(self.log.written))
        return next(units(self.log.written[number] for number in range(self.at, last)), [])

    def after_images(self, images: int, now_ms: int) -> Shard:
        """A copy of the shard that knows of so many further changes. It writes nothing for them."""
        shard = self.shard.copy()
        for change in islice(self.coming_images(), images):
            change_image(shard, change, now_ms)
        return shard

    def without(self, number: int) -> Position:
        """A request is used up."""
        ahead, taken = self.ahead | {number}, self.taken
        while taken in ahead:
            ahead -= {taken}
            taken += 1
        return replace(self, ahead=ahead, taken=taken)

    def knowing(self, images: int) -> Position:
        """So many further changes have been seen; their deleted topics' offsets are to go."""
        if not images:
            return self
        gone = [topic for change in islice(self.coming_images(), images) for topic in change.deleted]
        return replace(self, images_seen=self.images_seen + images, deleted=(*self.deleted, *gone))

    def freed(self, answered: Collection[RecordedRequest]) -> Position:
        """These requests wait no more."""
        if not answered:
            return self
        lines = {each.line for each in answered}
        waiting = tuple(each for each in self.parked if each.line not in lines)
        return replace(self, parked=waiting, answered=self.answered + len(self.parked) - len(waiting))

    def become(self, shard: Shard, until_ms: int) -> Position:
        """The state is another; requests after ``until_ms`` have to be answered with it."""
        earlier = (*self.earlier[-READ_LAG_STATES + 1 :], (until_ms, self.shard))
        return replace(self, shard=shard, earlier=earlier)


def _subscribed(metadata: str) -> Sequence[str]:
    """The topics of a classic member's subscription, as far as it can be read."""
    try:
        return tuple(read_blob(SUBSCRIPTION, b64decode(metadata), newest_known=0)[0]["topics"])
    except (RecordError, ValueError):
        return ()


def _known_ms(recording: Recording) -> tuple[int, ...]:
    """By change of the metadata the time from which on the group's coordinator knew of it.

    What the recording shows bounds it: the slowest request shows how slow the machine was, and a result of expressions
    of how new an image the broker had.
    """
    own_ms = (asked.done_ms - asked.arrived_ms for asked in recording.asked)
    slowest_ms = max((recording.slowest_ms, *own_ms))
    lag_ms = min(max(IMAGE_LAG_LEAST_MS, IMAGE_LAG_SLOWEST * slowest_ms), IMAGE_LAG_MOST_MS)
    shown = [
        (written.at_ms, value["version"])
        for written in recording.written
        if written.payload["type"] == CONSUMER_GROUP_REGULAR_EXPRESSION
        and (value := written.payload.get("value"))
    ]
    known: list[int] = []
    for change in recording.images:
        proofs = [at_ms + IMAGE_SHOWN_LAG_MS for at_ms, version in shown if version >= change.version]
        known.append(min([change.at_ms + lag_ms, *proofs]))
    return tuple(known)


def change_image(shard: Shard, change: ImageChange, now_ms: int) -> None:
    """The coordinator hears of a change. It writes nothing for it."""
    if config := change.configs.get(shard.state.group):
        group_settings(shard, config)
    if change.names:
        shard.image_changed(change.image, change.names, now_ms)
