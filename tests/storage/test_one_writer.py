"""One writer per timeline: a task that is delivered twice, stopped or overtaken doubles and loses nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from groups import storage
from groups.models import Batch, Folded, Note, Timeline
from groups.storage import LeaseLost, NoSuchTimeline, SequenceGap
from tests.stories import GROUP, a_day_of_three

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def timeline() -> Timeline:
    return storage.create_timeline(title="Orders", source="simulation", group=GROUP)


def stored_sequences(timeline: Timeline) -> list[int]:
    return [entry["sequence"] for entry in storage.every_entry(timeline)]


def expire_lease(timeline: Timeline) -> None:
    Timeline.objects.filter(pk=timeline.id).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_what_is_appended_is_stored_in_order_and_the_row_knows_its_end(timeline: Timeline) -> None:
    writer = storage.open_writer(timeline.id, "one")
    for batch in a_day_of_three().batches():
        assert writer.append(batch)
    writer.finish("complete")

    timeline.refresh_from_db()
    assert stored_sequences(timeline) == list(range(1, 21))
    assert (timeline.last, timeline.status, timeline.lease_owner) == (20, "complete", "")
    assert timeline.summary["last"] == 20
    assert timeline.protocol == "consumer"


def test_a_second_writer_is_refused_while_the_first_one_has_the_lease(timeline: Timeline) -> None:
    storage.open_writer(timeline.id, "one")
    with pytest.raises(LeaseLost, match="is being written by another task"):
        storage.open_writer(timeline.id, "two")


def test_a_lease_that_ran_out_can_be_taken_and_the_old_writer_stores_nothing_more(timeline: Timeline) -> None:
    first, second, *_ = a_day_of_three().batches()
    old = storage.open_writer(timeline.id, "old")
    old.append(first)
    expire_lease(timeline)

    new = storage.open_writer(timeline.id, "new")
    with pytest.raises(LeaseLost):
        old.append(second)
    with pytest.raises(LeaseLost):
        old.renew()
    assert new.append(second)
    assert stored_sequences(timeline) == list(range(1, 11))


def test_a_batch_that_comes_twice_is_stored_once(timeline: Timeline) -> None:
    first, second, *_ = a_day_of_three().batches()
    writer = storage.open_writer(timeline.id, "one")
    assert writer.append(first)
    assert writer.append(second)
    assert not writer.append(first)
    assert not writer.append(second)
    assert stored_sequences(timeline) == list(range(1, 11))


def test_a_run_that_is_taken_over_and_cut_into_other_batches_doubles_nothing(timeline: Timeline) -> None:
    one_by_one, by_threes = a_day_of_three().batches(1), a_day_of_three().batches(3)
    old = storage.open_writer(timeline.id, "old")
    for batch in one_by_one[:3]:
        old.append(batch)
    expire_lease(timeline)

    new = storage.open_writer(timeline.id, "new")
    stored = [new.append(batch) for batch in by_threes]
    new.finish("complete")

    # It hands over entries 1 to 10, which are there, and 11 to 20, of which five are.
    assert [(batch.first, batch.last) for batch in by_threes] == [(1, 10), (11, 20)]
    assert stored == [False, True]
    assert stored_sequences(timeline) == list(range(1, 21))
    timeline.refresh_from_db()
    whole = storage.create_timeline(title="Orders", source="simulation", group=GROUP)
    writer = storage.open_writer(whole.id, "one")
    for batch in one_by_one:
        writer.append(batch)
    whole.refresh_from_db()
    for sequence in range(21):
        assert storage.frame_at(timeline, sequence) == storage.frame_at(whole, sequence)


def test_a_batch_after_a_gap_is_refused_and_changes_nothing(timeline: Timeline) -> None:
    first, _, third, _ = a_day_of_three().batches()
    writer = storage.open_writer(timeline.id, "one")
    writer.append(first)
    with pytest.raises(SequenceGap, match="next entry must be 6, but the batch begins with 11"):
        writer.append(third)
    assert stored_sequences(timeline) == list(range(1, 6))


def test_an_append_that_fails_half_way_leaves_no_trace(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_ = a_day_of_three().batches()
    writer = storage.open_writer(timeline.id, "one")

    def full_disk(**_: object) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Folded.objects, "create", full_disk)
        with pytest.raises(OSError, match="no space left"):
            writer.append(first)
    assert not Batch.objects.exists()
    assert storage.get(timeline.id).last == 0
    assert writer.append(first)


def test_a_cancelled_timeline_takes_no_more(timeline: Timeline) -> None:
    first, second, *_ = a_day_of_three().batches()
    writer = storage.open_writer(timeline.id, "one")
    writer.append(first)
    assert storage.cancel(timeline.id)
    assert not storage.cancel(timeline.id)
    with pytest.raises(LeaseLost, match="it is cancelled"):
        writer.append(second)
    with pytest.raises(LeaseLost):
        writer.finish("complete")
    assert storage.get(timeline.id).status == "cancelled"


def test_a_deleted_timeline_takes_no_more_and_leaves_nothing_behind(timeline: Timeline) -> None:
    first, second, *_ = a_day_of_three().batches()
    writer = storage.open_writer(timeline.id, "one")
    writer.append(first)
    storage.delete(timeline.id)
    with pytest.raises(NoSuchTimeline):
        writer.append(second)
    assert not Batch.objects.exists()
    assert not Folded.objects.exists()


def test_of_two_that_take_an_expired_lease_at_once_one_wins(timeline: Timeline) -> None:
    storage.open_writer(timeline.id, "dead")
    expire_lease(timeline)
    start = threading.Barrier(4)
    outcomes: list[str] = []

    def take(name: str) -> None:
        start.wait()
        try:
            storage.open_writer(timeline.id, name)
            outcomes.append("won")
        except LeaseLost:
            outcomes.append("lost")
        finally:
            connection.close()

    threads = [threading.Thread(target=take, args=(f"taker {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["lost", "lost", "lost", "won"]


def test_writers_of_different_timelines_do_not_get_into_each_others_way() -> None:
    failures: list[Exception] = []

    def write() -> None:
        try:
            mine = storage.create_timeline(title="Orders", source="simulation", group=GROUP)
            writer = storage.open_writer(mine.id, mine.id)
            for batch in a_day_of_three().batches():
                writer.append(batch)
            writer.finish("complete")
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert Batch.objects.count() == 6 * 4


def test_a_lost_timeline_is_queued_once_or_ends_as_interrupted(timeline: Timeline) -> None:
    writer = storage.open_writer(timeline.id, "dead")
    writer.append(a_day_of_three().batches()[0])
    assert list(storage.lost_timelines()) == []
    expire_lease(timeline)
    assert list(storage.lost_timelines()) == [timeline]
    assert storage.requeue(timeline.id)
    assert not storage.requeue(timeline.id)

    expire_lease(timeline)
    assert storage.interrupt(timeline.id, "Its process ended.")
    assert not storage.interrupt(timeline.id, "Its process ended.")
    timeline.refresh_from_db()
    assert (timeline.status, timeline.problem) == ("interrupted", "Its process ended.")
    assert stored_sequences(timeline) == [1, 2, 3, 4, 5]


def test_a_timeline_is_replaced_as_a_whole_or_not_at_all(stored: Callable[..., Timeline]) -> None:
    stored(a_day_of_three(), timeline_id="study", source="case-study")
    batches = a_day_of_three().batches()
    facts = {"title": "Anew", "source": "case-study", "group": GROUP}

    with pytest.raises(SequenceGap):
        storage.replace_timeline("study", [batches[0], batches[2]], **facts)
    assert storage.get("study").title == "Orders"

    for note_id, sequence in (("here", 3), ("beyond", 11)):
        storage.get("study").notes.create(id=note_id, sequence=sequence, text="Ours.")
    storage.replace_timeline("study", batches[:2], **facts)
    study = storage.get("study")
    assert [note.id for note in study.notes.all()] == ["here"]
    assert not Note.objects.exclude(timeline=study).exists()
    assert (study.title, study.last, study.status) == ("Anew", 10, "complete")
    assert stored_sequences(study) == list(range(1, 11))
