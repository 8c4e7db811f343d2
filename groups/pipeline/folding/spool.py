"""Holds a group's runs between two passes over them: in memory while they are few, else on the disk."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from typing import IO, Final

from groups.pipeline.folding.merging import Run

MEMORY_BYTES: Final = 24 * 1024 * 1024
"""What one group may hold in memory; a worker folds one group at a time."""

_OTHER_COSTS: Final = 200
"""Bytes of a record in memory beside its payload."""


class Spool:
    """``add`` runs, then iterate: once or several times, always in the same order."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None

    def add(self, run: Run) -> None:
        self._runs.append(run)
        self._bytes += run.commits.nbytes + sum(len(other.payload) + _OTHER_COSTS for other in run.others)
        if self._bytes > MEMORY_BYTES:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
            for held in self._runs:
                pickle.dump(held, self._file, protocol=pickle.HIGHEST_PROTOCOL)
            self._runs, self._bytes = [], 0

    def __iter__(self) -> Iterator[Run]:
        if self._file is not None:
            end = self._file.tell()
            self._file.seek(0)
            while self._file.tell() < end:
                # What this very process wrote a moment ago.
                yield pickle.load(self._file)  # noqa: S301
        yield from self._runs

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
