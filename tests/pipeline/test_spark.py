"""The same through Spark: splits are read in tasks, shuffled by group, sorted and folded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groups.imports import lifecycle
from groups.wire.logs.control import ControlType
from tests.pipeline.folds import Folds, fold
from tests.pipeline.segments import BAR, FOO, Group, Segment, sample_group

pytestmark = pytest.mark.spark

Imported = Callable[..., Folds]


def done(lines: Folds) -> dict[str, Any]:
    last = lines.lines[-1]
    assert last["type"] == "done"
    return dict(last["records"])


def test_spark_gives_the_entries_that_folding_in_one_process_gives(
    imported: Imported, tmp_path: Path
) -> None:
    lines = imported(sample_group().write(tmp_path), split_bytes=100)

    assert lines.entries() == fold(sample_group()).entries()
    assert done(lines)["skipped"] == []


def test_each_group_of_several_partitions_is_a_timeline_ordered_by_offset(
    imported: Imported, tmp_path: Path
) -> None:
    names = [f"group-{number}" for number in range(8)]
    for partition in range(2):
        segment = Segment()
        for _ in range(3):
            for name in names[partition::2]:
                segment.add(Group(name).commit())
        segment.write(tmp_path, partition)

    lines = imported(tmp_path, split_bytes=200)

    assert sorted(lines.timelines) == [f"{name}#1" for name in names]
    for name in names:
        offsets = [entry["offset"] for entry in lines.entries(f"{name}#1")]
        assert offsets == sorted(offsets)
        assert len(offsets) == 3


def test_one_group_alone_can_be_imported(imported: Imported, tmp_path: Path) -> None:
    path = Segment().add(Group("one").commit(), Group("two").commit()).write(tmp_path)

    assert imported(path, groups=["two"]).timelines == ["two#1"]


def test_a_segment_with_and_one_without_its_folder_do_not_double_anything(
    imported: Imported, tmp_path: Path
) -> None:
    with_folder = sample_group().write(tmp_path / "one")
    without = sample_group().write(tmp_path / "two", partition=None)

    lines = imported(without, with_folder)

    assert len(lines.entries()) == len(fold(sample_group()).entries())


def test_a_commit_at_the_end_names_what_stands_at_the_beginning(imported: Imported, tmp_path: Path) -> None:
    segment = Segment().add(Group().join("A", {FOO: [0]}, metadata_hash=4711))
    Segment().add(Group("others").commit()).write(tmp_path, partition=3)
    segment.write(tmp_path, partition=17)

    first = imported(tmp_path).entries()[0]

    assert first["payload"]["topics"] == {"foo": {"id": FOO, "partitions": None}}
    assert first["payload"]["source"] == "commit"


def test_a_file_of_names_is_used_and_said(imported: Imported, tmp_path: Path) -> None:
    path = Segment().add(Group(topics={"bar": BAR}).join("A", {BAR: [0]}, metadata_hash=4711)).write(tmp_path)

    first = imported(path, topics={BAR: {"name": "bar", "partitions": 6}}).entries()[0]

    assert first["payload"] == {
        "note": "topics",
        "topics": {"bar": {"id": BAR, "partitions": 6}},
        "source": "topics file",
    }


def test_commits_count_when_their_transaction_is_committed_and_only_then(
    imported: Imported, tmp_path: Path
) -> None:
    group = Group()
    segment = (
        Segment()
        .transaction(1, group.commit(offset=10))
        .transaction(2, group.commit(offset=20))
        .marker(2, ControlType.ABORT)
        .add(group.commit(offset=30))
        .marker(1, ControlType.COMMIT)
        .transaction(2, group.commit(offset=40))
    )

    lines = imported(segment.write(tmp_path), split_bytes=60)

    committed = [
        entry["payload"]["value"]["offset"] for entry in lines.entries() if entry["kind"] == "record"
    ]
    assert committed == [10, 30]
    assert {(told["offset"], told["records"], told["normal"]) for told in done(lines)["skipped"]} == {
        (1, 1, True),
        (5, 1, True),
    }


def test_damage_is_a_gap_of_the_groups_in_its_partition(imported: Imported, tmp_path: Path) -> None:
    path = sample_group().write(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)

    lines = imported(path)

    [problem] = done(lines)["skipped"]
    gaps = [entry["payload"] for entry in lines.entries() if entry["payload"].get("note") == "gap"]
    assert [(gap["from_offset"], gap["to_offset"]) for gap in gaps] == [
        (problem["offset"], problem["last_offset"])
    ]
    assert "CRC" in problem["reason"]


def test_the_sample_log_gives_its_groups_with_names_from_the_metadata_log(imported: Imported) -> None:
    [sample] = [one for one in lifecycle.samples() if one["name"] == "orders-enrich"]

    lines = imported(*map(Path, sample["paths"]))

    told = {line["group"]: line for line in lines.of("timeline")}
    assert sorted(told) == sorted(group["group"] for group in sample["groups"])
    for line in told.values():
        assert line["nameless"] == []
        assert {topic["id"]: topic["name"] for topic in line["named"]}.items() <= sample["topics"].items()
        assert {topic["source"] for topic in line["named"]} == {"metadata log"}
    assert done(lines)["skipped"] == []


def test_the_samples_names_and_counts_are_proven_by_the_hash_alone(imported: Imported) -> None:
    [sample] = [one for one in lifecycle.samples() if one["name"] == "orders-enrich"]
    segments = sorted(Path(sample["paths"][0]).glob("__consumer_offsets-*/*.log"))

    with_log, alone = imported(*map(Path, sample["paths"])), imported(*segments)

    assert topics_at_the_end(alone) == topics_at_the_end(with_log) == {"orders": 8}


def topics_at_the_end(lines: Folds) -> dict[str, int]:
    """Partition counts of the consumer group's topics."""
    topics = lines.index("orders-enrich#1")["summary"]["topics"]
    return {name: topic["partitions"] for name, topic in topics.items()}


def test_progress_comes_in_stages_and_ends_with_everything_done(imported: Imported, tmp_path: Path) -> None:
    lines = imported(sample_group().write(tmp_path)).of("progress")

    assert list(dict.fromkeys(line["stage"] for line in lines)) == ["Reading", "Read", "Folding", "Done"]
    last = lines[-1]["stages"]
    assert [stage["name"] for stage in last] == ["Recognised", "Read", "Folded", "Stored"]
    assert [(stage["done"], stage["of"], stage["unit"]) for stage in last[1:]] == [
        (17, 17, "records"),
        (1, 1, "groups"),
        (1, 1, "timelines"),
    ]
