"""What ``manage.py import_log`` makes of a fresh broker's segments, held against what the broker said meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .comparison import Frame, Said, disagreements, said_of, untrue_tables
from .conftest import Session
from .fresh import CROWD, OLD, SHARED, TRANSACTIONAL, Recorded
from .node import PROBE
from .share_and_streams import GROUPS as MODERN
from .simulated import SCENARIO as BASIC

pytestmark = [pytest.mark.broker, pytest.mark.spark]

MANAGE = Path(__file__).resolve().parent.parent.parent / "manage.py"
COMMAND_LIMIT_S = 300


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A database of the test's own."""
    database = tmp_path_factory.mktemp("imported") / "imported.sqlite3"
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{database}"}
    manage(environment, "migrate", "--verbosity", "0")
    return environment


@pytest.fixture(scope="module")
def report(recorded: Recorded, environment: dict[str, str]) -> dict[str, Any]:
    """The command's report on the broker's own folders, topic names told by nothing but ``__cluster_metadata``."""
    folders = [*recorded.data.glob("__consumer_offsets-*"), recorded.data / "__cluster_metadata-0"]
    return dict(json.loads(manage(environment, "import_log", *map(str, sorted(folders)))))


@pytest.fixture(scope="module")
def frames(report: dict[str, Any], environment: dict[str, str]) -> dict[str, list[Frame]]:
    """The settled frames of each imported group."""
    ids = {timeline["group"]: timeline["id"] for timeline in report["timelines"]}
    out = {}
    for group in (SHARED, OLD, BASIC, *MODERN):
        lines = manage(environment, "timeline", "show", ids[group], "--format", "frames").splitlines()
        out[group] = [frame for frame in map(json.loads, lines) if frame.pop("settled")]
    return out


def test_every_record_is_read_and_only_the_aborted_offset_left_out(
    report: dict[str, Any], session: Session
) -> None:
    records = report["records"]
    assert records["decoded"] == records["read"] > 0
    (skipped,) = records["skipped"]
    assert "abort" in skipped["reason"]
    groups = {timeline["group"] for timeline in report["timelines"]}
    assert {group for group in groups if not group.startswith(PROBE)} == {
        SHARED,
        OLD,
        CROWD,
        TRANSACTIONAL,
        BASIC,
        session.static_run.group,
        *MODERN,
    }


@pytest.mark.parametrize("group", [SHARED, OLD])
def test_imported_frames_equal_what_the_broker_described_at_those_moments(
    recorded: Recorded, frames: dict[str, list[Frame]], group: str
) -> None:
    assert disagreements(records_alone(frames[group]), recorded.snapshots, group) == []


def test_imported_frames_equal_the_tables_of_kafka_consumer_groups(
    recorded: Recorded, frames: dict[str, list[Frame]]
) -> None:
    own = {group: records_alone(frames[group]) for group in frames}
    assert untrue_tables(own, recorded.tables) == []


def test_the_imported_basic_case_goes_through_the_states_of_the_simulated_one(
    session: Session, frames: dict[str, list[Frame]]
) -> None:
    """The broker was given the simulated requests; what its log shows is the run, state by state."""
    assert stages(records_alone(frames[BASIC])) == stages(session.run.frames)


@pytest.mark.parametrize("group", MODERN)
def test_a_share_and_a_streams_group_go_through_the_states_that_the_broker_described(
    session: Session, frames: dict[str, list[Frame]], group: str
) -> None:
    """Each of their heartbeats was followed by a description, so there is no state that only one side shows."""
    assert session.problem == []
    described = [each["said"] for each in session.modern if each["group"] == group]
    assert [said for before, said in pairwise([{}, *described]) if said != before] == stages(
        records_alone(frames[group])
    )


def stages(frames: list[Frame]) -> list[Said]:
    """What a describer would see, one state after the other; before the first record there is nothing to see."""
    seen = [said_of(frame) for frame in frames if frame["protocol"] is not None and frame["group_epoch"] > 1]
    return [said for before, said in pairwise([{}, *seen]) if said != before]


def records_alone(frames: list[Frame]) -> list[Frame]:
    """Without the frames before the group's first record, when there was nothing to describe."""
    return [frame for frame in frames if frame["protocol"] is not None]


def manage(environment: Mapping[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(MANAGE), *arguments],
        capture_output=True,
        text=True,
        timeout=COMMAND_LIMIT_S,
        env=environment,
    )
    assert done.returncode == 0, f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout
