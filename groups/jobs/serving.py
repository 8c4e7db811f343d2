"""The queues, and whether a worker takes what waits in each: the last known answer, for the pages of what waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RUNS: Final = "runs"
"""Short work: runs, and imports of a few seconds."""

IMPORTS: Final = "imports"
"""Long work: all other imports, sweeps, proofs and searches for remedies."""

QUEUES: Final = (RUNS, IMPORTS)
"""A queue a kind: a team can give each its own workers, so that a long import holds up neither runs nor small imports."""

_unserved: dict[str, str] = {}


def note(unserved: Mapping[str, str]) -> None:
    """Keep which queues no worker serves now, each with what to do about it."""
    _unserved.clear()
    _unserved.update(unserved)


def why_not_served(queue: str) -> str:
    """Why what waits in this queue does not begin, in two sentences; empty where a worker serves it."""
    what_to_do = _unserved.get(queue)
    return f"No worker takes what waits in the queue “{queue}”. {what_to_do}" if what_to_do else ""
