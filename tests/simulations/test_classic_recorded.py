"""Recorded exchanges of the classic protocol with a broker of 4.3.1, repeated by the simulated coordinator."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

import pytest

from tests.broker.classic.exchanges import EXCHANGES
from tests.broker.classic.recording import IMPROVISED, recorded
from tests.broker.classic.repeating import differences
from tests.broker.classic.transcript import Sent, Transcript

EXCHANGES_LEAST = 60

ERRORS_MET = frozenset({-1, 3, 12, 22, 23, 24, 25, 26, 27, 68, 69, 79, 81, 82, 86, 100})
"""What the recorded requests were refused with."""


def test_each_exchange_was_recorded_and_there_are_many() -> None:
    assert len(EXCHANGES) >= EXCHANGES_LEAST
    assert recorded().keys() >= EXCHANGES.keys()


@pytest.mark.parametrize("group", EXCHANGES)
def test_the_simulated_coordinator_answers_and_writes_what_was_recorded(group: str) -> None:
    assert not (found := differences(recorded()[group])), "\n".join(found)


@pytest.mark.parametrize("group", sorted(recorded(IMPROVISED)))
def test_what_was_drawn_at_random_and_recorded_comes_out_the_same(group: str) -> None:
    assert not (found := differences(recorded(IMPROVISED)[group])), "\n".join(found)


def test_the_recorded_exchanges_meet_the_errors_of_the_classic_protocol() -> None:
    assert {code for transcript in recorded().values() for code in _errors(transcript)} >= ERRORS_MET


def test_another_answer_another_record_and_a_missing_answer_are_found() -> None:
    """The comparison itself: it would be worth nothing if anything would do."""
    right = recorded()["classic-third-joins"]
    joins = [
        index
        for index, event in enumerate(right.events)
        if isinstance(event, Sent) and event.api == "JoinGroup" and event.answer is not None
    ]
    for change in (_another_generation, _no_answer, _later):
        wrong = deepcopy(right)
        event = wrong.events[joins[-1]]
        assert isinstance(event, Sent)
        change(event)
        assert differences(wrong), change
    wrong = deepcopy(right)
    wrong.written.pop()
    assert differences(wrong)
    wrong = deepcopy(right)
    last = wrong.written[-1].payload["value"]
    last["members"] = last["members"][::-1]
    assert differences(wrong)


def _another_generation(sent: Sent) -> None:
    assert sent.answer is not None
    sent.answer = {**sent.answer, "generationId": sent.answer["generationId"] + 1}


def _no_answer(sent: Sent) -> None:
    sent.answer = None


def _later(sent: Sent) -> None:
    assert sent.done_ms is not None
    sent.done_ms += 5_000


def _errors(transcript: Transcript) -> Iterator[int]:
    """The codes of all answers, those of their members, partitions and groups included."""

    def codes(value: object) -> Iterator[int]:
        if isinstance(value, dict):
            if isinstance(code := value.get("errorCode"), int):
                yield code
            for inner in value.values():
                yield from codes(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from codes(inner)

    for event in transcript.events:
        if isinstance(event, Sent):
            yield from codes(event.answer)
