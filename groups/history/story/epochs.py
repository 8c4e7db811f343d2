"""Epochs: the entries between two group epochs (or generations), the steps that people think in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict

from groups.history.evidence.steps import Step
from groups.history.state.declared import document
from groups.history.state.group import Protocol

EPOCHS_KEPT_MAX: Final = 2_000
"""Starts of epochs that stand in a summary; of a longer log the last ones, and the number of all."""


class EpochStart(TypedDict):
    """Where an epoch began: ``sequence`` is that of the step that began it."""

    epoch: int | None
    sequence: int
    at_ms: int
    classic: NotRequired[bool]
    """It is a generation."""


@document
@dataclass(slots=True)
class Epochs:
    """Where each epoch began."""

    starts: list[EpochStart] = field(default_factory=list)
    """Of the last ones, as a summary has them."""
    count: int = 0
    generations: int = 0
    """How many of them are generations of a classic group."""

    def add(self, step: Step) -> None:
        """An epoch begins with the step that changed it."""
        if not step.epoch_changed or step.after.deleted:
            return
        start: EpochStart = {"epoch": step.epoch, "sequence": step.sequence, "at_ms": step.after.at_ms}
        if step.after.protocol is Protocol.CLASSIC:
            start["classic"] = True
            self.generations += 1
        self.starts.append(start)
        self.count += 1
        if len(self.starts) > EPOCHS_KEPT_MAX:
            del self.starts[: len(self.starts) - EPOCHS_KEPT_MAX]
