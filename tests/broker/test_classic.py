"""What a real broker answered and wrote to groups of the classic protocol is what the simulated coordinator would."""

from __future__ import annotations

from pathlib import Path

import pytest

from .classic import improvised, recording
from .classic.exchanges import EXCHANGES
from .classic.repeating import differences
from .classic.transcript import Transcript
from .node import running

SEEDS = range(8)
"""Of the improvised groups; hundreds were played by hand."""

Played = tuple[dict[str, Transcript], dict[str, Exception]]


@pytest.fixture(scope="module")
def played(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Every scripted exchange on one broker, side by side (about a minute)."""
    return recording.record(tmp_path_factory.mktemp("classic"), EXCHANGES.values())


@pytest.fixture(scope="module")
def drawn(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Some improvised groups on another one (half a minute)."""
    folder: Path = tmp_path_factory.mktemp("classic-improvised")
    with running(folder, recording.SETTINGS) as node:
        return improvised.play(node, SEEDS)


@pytest.mark.broker
@pytest.mark.parametrize("group", map(improvised.name_of, SEEDS))
def test_requests_that_are_drawn_at_random_are_answered_alike(drawn: Played, group: str) -> None:
    transcripts, problems = drawn
    if group in problems:
        raise problems[group]
    assert not (found := differences(transcripts[group])), "\n".join(found)


@pytest.mark.broker
@pytest.mark.parametrize("group", EXCHANGES)
def test_the_simulated_coordinator_answers_and_writes_what_the_broker_did(played: Played, group: str) -> None:
    transcripts, problems = played
    if group in problems:
        raise problems[group]
    assert not (found := differences(transcripts[group])), "\n".join(found)
