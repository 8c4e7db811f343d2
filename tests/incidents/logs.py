"""The recorded incidents as logs, read by the pure packages alone: no Spark, no topic names of the cluster."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.history.corpus import CorpusLog, logs_of_segments

from .facts import RECORDED, SEGMENTS, read_facts
from .segments import unpacked


@cache
def recorded_logs() -> tuple[CorpusLog, ...]:
    """The log of each incident's own group, named like the incident."""
    found = []
    for path in sorted(RECORDED.glob(f"*/{SEGMENTS}")):
        name = path.parent.name
        with tempfile.TemporaryDirectory() as folder:
            logs = list(logs_of_segments(name, unpacked(path.read_bytes(), Path(folder))))
        found += [replace(log, name=name) for log in logs if log.group == read_facts(name)["group"]]
    return tuple(found)
