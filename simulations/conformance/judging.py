"""One group's recorded requests through a simulated coordinator, in the order in which the broker handled them.

Theory of operation. A request log tells when each request had been read and when its answer had been sent; the
coordinator handled it in between. Requests that overlap may have been handled in any order, but each wrote its records at
once, and those stand in the log in that order. So the walk goes along the log: of the requests that may be next, it takes
the first that a copy of the shard answers as recorded and that writes exactly the records that come next. What the
broker did unasked shows in its records alone: a timer that ran out, a result of regular expressions, offsets of a
deleted topic. It is tried where no request explains the next records, and must be possible (the timer ran, the
task was started).

Where nothing fits there is a difference: it is told, and the walk goes on from the recorded records, so that one difference is
told once.

Taken from the recording: the time inside records (``assignmentTimestamp``, ``commitTimestamp``), within what the
request's own times allow; a result's start and metadata version; the moment of an image change, from its own time on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from groups.history.state import Semantics
from simulations.conformance.attempts import Attempt, attempts
from simulations.conformance.comparing import equal, same_place, same_record
from simulations.conformance.recording import Asked, ImageChange, Recording, Written, loads_of
from simulations.conformance.tallying import Tally
from simulations.conformance.telling import Story
from simulations.conformance.timers import Timers
from simulations.conformance.unasked import Unasked, by_itself
from simulations.conformance.walk import (
    CLOCK_SLACK_MS,
    IMAGE_LAG_MS,
    LOG_DELAY_MS,
    Concerned,
    change_image,
    unit_at,
)
from simulations.coordinator.errors import IllegalState
from simulations.coordinator.image import Image, ImageTopic
from simulations.coordinator.outcome import Record, ResolveRegexes
from simulations.coordinator.settings import Settings
from simulations.coordinator.shard import Shard

READ_LAG_STATES: Final = 64
"""Earlier states that a reading request may still have seen."""


class Judge:
    """Walks along one group's log; ``judge`` gives what it found, ``story`` the entries to watch it by."""

    def __init__(self, recording: Recording, settings: Settings) -> None:
        self.recording = recording
        self.written = recording.written
        self.at = 0
        self.waiting: deque[Asked] = deque(recording.asked)
        self.images: deque[ImageChange] = deque(recording.images)
        self.loads = deque(loads_of(recording))
        self.tasks: list[tuple[ResolveRegexes, int]] = []
        self.deleted: list[ImageTopic] = []
        self.timers = Timers()
        self.concerned = Concerned(recording)
        self.tally = Tally()
        self.story = Story(recording.group)
        self.shard = Shard(recording.group, Semantics.KAFKA, settings, Image(topics={}))
        self.earlier: deque[tuple[int, Shard]] = deque(maxlen=READ_LAG_STATES)

    def judge(self) -> Tally:
        self._begin()
        while self.waiting:
            if not self._step():
                self._force()
        while self.at < len(self.written):
            if not self._unasked():
                self._unexplained()
        return self.tally

    # Where the walk begins.

    def _begin(self) -> None:
        """Records from before the first request are loaded; timers that they imply run since nobody knows when."""
        first_ms = self.waiting[0].arrived_ms - CLOCK_SLACK_MS
        before = [written for written in self.written if written.at_ms < first_ms]
        while self.images and self.images[0].at_ms + IMAGE_LAG_MS < first_ms:
            change_image(self.shard, self.images.popleft(), first_ms)
        self.story.topics(first_ms, self.shard.image)
        self._take_recorded(before)
        self.story.loaded(before)
        self.at = self.tally.loaded = len(before)
        if before:
            outcome = self.shard.loaded(first_ms)
            self.timers.take(outcome.timers, first_ms, None)

    def _loads_before(self, asked: Asked) -> None:
        """A new coordinator has loaded the log since: memory is what the records give, and timers begin anew."""
        while self.loads and self.loads[0] < asked.arrived_ms:
            now_ms = self.loads.popleft()
            # It begins with the image of its moment.
            known = sum(1 for change in self.images if change.at_ms <= now_ms)
            for change in islice(self.images, known):
                change_image(self.shard, change, now_ms)
            self._learn(known, now_ms)
            loaded = Shard(self.recording.group, Semantics.KAFKA, self.shard.settings, self.shard.image)
            loaded.group_config = self.shard.group_config
            loaded.load(written.payload for written in self.written[: self.at])
            self.shard, self.timers, self.tasks = loaded, Timers(), []
            self.timers.take(loaded.loaded(now_ms).timers, now_ms, None)

    # One step of the walk.

    def _step(self) -> bool:
        """The next thing that the broker can have done and that the simulated coordinator does alike."""
        may_be_next = self._may_be_next(CLOCK_SLACK_MS)
        self._loads_before(may_be_next[0])
        come = self.at < len(self.written)
        if come and self._next_ms() < may_be_next[0].arrived_ms - LOG_DELAY_MS and self._unasked():
            return True
        self._overdue(may_be_next[0])
        if self._take_one(may_be_next):
            return True
        if come and self._next_ms() <= may_be_next[0].done_ms + CLOCK_SLACK_MS and self._unasked():
            return True
        return self._take_one(self._may_be_next(LOG_DELAY_MS)[len(may_be_next) :])

    def _take_one(self, may_be_next: Iterable[Asked]) -> bool:
        for asked in may_be_next:
            attempt = self._match(asked)
            if attempt is not None:
                self._accept(asked, attempt)
                return True
        return False

    def _may_be_next(self, slack_ms: int) -> list[Asked]:
        """The requests that were read before the first answer of any of them had been sent, the first first.

        A member's own come in their order.
        """
        out: list[Asked] = []
        members: set[tuple[str, str]] = set()
        first_done_ms = self.waiting[0].done_ms
        for asked in self.waiting:
            if asked.arrived_ms > first_done_ms + slack_ms:
                break
            who = (asked.client, asked.member)
            if who not in members:
                out.append(asked)
            members.add(who)
            first_done_ms = min(first_done_ms, asked.done_ms)
        return out

    def _match(self, asked: Asked) -> Attempt | None:
        """The first attempt that fits; one that explains the next records before one that leaves them to others."""
        first: Attempt | None = None
        for attempt in attempts(self, asked):
            records = attempt.answered.records
            if equal(asked.response, attempt.answered.answer) and self._come_next(records, asked):
                if records or not self._are_due(asked):
                    return attempt
                first = first or attempt
        return first

    def _are_due(self, asked: Asked) -> bool:
        """Whether the next records were written while the request was handled."""
        return (
            self.at < len(self.written)
            and asked.arrived_ms - CLOCK_SLACK_MS <= self._next_ms() <= asked.done_ms + CLOCK_SLACK_MS
        )

    def _come_next(self, records: Sequence[Record], asked: Asked) -> bool:
        """Whether the log goes on with these records, in the time of the request."""
        come = self.written[self.at : self.at + len(records)]
        return len(come) == len(records) and all(
            asked.arrived_ms - LOG_DELAY_MS <= written.at_ms <= asked.done_ms + CLOCK_SLACK_MS
            and same_record(written.payload, record)
            for written, record in zip(come, records, strict=True)
        )

    def _accept(self, asked: Asked, attempt: Attempt) -> None:
        self._learn(attempt.images, attempt.now_ms)
        del self.tasks[: attempt.tasks_done]
        self._remember(asked.done_ms)
        self.shard = attempt.shard
        count = len(attempt.answered.records)
        records = self.written[self.at : self.at + count]
        self.at += count
        self.tally.requests += 1
        self.tally.answers_equal += 1
        self.tally.equal += count
        self._left_behind(asked, attempt)
        self.story.exchange(asked, attempt.now_ms, records)
        self.waiting.remove(asked)

    def _left_behind(self, asked: Asked, attempt: Attempt) -> None:
        known = bool(attempt.answered.records)
        earliest_ms = attempt.now_ms if known else asked.arrived_ms
        self.timers.take(attempt.answered.timers, earliest_ms, attempt.now_ms if known else asked.done_ms)
        self.tasks += [(task, attempt.now_ms) for task in attempt.answered.tasks]

    # What nobody asked for.

    def _unasked(self) -> bool:
        """Explains the next records by something that the coordinator does by itself; false if nothing does."""
        first = self.written[self.at]
        for done in by_itself(self, first):
            records = done.outcome.records
            come = self.written[self.at : self.at + len(records)]
            if not records or len(come) < len(records):
                continue
            pairs = zip(come, records, strict=True)
            if all(same_record(written.payload, record) for written, record in pairs):
                self._take_unasked(done, first, come)
                return True
        return False

    def _take_unasked(self, done: Unasked, first: Written, come: Sequence[Written]) -> None:
        self._remember(first.at_ms + CLOCK_SLACK_MS)
        self._learn(done.images, first.at_ms)
        self.shard = done.shard
        if done.task is not None:
            del self.tasks[done.task]
        if done.deleted:
            gone = set(done.deleted)
            self.deleted = [topic for topic in self.deleted if topic not in gone]
        self.at += len(come)
        self.tally.equal += len(come)
        self.timers.take(done.outcome.timers, first.at_ms, first.at_ms)
        self.story.unasked(done.what, done.member, come)

    # Differences.

    def _force(self) -> None:
        """Nothing fits: the likeliest request is next, and what it says and writes otherwise is told."""
        candidates = self._may_be_next(CLOCK_SLACK_MS)
        if self.at < len(self.written) and self._next_ms() < candidates[0].arrived_ms - LOG_DELAY_MS:
            self._unexplained()
            return
        asked, attempt = self._likeliest(candidates)
        unit = unit_at(self) if self.at < len(self.written) else []
        mine = bool(unit) and self._belongs(asked, attempt, unit)
        recorded = unit if mine else []
        self._learn(attempt.images, attempt.now_ms)
        found = self.tally.answer(asked, attempt.answered.answer)
        found += self.tally.records(asked, recorded, attempt.answered.records)
        self._remember(asked.done_ms)
        del self.tasks[: attempt.tasks_done]
        self.shard = attempt.before.copy()
        self._take_recorded(recorded)
        self.shard.memory = attempt.shard.memory
        self.at += len(recorded)
        self._left_behind(asked, attempt)
        self.story.exchange(asked, attempt.now_ms, recorded)
        self.story.differences(found, asked.member or None)
        self.waiting.remove(asked)

    def _likeliest(self, candidates: Iterable[Asked]) -> tuple[Asked, Attempt]:
        """The first whose records begin as the log goes on, else the first that was read."""
        tried = [(asked, next(attempts(self, asked))) for asked in candidates]
        if self.at < len(self.written):
            come = self.written[self.at].payload
            for asked, attempt in tried:
                if attempt.answered.records and same_place(come, attempt.answered.records[0]):
                    return asked, attempt
        return tried[0]

    def _belongs(self, asked: Asked, attempt: Attempt, unit: Sequence[Written]) -> bool:
        least, most = asked.arrived_ms - LOG_DELAY_MS, asked.done_ms + CLOCK_SLACK_MS
        if not least <= unit[0].at_ms <= most:
            return False
        others = {other.member for other in self._may_be_next(CLOCK_SLACK_MS) if other is not asked}
        members = {written.payload["key"].get("memberId") for written in unit} - {None}
        return bool(attempt.answered.records) or asked.member in members or not members & others

    def _unexplained(self) -> None:
        """Records that neither a request nor anything else brings about here."""
        unit = unit_at(self)
        found = self.tally.unexplained(self.recording.group, unit)
        self._take_recorded(unit)
        self.at += len(unit)
        self.story.unasked(None, None, unit)
        self.story.differences(found, None)

    def _overdue(self, asked: Asked) -> None:
        """Timers that the simulated coordinator would have run out of, while the log goes on as if they had not."""
        for running in self.timers.overdue(asked.arrived_ms):
            self.timers.stop(running)
            trial = self.shard.copy()
            removed = trial.expired(
                running.timer, running.member_id, running.bound_epoch, asked.arrived_ms
            ).records
            if removed:
                late = self.tally.overdue(self.recording.group, running, len(removed))
                self.story.differences([late], running.member_id)

    # Small things.

    def _take_recorded(self, recorded: Sequence[Written]) -> None:
        """Goes on from what the log says."""
        for written in recorded:
            try:
                self.shard.load([written.payload])
            except IllegalState as problem:
                refused = self.tally.refused(self.recording.group, written, str(problem))
                self.story.differences([refused], None)

    def _remember(self, until_ms: int) -> None:
        self.earlier.append((until_ms, self.shard))
        self.shard = self.shard.copy()

    def _next_ms(self) -> int:
        return self.written[self.at].at_ms

    def _learn(self, images: int, now_ms: int) -> None:
        """So many further changes of the image have been heard of."""
        for _ in range(images):
            change = self.images.popleft()
            self.deleted += change.deleted
            self.story.image(change, now_ms)
