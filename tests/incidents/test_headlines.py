"""The headline of each recorded incident: its worst fact in at most 25 words, and nothing that is not so."""

from __future__ import annotations

from typing import Any

import pytest

from .facts import recorded_names
from .headlines import false_of, lacks, lengths_ms, worst_facts
from .judge import Judgement

NAMES = recorded_names()


def headlines(one: Judgement) -> list[dict[str, Any]]:
    return [verdict["headline"] for verdict in one.said.verdicts]


def test_the_worst_fact_of_every_recording_is_written_down() -> None:
    assert sorted(worst_facts()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_headline_names_the_worst_fact_in_at_most_25_words(judged: dict[str, Judgement], name: str) -> None:
    one = judged[name]
    found = headlines(one)[0]
    assert lacks(name, worst_facts()[name], found, one.world) == [], found["text"]


@pytest.mark.parametrize("name", NAMES)
def test_no_headline_claims_what_is_not_so(judged: dict[str, Judgement], name: str) -> None:
    one = judged[name]
    found = [false_of(one, number, each) for number, each in enumerate(headlines(one), 1)]
    assert found == [[]] * len(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_headline_of_another_recording_lacks_this_ones_worst_fact(
    judged: dict[str, Judgement], name: str
) -> None:
    """The check itself: what it takes for named is in few other headlines."""
    worst = worst_facts()[name]
    one = judged[name]
    others = [
        each
        for each in NAMES
        if each != name and not lacks(each, worst, headlines(judged[each])[0], one.world)
    ]
    assert len(others) <= 10, others


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("for up to 13.1\u202fs; over.", [13_100]),
        ("for 1\u202fmin 29\u202fs, across 2 owners", [89_000]),
        ("twice in 20\u202fms and 2\u202fh 5\u202fmin", [20, 7_500_000]),
        ("orders grew from 3 to 6 partitions", []),
    ],
)
def test_lengths_are_read_from_a_sentence(text: str, lengths: list[int]) -> None:
    assert list(lengths_ms(text)) == lengths
