"""What ``conform`` reads: the same on every machine, and as far as a file is whole."""

from __future__ import annotations

import gzip
from datetime import timedelta
from pathlib import Path

import pytest

from simulations.recorded_files import read
from simulations.samples import sample


@pytest.fixture(scope="module")
def log() -> bytes:
    return gzip.decompress(sample("recorded-clients").requests.read_bytes())


def test_bytes_that_are_no_utf_8_spoil_their_own_line_alone(log: bytes, tmp_path: Path) -> None:
    path = tmp_path / "requests.log"
    path.write_bytes(b"\xff\xfe nothing of ours \xe9\n" + log)
    whole = read(str(path), [], timedelta())
    assert len(whole.requests) > 10
    assert whole.problems == []


def test_a_compressed_log_that_is_cut_off_is_read_as_far_as_it_goes(log: bytes, tmp_path: Path) -> None:
    path = tmp_path / "requests.log.gz"
    packed = gzip.compress(log)
    path.write_bytes(packed[: len(packed) * 2 // 3])
    found = read(str(path), [], timedelta())
    assert found.requests
    assert "its compressed data is cut off or damaged" in found.problems[-1]
