"""Frames of the imported log of scripted groups, asked for in random order, beside what the broker said at that offset."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from tests.serving import ROOT, Served, served

from .moments import Imported, Moment, difference
from .scripted_cases import COMMITTED, SCRIPTS, Played, play

pytestmark = [pytest.mark.broker, pytest.mark.spark]

COMMAND_LIMIT_S = 300
SEED = 11


@pytest.fixture(scope="module")
def played(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("scripted"))


@dataclass(frozen=True, slots=True)
class Board:
    """The product with the imported log in it, asked over HTTP as a browser asks."""

    server: Served
    report: dict[str, Any]

    def frame(self, timeline: str, sequence: int) -> dict[str, Any]:
        with self.server.open(f"/api/timelines/{timeline}/frame?at={sequence}") as answer:
            return dict(json.load(answer))

    def entries(self, group: str) -> dict[str, list[dict[str, Any]]]:
        """The entries of each timeline of a group."""
        ids = [told["id"] for told in self.report["timelines"] if told["group"] == group]
        return {
            timeline: [
                json.loads(line) for line in manage(self.server, "timeline", "show", timeline).splitlines()
            ]
            for timeline in ids
        }


@pytest.fixture(scope="module")
def board(played: Played, tmp_path_factory: pytest.TempPathFactory, spark_can_start: None) -> Iterator[Board]:
    folders = [*played.data.glob("__consumer_offsets-*"), played.data / "__cluster_metadata-0"]
    with served(tmp_path_factory.mktemp("scripted-board")) as server:
        report = json.loads(manage(server, "import_log", *map(str, sorted(folders))))
        yield Board(server, report)


def manage(server: Served, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT, env=server.environment, capture_output=True, text=True, timeout=COMMAND_LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


@pytest.mark.parametrize("group", SCRIPTS)
def test_every_frame_equals_what_the_broker_said_at_its_offset(
    played: Played, board: Board, group: str
) -> None:
    assert played.problems.get(group) is None
    own = [moment for moment in played.moments if moment.group == group]
    assert own, "the broker was never seen while the case went on"
    moments = [*own, played.last[group]]
    random.Random(SEED).shuffle(moments)

    wrong = differences(board, moments, played.deleted[group])
    assert not wrong, "\n".join(wrong)


def test_the_broker_was_asked_often_enough_to_be_seen_on_its_way(played: Played) -> None:
    """How many states of a case are caught is a matter of the machine; of all cases together it cannot be few."""
    seen = {(moment.group, json.dumps(moment.said, sort_keys=True)) for moment in played.moments}
    assert len(seen) >= sum(STATES.values()) // 2


def test_a_frame_of_the_next_state_is_told_apart_from_what_the_broker_said(
    played: Played, board: Board
) -> None:
    """The comparison itself: it would be worth nothing if any frame would do."""
    own = [moment for moment in played.moments if moment.group == "cooperative-revoke"]
    imported = Imported(board.entries("cooperative-revoke"))
    for moment, following in pairwise(own):
        place = imported.before(following)
        assert place is not None
        assert difference(moment, board.frame(place.timeline, place.sequence)) is not None


def differences(board: Board, moments: list[Moment], deleted: frozenset[str]) -> list[str]:
    imported = Imported(board.entries(moments[0].group))
    out = []
    for moment in moments:
        place = imported.before(moment)
        if place is None:
            out.append(f"no record is imported from before offset {moment.end_offset}")
        elif told := difference(moment, board.frame(place.timeline, place.sequence), deleted):
            out.append(told)
    return out


STATES = {
    "join-of-three": 5,
    "cooperative-revoke": 4,
    "member-killed": 3,
    "static-restart": 4,
    "regular-expression": 3,
    "partitions-added": 3,
    "topic-made-anew": 4,
    "two-incarnations": 2,
    "classic": 2,
    "online-migration": 4,
    "transactional": 2,
    "restarted": 4,
}
"""States of each case that a watcher sees on a machine that does nothing else."""


def test_committed_offsets_are_told_and_the_aborted_one_is_not(board: Board) -> None:
    (entries,) = board.entries("transactional").values()
    commits = [
        entry["payload"]["value"]["offset"]
        for entry in entries
        if entry["kind"] == "record" and entry["payload"]["type"] == 1 and entry["payload"]["value"]
    ]
    assert commits == list(COMMITTED)
    assert any("abort" in row["reason"] for row in board.report["records"]["skipped"])


def test_a_migration_to_the_consumer_protocol_and_back_is_one_timeline(board: Board) -> None:
    assert len(board.entries("online-migration")) == 1


def test_a_group_that_was_deleted_and_made_again_is_two_timelines(board: Board) -> None:
    assert len(board.entries("two-incarnations")) == 2
