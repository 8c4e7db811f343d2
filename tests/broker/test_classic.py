"""What a real broker answered and wrote to groups of the classic protocol is what the simulated coordinator would."""

from __future__ import annotations

import json
from collections.abc import Collection

import pytest

from . import real_classic_clients
from .classic import improvised, recording
from .classic.as_recorded import UNLOGGED
from .classic.exchanges import EXCHANGES
from .classic.repeating import differences
from .classic.transcript import Transcript
from .conformed import TRIES, Conformed, conform, recorded_until_alike
from .node import running

SEEDS = range(8)
"""Of the improvised groups; hundreds were played by hand."""

Played = tuple[dict[str, Transcript], dict[str, Exception]]


def doubtful(transcripts: dict[str, Transcript], problems: dict[str, Exception]) -> set[str]:
    """What differs, or was not played to its end: it is played again, with few others beside it (``TRIES``)."""
    return {*problems, *(group for group, told in transcripts.items() if differences(told))}


def with_later(earlier: Played, later: Played) -> Played:
    kept = {group: problem for group, problem in earlier[1].items() if group not in later[0]}
    return {**earlier[0], **later[0]}, {**kept, **later[1]}


def is_told(recorded: recording.Recorded, group: str) -> bool:
    """Whether ``conform`` says of the group what it is to say: nothing differs, or what no request log has made a difference."""
    return bool(recorded.verdicts[group]["differences"]) == (group in UNLOGGED)


@pytest.fixture(scope="module")
def played(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> recording.Recorded:
    """Every scripted exchange on one broker, side by side (about a minute); what differs again, on others."""
    found = recording.record(tmp_path_factory.mktemp("classic"), EXCHANGES.values())
    for _ in range(1, TRIES):
        again = doubtful(found.transcripts, found.problems)
        again |= {group for group in found.transcripts if not is_told(found, group)}
        if not again:
            break
        few = [each for each in EXCHANGES.values() if each.name in again]
        later = recording.record(tmp_path_factory.mktemp("classic-again"), few)
        both = with_later((found.transcripts, found.problems), (later.transcripts, later.problems))
        found = recording.Recorded(*both, {**found.verdicts, **later.verdicts})
    return found


@pytest.fixture(scope="module")
def drawn(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Some improvised groups on another one (half a minute); what differs again."""
    found: Played = {}, {}
    seeds = list(SEEDS)
    for _ in range(TRIES):
        with running(tmp_path_factory.mktemp("classic-improvised"), recording.SETTINGS) as node:
            found = with_later(found, improvised.play(node, seeds))
        again = doubtful(*found)
        seeds = [seed for seed in SEEDS if improvised.name_of(seed) in again]
        if not seeds:
            break
    return found


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

    def record(number: int, groups: Collection[str]) -> Conformed:
        folder = tmp_path_factory.mktemp(f"classic-clients-{number}")
        with running(folder, real_classic_clients.SETTINGS, request_log=True) as node:
            problems = real_classic_clients.play(node, groups)
        return conform(node, problems, real_classic_clients.SETTINGS)

    return recorded_until_alike(record, real_classic_clients.STORIES)


@pytest.mark.broker
@pytest.mark.parametrize("group", real_classic_clients.STORIES)
def test_what_real_clients_of_the_classic_protocol_did_is_judged_without_a_difference(
    clients: Conformed, group: str
) -> None:
    if group in clients.problems:
        raise clients.problems[group]
    assert clients.verdicts[group]["requests"] > 0
    assert not clients.verdicts[group]["differences"]
