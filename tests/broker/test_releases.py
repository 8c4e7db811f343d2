"""Real brokers of two releases: which one it is, and that each does what the rules of its own release say."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groups.clusters.checking import check
from groups.releases import OLDER, Release
from groups.releases.table import version_of

from .node import running
from .older_rules import PROBES, asked
from .releases import NOT_PLAYED, play

pytestmark = pytest.mark.broker

GROUPS = ("last-leaves", "static-other-subscription", "full-group", "assignor-chosen")
"""Exchanges of which at least one goes otherwise on the other release."""


@pytest.mark.parametrize(("release", "named"), [("4.3.1", "4.2 to 4.3"), ("4.4.0", "4.4 or later")])
def test_the_test_of_a_connection_names_the_releases_that_a_broker_can_be(
    released_jars: str, tmp_path: Path, release: str, named: str
) -> None:
    async def steps(bootstrap: str) -> list[str]:
        return [
            step.text async for step in check({"bootstrap.servers": bootstrap}) if step.name == "versions"
        ]

    with running(tmp_path / "node", release=release) as node:
        [says] = asyncio.run(steps(node.bootstrap))
    assert says.endswith(f"It runs Kafka {named}.")


@pytest.mark.parametrize("release", ["4.3.1", "4.4.0"])
@pytest.mark.parametrize("judge", [Release.V4_3_1, Release.V4_4_0])
def test_a_recording_agrees_with_the_rules_of_its_own_release_and_differs_by_the_others(
    released_jars: str, release: str, judge: Release
) -> None:
    found = play(release, judge, GROUPS)
    assert found.keys() == set(GROUPS)
    differing = [line for lines in found.values() for line in lines if not line.startswith(NOT_PLAYED)]
    assert bool(differing) == (release != judge), differing


def test_a_broker_of_4_2_is_on_the_side_of_each_rule_that_its_release_stands_on(released_jars: str) -> None:
    release = version_of("4.2.1")
    sides = {rule.name: "new" if rule.version <= release else "old" for rule in OLDER}
    assert {name for name in sides if name not in PROBES} == {
        "target_cut_to_subscription",
        "deletion_by_topic_id",
    }
    assert asked("4.2.1") == {name: side for name, side in sides.items() if name in PROBES}
