"""Broken inputs for the import, each with its name, its files and what must hold; ``python -m tests.pipeline.broken``
imports them one by one and prints what each was answered.
"""

from __future__ import annotations

from tests.pipeline.broken import batches, copies, foreign, headers, keys, paths, values
from tests.pipeline.broken.case import Case

CASES: tuple[Case, ...] = (
    *headers.cases(),
    *batches.cases(),
    *keys.cases(),
    *values.cases(),
    *foreign.cases(),
    *paths.cases(),
    *copies.cases(),
)

__all__ = ["CASES", "Case"]
