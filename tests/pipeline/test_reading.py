"""Reading a split: every record that can be read is, and what cannot is told with file, offset and reason."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from groups.pipeline.reading import gathering, offsets_split
from groups.pipeline.reading.columns import read_stretches
from groups.pipeline.reading.group_blocks import GroupBlock
from groups.pipeline.reading.rows import Row
from groups.pipeline.reading.split_facts import SplitFacts
from groups.pipeline.reading.splitting import list_sources
from groups.pipeline.reading.tasks import read_split
from groups.pipeline.reading.transactions import ABORTED
from groups.wire.logs.compression import Compression
from groups.wire.logs.control import ControlType
from tests.pipeline.segments import FOO, Group, Segment, record, sample_group


def rows_of(path: Path, **options: Any) -> list[Row]:
    splits = list_sources([str(path)], **options).splits
    return [row for number, split in enumerate(splits) for row in read_split(number, split)]


def facts(rows: list[Row]) -> SplitFacts:
    """Of the one split."""
    [row] = [row for row in rows if row.kind == "facts"]
    return SplitFacts.unpack(row.payload)


def problems(rows: list[Row]) -> list[dict[str, Any]]:
    return [
        problem for row in rows if row.kind == "facts" for problem in SplitFacts.unpack(row.payload).problems
    ]


def blocks(rows: list[Row]) -> list[GroupBlock]:
    return [
        GroupBlock.unpack(row.group or "", row.partition, row.source, row.split, row.payload)
        for row in rows
        if row.kind == "block"
    ]


def records(rows: list[Row]) -> list[tuple[int, int | None, str]]:
    """Offset, type and group of every record, in the order of offsets."""
    found: list[tuple[int, int | None, str]] = []
    for block in blocks(rows):
        found += [(offset, 1, block.group) for offset in block.commits["offset"].tolist()]
        found += [(other.offset, other.type, block.group) for other in block.others]
    return sorted(found)


def offsets(rows: list[Row]) -> list[int]:
    return [offset for offset, _, _ in records(rows)]


@pytest.mark.parametrize("compression", list(Compression))
def test_records_come_in_order_whatever_the_compression(tmp_path: Path, compression: Compression) -> None:
    path = Segment().add(Group().join("A", {FOO: [0]}), compression=compression).write(tmp_path)

    rows = rows_of(path)

    assert records(rows) == [
        (0, 5, "orders"), (1, 3, "orders"), (2, 7, "orders"), (3, 6, "orders"), (4, 8, "orders")
    ]  # fmt: skip
    assert (facts(rows).read, facts(rows).decoded, facts(rows).unlisted) == (5, 5, 0)


def test_splits_give_the_same_records_as_the_whole(tmp_path: Path) -> None:
    path = sample_group().write(tmp_path)

    assert offsets(rows_of(path, split_bytes=100)) == offsets(rows_of(path))


def test_blocks_are_made_sooner_where_much_is_gathered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sample_group().write(tmp_path)
    whole = rows_of(path)
    monkeypatch.setattr(gathering, "GATHERED_BYTES_MOST", 1)
    monkeypatch.setattr(offsets_split, "read_stretches", partial(read_stretches, stretch_bytes=200))
    some = rows_of(path)

    assert records(some) == records(whole)
    assert len(blocks(some)) > len(blocks(whole))
    assert facts(some).groups == facts(whole).groups


def test_a_batch_with_a_wrong_checksum_is_skipped_and_the_rest_is_read(tmp_path: Path) -> None:
    path = sample_group().write(tmp_path)
    data = bytearray(path.read_bytes())
    whole = offsets(rows_of(path))
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)

    rows = rows_of(path)

    [problem] = problems(rows)
    lost = range(problem["offset"], problem["last_offset"] + 1)
    assert "CRC" in problem["reason"]
    assert problem["records"] == len(lost)
    assert offsets(rows) == [offset for offset in whole if offset not in lost]
    assert facts(rows).read - facts(rows).decoded == len(lost)


@pytest.mark.parametrize("left_out", [1, 30, 70])
def test_a_batch_that_is_cut_short_at_the_end_is_normal(tmp_path: Path, left_out: int) -> None:
    path = sample_group().write(tmp_path)
    path.write_bytes(path.read_bytes()[:-left_out])

    [problem] = problems(rows_of(path))

    assert problem["normal"]
    assert "still being written" in problem["reason"]


def test_unknown_versions_and_types_are_kept_as_bytes_and_counted(tmp_path: Path) -> None:
    group = Group()
    future = Segment().add(group.join("A", {FOO: [0]}))
    future.raw(
        (bytes.fromhex("0003") + bytes.fromhex("0006") + b"orders", bytes.fromhex("0063") + b"..."),
        (bytes.fromhex("001f") + bytes.fromhex("0006") + b"orders", b"\x00\x00"),
        (bytes.fromhex("001f") + bytes.fromhex("0006") + b"orders", b"\x00\x00"),
    )

    rows = rows_of(future.write(tmp_path))

    found = problems(rows)
    assert {(problem["offset"], problem["last_offset"], problem["records"]) for problem in found} == {
        (5, 5, 1),
        (6, 7, 2),
    }
    assert all("kept as bytes" in problem["reason"] for problem in found)
    [block] = blocks(rows)
    opaque = [orjson.loads(other.payload) for other in block.others if other.offset >= 5]
    assert len(opaque) == 3
    assert all("value_bytes" in payload for payload in opaque)


def test_commits_tell_names_and_groups_tell_their_records(tmp_path: Path) -> None:
    group = Group()
    rows = rows_of(Segment().add(group.commit()).add(group.commit(with_id=False)).write(tmp_path))

    assert facts(rows).names == [[FOO, "foo", "commit"]]
    [[number, _, _, types]] = facts(rows).groups.values()
    assert (number, types) == (2, [1])


def test_an_older_releases_partition_metadata_tells_names(tmp_path: Path) -> None:
    topic = {"topicId": FOO, "topicName": "foo", "numPartitions": 3, "partitionMetadata": []}
    rows = rows_of(Segment().add([record(4, {"groupId": "orders"}, {"topics": [topic]})]).write(tmp_path))

    assert facts(rows).names == [[FOO, "foo", "record"]]


def test_markers_end_transactions_and_are_no_records_of_a_group(tmp_path: Path) -> None:
    group = Group()
    segment = Segment().transaction(7, group.commit(offset=1)).marker(7, ControlType.ABORT)
    segment.transaction(7, group.commit(offset=2)).marker(7, ControlType.COMMIT)

    rows = rows_of(segment.write(tmp_path))

    [block] = blocks(rows)
    # An aborted one is marked by its producer (-2 - 7), and is not in force.
    assert block.commits[["offset", "producer", "committed"]].tolist() == [(0, -9, 1), (2, -1, 2)]
    assert facts(rows).aborted == [1, 0, 0]
    assert facts(rows).ends == [[7, 1, ABORTED]]
    assert (facts(rows).read, facts(rows).decoded) == (4, 4)


def test_a_transaction_that_a_split_leaves_open_keeps_its_producer(tmp_path: Path) -> None:
    rows = rows_of(Segment().transaction(7, Group().commit()).write(tmp_path))

    [block] = blocks(rows)
    assert block.commits["producer"].tolist() == [7]
    assert facts(rows).open == [7]


def test_bytes_that_are_no_batch_never_stop_the_reading(tmp_path: Path) -> None:
    before, after = sample_group().bytes(), Segment(first_offset=90).add(Group().commit()).bytes()
    folder = tmp_path / "__consumer_offsets-3"
    folder.mkdir()
    path = folder / "0.log"
    path.write_bytes(before + b"\xff garbage \xff" * 9 + after)

    assert offsets(rows_of(path))[-1] == 90
