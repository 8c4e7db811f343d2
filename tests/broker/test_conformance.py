"""What a real broker answered and wrote is what the simulated coordinator answers and writes, exchange by exchange."""

from __future__ import annotations

import json
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from simulations.proof.conformance import NotJudged, report

from . import improvised, played, real_clients
from .conformed import Conformed, conform, recorded_until_alike
from .exchanges import EXCHANGES
from .node import running
from .played import Stage

EXCHANGES_LEAST = 40

SEEDS = (*range(8), 212)
"""Of the improvised groups; hundreds were played by hand. 212 has two expressions in one bucket of a hash table."""

ERRORS_MET = frozenset({25, 42, 68, 69, 81, 82, 110, 111, 112, 113, 128})
"""What the exchanges are to have been refused with, by heartbeats, fetches and deletions."""


DRAWN = {improvised.name_of(seed): seed for seed in SEEDS}

GROUPS = (*EXCHANGES, *real_clients.STORIES, *DRAWN)

DIFFERING = frozenset(name for name, exchange in EXCHANGES.items() if exchange.differs)


def recorded(folder: Path, groups: Collection[str]) -> Conformed:
    """These exchanges, stories of real clients and improvised groups, on one broker, side by side."""
    stage = Stage(exchange for name, exchange in EXCHANGES.items() if name in groups)
    with running(folder, played.SETTINGS, request_log=True) as node:
        with ThreadPoolExecutor(2) as pool:
            clients = pool.submit(real_clients.play, node, groups)
            drawn = pool.submit(improvised.play, node, [DRAWN[name] for name in groups if name in DRAWN])
            stage.play(node)
            problems = {**clients.result(), **drawn.result()}
        stage.first_acts(node)
        node.stop()
        node.start()
        stage.second_acts(node)
    return conform(node, {**stage.problems, **problems})


@pytest.fixture(scope="module")
def conformed(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Conformed:
    def record(number: int, groups: Collection[str]) -> Conformed:
        return recorded(tmp_path_factory.mktemp(f"conformance-{number}"), groups)

    return recorded_until_alike(record, GROUPS, differing=DIFFERING)


def test_there_are_many_exchanges() -> None:
    assert len(EXCHANGES) >= EXCHANGES_LEAST


def test_a_group_that_differs_is_recorded_again_and_one_that_differs_by_rule_differs_each_time() -> None:
    asked: list[list[str]] = []

    def record(number: int, groups: Collection[str]) -> Conformed:
        asked.append(sorted(groups))
        unlucky = {"late": number < 1, "wrong": True, "fine": False}
        verdicts = {group: report([], NotJudged()) for group in groups}
        for group in groups:
            if unlucky[group]:
                verdicts[group]["differences"] = [{"what": "an answer"}]  # type: ignore[typeddict-item]
        return Conformed(verdicts=verdicts, problems={}, errors=frozenset({number}))

    found = recorded_until_alike(record, ["fine", "late", "wrong"])
    assert asked == [["fine", "late", "wrong"], ["late", "wrong"], ["wrong"]]
    assert [group for group in found.verdicts if found.agrees(group)] == ["fine", "late"]
    assert found.errors == {0, 1, 2}


@pytest.mark.broker
@pytest.mark.parametrize("group", GROUPS)
def test_the_simulated_coordinator_answers_and_writes_what_the_broker_did(
    conformed: Conformed, group: str
) -> None:
    if group in conformed.problems:
        raise conformed.problems[group]
    verdict = conformed.verdicts[group]
    assert verdict["requests"] > 0
    told = "\n".join(json.dumps(each) for each in verdict["differences"])
    assert bool(verdict["differences"]) == (group in DIFFERING), told


@pytest.mark.broker
def test_the_exchanges_meet_every_error_of_the_consumer_protocol(conformed: Conformed) -> None:
    assert conformed.errors >= ERRORS_MET
