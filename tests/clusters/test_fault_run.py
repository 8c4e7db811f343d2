"""What dies while a log is followed leaves no hole that is not said, and no entry twice: the fault run, small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clusters.faults import kill_broker, kill_child, run, suspend_child, world_in
from tests.clusters.loaded_world import lacking

TRUTH = {(0, 1): 3, (0, 2): 5, (1, 7): 3}


def test_a_record_that_is_missing_in_silence_is_found() -> None:
    assert lacking(TRUTH, [(0, 1), (1, 7)], []) == ["1 of 3 records are missing, (0, 2) first"]
    assert lacking(TRUTH, [(0, 1), (1, 7)], [(1, 0, 9)]) == ["1 of 3 records are missing, (0, 2) first"]


def test_a_record_that_a_gap_names_is_said_to_be_missing() -> None:
    assert lacking(TRUTH, [(0, 1), (1, 7)], [(0, 2, 6)]) == []


def test_a_record_that_stands_twice_is_found() -> None:
    assert lacking(TRUTH, [*TRUTH, (0, 1)], []) == ["1 records stand there twice"]


@pytest.mark.broker
@pytest.mark.once
def test_the_watching_process_and_the_broker_die_under_load_and_every_record_is_recorded_once(
    released_broker_jars: str, tmp_path: Path
) -> None:
    """``python -m tests.clusters.faults`` is the whole: the server, PostgreSQL, Redis, leases and compaction, too."""
    with world_in(tmp_path) as world:
        lines = run(world, [kill_child, suspend_child, kill_broker], seed=1, say=lambda text: None)
    assert len(lines) == 3
    assert sum(map(len, world.truth.values())) > 100
