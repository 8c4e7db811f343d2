"""Epochs: the entries between two group epochs (or generations), the steps that people think in."""

from __future__ import annotations

from typing import Final, NotRequired, TypedDict

from groups.history.evidence.steps import Step
from groups.history.state.group import Protocol
from groups.history.state.plain import Plain

EPOCHS_KEPT_MAX: Final = 2_000
"""Starts of epochs that stand in a summary; of a longer log the last ones, and the number of all."""


class EpochStart(TypedDict):
    """Where an epoch began: ``sequence`` is that of the step that began it."""

    epoch: int | None
    sequence: int
    at_ms: int
    classic: NotRequired[bool]
    """It is a generation."""


class Epochs:
    """Where each epoch began."""

    def __init__(self) -> None:
        self._starts: list[EpochStart] = []
        self.count = 0
        self.generations = 0
        """How many of them are generations of a classic group."""

    def add(self, step: Step) -> None:
        """An epoch begins with the step that changed it."""
        if not step.epoch_changed or step.after.deleted:
            return
        start: EpochStart = {"epoch": step.epoch, "sequence": step.sequence, "at_ms": step.after.at_ms}
        if step.after.protocol is Protocol.CLASSIC:
            start["classic"] = True
            self.generations += 1
        self._starts.append(start)
        self.count += 1
        if len(self._starts) > EPOCHS_KEPT_MAX:
            del self._starts[: len(self._starts) - EPOCHS_KEPT_MAX]

    def to_json(self) -> list[EpochStart]:
        """The last ones, as a summary has them."""
        return list(self._starts)

    def state_to_json(self) -> Plain:
        return {"starts": self._starts, "count": self.count, "generations": self.generations}

    @classmethod
    def from_json(cls, data: Plain) -> Epochs:
        epochs = cls()
        epochs._starts = list(data["starts"])
        epochs.count, epochs.generations = data["count"], data["generations"]
        return epochs
