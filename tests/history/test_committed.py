"""Committed offsets over time: what of a log is a commit, and which commits a line needs to be drawn."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import EntryLine
from groups.history.evidence.committed import Committed, committed_in, thinned
from tests.history.logs import Log, Records

R = Records()


def lines(log: Log) -> list[EntryLine]:
    return [entry.to_json() for entry in log.entries]


def test_commits_are_told_by_partition_with_their_entry_and_time_and_deletions_end_a_line() -> None:
    log = Log()
    log.at(5).write(R.commit(1, 10))
    log.at(6).heartbeat("A", 0)
    log.at(7).write(R.epoch(2))
    log.at(8).write({**R.commit(1, 0), "version": None, "value": None})
    assert list(committed_in(lines(log))) == [
        (("foo", 1), Committed(1, 5, 10)),
        (("foo", 1), Committed(4, 8, None)),
    ]


@pytest.mark.parametrize(
    "payload",
    [
        {"type": 1, "key": None, "value": {"offset": 3}},
        {"type": 1, "key": {"topic": "foo"}, "value": {"offset": 3}},
        {"type": 1, "key": {"topic": "foo", "partition": "1"}, "value": {"offset": 3}},
        {"type": 1, "key": {"topic": "foo", "partition": 1}, "value": {"offset": "3"}},
        {"type": 1, "key": {"topic": "foo", "partition": 1}, "value": "AAAA"},
        {"type": 3, "key": {"topic": "foo", "partition": 1}, "value": {"offset": 3}},
    ],
)
def test_what_cannot_be_read_is_no_commit(payload: dict[str, Any]) -> None:
    log = Log()
    log.write(payload)
    assert list(committed_in(lines(log))) == []


commits = st.lists(st.tuples(st.integers(0, 5_000), st.one_of(st.none(), st.integers(0, 99))), max_size=300)


@given(commits=commits, columns=st.integers(1, 40))
def test_a_thinned_line_has_its_ends_its_deletions_and_every_long_flat_part(
    commits: list[tuple[int, int | None]], columns: int
) -> None:
    times = sorted(at_ms for at_ms, _ in commits)
    line = [
        Committed(at, at_ms, offset)
        for at, (at_ms, (_, offset)) in enumerate(zip(times, commits, strict=True))
    ]
    kept = thinned(line, columns)
    sequences = [one.sequence for one in kept]
    assert sequences == sorted(set(sequences))
    assert set(kept) <= set(line)
    assert kept[:1] == line[:1]
    assert kept[-1:] == line[-1:]
    assert [one for one in kept if one.offset is None] == [one for one in line if one.offset is None]
    deleted = sum(one.offset is None for one in line)
    assert len(kept) <= 2 * columns + deleted
    if line:
        width = max(1, times[-1] - times[0]) / columns
        known = {one.sequence for one in kept}
        for before, after in pairwise(line):
            if after.at_ms - before.at_ms > width:
                assert {before.sequence, after.sequence} <= known


def test_of_each_of_a_number_of_equal_times_the_first_and_the_last_commit_are_told() -> None:
    line = [Committed(at, at * 10, at) for at in range(12)]
    assert [one.sequence for one in thinned(line, 3)] == [0, 3, 4, 7, 8, 11]
    assert thinned(line, 6) == line, "a line that is short enough is told as it is"
    assert thinned(line[:11], 5) != line[:11]


def test_times_that_run_backwards_begin_a_time_anew() -> None:
    times_ms = [0, 1, 2, 90, 91, 92, 3, 4, 5, 100]
    line = [Committed(at, at_ms, at) for at, at_ms in enumerate(times_ms)]
    assert [one.sequence for one in thinned(line, 2)] == [0, 2, 3, 5, 6, 8, 9]
