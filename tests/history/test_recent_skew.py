"""Who falls behind alone, from the rounds of the last minutes."""

from __future__ import annotations

from groups.history.lag.recent_skew import EVERY_MS, LOOKS, Owners, RecentSkew
from groups.history.lag.skew import SkewKind

OWNERS: Owners = {("orders", 0): "ann", ("orders", 1): "ben", ("orders", 2): "cat", ("orders", 3): "cat"}
EVEN = [100, 100, 100, 100]


def looked(skew: RecentSkew, read: list[int], written: list[int], *, looks: int = LOOKS, owners: Owners = OWNERS) -> None:  # fmt: skip
    """Looks at partitions of which so many records were written, and read, between any two."""
    for at in range(1, looks + 1):
        committed = [("orders", each, at * pace) for each, pace in enumerate(read)]
        skew.look("billing", committed, {"orders": {each: at * pace for each, pace in enumerate(written)}}, owners)  # fmt: skip


def test_a_slow_member_is_found_after_some_looks_and_not_sooner() -> None:
    skew = RecentSkew()
    slow = [100, 100, 60, 70]
    looked(skew, slow, EVEN, looks=4)
    assert skew.of("billing") is None
    looked(skew, slow, EVEN)
    found = skew.of("billing")
    assert found is not None
    assert (found.kind, found.member) == (SkewKind.SLOW_MEMBER, "cat")


def test_a_hot_partition_is_found() -> None:
    skew = RecentSkew()
    looked(skew, EVEN, [100, 900, 100, 100])
    found = skew.of("billing")
    assert found is not None
    assert (found.kind, [*found.partitions]) == (SkewKind.HOT_PARTITION, [("orders", 1)])


def test_other_owners_a_group_that_is_not_behind_and_one_that_is_gone_have_none() -> None:
    for forget in (
        lambda skew: looked(
            skew, EVEN, [100, 900, 100, 100], looks=1, owners={**OWNERS, ("orders", 1): "ann"}
        ),
        lambda skew: looked(skew, EVEN, EVEN, looks=1),
        lambda skew: skew.keep({}),
    ):
        skew = RecentSkew()
        looked(skew, EVEN, [100, 900, 100, 100])
        assert skew.of("billing") is not None
        forget(skew)
        assert skew.of("billing") is None


def test_a_commit_of_minus_one_and_an_end_below_the_commit_are_no_look_of_their_partition() -> None:
    skew = RecentSkew()
    skew.look("billing", [("orders", 0, -1), ("orders", 1, 9), ("gone", 0, 3)], {"orders": {0: 5, 1: 8}}, {})
    assert skew.of("billing") is None


def test_looks_are_kept_so_far_apart_whatever_the_clock_does() -> None:
    skew = RecentSkew()
    times = (10**12, 10**12 + EVERY_MS - 1, 10**12 + EVERY_MS, 5, 6, EVERY_MS + 5)
    assert [skew.is_due(at_ms) for at_ms in times] == [True, False, True, True, False, True]
