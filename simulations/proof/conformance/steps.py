"""One step of the walk: from one position to the next, and what happens on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulations.proof.conformance.excuses import LATE_IMAGE
from simulations.proof.conformance.position import LATE_IMAGE_MS, LOG_DELAY_MOST_MS, Position
from simulations.proof.conformance.recording import Fields, ImageChange, RecordedRequest, Written
from simulations.proof.conformance.releasing import Released
from simulations.proof.conformance.score import Score
from simulations.proof.conformance.splitting import is_turned_away
from simulations.proof.conformance.timers import Running
from simulations.proof.conformance.trace import Story
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.transactions import TRANSACTION_END

Refused = tuple[Written, str]
"""A record that a coordinator would not load, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStep:
    """``records``, and the request that was ``asked``, are used up by it; changes of the image that lie between the positions were seen at ``now_ms``.

    What differs in it differs by the ``rules``, if any; by them the requests ``along`` with it are as recorded.
    """

    before: Position
    after: Position
    now_ms: int
    asked: RecordedRequest | None = None
    excuses: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    along: tuple[RecordedRequest, ...] = ()

    @property
    def records(self) -> Sequence[Written]:
        return self.before.log.written[self.before.at : self.after.at]

    def _could_have_shown(self, change: ImageChange) -> bool:
        """Whether something that concerns the group was handled between the change and when it was seen."""
        log = self.before.log
        return log.concerned_by(change) and log.heartbeat_at(
            change.at_ms + LATE_IMAGE_MS // 2, LATE_IMAGE_MS // 2
        )

    def score(self, tally: Score, story: Story) -> None:
        """Counts the step and writes it down; called in the order of the steps."""
        tally.excuses.update(self.excuses)
        tally.rules = self.rules
        for each in self.along:
            tally.asked(0)
            tally.agreed()
            story.exchange(each, ())
        for change in self.before.log.images[self.before.images_seen : self.after.images_seen]:
            story.image(change, self.now_ms)
            if self.now_ms - change.at_ms > LATE_IMAGE_MS and self._could_have_shown(change):
                tally.excuses[LATE_IMAGE] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading(SearchStep):
    """Another coordinator has loaded the log: memory is what the records give, and timers restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStep(SearchStep):
    """A request that was answered as recorded and wrote what is recorded.

    It ``waits`` if its answer comes with a later step; the requests that it ``answered`` had waited.
    """

    asked: RecordedRequest
    waits: bool
    answered: tuple[RecordedRequest, ...]

    def score(self, tally: Score, story: Story) -> None:
        SearchStep.score(self, tally, story)
        if is_turned_away(self.asked):
            story.waits(self.asked, self.records)
            return
        tally.asked(len(self.records))
        if self.waits:
            story.waits(self.asked, self.records)
        else:
            tally.agreed()
            story.exchange(self.asked, self.records)
        _score_answered(self.answered, tally, story)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedAway(SearchStep):
    """A request that nobody looked at, as the coordinator was another one."""

    asked: RecordedRequest
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ByItself(SearchStep):
    """Something that the coordinator does without a request; ``what`` names it as ``internal_events`` does.

    The requests that it ``answered`` had waited. It ``shows`` nothing where a timer finds nothing to do.
    """

    what: str
    member: str | None
    answered: tuple[RecordedRequest, ...] = ()
    shows: bool = True

    def score(self, tally: Score, story: Story) -> None:
        SearchStep.score(self, tally, story)
        tally.equal += sum(written.payload["type"] != TRANSACTION_END for written in self.records)
        if self.shows:
            story.unasked(self.what, self.member, self.now_ms, self.records)
        _score_answered(self.answered, tally, story)


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing(SearchStep):
    """A request that the simulated coordinator answers or records otherwise."""

    asked: RecordedRequest
    answer: Fields | None
    simulated: Sequence[Record]
    let_go: Sequence[Released]
    refused: Sequence[Refused]

    def score(self, tally: Score, story: Story) -> None:
        SearchStep.score(self, tally, story)
        tally.asked(0)
        found = [] if self.answer is None else tally.answer(self.asked, self.answer)
        found += tally.records(story.group, self.now_ms, self.records, self.simulated)
        if self.answer is None:
            story.waits(self.asked, self.records)
        else:
            story.exchange(self.asked, self.records)
        story.differences(found, self.asked.member or None)
        _score_let_go(self.let_go, self.now_ms, tally, story)
        score_refused(self.refused, tally, story)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingByItself(SearchStep):
    """A timer that lets requests go, which were answered otherwise."""

    what: str
    member: str | None
    simulated: Sequence[Record]
    let_go: Sequence[Released]
    refused: Sequence[Refused]

    def score(self, tally: Score, story: Story) -> None:
        SearchStep.score(self, tally, story)
        found = tally.records(story.group, self.now_ms, self.records, self.simulated)
        story.unasked(self.what, self.member, self.now_ms, self.records)
        story.differences(found, self.member)
        _score_let_go(self.let_go, self.now_ms, tally, story)
        score_refused(self.refused, tally, story)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered(SearchStep):
    """A request that was answered, while the simulated coordinator has it wait on."""

    asked: RecordedRequest

    def score(self, tally: Score, story: Story) -> None:
        SearchStep.score(self, tally, story)
        story.answered(self.asked)
        story.differences([tally.unanswered(self.asked)], self.asked.member or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexplained(SearchStep):
    """Records that neither a request nor anything else brings about."""

    refused: Sequence[Refused]

    def score(self, tally: Score, story: Story) -> None:
        SearchStep.score(self, tally, story)
        found = tally.unexplained(story.group, self.records)
        story.unasked(None, None, self.now_ms, self.records)
        story.differences(found, None)
        score_refused(self.refused, tally, story)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue(SearchStep):
    """A timer ran out in the simulated coordinator, while the log goes on as if it had not."""

    running: Running
    missed: int

    def score(self, tally: Score, story: Story) -> None:
        SearchStep.score(self, tally, story)
        late = tally.overdue(story.group, self.running, self.missed)
        story.differences([late], self.running.member_id)


def _score_answered(answered: Iterable[RecordedRequest], tally: Score, story: Story) -> None:
    for asked in answered:
        tally.agreed()
        story.answered(asked)


def _score_let_go(let_go: Iterable[Released], now_ms: int, tally: Score, story: Story) -> None:
    for each in let_go:
        found = tally.answer(each.asked, each.answer)
        if not found and not each.came(now_ms, now_ms, LOG_DELAY_MOST_MS):
            found = [tally.answered_at(each.asked, now_ms)]
        story.answered(each.asked)
        story.differences(found, each.asked.member or None)


def score_refused(refused: Sequence[Refused], tally: Score, story: Story) -> None:
    for written, problem in refused:
        story.differences([tally.refused(story.group, written, problem)], None)
