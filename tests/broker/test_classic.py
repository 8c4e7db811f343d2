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


def doubtful(played: Played) -> set[str]:
    """What differs, or was not played to its end. A machine that stands still for a second lets timers run out that the script
    meant to beat; what differs by rule differs again, with few others beside it."""
    transcripts, problems = played
    return {*problems, *(group for group, told in transcripts.items() if differences(told))}


def with_second(first: Played, second: Played) -> Played:
    kept = {group: problem for group, problem in first[1].items() if group not in second[0]}
    return {**first[0], **second[0]}, {**kept, **second[1]}


@pytest.fixture(scope="module")
def played(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Every scripted exchange on one broker, side by side (about a minute); what differs once more, on another one."""
    first = recording.record(tmp_path_factory.mktemp("classic"), EXCHANGES.values())
    again = doubtful(first)
    if not again:
        return first
    few = [each for each in EXCHANGES.values() if each.name in again]
    return with_second(first, recording.record(tmp_path_factory.mktemp("classic-again"), few))


@pytest.fixture(scope="module")
def drawn(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Some improvised groups on another one (half a minute); what differs once more."""
    folder: Path = tmp_path_factory.mktemp("classic-improvised")
    with running(folder, recording.SETTINGS) as node:
        first = improvised.play(node, SEEDS)
    again = doubtful(first)
    if not again:
        return first
    with running(tmp_path_factory.mktemp("classic-again"), recording.SETTINGS) as node:
        few = [seed for seed in SEEDS if improvised.name_of(seed) in again]
        return with_second(first, improvised.play(node, few))


@pytest.mark.broker
@pytest.mark.parametrize("group", [improvised.name_of(seed) for seed in SEEDS])
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
