"""The logs that lessons are told of are the recordings, but for names that would give the answer away."""

from __future__ import annotations

import gzip

import pytest

from simulations.courses import Bundled

from .lesson_logs import BUNDLED, BY_HAND, LOGS, lines_by_hand, lines_of


@pytest.mark.parametrize("name", BUNDLED)
def test_a_lessons_log_is_what_an_import_of_its_recording_gives(name: str) -> None:
    packed = (LOGS / f"{name}.jsonl.gz").read_bytes()
    assert gzip.decompress(packed) == lines_of(BUNDLED[name])
    assert BUNDLED[name].encode() not in gzip.decompress(packed)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_log_that_no_broker_writes_any_more_is_the_one_of_the_finders_test(name: str) -> None:
    assert gzip.decompress((LOGS / f"{name}.jsonl.gz").read_bytes()) == lines_by_hand(name)


def test_every_log_beside_the_lessons_is_one_of_them() -> None:
    assert sorted(Bundled().logs()) == sorted([*BUNDLED, *BY_HAND])
