"""Who falls behind alone: a partition that is written faster, a member that reads slower; and nobody where all or none fall behind."""

from __future__ import annotations

import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.lag.course import Place
from groups.history.lag.partition import Lag, NotKnown
from groups.history.lag.skew import Skew, SkewKind, _median_without, grown, skews

LOOKS = 24
ODD, EVEN = "ann", "ben"


def lags_of(pace: dict[int, int], seed: int = 1) -> dict[Place, list[Lag]]:
    """Each partition's lag grows by its pace with each look; what waits between two commits makes it jump."""
    draw = random.Random(seed)
    return {
        ("orders", partition): [Lag(each * at + draw.randrange(200), None) for at in range(LOOKS)]
        for partition, each in pace.items()
    }


def owners_of(places: dict[Place, list[Lag]]) -> dict[Place, str | None]:
    return {place: ODD if place[1] % 2 else EVEN for place in places}


def found(pace: dict[int, int], written: dict[int, int]) -> list[Skew]:
    lags = lags_of(pace)
    return skews(lags, {("orders", partition): each for partition, each in written.items()}, owners_of(lags))


def test_a_member_whose_partitions_all_fall_behind_alone_is_slow() -> None:
    [one] = found({0: 0, 1: 90, 2: 0, 3: 70}, dict.fromkeys(range(4), 2000))
    assert (one.kind, one.member, one.partitions) == (
        SkewKind.SLOW_MEMBER,
        ODD,
        [("orders", 1), ("orders", 3)],
    )
    assert one.after - one.before >= 160 * (LOOKS - 1) - 400


def test_a_partition_that_is_written_faster_and_falls_behind_is_hot_and_its_owner_is_not_called_slow() -> (
    None
):
    [one] = found({0: 0, 1: 90, 2: 0, 3: 0}, {0: 500, 1: 4000, 2: 450, 3: 500})
    assert (one.kind, one.member, one.partitions, one.written_times) == (
        SkewKind.HOT_PARTITION,
        ODD,
        [("orders", 1)],
        8.0,
    )
    [alone] = found({0: 0, 1: 90, 2: 0, 3: 0}, {1: 4000})
    assert (alone.kind, alone.written_times) == (SkewKind.HOT_PARTITION, None)


@given(st.lists(st.integers(0, 9), min_size=2), st.data())
def test_the_median_of_the_others_is_that_of_a_list_without_the_one(
    some: list[int], data: st.DataObject
) -> None:
    some.sort()
    left_out = data.draw(st.integers(0, len(some) - 1))
    assert _median_without(some, left_out) == median(some[:left_out] + some[left_out + 1 :])


@pytest.mark.parametrize(
    "pace",
    [
        dict.fromkeys(range(4), 0),
        dict.fromkeys(range(4), 90),
        {0: 0, 1: 90, 2: 0, 3: 0},
        {0: 40, 1: 90, 2: 0, 3: 90},
    ],
    ids=["nobody", "everybody", "one of a member's two", "two members"],
)
def test_nobody_is_named_where_all_fall_behind_or_none_or_some_of_each(pace: dict[int, int]) -> None:
    assert found(pace, dict.fromkeys(range(4), 2000)) == []


def test_a_group_with_one_reader_has_no_slow_member_and_few_looks_show_nothing() -> None:
    lags = lags_of({0: 90, 1: 90})
    written = dict.fromkeys(lags, 2000)
    assert skews(lags, written, dict.fromkeys(lags, ODD)) == []
    assert skews(lags, written, dict.fromkeys(lags)) == []
    assert grown([Lag(at, None) for at in range(5)]) is None
    assert grown([Lag(None, None, NotKnown.NO_ROUND)] * 3 + [Lag(at, None) for at in range(6)]) == (0, 5)
