"""``conform`` notices each single changed value: of a recording, each kind of leaf of answers and records is changed in turn."""

from __future__ import annotations

from datetime import timedelta

import pytest

from simulations.proof.conformance import NotJudged, Recording, recordings, settings_of
from simulations.recorded_files import read
from tests.broker.classic.as_recorded import recording_of
from tests.broker.classic.recording import recorded
from tests.simulations.changed_leaves import lies, unnoticed
from tests.simulations.test_conformance import RECORDED, SETTINGS

EVERY = {"clients-slow-poll": None, "clients-static": 12, "clients-join-leave-kill": 48, "clients-regex": 144}
"""Of one group a leaf of each kind is tried, of the others every so many: each takes a tenth of a second. ``make proof`` tries all of it."""

CLASSIC_EVERY = {
    "classic-cooperative-rounds": 6,
    "classic-static-leader-back": 6,
    "classic-sync-leader-silent": 6,
    "migrate-up-cooperative": 96,
    "migrate-down-leave": 96,
    "mixed-commits": 96,
}
"""The same of recorded exchanges of the classic protocol; ``python -m tests.simulations.changed_leaves`` tries all of all."""


@pytest.fixture(scope="module")
def groups() -> dict[str, Recording]:
    files = read(str(RECORDED.requests), [str(RECORDED.segments)], timedelta())
    every = recordings(files.requests, files.written, files.images, NotJudged())
    return {recording.group: recording for recording in every}


@pytest.mark.parametrize("group", EVERY)
@pytest.mark.long
def test_whichever_value_of_an_answer_or_a_record_is_another_it_is_told(
    groups: dict[str, Recording], group: str
) -> None:
    assert list(unnoticed(groups[group], settings_of(SETTINGS), every=EVERY[group])) == []


@pytest.mark.parametrize("group", CLASSIC_EVERY)
@pytest.mark.long
def test_whichever_value_of_a_classic_groups_recording_is_another_it_is_told(group: str) -> None:
    transcript = recorded()[group]
    recording, settings = recording_of(transcript), settings_of(transcript.settings)
    assert list(unnoticed(recording, settings, every=CLASSIC_EVERY[group])) == []


def test_every_kind_of_place_is_tried(groups: dict[str, Recording]) -> None:
    tried = [path for _, path, _ in lies(groups["clients-slow-poll"])]
    assert len(tried) > 250
    assert {path[0] for path in tried} >= {"errorCode", "memberEpoch", "assignment", "key", "value"}
