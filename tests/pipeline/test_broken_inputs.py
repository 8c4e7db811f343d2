"""Broken inputs among good ones: each gets its reason, nothing beside it is lost, and no import ends for it.

The cases are imported many at a time, since Spark's start costs more than all of their bytes; each has partitions of
its own, so that what the report says of it can be told. ``python -m tests.pipeline.broken`` takes them one by one.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.pipeline.broken import CASES, Case
from tests.pipeline.broken.case import Place, good_segment
from tests.pipeline.broken.importing import Import, Importer, complaints, placed

pytestmark = pytest.mark.spark

CASES_AN_IMPORT = 165
"""A report lists 500 problems, and a case may have three."""

TOGETHER = [(number, case) for number, case in enumerate(CASES) if not case.slow]
CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Batch:
    """Cases that were imported together, with one good segment of which nothing is beside."""

    places: dict[str, Place]
    done: Import


class Batches:
    """Imports a batch of cases when its first one is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.importer = Importer(folder)
        self._made: dict[int, Batch] = {}

    def of(self, case: Case) -> Batch:
        index = next(at for at, (_, each) in enumerate(TOGETHER) if each is case) // CASES_AN_IMPORT
        if index not in self._made:
            chosen = TOGETHER[index * CASES_AN_IMPORT : (index + 1) * CASES_AN_IMPORT]
            self._made[index] = self.take(f"batch-{index}", chosen)
        return self._made[index]

    def take(self, name: str, chosen: list[tuple[int, Case]]) -> Batch:
        root = self.folder / name
        places = placed(root, chosen)
        control = root / "control" / "__consumer_offsets-9"
        control.mkdir(parents=True)
        (control / "00000000000000000000.log").write_bytes(good_segment(CONTROL).bytes())
        return Batch(places, self.importer.take(control.parent, *(place.root for place in places.values())))


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory, spark_can_start: None) -> Batches:
    return Batches(tmp_path_factory.mktemp("broken"))


def test_there_are_more_than_two_hundred_cases_with_a_name_of_their_own() -> None:
    assert len(CASES) >= 200
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for _, case in TOGETHER])
def test_a_broken_input_gets_its_reason_and_costs_nothing_beside_it(batches: Batches, case: Case) -> None:
    batch = batches.of(case)
    place = batch.places[case.name]

    assert batch.done.code == 0, batch.done.errors[-2_000:]
    assert complaints(case, place, batch.done) == []
    control = batch.done.timelines[CONTROL]
    if not case.keeps:
        good = batch.done.timelines[place.name("good")]
        same = ("protocol", "entries", "first_ms", "last_ms", "gaps")
        assert [good[name] for name in same] == [control[name] for name in same]


def test_the_good_segment_beside_is_whole(batches: Batches) -> None:
    batch = batches.of(TOGETHER[0][1])
    control = batch.done.timelines[CONTROL]

    shown = batches.importer.manage("timeline", "show", control["id"], "--format", "records").stdout

    segment = good_segment(CONTROL)
    assert len(shown.splitlines()) == sum(len(each.records) for each in segment.batches)
    assert control["gaps"] == []


def test_where_all_inputs_hold_nothing_the_exit_code_is_two_and_the_last_line_says_why(
    batches: Batches, tmp_path: Path
) -> None:
    empty = [(number, case) for number, case in TOGETHER if case.alone == 2]
    places = placed(tmp_path, empty, good=False)

    done = batches.importer.take(*(place.root for place in places.values()))

    assert done.code == 2
    assert done.timelines == {}
    assert "Nothing was read" in done.errors.splitlines()[-1]
    assert "Traceback" not in done.errors


def test_an_import_of_the_same_files_again_stores_nothing_twice(batches: Batches, tmp_path: Path) -> None:
    some = [(number, case) for number, case in TOGETHER if case.name == "copy-that-is-equal"]
    places = placed(tmp_path, some)
    roots = [place.root for place in places.values()]
    first = batches.importer.take(*roots)
    before = batches.importer.stored()

    again = batches.importer.take(*roots)

    assert json.dumps(again.timelines, sort_keys=True) == json.dumps(first.timelines, sort_keys=True)
    assert batches.importer.stored() == before
