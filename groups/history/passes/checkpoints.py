"""Checkpoints: all that the fold, the findings and the metrics remember, so that either pass goes on from there.

``{"fold_version", "sequence", "first_ms", "state", "findings", "metrics", "causes"}``, plain JSON. A frame is not among them: it
is made of the state. Of another version of the fold nothing can be relied on, so that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Self

import orjson

from groups.history.entries import Entry
from groups.history.evidence.between import step_between
from groups.history.evidence.steps import Step
from groups.history.findings import Finder
from groups.history.metrics import Metrics
from groups.history.replay.fold import FOLD_VERSION
from groups.history.state.copying import replace
from groups.history.state.group import Anomaly, Protocol, Semantics, State, initial_state
from groups.history.state.plain import from_plain, to_plain
from groups.history.story.cause import Cause
from groups.history.story.entry_groups import Causes, EntryGroup

CHUNK_BYTES_GREATEST: Final = 4 * 1024 * 1024
"""A seek makes or fetches one chunk; more than this would be felt."""


def chunk_limit(checkpoint: int, least: int) -> int:
    """Bytes of entries with which a chunk is full: as many as its checkpoint has, which then doubles what is stored at most."""
    return min(max(checkpoint, least), CHUNK_BYTES_GREATEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What is known after entry ``state.sequence``, between two exchanges; ``first_ms`` is ``None`` before the first."""

    state: State
    finder: Finder
    metrics: Metrics
    causes: Causes
    first_ms: int | None

    def to_bytes(self) -> bytes:
        parts: Mapping[str, Callable[[], object]] = {
            "fold_version": lambda: FOLD_VERSION,
            "sequence": lambda: self.state.sequence,
            "first_ms": lambda: self.first_ms,
            "state": lambda: to_plain(_in_order(self.state)),
            "findings": lambda: to_plain(self.finder),
            "metrics": lambda: to_plain(self.metrics),
            "causes": lambda: list(map(to_plain, self.causes)),
        }
        # Part by part: the plain form of a group of thousands of members takes more than the group itself.
        pieces = [b'"%s":%s' % (name.encode(), orjson.dumps(part())) for name, part in parts.items()]
        return b"{" + b",".join(pieces) + b"}"

    @classmethod
    def from_bytes(cls, checkpoint: bytes) -> Checkpoint:
        """The inverse of ``to_bytes``; ``ValueError`` for a checkpoint of another fold, or for no checkpoint at all."""
        known = orjson.loads(checkpoint)
        version = known.get("fold_version") if isinstance(known, dict) else None
        if version != FOLD_VERSION:
            raise ValueError(
                f"a checkpoint of fold version {FOLD_VERSION} is needed, this one is of {version}"
            )
        return cls(
            state=from_plain(State, known["state"]),
            finder=from_plain(Finder, known["findings"]),
            metrics=from_plain(Metrics, known["metrics"]),
            causes=Causes(from_plain(Cause, cause) for cause in known["causes"]),
            first_ms=known["first_ms"],
        )


def _in_order(state: State) -> State:
    """Offsets by topic and partition: no output depends on which was committed first."""
    return replace(
        state,
        offsets={topic: dict(sorted(held.items())) for topic, held in sorted(state.offsets.items())},
    )


class Pass:
    """What both passes over a timeline's entries do: fold them step by step, and go on from a checkpoint."""

    def __init__(
        self,
        *,
        group: str,
        semantics: Semantics | str = Semantics.KAFKA,
        protocol: Protocol | str | None = None,
    ) -> None:
        start = initial_state(group, semantics, protocol)
        self._begin(
            Checkpoint(state=start, finder=Finder(), metrics=Metrics(), causes=Causes(), first_ms=None)
        )

    @classmethod
    def from_checkpoint(cls, checkpoint: bytes) -> Self:
        """A pass over the entries after a checkpoint of either pass, as if it had folded all those before, too.

        ``ValueError`` for a checkpoint of another version of the fold.
        """
        begun = cls.__new__(cls)
        begun._begin(Checkpoint.from_bytes(checkpoint))
        return begun

    def _begin(self, start: Checkpoint) -> None:
        self._state = self._settled = start.state
        self.finder, self.metrics, self._causes = start.finder, start.metrics, start.causes
        self._first_ms = start.first_ms
        self._unit: list[Entry] = []
        self._anomalies: list[Anomaly] = []
        self._exchange: EntryGroup | None = None

    def _require_next(self, entry: Entry) -> None:
        if entry.sequence != self._state.sequence + 1:
            raise ValueError(f"entry {entry.sequence} came after {self._state.sequence}; sequences are dense")

    def _step(self) -> Step:
        """The step of the unit that is whole now; the next unit begins."""
        step = step_between(self._settled, self._state, tuple(self._unit), tuple(self._anomalies))
        self._settled, self._unit, self._anomalies = self._state, [], []
        return step

    def _find(self, step: Step) -> None:
        self.finder.add(step, self._causes.of(step))
        for entry in step.entries:
            self.metrics.add(entry)

    def _checkpoint_bytes(self) -> bytes:
        return Checkpoint(
            state=self._state,
            finder=self.finder,
            metrics=self.metrics,
            causes=self._causes,
            first_ms=self._first_ms,
        ).to_bytes()
