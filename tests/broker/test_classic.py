"""What a real broker answered and wrote to groups of the classic protocol is what the simulated coordinator would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from . import real_classic_clients
from .classic import improvised, recording
from .classic.as_recorded import UNLOGGED
from .classic.exchanges import EXCHANGES
from .classic.repeating import differences
from .classic.transcript import Transcript
from .conformed import Conformed, conform
from .node import running

SEEDS = range(8)
"""Of the improvised groups; hundreds were played by hand."""

Played = tuple[dict[str, Transcript], dict[str, Exception]]


def doubtful(transcripts: dict[str, Transcript], problems: dict[str, Exception]) -> set[str]:
    """What differs, or was not played to its end. A machine that stands still for a second lets timers run out that the script
    meant to beat; what differs by rule differs again, with few others beside it."""
    return {*problems, *(group for group, told in transcripts.items() if differences(told))}


def with_second(first: Played, second: Played) -> Played:
    kept = {group: problem for group, problem in first[1].items() if group not in second[0]}
    return {**first[0], **second[0]}, {**kept, **second[1]}


def is_told(recorded: recording.Recorded, group: str) -> bool:
    """Whether ``conform`` says of the group what it is to say: nothing differs, or what no request log has made a difference."""
    return bool(recorded.verdicts[group]["differences"]) == (group in UNLOGGED)


@pytest.fixture(scope="module")
def played(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> recording.Recorded:
    """Every scripted exchange on one broker, side by side (about a minute); what differs once more, on another one."""
    first = recording.record(tmp_path_factory.mktemp("classic"), EXCHANGES.values())
    again = doubtful(first.transcripts, first.problems)
    again |= {group for group in first.transcripts if not is_told(first, group)}
    if not again:
        return first
    few = [each for each in EXCHANGES.values() if each.name in again]
    second = recording.record(tmp_path_factory.mktemp("classic-again"), few)
    both = with_second((first.transcripts, first.problems), (second.transcripts, second.problems))
    return recording.Recorded(*both, {**first.verdicts, **second.verdicts})


@pytest.fixture(scope="module")
def drawn(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Some improvised groups on another one (half a minute); what differs once more."""
    folder: Path = tmp_path_factory.mktemp("classic-improvised")
    with running(folder, recording.SETTINGS) as node:
        first = improvised.play(node, SEEDS)
    again = doubtful(*first)
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
def test_the_simulated_coordinator_answers_and_writes_what_the_broker_did(
    played: recording.Recorded, group: str
) -> None:
    if group in played.problems:
        raise played.problems[group]
    assert not (found := differences(played.transcripts[group])), "\n".join(found)


@pytest.mark.broker
@pytest.mark.parametrize("group", EXCHANGES)
def test_conform_says_so_of_the_brokers_own_request_log(played: recording.Recorded, group: str) -> None:
    if group in played.problems:
        raise played.problems[group]
    assert played.verdicts[group]["requests"] > 0
    assert is_told(played, group), json.dumps(played.verdicts[group]["differences"])


@pytest.fixture(scope="module")
def clients(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Conformed:
    """Released clients of the classic protocol, and groups that migrate (half a minute)."""
    with running(
        tmp_path_factory.mktemp("classic-clients"), real_classic_clients.SETTINGS, request_log=True
    ) as node:
        problems = real_classic_clients.play(node)
    return conform(node, problems, real_classic_clients.SETTINGS)


@pytest.mark.broker
@pytest.mark.parametrize("group", real_classic_clients.STORIES)
def test_what_real_clients_of_the_classic_protocol_did_is_judged_without_a_difference(
    clients: Conformed, group: str
) -> None:
    if group in clients.problems:
        raise clients.problems[group]
    assert clients.verdicts[group]["requests"] > 0
    assert not clients.verdicts[group]["differences"]
