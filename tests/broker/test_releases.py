"""Real brokers of two releases: which one it is, and that each does what the rules of its own release say."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from groups.clusters.checking import check
from groups.releases import OLDER, Release
from groups.releases.table import version_of

from . import played
from .conformed import conform
from .node import Node, running
from .older_rules import PROBES, asked
from .recording import OF_RELEASES
from .releases import ROOT, played_on

pytestmark = pytest.mark.broker

NAMED = {"4.3.1": "4.2 to 4.3", "4.4.0": "4.4 or later"}
"""By release, what the test of a connection takes its broker for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A stopped broker, what went wrong with the exchanges, and what the test of a connection answered while it ran."""

    node: Node
    problems: dict[str, Exception]
    versions: str


@pytest.fixture(scope="module", params=NAMED)
def left(
    released_jars: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Left:
    async def steps(bootstrap: str) -> list[str]:
        return [
            step.text async for step in check({"bootstrap.servers": bootstrap}) if step.name == "versions"
        ]

    folder = tmp_path_factory.mktemp("node")
    with running(folder, played.SETTINGS, request_log=True, release=request.param) as node:
        [versions] = asyncio.run(steps(node.bootstrap))
        problems = played_on(node, OF_RELEASES)
    return Left(node=node, problems=problems, versions=versions)


def test_the_test_of_a_connection_names_the_releases_that_a_broker_can_be(left: Left) -> None:
    assert left.versions.endswith(f"It runs Kafka {NAMED[left.node.release]}.")


def test_a_recording_agrees_with_its_own_release_and_differs_from_the_other_by_rules_of_the_table_alone(
    left: Left,
) -> None:
    assert left.problems == {}
    for judge in (Release.V4_3_1, Release.V4_4_0):
        verdicts = conform(left.node, left.problems, release=judge).verdicts
        assert verdicts.keys() == set(OF_RELEASES)
        differences = [each for verdict in verdicts.values() for each in verdict["differences"]]
        assert bool(differences) == (judge != left.node.release), differences
        assert [each for each in differences if not each["rules"]] == []


def test_a_release_whose_jars_cannot_be_had_is_one_line_and_exit_2() -> None:
    command = [sys.executable, "-m", "tests.broker.releases", "4.9.9"]
    done = subprocess.run(command, env={**os.environ, "PATH": ""}, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("no jars of Kafka 4.9.9 in ")
    assert line.endswith(" and no mvn to fetch them")


def test_a_broker_of_4_2_is_on_the_side_of_each_rule_that_its_release_stands_on(released_jars: str) -> None:
    release = version_of("4.2.1")
    sides = {rule: "new" if version_of(since) <= release else "old" for rule, since in OLDER.items()}
    assert {name for name in sides if name not in PROBES} == {
        "target_cut_to_subscription",
        "deletion_by_topic_id",
    }
    assert asked("4.2.1") == {name: side for name, side in sides.items() if name in PROBES}
