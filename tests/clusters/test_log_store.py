"""Entries and the place behind them are stored together, by who holds the lease; what is cut off, rolled or forgotten is said."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import DatabaseError
from django.utils import timezone

from groups import storage
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.entries import Entry
from groups.history.following.partition import PartitionLog
from groups.history.following.topics import TopicFacts
from groups.history.following.transactions import OPEN_LEAST_MS
from groups.history.passes.recorder import Recorder
from groups.models import Folded, Timeline
from groups.storage import digest_answers, rows_log
from groups.watching import followed, live_group, registry, retention
from groups.watching.log_storing import LogStore, Taken
from groups.wire.logs.control import ControlType
from tests.clusters.day import Day, rebalances_of
from tests.history.test_followed_commits import busy, followable
from tests.history.test_followed_commits import followed as runs_of
from tests.history.test_following import batch, commit, epoch, gone, marker, target, transactional

pytestmark = pytest.mark.django_db

TOPICS = {"foo": TopicFacts("AAAAAAAAAAAAAAAAAAAAAQ", 3)}


@pytest.fixture
def cluster() -> Cluster:
    made = registry.add("test", {"bootstrap.servers": "localhost:9092"})
    assert registry.take(made.pk, "one")
    return registry.get(made.pk)


@pytest.fixture
def store(cluster: Cluster) -> LogStore:
    made = LogStore(cluster, "one")
    made.begin()
    return made


def take(store: LogStore, log: PartitionLog, *batches: bytes) -> list[dict[str, Any]]:
    records = list(log.take(b"".join(batches)))
    return store.take([Taken(log, records, True, log.position)], TOPICS)


def offsets(group: str = "g") -> list[int]:
    return [each["offset"] for each in entries(group) if each["kind"] == "record"]


def entries(group: str = "g") -> list[dict[str, Any]]:
    """Of all timelines of a group, in the order in which they began."""
    timelines = Timeline.objects.filter(group=group).order_by("created")
    return [entry for timeline in timelines for entry in storage.every_entry(timeline)]


def says(group: str = "g") -> list[str]:
    return [each["payload"]["says"] for each in entries(group) if "says" in each["payload"]]


def position(cluster: Cluster) -> Any:
    return registry.get(cluster.pk).positions["partitions"]["0"]


def test_the_place_is_stored_with_the_entries_that_lead_there(cluster: Cluster, store: LogStore) -> None:
    rows = take(store, PartitionLog(partition=0), batch(0, epoch(1), target(), leader=4))
    assert [(row["group"], row["group_epoch"]) for row in rows] == [("g", 1)]
    assert offsets() == [0, 1]
    assert position(cluster) == {"next": 2, "high": 2, "epoch": 4}


def test_what_cannot_be_stored_leaves_the_place_where_it_was_and_the_store_is_not_used_again(
    cluster: Cluster, store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = PartitionLog(partition=0)
    take(store, log, batch(0, epoch(1)))

    def fails(*_: object, **__: object) -> None:
        raise DatabaseError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(storage.Writer, "append", fails)
        with pytest.raises(DatabaseError):
            take(store, log, batch(1, epoch(2)))
    with pytest.raises(RuntimeError):
        take(store, log, batch(2, epoch(3)))
    assert position(cluster)["next"] == 1
    again = LogStore(cluster, "one")
    place = again.begin()[0]
    log = PartitionLog.going_on(0, place)
    assert log.is_what_it_was()
    take(again, log, batch(1, epoch(2)), batch(2, epoch(3)))
    assert offsets() == [0, 1, 2]


def test_a_process_that_lost_its_lease_stores_nothing(cluster: Cluster, store: LogStore) -> None:
    log = PartitionLog(partition=0)
    take(store, log, batch(0, epoch(1)))
    Cluster.objects.filter(pk=cluster.pk).update(lease_owner="two")
    with pytest.raises(registry.LeaseGone):
        take(store, log, batch(1, epoch(2)))
    assert offsets() == [0]
    assert position(cluster)["next"] == 1


def test_commits_wait_to_be_stored_together_and_the_place_does_not_pass_them(
    cluster: Cluster, store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = PartitionLog(partition=0)
    take(store, log, batch(0, epoch(1), target()))
    take(store, log, batch(2, commit(5)))
    assert offsets() == [0, 1]
    assert position(cluster) == {"next": 2, "high": 3, "epoch": 0}
    take(store, log, batch(3, commit(6)))
    monkeypatch.setattr(followed, "COMMITS_WAIT_S", 0.0)
    monkeypatch.setattr(followed, "COMMITS_WAIT_EACH_S", 0.0)
    monkeypatch.setattr(followed, "COMMITS_WAIT_SHARE", 0.0)
    assert store.has_due()
    take(store, log)
    *_, last = entries()
    assert (last["kind"], last["payload"]["from_offset"], last["payload"]["to_offset"]) == ("commits", 2, 3)
    assert position(cluster)["next"] == 4


def test_a_log_that_was_truncated_ends_the_timelines_that_reach_beyond_and_they_begin_with_the_log_as_it_is(
    cluster: Cluster, store: LogStore
) -> None:
    log = PartitionLog(partition=0)
    stays, cut = batch(0, epoch(1), epoch(1, "h")), batch(2, epoch(2), epoch(3))
    take(store, log, stays, cut)
    log.cut(2)
    store.cut(0, 2, now_ms=5_000)
    assert says() == ["The log was truncated: offsets from 2 on are gone, and what they told"]
    assert position(cluster)["next"] == 0
    log.begin_at(0)
    store.reads_again(0)
    take(store, log, stays, batch(2, epoch(7), leader=9))
    assert [timeline.status for timeline in Timeline.objects.filter(group="g").order_by("created")] == [
        "complete",
        "running",
    ]
    last = Timeline.objects.filter(group="g").order_by("created").last()
    assert last is not None
    assert [each["offset"] for each in storage.every_entry(last) if each["kind"] == "record"] == [0, 2]
    # A group that ended before is not touched.
    assert Timeline.objects.filter(group="h").count() == 1


def test_a_group_that_is_gone_and_comes_again_has_two_timelines(store: LogStore) -> None:
    take(store, PartitionLog(partition=0), batch(0, epoch(1), gone(epoch(1)), epoch(1)))
    timelines = Timeline.objects.filter(group="g").order_by("created")
    assert [(each.status, each.last, each.provenance) for each in timelines] == [
        ("complete", 2, "recorded"),
        ("running", 1, "recorded"),
    ]
    assert WatchedGroup.objects.get(group="g").condition == "seen"


def test_another_process_goes_on_from_a_checkpoint_as_if_it_had_folded_all_before(
    cluster: Cluster, store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_group, "CHECKPOINT_BYTES", 1)
    log = PartitionLog(partition=0)
    take(store, log, batch(0, epoch(1), target()))
    assert WatchedGroup.objects.get(group="g").checkpoint is not None
    again = LogStore(cluster, "one")
    place = again.begin()[0]
    log = PartitionLog.going_on(0, place)
    assert log.is_what_it_was()
    take(again, log, batch(2, epoch(2)))
    timeline = Timeline.objects.get(group="g")
    frame = storage.frame_at(timeline, timeline.last)
    assert frame is not None
    assert (frame["group_epoch"], frame["target"]) == (2, {"A": {"foo": [0, 1]}})
    folded = [Entry.from_json(each) for each in storage.every_entry(timeline)]
    assert [each.sequence for each in folded] == list(range(1, timeline.last + 1))


def test_an_open_transaction_is_noted_once_and_ended_once_though_another_process_goes_on(
    cluster: Cluster, store: LogStore
) -> None:
    log = PartitionLog(partition=0)
    take(store, log, batch(0, epoch(1), target()), transactional(2, 7, commit(5)))
    assert store.hold({0: log.open_transactions()}, now_ms=1_002 + OPEN_LEAST_MS - 1) == []
    [row] = store.hold({0: log.open_transactions()}, now_ms=1_002 + OPEN_LEAST_MS)
    assert row["group"] == "g"
    again = LogStore(cluster, "one")
    log = PartitionLog.going_on(0, again.begin()[0])
    assert not log.is_what_it_was()
    take(again, log, transactional(2, 7, commit(5)))
    assert again.hold({0: log.open_transactions()}, now_ms=60_000) == []
    take(again, log, marker(3, 7, ControlType.COMMIT))
    assert again.hold({0: log.open_transactions()}, now_ms=61_000) == []
    noted = [each["payload"]["note"] for each in entries() if each["payload"].get("producer") == 7]
    assert noted == ["transaction", "transaction_ended"]
    [found] = [each for each in findings() if each["kind"] == "open_transaction"]
    assert (found["open"], found["partitions"]) == (False, ["foo-0"])


def findings(group: str = "g") -> list[Any]:
    return list(storage.summary(Timeline.objects.get(group=group))["findings"])


def test_a_group_of_which_the_log_has_nothing_but_an_open_transaction_has_a_timeline_once_it_is_long(
    store: LogStore,
) -> None:
    log = PartitionLog(partition=0)
    take(
        store,
        log,
        transactional(0, 7, commit(5)),
        transactional(1, 8, commit(5, "h")),
        marker(2, 8, ControlType.ABORT),
    )
    assert store.hold({0: log.open_transactions()}, now_ms=2_000) == []
    assert not WatchedGroup.objects.exists()
    store.hold({0: log.open_transactions()}, now_ms=60_000)
    assert [each["payload"]["note"] for each in entries()] == ["transaction"]
    assert not Timeline.objects.filter(group="h").exists()


def test_a_day_of_a_busy_cluster_stays_within_what_is_kept_and_all_that_stays_can_be_opened(
    cluster: Cluster, store: LogStore, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """``python -m tests.clusters.day`` is the whole day."""
    settings.LIVE_ENTRIES_MOST = 30
    monkeypatch.setattr(retention, "BYTES_MOST", 40_000)
    monkeypatch.setattr(retention, "AT_ONCE", 2)
    day = Day(groups=2, commits_s=5.0, rebalances_h=60.0, hours=0.1)
    most = day.live(cluster, store, forget_every=10)
    assert day.records > 3_000
    assert most < 40_000 * 1.5
    for group in ("group-0", "group-1"):
        kept = list(Timeline.objects.filter(group=group).order_by("created"))
        assert kept[-1].status == Timeline.Status.RUNNING
        for timeline in kept:
            frame = storage.frame_at(timeline, timeline.last)
            assert frame is not None
            assert frame["group_epoch"] is not None


def test_retention_removes_the_oldest_ended_timelines_and_no_more_than_are_too_much(
    cluster: Cluster, store: LogStore, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LIVE_ENTRIES_MOST = 30
    Day(groups=2, commits_s=5.0, rebalances_h=60.0, hours=0.1).live(cluster, store, forget_every=10**9)
    assert retention.forget(cluster) == 0
    ended = list(Timeline.objects.exclude(status=Timeline.Status.RUNNING).order_by("created"))
    assert len(ended) > 3
    whole = retention.bytes_of(cluster)
    monkeypatch.setattr(retention, "BYTES_MOST", whole - 1)
    retention.thin(cluster, 10**15, least_ms=0)
    monkeypatch.setattr(retention, "BYTES_MOST", retention.bytes_of(cluster) - 1)
    assert retention.forget(cluster) == 1, "one byte too much takes one timeline, the oldest"
    assert not Timeline.objects.filter(pk=ended[0].pk).exists()
    left = retention.bytes_of(cluster)
    monkeypatch.setattr(retention, "BYTES_MOST", left // 2)
    assert retention.forget(cluster) >= 1
    assert left // 2 >= retention.bytes_of(cluster) > 0
    assert retention.forget(cluster) == 0


def test_commits_use_up_neither_entries_nor_bytes_and_every_rebalance_stays(
    cluster: Cluster, store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The benchmark ``live-commits`` is six hours of twenty groups."""
    day = Day(groups=2, commits_s=27.0, rebalances_h=60.0, hours=0.1)
    day.live(cluster, store, forget_every=10**9)
    assert day.records > 15_000
    timelines = list(Timeline.objects.all())
    assert [timeline.last < 200 for timeline in timelines] == [True, True], "one timeline each"
    states = {each.pk: shown(each) for each in timelines}
    before, rebalances = retention.bytes_of(cluster), rebalances_of(cluster)
    assert before < 30 * day.records, "an entry for each commit took 330 bytes"
    monkeypatch.setattr(retention, "BYTES_MOST", before - 1)
    assert retention.forget(cluster) == 0, "thinned, and nothing is removed"
    assert retention.bytes_of(cluster) < before / 5
    assert rebalances_of(cluster) == rebalances
    assert len(rebalances) == 2 * 6
    for timeline in Timeline.objects.all():
        assert timeline.thinned == timeline.last
        some = list(storage.every_entry(timeline))
        assert [entry["sequence"] for entry in some] == list(range(1, timeline.last + 1))
        assert shown(timeline) == states[timeline.pk]
        rows = Folded.objects.filter(timeline=timeline).order_by("first")
        [chunk, *_] = storage.chunks(timeline)
        assert [(row.first, row.last) for row in rows if row.first <= chunk.last] == [(1, chunk.last)]
        assert list(storage.entries_before(timeline, 5)) == some[3::-1]
        assert storage.entries_between(timeline, 3, 6) == some[2:6]
        last = next(entry for entry in reversed(some) if entry["kind"] == "commits")
        assert last["payload"]["thinned"] > 0


def shown(timeline: Timeline) -> list[Any]:
    """What a board fetches: the last frame, each chunk, the map in its finest columns, and what came after an entry."""
    digest_answers._kept.clear()
    maps = [
        storage.digest_answer(timeline, of, 1, timeline.last, 4_000)
        for of in ("members", "partitions", "group")
    ]
    chunks = [storage.chunk_text(timeline, chunk.first) for chunk in storage.chunks(timeline)]
    return [storage.frame_at(timeline, timeline.last), chunks, maps, storage.changes_after(timeline, 5)]


def test_rows_of_a_group_with_members_become_one_for_each_chunk_and_show_what_they_showed() -> None:
    [log] = [each for each in followable() if each.name == "study released-basic kafka"]
    timeline = storage.create_timeline(title="t", source="live", group=log.group)
    writer, recorder = storage.open_writer(timeline.pk, "one"), Recorder(group=log.group)
    for entry in runs_of(log.group, busy(log, 3, apart=False)):
        recorder.add(entry)
        if entry.settled and (some := recorder.flush(final=True)) is not None:
            writer.append(some)
    writer.finish("complete")
    timeline.refresh_from_db()
    before, rows = shown(timeline), Folded.objects.filter(timeline=timeline)
    assert rows.count() > 50
    assert len(orjson.loads(before[2][0][0])["ids"]) >= 3, "the map has members"
    assert list(storage.thin(timeline, 10**15))
    assert shown(timeline) == before
    assert rows.count() == len(storage.chunks(timeline)) == 1


def test_a_timeline_is_read_to_its_end_while_its_rows_are_merged(
    cluster: Cluster, store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_log, "ROWS_AT_ONCE", 2)
    Day(groups=1, commits_s=1.0, rebalances_h=60.0, hours=0.1).live(cluster, store, forget_every=10**9)
    timeline = Timeline.objects.get()
    reading = storage.every_entry(timeline)
    sequences = [next(reading)["sequence"]]
    assert list(storage.thin(timeline, 10**15, least_ms=0))
    sequences += [entry["sequence"] for entry in reading]
    assert sequences == list(range(1, timeline.last + 1))


def test_a_timeline_ends_after_a_day_and_the_next_one_has_the_group_and_its_offsets(
    cluster: Cluster, store: LogStore
) -> None:
    log = PartitionLog(partition=0)
    take(store, log, batch(0, epoch(3), target()), batch(2, commit(5), commit(7, partition=1)))
    store.flush()
    Timeline.objects.update(created=timezone.now() - timedelta(days=1, minutes=1))
    again = LogStore(cluster, "one")
    log = PartitionLog.going_on(0, again.begin()[0])
    assert log.is_what_it_was()
    take(again, log, batch(4, commit(9), commit(11, partition=2)))
    again.flush()
    first, second = Timeline.objects.order_by("created")
    assert (first.status, second.status) == ("complete", "running")
    frames = [storage.frame_at(each, each.last) for each in (first, second)]
    assert frames[0] is not None
    assert frames[1] is not None
    assert frames[0]["target"] == frames[1]["target"]
    lines = storage.committed_lines(second, 1, second.last, 100, None)["lines"]
    assert [(line["partition"], line["points"][-1][2]) for line in lines] == [(0, 9), (1, 7), (2, 11)]
    assert [entry["kind"] for entry in storage.every_entry(second)].count("commits") == 1


def test_while_the_log_is_read_its_rebalances_are_listed_at_the_times_of_their_records(
    store: LogStore,
) -> None:
    log = PartitionLog(partition=0)
    take(store, log, batch(0, epoch(1), target()))
    take(store, log, batch(2, epoch(2)), batch(3, epoch(3)))
    facts = WatchedGroup.objects.get(group="g").facts
    now_ms = time.time_ns() // 1_000_000
    assert len(facts["rebalanced_ms"]) == 2
    assert all(at < now_ms - 60_000 for at in facts["rebalanced_ms"])
    assert now_ms - 60_000 < facts["state_since_ms"] <= now_ms
