"""The offsets of each round: kept over restarts, thinned with age, and bounded."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

import pytest
from django.db.models import Q

from groups.cluster_models import Cluster, WatchedGroup
from groups.clusters.brokers import Brokers
from groups.history.lag.recent_skew import EVERY_MS, LOOKS
from groups.history.lag.samples import NEW_LOG, NO_ANSWER, OffsetColumns
from groups.models import OffsetBlock
from groups.storage import offset_blocks
from groups.watching import positions as keeping
from groups.watching import registry
from groups.watching.positions import PositionKeeper
from groups.watching.pulling import Positions, Puller

pytestmark = pytest.mark.django_db

OWNER = "test"
BEGIN_MS = 1_795_000_000_000
DAY = timedelta(days=1)
END, START, COMMITTED = OffsetBlock.Kind.END, OffsetBlock.Kind.START, OffsetBlock.Kind.COMMITTED


@pytest.fixture
def cluster() -> Cluster:
    made = registry.add("test", {"bootstrap.servers": "localhost:9092"})
    assert registry.take(made.pk, OWNER)
    return made


def seen(at_ms: int, ends: dict[str, dict[int, int]], **more: object) -> Positions:
    known = {"committed": {}, "starts": {}, "made_again": frozenset()} | more
    return Positions(committed_ms=at_ms, ends_ms=at_ms + 3, ends=ends, **known)  # type: ignore[arg-type]


def stored(
    cluster: Cluster, kind: OffsetBlock.Kind, topic: str, to_ms: int = BEGIN_MS * 2
) -> dict[str, OffsetColumns]:
    return offset_blocks.blocks_of(Q(cluster=cluster), kind, [topic], 0, to_ms)


def test_offsets_of_rounds_outlast_a_restart_in_one_series(cluster: Cluster) -> None:
    first = PositionKeeper(cluster, OWNER)
    for number in range(3):
        first.take(seen(BEGIN_MS + 5_000 * number, {"orders": {0: 10 * number, 1: 7}}))
    second = PositionKeeper(cluster, OWNER)
    second.take(seen(BEGIN_MS + 15_000, {"orders": {0: 30, 1: 7, 2: 1}}))
    [columns] = stored(cluster, END, "orders").values()
    assert list(columns.times_ms) == [BEGIN_MS + 3 + 5_000 * number for number in range(4)]
    assert list(columns.offsets[0]) == [0, 10, 20, 30]
    assert list(columns.offsets[2]) == [NO_ANSWER] * 3 + [1]
    # The rounds of one process are one row.
    assert OffsetBlock.objects.count() == 2


def test_a_cluster_of_many_topics_is_stored_some_at_a_time_and_none_is_lost(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "SERIES_AT_ONCE", 2)
    keeper = PositionKeeper(cluster, OWNER)
    topics = [f"topic-{number}" for number in range(5)]
    for number in range(4):
        keeper.take(seen(BEGIN_MS + 5_000 * number, {topic: {0: number} for topic in topics}))
    keeper.flush()
    for topic in topics:
        assert list(stored(cluster, END, topic)[topic].offsets[0]) == [0, 1, 2, 3]


def test_commits_of_groups_that_have_a_row_are_kept_with_the_log_starts(cluster: Cluster) -> None:
    group = WatchedGroup.objects.create(cluster=cluster, group="billing")
    keeper = PositionKeeper(cluster, OWNER)
    committed = {"billing": [("orders", 0, 4)], "unrecorded": [("orders", 0, 5)]}
    keeper.take(seen(BEGIN_MS, {"orders": {0: 9}}, committed=committed, starts={"orders": {0: 2}}))
    keeper.take(seen(BEGIN_MS + 5_000, {"orders": {0: 9}}, committed=committed))
    assert list(stored(cluster, COMMITTED, "orders")["orders"].offsets[0]) == [4, 4]
    assert OffsetBlock.objects.get(kind=COMMITTED).watched == group
    assert list(stored(cluster, START, "orders")["orders"].offsets[0]) == [2]
    assert len(stored(cluster, END, "orders")["orders"]) == 2


def test_a_topic_that_was_made_again_is_another_log(cluster: Cluster) -> None:
    keeper = PositionKeeper(cluster, OWNER)
    keeper.take(seen(BEGIN_MS, {"orders": {0: 9}}))
    keeper.take(seen(BEGIN_MS + 5_000, {"orders": {0: 12}}, made_again=frozenset({"orders"})))
    assert list(stored(cluster, END, "orders")["orders"].offsets[0]) == [9, NEW_LOG, 12]


def test_a_process_that_lost_its_lease_stores_nothing(cluster: Cluster) -> None:
    keeper = PositionKeeper(cluster, "another")
    with pytest.raises(registry.LeaseGone):
        keeper.take(seen(BEGIN_MS, {"orders": {0: 9}}))
    assert not OffsetBlock.objects.exists()


def test_days_that_are_over_are_thinned_to_a_look_a_minute_and_old_ones_are_removed(cluster: Cluster) -> None:
    keeper = PositionKeeper(cluster, OWNER)
    day_ms = BEGIN_MS - BEGIN_MS % offset_blocks.DAY_MS
    for begin_ms in (day_ms, day_ms + 3 * offset_blocks.DAY_MS):
        for number in range(4_000):
            keeper._add(offset_blocks.Series(END, None, "orders"), begin_ms + 5_000 * number, {0: number})
            if number % 700 == 0:
                keeper.flush()
        keeper.flush()
    before = stored(cluster, END, "orders")["orders"]
    now_ms = day_ms + 4 * offset_blocks.DAY_MS
    offset_blocks.forget(cluster, now_ms, 7 * DAY)
    after = stored(cluster, END, "orders")["orders"]
    old = [at for at, at_ms in enumerate(after.times_ms) if at_ms < day_ms + offset_blocks.DAY_MS]
    assert len(old) < 4_000 / 11
    assert [after.times_ms[at] for at in (0, old[-1])] == [day_ms, day_ms + 5_000 * 3_999]
    # The newest day is whole.
    assert len(after) - len(old) == 4_000
    assert OffsetBlock.objects.filter(thinned=True).count() == 1
    assert set(zip(after.times_ms, after.offsets[0], strict=True)) <= set(
        zip(before.times_ms, before.offsets[0], strict=True)
    )
    offset_blocks.forget(cluster, now_ms, 2 * DAY)
    assert len(stored(cluster, END, "orders")["orders"]) == 4_000


def test_offsets_of_a_cluster_stay_below_their_bound_and_the_oldest_go(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_blocks, "BYTES_MOST", 1)
    keeper = PositionKeeper(cluster, OWNER)
    keeper.take(seen(BEGIN_MS, {"orders": {0: 9}}))
    offset_blocks.forget(cluster, BEGIN_MS, 7 * DAY)
    assert not OffsetBlock.objects.exists()


def test_a_topic_that_was_made_again_has_lost_no_records_of_its_new_log() -> None:
    puller = Puller(cast(Brokers, None))

    def lost(committed: int, end: int, start: int | None, **more: object) -> int | None:
        starts = {} if start is None else {"orders": {0: start}}
        places = {"billing": [("orders", 0, committed)]}
        now = seen(BEGIN_MS, {"orders": {0: end}}, committed=places, starts=starts, **more)
        return puller._lag(now)["billing"]["lost_records"]

    assert lost(10, 2_000, 1_000) == 990
    assert lost(10, 2_000, None) == 990
    assert lost(5, 8, None, made_again=frozenset({"orders"})) == 0
    assert lost(5, 9, None) == 0


def test_a_partition_that_falls_behind_alone_is_a_fact_of_its_group() -> None:
    puller = Puller(cast(Brokers, None))

    def skew(at: int) -> tuple[str | None, str | None]:
        places = {"billing": [("orders", each, 10 * at) for each in range(3)]}
        ends = {"orders": {0: 10 * at, 1: 10 * at, 2: 90 * at}}
        row = puller._lag(seen(BEGIN_MS + at * EVERY_MS, ends, committed=places))["billing"]
        return row["skew"], row["skew_of"]

    found = [skew(at) for at in range(1, LOOKS + 1)]
    assert (found[0], found[-1]) == ((None, None), ("hot-partition", "orders-2"))
