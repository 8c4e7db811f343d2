"""Holds a group's runs between two passes over them: in memory while they are few, else on the disk."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from typing import IO, Final

from groups.pipeline.folding.group_records import GroupRecord
from groups.pipeline.folding.merging import Run

MEMORY_BYTES: Final = 16 * 1024 * 1024
"""What one group may hold in memory; a worker folds one group at a time."""

_OTHER_COSTS: Final = 200
"""Bytes of a record in memory in addition to its payload."""

_READ_TIMES: Final = 6
"""How many times as large a payload is that was read: its dictionaries compared with its text."""


class Spool:
    """``add`` runs, then iterate: once or several times, always in the same order.

    A run comes with what was read of its other records, which is kept as long as all is in memory: ``None`` from the disk.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Run, list[GroupRecord] | None]] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None

    def add(self, run: Run, records: list[GroupRecord]) -> None:
        self._runs.append((run, records))
        self._bytes += run.commits.nbytes
        self._bytes += sum(_READ_TIMES * len(record.text) + _OTHER_COSTS for record in records)
        if self._bytes > MEMORY_BYTES:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
            for held, _ in self._runs:
                pickle.dump(held, self._file, protocol=pickle.HIGHEST_PROTOCOL)
            self._runs, self._bytes = [], 0

    def __iter__(self) -> Iterator[tuple[Run, list[GroupRecord] | None]]:
        if self._file is not None:
            end = self._file.tell()
            self._file.seek(0)
            while self._file.tell() < end:
                # What this very process wrote a moment ago.
                yield pickle.load(self._file), None  # noqa: S301
        yield from self._runs

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
