"""The age of the oldest unread record, as the watcher computes it in each round, is what stored rounds show later."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groups.history.lag.partition import Commit, PartitionEnds
from groups.history.lag.recent import EXACT_MS, KEPT_MS, MOST, Age, EndsOfPartition, RecentEnds
from groups.history.lag.samples import NO_ANSWER

EVERY_MS = 5_000


@given(
    st.lists(st.tuples(st.integers(1, 30_000), st.integers(0, 50)), min_size=1, max_size=20),
    st.integers(0, 400),
)
def test_an_age_is_that_of_stored_rounds_or_at_least_where_those_give_none(
    steps: list[tuple[int, int]], committed: int
) -> None:
    ends, times_ms, offsets, at_ms, end = EndsOfPartition(), [], [], 1_000, 0
    for after_ms, more in steps:
        at_ms, end = at_ms + after_ms, end + more
        ends.add(at_ms, end)
        times_ms.append(at_ms)
        offsets.append(end)
    if committed >= end:
        assert ends.age(committed, at_ms) is None
        return
    stored = PartitionEnds(times_ms, offsets, [Commit(0, committed)]).lag(at_ms)
    age = ends.age(committed, at_ms)
    assert age is not None
    if stored.seconds is None:
        assert age.is_least
    elif not age.is_least:
        assert abs(age.ms - stored.seconds * 1000) <= 1
    else:
        assert age.ms <= stored.seconds * 1000 + 1


def test_rounds_of_two_hours_take_no_more_room_than_those_of_one_and_older_records_are_at_least_an_hour_old() -> (
    None
):
    ends = EndsOfPartition()
    for at_ms in range(0, 2 * KEPT_MS, EVERY_MS):
        ends.add(at_ms, at_ms // 100)
    last_ms = 2 * KEPT_MS - EVERY_MS
    assert len(ends.times_ms) <= MOST
    for before_ms in (0, 10_000, EXACT_MS, 600_000, 3_000_000):
        age = ends.age((last_ms - before_ms) // 100 - 1, last_ms)
        assert age is not None
        assert abs(age.ms - before_ms) <= EVERY_MS
    older = ends.age(5, last_ms)
    assert older is not None
    assert older.is_least
    assert older.ms >= KEPT_MS - EXACT_MS


def test_a_log_that_is_another_one_and_an_answer_that_is_missing_make_up_no_age() -> None:
    ends = RecentEnds()
    ends.add(0, {"orders": {0: 100, 1: 50}})
    ends.add(EVERY_MS, {"orders": {0: 200, 1: NO_ANSWER}})
    assert (
        ends.oldest([("orders", 0, 200), ("orders", 1, 50), ("orders", 2, 0), ("orders", 0, -1)], EVERY_MS)
        is None
    )
    assert ends.oldest([("orders", 0, 100)], EVERY_MS) == Age(EVERY_MS, is_least=False)
    ends.add(2 * EVERY_MS, {"orders": {0: 10, 1: 60}})
    assert ends.oldest([("orders", 0, 5)], 3 * EVERY_MS) == Age(EVERY_MS, is_least=True)
    ends.add(3 * EVERY_MS, {"orders": {0: 20, 1: 60}}, made_again={"orders"})
    assert ends.oldest([("orders", 0, 5)], 3 * EVERY_MS) == Age(0, is_least=True)


def test_a_round_without_answers_forgets_nothing_and_a_topic_that_is_gone_is_forgotten_in_time() -> None:
    ends = RecentEnds()
    ends.add(0, {"orders": {0: 100}})
    ends.add(EVERY_MS, {"orders": {0: 200}})
    ends.add(2 * EVERY_MS, {})
    assert ends.oldest([("orders", 0, 100)], 2 * EVERY_MS) == Age(2 * EVERY_MS, is_least=False)
    ends.add(EVERY_MS + KEPT_MS + 1, {})
    assert ends.oldest([("orders", 0, 100)], EVERY_MS + KEPT_MS + 1) is None
