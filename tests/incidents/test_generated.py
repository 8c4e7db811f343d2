"""Forty groups drawn from seeds: the headline of each names its worst fact in at most 25 words, and nothing that is said is false."""

from __future__ import annotations

import pytest

from .generated import KINDS, faults_of, played

SEEDS = range(40)
QUICK = range(len(KINDS))
"""A group of each kind; the others are drawn otherwise and cost four times as much."""


@pytest.mark.parametrize("seed", QUICK)
def test_the_headline_of_a_generated_group_names_its_worst_fact_and_claims_nothing_false(seed: int) -> None:
    one = played(seed)
    assert faults_of(one) == [], one.judged.said.verdicts[0]["headline"]["text"]


@pytest.mark.long
@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed not in QUICK])
def test_so_do_the_headlines_of_the_other_seeds(seed: int) -> None:
    one = played(seed)
    assert faults_of(one) == [], one.judged.said.verdicts[0]["headline"]["text"]


@pytest.mark.parametrize("seed", [1, 3, 9])
def test_the_worst_fact_of_another_group_is_lacking(seed: int) -> None:
    """The check itself: it fails where the headline is another group's."""
    one, other = played(seed), played(seed + 3)
    assert faults_of(one._replace(worst=other.worst))
