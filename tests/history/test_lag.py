"""Lag in records and in seconds, against records that were written and read one by one."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.lag.partition import (
    PAUSE_KNOWN_MS,
    Commit,
    Lag,
    NotKnown,
    PartitionEnds,
    lag_now,
    total_of,
)
from groups.history.lag.samples import NEW_LOG, NO_ANSWER, NO_RIGHT, OffsetColumns, thinned, unpacked

pytestmark = pytest.mark.once

steps = st.lists(st.integers(0, 3_000), min_size=1, max_size=60)
pauses = st.lists(st.integers(1, 20_000), min_size=1, max_size=25)


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[int], list[int], list[Commit]]:
    """When each record was written, when the end was asked for, and what was committed; no commit is ahead of the log."""
    written = list(accumulate(draw(steps)))
    rounds = list(accumulate(draw(pauses)))
    commits, position = [], 0
    for at_ms in sorted(draw(st.lists(st.integers(0, rounds[-1]), max_size=15, unique=True))):
        position = draw(st.integers(position, max(position, bisect_right(written, at_ms))))
        commits.append(Commit(at_ms, position))
    return written, rounds, commits


@given(logs())
def test_records_of_a_round_are_those_written_less_those_committed(
    log: tuple[list[int], list[int], list[Commit]],
) -> None:
    written, rounds, commits = log
    ends = [bisect_right(written, at_ms) for at_ms in rounds]
    partition = PartitionEnds(rounds, ends, commits)
    for at_ms, end in zip(rounds, ends, strict=True):
        before = [commit.offset for commit in commits if commit.at_ms <= at_ms]
        lag = partition.lag(at_ms)
        if not before:
            assert lag == Lag(None, None, NotKnown.NO_COMMIT)
        else:
            assert lag.records == end - (before[-1] or 0)


@given(logs())
def test_seconds_are_the_age_of_the_first_unread_record_within_one_round(
    log: tuple[list[int], list[int], list[Commit]],
) -> None:
    written, rounds, commits = log
    partition = PartitionEnds(rounds, [bisect_right(written, at_ms) for at_ms in rounds], commits)
    for at_ms in rounds:
        lag = partition.lag(at_ms)
        if lag.seconds is None or not lag.records:
            continue
        committed = [commit.offset or 0 for commit in commits if commit.at_ms <= at_ms][-1]
        first_unread_ms = written[committed]
        asked = bisect_right(rounds, first_unread_ms - 1)
        length_ms = rounds[asked] - rounds[asked - 1]
        assert abs((at_ms - first_unread_ms) - lag.seconds * 1000) <= length_ms + 0.001


@given(logs())
def test_seconds_are_not_known_only_where_the_record_is_older_than_the_rounds(
    log: tuple[list[int], list[int], list[Commit]],
) -> None:
    written, rounds, commits = log
    ends = [bisect_right(written, at_ms) for at_ms in rounds]
    partition = PartitionEnds(rounds, ends, commits)
    for at_ms in rounds:
        lag = partition.lag(at_ms)
        if lag.records and lag.seconds is None:
            committed = [commit.offset or 0 for commit in commits if commit.at_ms <= at_ms][-1]
            assert lag.why is NotKnown.OLDER
            assert committed < ends[0]


@given(logs(), st.data())
def test_a_missing_round_leaves_the_others_what_they_are_and_invents_no_end(
    log: tuple[list[int], list[int], list[Commit]], data: st.DataObject
) -> None:
    written, rounds, commits = log
    ends = [bisect_right(written, at_ms) for at_ms in rounds]
    lost = data.draw(st.sets(st.integers(0, len(rounds) - 1)))
    code = data.draw(st.sampled_from([NO_ANSWER, NO_RIGHT]))
    cut = PartitionEnds(rounds, [code if at in lost else end for at, end in enumerate(ends)], commits)
    whole = PartitionEnds(rounds, ends, commits)
    for at, at_ms in enumerate(rounds):
        lag = cut.lag(at_ms)
        if at not in lost:
            assert lag.records == whole.lag(at_ms).records
        elif lag.records is not None:
            kept = [other for other in range(len(rounds)) if other not in lost]
            before = max((other for other in kept if other < at), default=None)
            after = min((other for other in kept if other > at), default=None)
            assert before is not None
            assert after is not None
            assert rounds[after] - rounds[before] <= PAUSE_KNOWN_MS
            assert lag.records <= (whole.lag(rounds[after]).records or 0) + ends[after]


def test_no_lag_is_made_up_of_a_topic_that_was_made_again() -> None:
    times, ends = [0, 5_000, 10_000, 15_000], [900, 1_000, 50, 5_000]
    before = PartitionEnds(times, ends, [Commit(0, 800), Commit(4_000, 40)])
    assert before.lag(5_000).records == 960
    assert before.lag(10_000) == Lag(None, None, NotKnown.MADE_AGAIN)
    assert before.lag(15_000) == Lag(None, None, NotKnown.MADE_AGAIN)
    assert before.lag(7_500).why is NotKnown.MADE_AGAIN
    after = PartitionEnds(times, ends, [Commit(0, 800), Commit(11_000, 40)])
    assert after.lag(15_000).records == 4_960
    # The record at 40 was written before the first look at this log.
    assert after.lag(15_000).why is NotKnown.OLDER


def test_another_id_ends_a_log_even_where_its_end_offset_is_greater() -> None:
    again = PartitionEnds(
        [0, 5_000, 9_999, 10_000, 15_000], [900, 950, NEW_LOG, 2_000, 2_100], [Commit(0, 900)]
    )
    assert again.lag(5_000).records == 50
    assert again.lag(7_000).why is NotKnown.MADE_AGAIN
    assert again.lag(15_000) == Lag(None, None, NotKnown.MADE_AGAIN)


def test_an_end_below_the_commit_is_no_lag_and_one_that_was_asked_a_moment_before_it_is_none() -> None:
    assert PartitionEnds([0, 5_000], [10, 10], [Commit(0, 77)]).lag(5_000).why is NotKnown.END_BELOW
    assert PartitionEnds([0, 5_000], [10, 80], [Commit(0, 77)]).lag(0) == Lag(0, 0.0)


@pytest.mark.parametrize("offset", [None, -1])
def test_a_deleted_commit_and_one_of_minus_one_give_no_lag(offset: int | None) -> None:
    partition = PartitionEnds([0, 5_000], [10, 20], [Commit(0, 3), Commit(4_000, offset)])
    assert partition.lag(0).records == 7
    assert partition.lag(5_000) == Lag(None, None, NotKnown.NO_COMMIT)


def test_a_pause_without_rounds_is_not_known_and_says_why() -> None:
    far = PAUSE_KNOWN_MS + 1
    partition = PartitionEnds([0, far], [10, 20], [Commit(0, 3)])
    assert partition.lag(far // 2).why is NotKnown.NO_ROUND
    assert partition.lag(far).records == 17
    refused = PartitionEnds([0, 5_000], [NO_RIGHT, NO_RIGHT], [Commit(0, 3)])
    assert refused.lag(5_000).why is NotKnown.NO_RIGHT


lags = st.one_of(
    st.builds(Lag, st.integers(0, 99), st.floats(0, 99)),
    st.builds(Lag, st.integers(1, 99), st.none(), st.just(NotKnown.OLDER)),
    st.builds(Lag, st.none(), st.none(), st.sampled_from(NotKnown)),
)


@given(st.lists(lags, max_size=6))
def test_a_total_adds_records_takes_the_worst_seconds_and_is_known_where_each_part_is(
    some: list[Lag],
) -> None:
    total = total_of(some)
    read = [lag for lag in some if lag.why is not NotKnown.NO_COMMIT]
    if not read or any(lag.records is None for lag in read):
        assert total.records is None
        assert total.why is not None
    else:
        assert total.records == sum(lag.records or 0 for lag in read)
        dated = [lag.seconds for lag in read if lag.seconds is not None]
        assert total.seconds == (max(dated) if len(dated) == len(read) else None)


@given(st.lists(st.tuples(st.integers(-1, 20), st.integers(-1, 20)), max_size=6))
def test_the_lag_of_a_list_is_that_of_a_single_look(positions: list[tuple[int, int]]) -> None:
    parts = [PartitionEnds([0], [end], [Commit(0, committed)]).lag(0) for committed, end in positions]
    assert lag_now(positions) == total_of(parts).records


@st.composite
def columns_of(draw: st.DrawFn) -> OffsetColumns:
    columns = OffsetColumns()
    for at_ms in accumulate(draw(pauses)):
        columns.add(at_ms, draw(st.dictionaries(st.integers(0, 4), st.integers(-3, 2**53))))
    return columns


@given(columns_of())
def test_columns_are_what_they_were_after_packing(columns: OffsetColumns) -> None:
    assert unpacked(columns.packed()) == columns
    assert set(
        unpacked(columns.packed(), lambda partition: partition == 1).offsets
    ) == columns.offsets.keys() & {1}


@given(columns_of(), columns_of())
def test_columns_that_are_joined_are_those_that_were_added_one_by_one(
    first: OffsetColumns, second: OffsetColumns
) -> None:
    wanted = OffsetColumns()
    for columns in (first, second):
        for at, at_ms in enumerate(columns.times_ms):
            wanted.add(at_ms, {partition: column[at] for partition, column in columns.offsets.items()})
    first.extend(second)
    assert first.times_ms == wanted.times_ms
    for partition, column in wanted.offsets.items():
        assert first.offsets[partition] == column
    for partition in first.offsets.keys() - wanted.offsets.keys():
        assert set(first.offsets[partition]) <= {NO_ANSWER}


@given(columns_of(), st.sampled_from([10_000, 60_000]))
def test_thinning_keeps_the_ends_and_every_fall_and_takes_no_value_that_was_not_there(
    columns: OffsetColumns, every_ms: int
) -> None:
    left = thinned(columns, every_ms)
    places = [columns.times_ms.index(at_ms) for at_ms in left.times_ms]
    assert {0, len(columns) - 1} <= set(places)
    assert left == columns.only(places)
    for column in columns.offsets.values():
        for at in range(1, len(column)):
            if column[at] < column[at - 1]:
                assert {at - 1, at} <= set(places)
    assert thinned(left, every_ms) == left
