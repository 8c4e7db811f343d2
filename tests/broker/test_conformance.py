"""What a real broker answered and wrote is what the simulated coordinator answers and writes, exchange by exchange."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from simulations.conformance import Judge, NotJudged, recordings, report, settings_of
from simulations.conformance.configs import BROKER_SETTINGS
from simulations.recorded_files import read

from . import played, real_clients
from .exchanges import EXCHANGES
from .node import SETTINGS, Node, running
from .played import Stage

EXCHANGES_LEAST = 40

ERRORS_MET = frozenset({25, 42, 68, 69, 81, 82, 110, 111, 112, 113, 128})
"""What the exchanges are to have been refused with, by heartbeats, fetches and deletions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformed:
    """By group: the verdict on it, and what went wrong while it was played."""

    verdicts: dict[str, dict[str, Any]]
    problems: dict[str, Exception]
    errors: frozenset[int]


@pytest.fixture(scope="module")
def conformed(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Conformed:
    """Every exchange and every story of real clients, on one broker, side by side."""
    folder = tmp_path_factory.mktemp("conformance")
    stage = Stage()
    stories: dict[str, Exception] = {}
    with running(folder, played.SETTINGS, request_log=True) as node:
        with ThreadPoolExecutor(2) as pool:
            clients = pool.submit(real_clients.play, node)
            stage.play(node)
            stories = clients.result()
        stage.first_acts(node)
        node.stop()
        node.start()
        stage.second_acts(node)
    return conform(node, {**stage.problems, **stories})


def conform(node: Node, problems: dict[str, Exception]) -> Conformed:
    """What the stopped node left, judged group by group."""
    told = {**SETTINGS, **played.SETTINGS}
    settings = settings_of({name: str(told[name]) for name in BROKER_SETTINGS if name in told})
    files = read(str(node.folder / "broker.log.requests"), [str(node.data)], timedelta())
    not_judged = NotJudged()
    verdicts = {}
    for recording in recordings(files.requests, files.written, files.images, not_judged):
        judge = Judge(recording, settings)
        judge.judge()
        verdicts[recording.group] = report([judge.tally], NotJudged())
    told_errors = {each.response.get("errorCode", 0) for each in files.requests}
    for each in files.requests:
        for name in ("groups", "results"):
            told_errors |= {part["errorCode"] for part in each.response.get(name, ())}
    return Conformed(verdicts=verdicts, problems=problems, errors=frozenset(told_errors))


def test_there_are_many_exchanges() -> None:
    assert len(EXCHANGES) >= EXCHANGES_LEAST


@pytest.mark.broker
@pytest.mark.parametrize("group", [*EXCHANGES, *real_clients.STORIES])
def test_the_simulated_coordinator_answers_and_writes_what_the_broker_did(
    conformed: Conformed, group: str
) -> None:
    if group in conformed.problems:
        raise conformed.problems[group]
    verdict = conformed.verdicts[group]
    differs = group in EXCHANGES and EXCHANGES[group].differs
    assert verdict["requests"] > 0
    told = "\n".join(json.dumps(each) for each in verdict["differences"])
    assert bool(verdict["differences"]) == bool(differs), told


@pytest.mark.broker
def test_the_exchanges_meet_every_error_of_the_consumer_protocol(conformed: Conformed) -> None:
    assert conformed.errors >= ERRORS_MET
