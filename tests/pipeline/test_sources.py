"""Files are told by their content, cut between batches, and every one that is not read has a reason."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.splitting import list_sources
from groups.wire.logs.compression import Compression
from tests.pipeline.segments import Group, Segment, metadata_segment, sample_group


def kinds(*paths: Path) -> list[FileKind]:
    return [source.kind for source in list_sources([str(path) for path in paths]).sources]


def test_a_segment_of_the_offsets_topic_is_recognised_under_any_name(tmp_path: Path) -> None:
    path = sample_group().write(tmp_path)
    moved = tmp_path / "attachment.bin"
    moved.write_bytes(path.read_bytes())

    assert kinds(path, moved) == [FileKind.OFFSETS, FileKind.OFFSETS]


def test_the_folder_tells_the_partition_and_nothing_else_does(tmp_path: Path) -> None:
    in_folder = sample_group().write(tmp_path, partition=17)
    alone = sample_group().write(tmp_path / "loose", partition=None)

    sources = list_sources([str(in_folder), str(alone)]).sources

    assert [source.partition for source in sources] == [17, None]


def test_the_metadata_log_and_another_topic_are_told_apart(tmp_path: Path) -> None:
    other = tmp_path / "events-0"
    other.mkdir()
    (other / "0.log").write_bytes(Segment().raw((b"user-17", b"clicked")).bytes())

    assert kinds(metadata_segment(tmp_path, [(0, bytes([1, 12, 0]))])) == [FileKind.METADATA]
    assert kinds(other) == [FileKind.OTHER_TOPIC]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            b"hello, this is a note",
            "no text that is known of Kafka’s tools or logs: it begins with “hello, t” (bytes 68 65 6c 6c 6f 2c 20 74)",
        ),
        (b"\x89PNG\r\n\x1a\n1234", "no log segment: it does not begin with a record batch’s offset"),
        (
            b"/var/lib/kafka/__consumer_offsets-3\n",
            "run manage.py import_log /var/lib/kafka/__consumer_offsets-3",
        ),
        (b"C:\\kafka\\data", "only the path C:\\kafka\\data, not what is there: choose that folder"),
        (b"/var/log/a\n/var/log/b", "no text that is known"),
        (b"", "the file is empty"),
        (bytes(4096), "only zeros"),
    ],
)
def test_what_is_no_segment_gets_a_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "some.log"
    path.write_bytes(content)

    listing = list_sources([str(path)])

    assert listing.splits == ()
    assert reason in listing.problems[0].reason


def test_a_missing_path_and_an_empty_folder_are_told(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()

    problems = list_sources([str(tmp_path / "nothing"), str(tmp_path / "gone")]).problems

    assert [problem.reason for problem in problems] == [
        "the folder holds no file that could be a segment",
        "no such file or folder",
    ]


def test_the_files_that_kafka_keeps_beside_segments_are_passed_over(tmp_path: Path) -> None:
    folder = sample_group().write(tmp_path).parent
    for name in ("00000000000000000000.index", "leader-epoch-checkpoint", "partition.metadata"):
        (folder / name).write_bytes(b"\x00\x01")

    listing = list_sources([str(tmp_path)])

    assert len(listing.sources) == 1
    assert listing.problems == ()


def test_headers_tell_offsets_records_compression_and_what_compaction_took(tmp_path: Path) -> None:
    group = Group()
    segment = (
        Segment(first_offset=100).add(group.commit(), compression=Compression.LZ4).skip(5).add(group.commit())
    )

    source = list_sources([str(segment.write(tmp_path))]).sources[0]

    assert (source.first_offset, source.last_offset, source.records, source.missing_offsets) == (
        100,
        106,
        2,
        5,
    )
    assert source.words() == "segment, lz4"


def test_a_large_segment_is_cut_between_batches_and_nothing_is_lost(tmp_path: Path) -> None:
    segment = Segment()
    group = Group()
    for offset in range(50):
        segment.add(group.commit(offset=offset))
    path = segment.write(tmp_path)

    splits = list_sources([str(path)], split_bytes=500).splits

    assert len(splits) > 5
    assert [split.start for split in splits[1:]] == [split.end for split in splits[:-1]]
    assert (splits[0].start, splits[-1].end) == (0, path.stat().st_size)
    assert all(split.after == following.before + 1 for split, following in pairwise(splits))


def test_a_hole_between_two_segments_of_a_partition_is_a_gap(tmp_path: Path) -> None:
    Segment(first_offset=0).add(Group().commit()).write(tmp_path)
    Segment(first_offset=10).add(Group().commit()).write(tmp_path)

    gap = list_sources([str(tmp_path)]).gaps[0]

    assert (gap.partition, gap.from_offset, gap.to_offset) == (17, 1, 9)


def test_the_same_segment_given_twice_is_told(tmp_path: Path) -> None:
    first = sample_group().write(tmp_path / "one")
    second = sample_group().write(tmp_path / "two")

    sources = list_sources([str(first), str(second), str(first)]).sources

    assert [source.repeats for source in sources] == [None, sources[0].file]


def test_a_segment_that_is_still_written_ends_at_its_last_whole_batch(tmp_path: Path) -> None:
    path = sample_group().write(tmp_path)
    path.write_bytes(path.read_bytes()[:-7])

    assert list_sources([str(path)]).sources[0].state == "to the last whole batch"
