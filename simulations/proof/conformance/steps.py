"""One step of the walk: from one position to the next, and what it tells of the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulations.proof.conformance.excuses import LATE_IMAGE
from simulations.proof.conformance.position import LATE_IMAGE_MS, Position
from simulations.proof.conformance.recording import ImageChange, RecordedRequest, Written
from simulations.proof.conformance.score import Score
from simulations.proof.conformance.timers import Running
from simulations.proof.conformance.trace import Story
from simulations.protocol.coordinator.consumer.outcome import Record

Refused = tuple[Written, str]
"""A record that a coordinator would not load, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStep:
    """``records``, and the request that was ``asked``, are used up by it; changes of the image that lie between the positions were heard of at ``now_ms``."""

    before: Position
    after: Position
    now_ms: int
    asked: RecordedRequest | None = None
    excuses: tuple[str, ...] = ()

    @property
    def records(self) -> Sequence[Written]:
        return self.before.log.written[self.before.at : self.after.at]

    def _could_have_shown(self, change: ImageChange) -> bool:
        """Whether something that concerns the group was handled between the change and when it was heard of."""
        log = self.before.log
        return log.concerned_by(change) and log.heartbeat_at(
            change.at_ms + LATE_IMAGE_MS // 2, LATE_IMAGE_MS // 2
        )

    def tell(self, tally: Score, story: Story) -> None:
        """Counts and tells the step; steps are told in their order."""
        tally.excuses.update(self.excuses)
        for change in self.before.log.images[self.before.heard : self.after.heard]:
            story.image(change, self.now_ms)
            if self.now_ms - change.at_ms > LATE_IMAGE_MS and self._could_have_shown(change):
                tally.excuses[LATE_IMAGE] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading(SearchStep):
    """Another coordinator has loaded the log: memory is what the records give, and timers begin anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStep(SearchStep):
    """A request that was answered as recorded and wrote what is recorded."""

    asked: RecordedRequest

    def tell(self, tally: Score, story: Story) -> None:
        SearchStep.tell(self, tally, story)
        tally.agreed(len(self.records))
        story.exchange(self.asked, self.now_ms, self.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByItself(SearchStep):
    """Something that the coordinator does without a request; ``what`` names it as ``internal_events`` does."""

    what: str
    member: str | None

    def tell(self, tally: Score, story: Story) -> None:
        SearchStep.tell(self, tally, story)
        tally.equal += len(self.records)
        story.unasked(self.what, self.member, self.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing(SearchStep):
    """A request that the simulated coordinator answers or records otherwise."""

    asked: RecordedRequest
    answer: Mapping[str, Any]
    simulated: Sequence[Record]
    refused: Sequence[Refused]

    def tell(self, tally: Score, story: Story) -> None:
        SearchStep.tell(self, tally, story)
        found = tally.answer(self.asked, self.answer)
        found += tally.records(self.asked, self.records, self.simulated)
        story.exchange(self.asked, self.now_ms, self.records)
        story.differences(found, self.asked.member or None)
        tell_refused(self.refused, tally, story)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexplained(SearchStep):
    """Records that neither a request nor anything else brings about."""

    refused: Sequence[Refused]

    def tell(self, tally: Score, story: Story) -> None:
        SearchStep.tell(self, tally, story)
        found = tally.unexplained(story.group, self.records)
        story.unasked(None, None, self.records)
        story.differences(found, None)
        tell_refused(self.refused, tally, story)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue(SearchStep):
    """A timer ran out in the simulated coordinator, while the log goes on as if it had not."""

    running: Running
    missed: int

    def tell(self, tally: Score, story: Story) -> None:
        SearchStep.tell(self, tally, story)
        late = tally.overdue(story.group, self.running, self.missed)
        story.differences([late], self.running.member_id)


def tell_refused(refused: Sequence[Refused], tally: Score, story: Story) -> None:
    for written, problem in refused:
        story.differences([tally.refused(story.group, written, problem)], None)
