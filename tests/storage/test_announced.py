"""What storage announces, to whom, and when; and how long a lease holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.utils import timezone

from groups import storage
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Timeline
from groups.storage import LeaseLost, NoSuchTimeline, SequenceGap, refolding, writing
from groups.storage.writing import LEASE_S, changes_message
from tests.stories import GROUP, a_day_of_three

pytestmark = pytest.mark.django_db(transaction=True)

Announced = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> Announced:
    told: Announced = []
    monkeypatch.setattr(writing, "announce", lambda group, message: told.append((group, message)))
    return told


@pytest.fixture
def timeline() -> Timeline:
    return storage.create_timeline(title="Orders", source="simulation", group=GROUP)


def statuses(announced: Announced) -> list[tuple[str, str, int]]:
    told = [orjson.loads(message["text"]) for _, message in announced if message["type"] == "timeline.status"]
    return [(each["status"], each["problem"], each["last"]) for each in told]


def lease_left_s(timeline: Timeline) -> float:
    timeline.refresh_from_db()
    assert timeline.lease_until is not None
    return (timeline.lease_until - timezone.now()).total_seconds()


def test_an_append_announces_its_changes_to_those_who_watch_this_timeline(
    timeline: Timeline, announced: Announced
) -> None:
    first, second, *_ = a_day_of_three().batches()
    writer = storage.open_writer(timeline.id, "one")
    writer.append(first)
    writer.append(second)
    assert [group for group, _ in announced] == [f"timeline.{timeline.id}"] * 2
    assert [(message["after"], message["last"]) for _, message in announced] == [(0, 5), (5, 10)]
    message = announced[1][1]
    assert message["type"] == "timeline.changes"
    assert orjson.loads(message["changes"]) == orjson.loads(second.changes)
    assert orjson.loads(message["moments"]) == orjson.loads(second.moments)
    assert orjson.loads(message["summary"]) == second.summary


def test_a_batch_beyond_the_bound_is_announced_by_its_end_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = a_day_of_three().batches()[0]
    size = len(batch.changes) + len(batch.moments)
    monkeypatch.setattr(writing, "MESSAGE_BYTES_MOST", size)
    assert "changes" in changes_message(batch, {})
    monkeypatch.setattr(writing, "MESSAGE_BYTES_MOST", size - 1)
    assert changes_message(batch, {}) == {"type": "timeline.tail", "after": 0, "last": batch.last}


def test_a_summary_beyond_the_bound_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = a_day_of_three().batches()[0]
    size = len(orjson.dumps(batch.summary))
    monkeypatch.setattr(writing, "SUMMARY_BYTES_MOST", size)
    assert orjson.loads(changes_message(batch, {})["summary"]) == batch.summary
    monkeypatch.setattr(writing, "SUMMARY_BYTES_MOST", size - 1)
    assert changes_message(batch, {})["summary"] is None


def test_each_end_is_announced_once(timeline: Timeline, announced: Announced) -> None:
    assert storage.cancel(timeline.id)
    assert not storage.cancel(timeline.id)
    assert statuses(announced) == [("cancelled", "", 0)]

    other = storage.create_timeline(title="Orders", source="simulation", group=GROUP)
    writer = storage.open_writer(other.id, "one")
    writer.append(a_day_of_three().batches()[0])
    announced.clear()
    assert not storage.interrupt(other.id, "Its process ended."), "its writer is there"
    Timeline.objects.filter(pk=other.id).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert storage.interrupt(other.id, "Its process ended.")
    assert not storage.interrupt(other.id, "Its process ended.")
    assert statuses(announced) == [("interrupted", "Its process ended.", 5)]

    third = storage.create_timeline(title="Orders", source="simulation", group=GROUP)
    announced.clear()
    storage.open_writer(third.id, "one").finish("failed", "No.")
    assert statuses(announced) == [("failed", "No.", 0)]


def test_a_lease_is_renewed_by_what_is_written_and_given_back_at_once(timeline: Timeline) -> None:
    writer = storage.open_writer(timeline.id, "one")
    for keep in (
        lambda: storage.open_writer(timeline.id, "one"),
        writer.renew,
        lambda: writer.append(a_day_of_three().batches()[0]),
    ):
        Timeline.objects.filter(pk=timeline.id).update(lease_until=timezone.now())
        keep()
        assert LEASE_S - 10 < lease_left_s(timeline) <= LEASE_S
    writer.release()
    assert lease_left_s(timeline) <= 0
    timeline.refresh_from_db()
    assert (timeline.lease_owner, timeline.status) == ("", "running")
    assert storage.open_writer(timeline.id, "two").last == 5


def test_why_a_writer_may_not_write_is_told(timeline: Timeline) -> None:
    with pytest.raises(NoSuchTimeline):
        storage.open_writer("nowhere", "one")
    one, same = storage.open_writer(timeline.id, "one"), storage.open_writer(timeline.id, "one")
    first, second, *_ = a_day_of_three().batches()
    one.append(first)
    one.append(second)
    with pytest.raises(LeaseLost, match="was appended to by another task: it ends at 10"):
        same.append(first)
    storage.cancel(timeline.id)
    with pytest.raises(LeaseLost, match="has ended: it is cancelled"):
        storage.open_writer(timeline.id, "one")


def test_a_gap_within_what_replaces_a_timeline_is_told_with_both_numbers() -> None:
    first, _, third, _ = a_day_of_three().batches()
    with pytest.raises(SequenceGap, match="next entry must be 6, but the batch begins with 11"):
        storage.replace_timeline("study", [first, third], title="Orders", source="case-study")


def test_names_are_cut_to_what_the_row_takes() -> None:
    batch = a_day_of_three().batches()[0]
    long = replace(batch, summary={**batch.summary, "group": "o" * 600})
    study = storage.replace_timeline("study", [long], title="t" * 600, source="case-study")
    assert study.protocol == batch.summary["protocol"] == "consumer"
    assert study.group == "o" * len(study.group)
    assert 200 <= len(study.group) < 600
    assert 100 <= len(study.title) < 600


# -- a fold made anew


def older(timeline: Timeline) -> None:
    Timeline.objects.filter(pk=timeline.id).update(fold_version=FOLD_VERSION - 1)


def clock(monkeypatch: pytest.MonkeyPatch, step_s: float) -> list[float]:
    """A clock that goes on by ``step_s`` each time that it is looked at."""
    now_s = [1000.0]

    def monotonic() -> float:
        now_s[0] += step_s
        return now_s[0]

    monkeypatch.setattr(refolding.time, "monotonic", monotonic)
    return now_s


def test_a_fold_that_takes_longer_than_its_lease_renews_it(
    stored: Callable[..., Timeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = stored(a_day_of_three())
    older(timeline)
    ends: list[float] = []
    lost = refolding._Lease.lost

    def watched(lease: refolding._Lease) -> bool:
        before = Timeline.objects.get(pk=timeline.id).lease_until
        told = lost(lease)
        after = Timeline.objects.get(pk=timeline.id).lease_until
        assert before is not None
        assert after is not None
        ends.append((after - before).total_seconds())
        assert LEASE_S - 10 < (after - timezone.now()).total_seconds() <= LEASE_S
        return told

    monkeypatch.setattr(refolding._Lease, "lost", watched)
    clock(monkeypatch, refolding.RENEW_EVERY_S / 2)
    assert storage.refold(timeline.id, "the test")
    renewed = [end > 0 for end in ends]
    assert any(renewed)
    assert not all(renewed), "not at every entry"


def test_a_fold_whose_lease_another_has_taken_stops_and_changes_nothing(
    stored: Callable[..., Timeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = stored(a_day_of_three())
    older(timeline)
    clock(monkeypatch, refolding.RENEW_EVERY_S)
    taken = refolding.fresh_recorder

    def overtaken(of: Timeline) -> object:
        Timeline.objects.filter(pk=of.pk).update(lease_owner="another")
        return taken(of)

    monkeypatch.setattr(refolding, "fresh_recorder", overtaken)
    assert not storage.refold(timeline.id, "the test")
    timeline.refresh_from_db()
    assert (timeline.fold_version, timeline.lease_owner) == (FOLD_VERSION - 1, "another")


def test_nobody_folds_what_another_is_folding(stored: Callable[..., Timeline]) -> None:
    timeline = stored(a_day_of_three())
    older(timeline)
    Timeline.objects.filter(pk=timeline.id).update(lease_until=timezone.now() + timedelta(seconds=9))
    assert not storage.refold(timeline.id, "the test")
    Timeline.objects.filter(pk=timeline.id).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert storage.refold(timeline.id, "the test")
