"""What a real broker answered and wrote is what the simulated coordinator answers and writes, exchange by exchange."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from . import improvised, played, real_clients
from .conformed import Conformed, conform
from .exchanges import EXCHANGES
from .node import running
from .played import Stage

EXCHANGES_LEAST = 40

SEEDS = (*range(8), 212)
"""Of the improvised groups; hundreds were played by hand. 212 has two expressions in one bucket of a hash table."""

ERRORS_MET = frozenset({25, 42, 68, 69, 81, 82, 110, 111, 112, 113, 128})
"""What the exchanges are to have been refused with, by heartbeats, fetches and deletions."""


@pytest.fixture(scope="module")
def conformed(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Conformed:
    """Every exchange, every story of real clients and some improvised groups, on one broker, side by side."""
    folder = tmp_path_factory.mktemp("conformance")
    stage = Stage()
    with running(folder, played.SETTINGS, request_log=True) as node:
        with ThreadPoolExecutor(2) as pool:
            clients = pool.submit(real_clients.play, node)
            drawn = pool.submit(improvised.play, node, SEEDS)
            stage.play(node)
            problems = {**clients.result(), **drawn.result()}
        stage.first_acts(node)
        node.stop()
        node.start()
        stage.second_acts(node)
    return conform(node, {**stage.problems, **problems})


def test_there_are_many_exchanges() -> None:
    assert len(EXCHANGES) >= EXCHANGES_LEAST


@pytest.mark.broker
@pytest.mark.parametrize(
    "group", [*EXCHANGES, *real_clients.STORIES, *(improvised.name_of(seed) for seed in SEEDS)]
)
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
