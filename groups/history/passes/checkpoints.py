"""Checkpoints: all that the fold, the findings and the metrics remember, so that either pass goes on from there.

``{"fold_version", "sequence", "first_ms", "state", "findings", "metrics", "causes"}``, plain JSON. A frame is not among them: it
is made of the state. Of another version of the fold nothing can be relied on, so that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson

from groups.history.findings import Finder
from groups.history.metrics import Metrics
from groups.history.replay.fold import FOLD_VERSION
from groups.history.state.copying import replace
from groups.history.state.group import State
from groups.history.state.plain import from_plain, to_plain
from groups.history.story.cause import Cause
from groups.history.story.entry_groups import Causes


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
        told = orjson.loads(checkpoint)
        version = told.get("fold_version") if isinstance(told, dict) else None
        if version != FOLD_VERSION:
            raise ValueError(
                f"a checkpoint of fold version {FOLD_VERSION} is needed, this one is of {version}"
            )
        return cls(
            state=from_plain(State, told["state"]),
            finder=from_plain(Finder, told["findings"]),
            metrics=from_plain(Metrics, told["metrics"]),
            causes=Causes(from_plain(Cause, cause) for cause in told["causes"]),
            first_ms=told["first_ms"],
        )


def _in_order(state: State) -> State:
    """Offsets by topic and partition: nothing that is told depends on which was committed first."""
    return replace(
        state,
        offsets={topic: dict(sorted(held.items())) for topic, held in sorted(state.offsets.items())},
    )
