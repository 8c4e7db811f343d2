"""What earlier versions stored opens: every timeline, at every moment the frame that today's fold gives."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import orjson
import pytest

pytestmark = [pytest.mark.long, pytest.mark.once]

OLDER = Path(__file__).parent / "older"
LASTS = {
    "fold-6": [60, 71, 121, 162, 256, 2502],
    "fold-22": [60, 71, 121, 123, 162, 256, 620, 2502],
    "fold-23": [60, 71, 121, 123, 162, 256, 620, 2502],
}
"""The last entries of the timelines of each, in ascending order."""


@pytest.mark.parametrize("version", LASTS)
def test_a_database_and_a_store_of_an_earlier_version_open_at_every_moment(
    version: str, tmp_path: Path
) -> None:
    with tarfile.open(OLDER / f"{version}.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    environment = {
        name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "STORE_URL"}
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.older.opening"],
        env={**environment, "REBALANCE_VAR": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    *timelines, ended = map(orjson.loads, done.stdout.splitlines())

    assert sorted(timeline["last"] for timeline in timelines) == LASTS[version]
    assert ended == {"stale": 0}
    for timeline in timelines:
        assert timeline["differs"] == []
        assert timeline["compared"] >= min(timeline["last"], 200) // 40
        assert timeline["ends"] == timeline["summary_ends"]
    assert max(timeline["chunks"] for timeline in timelines) > 1
