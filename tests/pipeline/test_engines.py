"""An import on Spark, in one process and in several is the same import; which of them is chosen, and how each fails."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groups.imports.lifecycle import SAMPLES
from groups.pipeline.engine import LOCAL_BYTES_MOST, SUBMITTED, choose
from groups.pipeline.local import shuffle as shuffling
from groups.pipeline.local.engine import LocalEngine, workers_for
from groups.pipeline.local.shuffle import Shuffle
from groups.pipeline.local.workers import Work, WorkerFailed, Workers
from groups.pipeline.reading.rows import Row, Wanted
from groups.pipeline.reading.splitting import list_sources
from groups.pipeline.reading.tasks import tasks_of
from groups.pipeline.spark.failures import why
from groups.places import ROOT
from tests.benchmarks.generated.mixes import MIXES
from tests.pipeline.broken import CASES
from tests.pipeline.broken.importing import placed
from tests.pipeline.folds import Folds, import_with_engine
from tests.pipeline.segments import FOO, Group, Segment, sample_group

Imported = Callable[..., Folds]

SIZES = {"typical": 2_000, "churn": 2_000, "many-groups": 20, "large-group": 60}

SPLIT_BYTES = 20_000
"""So small that every generated log is several splits, and several tasks read it."""


@pytest.fixture
def alone(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """An import in this process."""

    def run(*paths: Path, workers: int = 0, **request: Any) -> Folds:
        return import_with_engine(LocalEngine(workers), tmp_path_factory.mktemp("store"), *paths, **request)

    return run


def whole(folds: Folds) -> dict[str, Any]:
    """All that an import reports and stores, but for times, the order of tasks, and where in a pack something is."""
    timelines = {}
    for line in folds.of("timeline"):
        name = f"{line['group']}#{line['incarnation']}"
        index = {key: value for key, value in folds.index(name).items() if key != "chunks"}
        told = {key: value for key, value in line.items() if key not in ("index", "pack", "bytes")}
        timelines[name] = (told, folds.entries(name), index)
    [done] = folds.of("done")
    records = done["records"]
    return {
        "timelines": timelines,
        "groups": folds.of("groups")[-1],
        "records": {**records, "skipped": sorted(records["skipped"], key=str)},
        "repeated": sorted(folds.of("repeated"), key=str),
    }


@pytest.fixture(params=["recorded", "generated", "broken", "files of unknown partitions"])
def logs(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    match request.param:
        case "recorded":
            return [SAMPLES, ROOT / "simulations" / "samples"]
        case "generated":
            for partition, (mix, size) in enumerate(SIZES.items()):
                MIXES[mix](tmp_path, size, partition=partition)
            return [tmp_path]
        case "broken":
            cases = [(number, case) for number, case in enumerate(CASES) if not case.slow]
            return [place.root for place in placed(tmp_path, cases).values()]
    sample_group().write(tmp_path / "one", partition=17)
    sample_group().write(tmp_path / "two", partition=None)
    Segment().add(Group("others").join("A", {FOO: [0]})).write(tmp_path / "three", partition=None)
    return [tmp_path]


@pytest.mark.spark
def test_spark_one_process_and_several_make_the_same_of_every_log(
    imported: Imported, alone: Imported, logs: list[Path]
) -> None:
    on_spark = whole(imported(*logs, split_bytes=SPLIT_BYTES))

    assert on_spark["timelines"]
    assert whole(alone(*logs, split_bytes=SPLIT_BYTES)) == on_spark
    assert whole(alone(*logs, split_bytes=SPLIT_BYTES, workers=2)) == on_spark


def test_workers_make_the_same_of_a_log_as_one_process(alone: Imported) -> None:
    assert whole(alone(SAMPLES, workers=2)) == whole(alone(SAMPLES))


def test_blocks_beyond_the_bound_of_memory_come_back_from_a_file_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shuffling, "MEMORY_BYTES", 10)
    shuffle = Shuffle()
    places = [
        ("b", 1, 7, 0),
        ("a", 2, 3, 1),
        ("b", None, 9, 2),
        ("a", 2, 3, 0),
        ("b", 1, 2, 3),
        ("a", None, 5, 4),
    ]
    for group, partition, first, source in places:
        payload = f"{group} {partition} {first} {source}".encode()
        shuffle.add(Row("block", group, partition, source, 0, first, 1, payload))

    shuffle.fill_partitions()

    fetched = [[packed[4].decode() for packed in shuffle.fetch(places)] for places in shuffle.groups()]
    assert fetched == [["a 2 3 0", "a 2 3 1", "a None 5 4"], ["b 1 2 3", "b 1 7 0", "b None 9 2"]]
    shuffle.close()


def test_the_engine_is_chosen_by_size_and_by_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SUBMITTED, raising=False)
    most = LOCAL_BYTES_MOST

    assert choose("auto", size=most, master=None).engine == "local"
    assert choose("auto", size=2 * most, master=None) == ("spark", "130 MB are more than 64 MB")
    assert choose("auto", size=1, master="spark://one:7077").engine == "spark"
    assert choose("local", size=most + 1, master=None).engine == "local"
    assert choose("spark", size=1, master=None).engine == "spark"
    monkeypatch.setenv(SUBMITTED, "1")
    assert choose("auto", size=1, master=None).engine == "spark"
    assert workers_for(1) == 0


def test_a_worker_that_is_killed_ends_the_import_with_a_sentence() -> None:
    workers = Workers(1)
    [process] = workers._processes
    process.send_signal(signal.SIGKILL)

    with pytest.raises(WorkerFailed) as failed:
        list(workers.run([Work("read", ([], None))]))

    assert "REBALANCE_WORKER_MEMORY" in why(failed.value, "import")


def test_a_worker_that_fails_ends_the_others_and_gives_its_traceback(tmp_path: Path) -> None:
    gone = list_sources([str(sample_group().write(tmp_path))]).splits
    (tmp_path / "__consumer_offsets-17" / "00000000000000000000.log").unlink()
    workers = Workers(2)

    with pytest.raises(WorkerFailed, match="FileNotFoundError") as failed:
        list(workers.run([Work("read", (task, Wanted())) for task in tasks_of(gone)]))

    assert why(failed.value, "import") == "The import failed: a file was removed while it was read."
    assert [process.poll() is None for process in workers._processes] == [False, False]
