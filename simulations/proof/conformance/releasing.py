"""Answers that come later: what an operation lets go has to be answered as it was recorded, and when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simulations.proof.conformance.comparing import equal
from simulations.proof.conformance.position import CLOCK_SLACK_MS, Position
from simulations.proof.conformance.recording import Fields, RecordedRequest
from simulations.proof.conformance.versions import of_version
from simulations.protocol.coordinator.classic.parking import ParkedAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A request that waited, and the simulated answer to it."""

    asked: RecordedRequest
    answer: Fields

    def came(self, earliest_ms: int, latest_ms: int, delay_ms: int) -> bool:
        """Whether the recorded answer may be that of an operation between these times; its line is at most so late."""
        return earliest_ms - CLOCK_SLACK_MS <= self.asked.done_ms <= latest_ms + delay_ms

    def agrees(self, earliest_ms: int, latest_ms: int, delay_ms: int) -> bool:
        """Whether it came then, and is the recorded one."""
        return self.came(earliest_ms, latest_ms, delay_ms) and equal(self.asked.response, self.answer)


def released(position: Position, answers: Iterable[ParkedAnswer]) -> tuple[Released, ...]:
    """The answers of an operation to requests that wait; one that was counted as different before is none of them."""
    waiting = {asked.line: asked for asked in position.parked}
    return tuple(
        Released(asked=asked, answer=of_version(asked.api, asked.version, parked.answer.body()))
        for parked in answers
        if (asked := waiting.get(parked.ticket)) is not None
    )
