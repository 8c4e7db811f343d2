"""What one more rebalance of a group weighs, by its members: bytes in Kafka's log, bytes in the store, and work of a core."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from groups.history.replay.record_types import GROUP_EPOCH
from groups.pipeline.local.engine import LocalEngine
from tests.benchmarks.generated.mixes import churn
from tests.pipeline.folds import import_with_engine

from .figures import Figure

MEMBERS: Final = (5, 30, 100)
RECORDS: Final = (30_000, 60_000)
"""Of two logs that begin alike; the difference has no group that assembles."""

SPLIT_BYTES: Final = 64 * 1024**2


def run() -> Iterator[Figure]:
    for members in MEMBERS:
        less, more = (_measured(members, records) for records in RECORDS)
        rebalances, logged, stored, seconds = (b - a for a, b in zip(less, more, strict=True))
        what = f"one more rebalance of {members} members, and the commits around it"
        yield Figure(what=f"{what}: in Kafka's log", value=logged / rebalances / 1000, unit="KB")
        yield Figure(what=f"{what}: in the store", value=stored / rebalances / 1000, unit="KB")
        yield Figure(what=f"{what}: work of a core", value=1000 * seconds / rebalances, unit="ms")


def _measured(members: int, records: int) -> tuple[float, float, float, float]:
    """Rebalances, bytes of the log, bytes of the store, and processor time."""
    with tempfile.TemporaryDirectory() as folder:
        log = churn(Path(folder) / "log", records, groups=1, members=members)
        store = Path(folder) / "store"
        begun = time.process_time()
        import_with_engine(LocalEngine(), store, log.files[0].parent, split_bytes=SPLIT_BYTES)
        seconds = time.process_time() - begun
        stored = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
        return log.types[GROUP_EPOCH], log.size_bytes, stored, seconds
