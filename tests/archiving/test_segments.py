"""Segments that are appended to are the log, byte for byte, wherever who writes them dies; what is amiss in them is told."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.archiving.segments import (
    LOG,
    ArchiveError,
    PartitionArchive,
    Piece,
    Position,
    batches_in,
    position_of,
    positions,
)
from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from tests.history.test_following import batch, commit
from tests.tiers import examples

SEGMENT_BYTES = 400


def a_log(gaps: list[int], sizes: list[int]) -> list[tuple[int, bytes]]:
    """Batches with their base offsets; compaction took what lies in the gaps."""
    made, offset = [], 0
    for gap, size in zip(gaps, sizes, strict=True):
        offset += gap
        made.append(
            (offset, batch(offset, *(commit(offset + each) for each in range(size)), leader=offset // 7))
        )
        offset += size
    return made


def files(folder: Path, partition: int = 0) -> list[Path]:
    return sorted((folder / LOG / f"__consumer_offsets-{partition}").glob("*.log"))


def held(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in files(folder))


def piece_of(log: list[tuple[int, bytes]], start: int, end: int) -> Piece:
    """What fetches from ``start`` up to ``end`` give."""
    some = [(base, data) for base, data in log if base < end and next_of(data) > start]
    return Piece(start, max([end, *(next_of(data) for _, data in some)]), b"".join(data for _, data in some))


def next_of(data: bytes) -> int:
    return list(batches_in(data))[-1].next_offset


def append(folder: Path, piece: Piece) -> None:
    with PartitionArchive(folder, 0, segment_bytes=SEGMENT_BYTES) as archive:
        archive.append(piece)


class Dies(Exception):
    pass


def die(folder: Path, piece: Piece, torn: float) -> None:
    """Append, and end before it is said how far: of what was written on the disk a part may be missing."""
    archive = PartitionArchive(folder, 0, segment_bytes=SEGMENT_BYTES)
    archive.append(piece)
    archive.__exit__(Dies, Dies(), None)
    said = position_of(folder, 0) or Position()
    [*_, last] = files(folder) or [None]
    if last is not None:
        sure = said.size if int(last.stem) == said.segment else 0
        keep = sure + int((last.stat().st_size - sure) * torn)
        with last.open("r+b") as file:
            file.truncate(keep)


@examples(40)
@given(st.data())
def test_whoever_dies_wherever_the_segments_are_the_log_once(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=12))
    gaps = data.draw(st.lists(st.integers(0, 5), min_size=len(sizes), max_size=len(sizes)))
    log = a_log(gaps, sizes)
    end = next_of(log[-1][1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for to in sorted(data.draw(st.lists(st.integers(1, end), max_size=6))):
            # What is fetched begins where the segments were said to end, not where they do.
            piece = piece_of(log, (position_of(folder, 0) or Position()).next, to)
            if data.draw(st.booleans()):
                die(folder, piece, data.draw(st.floats(0, 1)))
            else:
                append(folder, piece)
        append(folder, piece_of(log, (position_of(folder, 0) or Position()).next, end))
        assert held(folder) == b"".join(data for _, data in log)
        found = position_of(folder, 0)
        assert found is not None
        assert (found.next, found.records, found.bytes) == (end, sum(sizes), len(held(folder)))
        assert found.epoch == log[-1][0] // 7
        # Each file is a segment of its own, named by its first offset.
        for file in files(folder):
            read = [each for each in read_batches(file.read_bytes()) if isinstance(each, RecordBatch)]
            assert read[0].base_offset == int(file.stem)
            assert file.stat().st_size <= SEGMENT_BYTES or len(read) == 1


def test_what_was_appended_before_is_not_appended_again(tmp_path: Path) -> None:
    log = a_log([0, 2], [3, 3])
    whole = piece_of(log, 0, 8)
    append(tmp_path, whole)
    append(tmp_path, whole)
    assert held(tmp_path) == whole.data
    assert positions(tmp_path) == {0: position_of(tmp_path, 0)}


def test_a_stretch_that_compaction_emptied_moves_the_position_alone(tmp_path: Path) -> None:
    append(tmp_path, Piece(0, 90, b""))
    assert held(tmp_path) == b""
    [(base, data)] = a_log([100], [2])
    append(tmp_path, Piece(90, base + 2, data))
    assert [file.stem for file in files(tmp_path)] == [f"{100:020d}"]


def test_offsets_that_are_missing_before_a_piece_are_told(tmp_path: Path) -> None:
    append(tmp_path, piece_of(a_log([0], [3]), 0, 3))
    with pytest.raises(
        ArchiveError, match="ends at offset 3, and what follows begins at 7: files are missing"
    ):
        append(tmp_path, Piece(7, 9, b""))


def test_a_segment_that_somebody_cut_is_told_and_nothing_is_appended_to_it(tmp_path: Path) -> None:
    append(tmp_path, piece_of(a_log([0], [3]), 0, 3))
    [file] = files(tmp_path)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ArchiveError, match="is missing or shorter than it was written"):
        PartitionArchive(tmp_path, 0)


@pytest.mark.parametrize(
    ("at", "says"), [(16, "no record batch"), (80, "checksum of the batch at offset 0 is wrong")]
)
def test_bytes_that_are_no_batch_are_not_kept(tmp_path: Path, at: int, says: str) -> None:
    spoilt = bytearray(batch(0, commit(1)))
    spoilt[at] ^= 0xFF
    with pytest.raises(ArchiveError, match=says):
        append(tmp_path, Piece(0, 1, bytes(spoilt)))
    assert position_of(tmp_path, 0) is None


def test_a_position_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    append(tmp_path, Piece(0, 1, b""))
    [file] = (tmp_path / "positions").iterdir()
    file.write_text('{"next": 1, "colour": 2}')
    with pytest.raises(ArchiveError, match=r"0\.json cannot be read"):
        position_of(tmp_path, 0)
