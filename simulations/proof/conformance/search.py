"""One group's recorded requests through a simulated coordinator, in the order in which the broker handled them.

Theory of operation. A request log shows when each request had been read and when its answer had been sent; the
coordinator handled it in between. Requests that overlap may have been handled in any order, but each wrote its records at
once, and those stand in the log in that order. So the walk goes along the log: of the requests that may be next, it takes
the first that a copy of the shard answers as recorded and that writes exactly the records that come next. What the
broker did unasked shows in its records alone: a timer that ran out, a result of regular expressions, offsets of a
deleted topic. It is tried where no request explains the next records, and must be possible (the timer ran, the
task was started).

In the classic protocol a JoinGroup and a SyncGroup wait for other members. Such a request is used up when it was handled, and its answer
when something lets it go: another member's request, or a timer. Which of them it was, and when, is known from the answers that come at once.

Where nothing fits, an earlier step may have been the wrong one: of two requests that overlap the other one came first, or the
change of a topic had been seen already. So the walk goes back and tries what else agreed there, and stays with a way that
leads further. A difference is what no order explains that the times allow: it is reported, and the walk goes on from the
recorded records, so that one difference is reported once.

Taken from the recording: the time inside records (``assignmentTimestamp``, ``commitTimestamp``), within what the
request's own times allow; a result's start and metadata version; the moment of an image change, from its own time on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from groups.history.state.group import Semantics
from simulations.proof.conformance.candidates import (
    agreeing,
    exchanges,
    may_be_next,
    waiting_ahead,
)
from simulations.proof.conformance.differing import differing, take_recorded
from simulations.proof.conformance.other_rules import OtherRules
from simulations.proof.conformance.position import (
    CLOCK_SLACK_MS,
    INFINITE_MS,
    LOG_DELAY_MOST_MS,
    LOG_DELAY_MS,
    Log,
    Position,
    change_image,
)
from simulations.proof.conformance.recording import Recording
from simulations.proof.conformance.score import Score
from simulations.proof.conformance.steps import ByItself, SearchStep, score_refused
from simulations.proof.conformance.trace import Story
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard

BACK_STEPS_MOST: Final = 256
"""How far the walk goes back: the requests of a large group that a machine which stood still for seconds had waiting."""

OTHER_WAY_STEPS_MOST: Final = 1_000
"""Steps tried for one place where nothing fits; a wrong order that can be mended was so within tens."""

OTHER_WAYS_STEPS_MOST: Final = 20_000
"""The same for one group: a recording that is judged with wrong settings differs everywhere, and is not to take hours."""


class Judge:
    """Walks along one group's log; ``judge`` gives what it found, ``story`` the entries to watch it by."""

    def __init__(self, recording: Recording, settings: Settings) -> None:
        self.recording = recording
        self.tally = Score()
        self.story = Story(recording.group)
        self._settings = settings
        self._trail: deque[SearchStep] = deque()
        self._tries = 0
        self._other_rules = OtherRules(settings.release)
        self._steps_left = OTHER_WAYS_STEPS_MOST

    def judge(self) -> Score:
        position = self._begin()
        while not position.is_over:
            position = self._next(position)
        self._score(len(self._trail))
        self.tally.unsought = self._other_rules.is_over
        return self.tally

    def _begin(self) -> Position:
        """Records from before the first request are loaded; timers that they imply run since nobody knows when."""
        log = Log(self.recording)
        first_ms = log.asked[0].arrived_ms - CLOCK_SLACK_MS
        before = [written for written in log.written if written.at_ms < first_ms]
        shard = Shard(log.group, Semantics.KAFKA, self._settings, Image(topics={}))
        known = 0
        while known < len(log.images) and log.known_ms[known] < first_ms:
            change_image(shard, log.images[known], first_ms)
            known += 1
        self.story.topics(first_ms, shard.image)
        refused = take_recorded(shard, before)
        self.story.loaded(before)
        score_refused(refused, self.tally, self.story)
        self.tally.loaded = len(before)
        position = Position(log=log, shard=shard, at=len(before), images_seen=known)
        if before:
            timers = position.timers.taking(shard.loaded(first_ms).timers, -INFINITE_MS, None)
            position = replace(position, timers=timers)
        return position

    def _next(self, position: Position) -> Position:
        """One step further, or several where an earlier one had to be another."""
        for delay_ms in (LOG_DELAY_MS, LOG_DELAY_MOST_MS):
            step = next(agreeing(position, delay_ms), None)
            if step is not None:
                return self._take(step)
            # Of a recording of another release; each place anew would be searched for an order that is not there.
            if step := self._by_other_rules(position, known=True):
                return self._settled(step)
            if self._another_way(position, delay_ms):
                return self._trail[-1].after
        return self._settled(self._by_other_rules(position) or differing(position))

    def _by_other_rules(self, position: Position, *, known: bool = False) -> SearchStep | None:
        trail = list(self._trail)
        earlier = (trail[back] for back in _overlapping(trail, position, LOG_DELAY_MOST_MS))
        return self._other_rules.explained(position, earlier, known=known)

    def _settled(self, step: SearchStep) -> Position:
        """A difference: the walk goes on from the recorded records, and what lies before is not gone back to."""
        self._take(step)
        self._score(len(self._trail))
        return step.after

    def _take(self, step: SearchStep) -> Position:
        self._trail.append(step)
        if len(self._trail) > BACK_STEPS_MOST:
            self._score(1)
        return step.after

    def _score(self, count: int) -> None:
        """The first steps of the trail are final, and are counted and shown."""
        for _ in range(count):
            self._trail.popleft().score(self.tally, self.story)

    # Another way to where nothing fits.

    def _another_way(self, stuck: Position, delay_ms: int) -> bool:
        """Puts another end to the trail, one that leads beyond the stuck position; false if none was found."""
        self._tries = min(OTHER_WAY_STEPS_MOST, self._steps_left)
        before = self._tries
        found = self._found_way(stuck, delay_ms)
        self._steps_left -= before - self._tries
        return found

    def _found_way(self, stuck: Position, delay_ms: int) -> bool:
        trail = list(self._trail)
        for step in waiting_ahead(stuck, delay_ms):
            # That it waits is no progress: something else has to agree for it.
            way = self._followed([step], stuck.progress + 1, delay_ms)
            if way is not None:
                self._trail.extend(way)
                return True
        for back, start in self._others(stuck, trail, delay_ms):
            way = self._followed(start, stuck.progress, delay_ms)
            if way is not None:
                for _ in range(len(trail) - back):
                    self._trail.pop()
                self._trail.extend(way)
                return True
            if self._tries <= 0:
                return False
        return False

    def _others(
        self, stuck: Position, trail: list[SearchStep], delay_ms: int
    ) -> Iterator[tuple[int, list[SearchStep]]]:
        """Steps not taken, each with its place in the trail: first those that bring forward what is stuck, then all."""
        waiting = may_be_next(stuck, CLOCK_SLACK_MS)
        overlapping = list(_overlapping(trail, stuck, delay_ms))
        for back in overlapping:
            for number, _ in waiting:
                if forward := self._brought_forward(trail[back].before, number, delay_ms):
                    yield back, forward
        for back in overlapping:
            for step in agreeing(trail[back].before, delay_ms):
                if _choice(step) != _choice(trail[back]):
                    yield back, [step]

    def _brought_forward(self, position: Position, number: int, delay_ms: int) -> list[SearchStep]:
        """The request before all others, and before it what its client asked earlier; nothing if that does not agree."""
        way: list[SearchStep] = []
        sender = position.log.asked[number].sender
        while not way or way[-1].asked is not position.log.asked[number]:
            if position.all_asked:
                return []
            self._tries -= 1
            own = (each for each in may_be_next(position, delay_ms) if each[1].sender == sender)
            steps = (step for each in own for step in exchanges(position, each, delay_ms))
            step = next(steps, None)
            if step is None:
                return []
            way.append(step)
            position = step.after
        return way

    def _followed(self, start: list[SearchStep], reach: int, delay_ms: int) -> list[SearchStep] | None:
        """The steps from these on, if they use up more of the recording than ``reach``."""
        way = list(start)
        while way[-1].after.progress <= reach:
            self._tries -= 1
            following = next(agreeing(way[-1].after, delay_ms), None) if self._tries > 0 else None
            if following is None:
                return None
            way.append(following)
        return way


def _choice(step: SearchStep) -> tuple[object, ...]:
    """What makes a step another one than others from the same position."""
    line = step.asked.line if step.asked is not None else None
    done = (step.what, step.member, step.now_ms) if isinstance(step, ByItself) else None
    return line, done, step.after.at, step.after.images_seen, len(step.after.tasks)


def _overlapping(trail: list[SearchStep], stuck: Position, delay_ms: int) -> Iterator[int]:
    """Places in the trail, the last first, as far back as something may have been handled along with what is stuck."""
    times = [asked.arrived_ms for _, asked in may_be_next(stuck, CLOCK_SLACK_MS)]
    times += [at_ms for at_ms in [stuck.next_written_ms()] if at_ms is not None]
    times += [asked.done_ms for asked in stuck.parked]
    earliest_ms = min(times) - delay_ms
    for back in range(len(trail) - 1, -1, -1):
        if trail[back].now_ms < earliest_ms:
            return
        yield back
