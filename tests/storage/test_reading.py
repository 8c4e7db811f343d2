"""Seeking, catching up and naming: what is read equals what a fresh fold of the entries gives."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from groups import storage
from groups.history.entries import Entry
from groups.history.frames.changes import apply
from groups.history.frames.frame import frame
from groups.history.replay.fold import FOLD_VERSION, replay
from groups.history.state.group import initial_state
from groups.models import Folded, Timeline
from groups.storage import BadName, NotReady, timeline_reader
from tests.stories import GROUP, OTHER_TOPIC_ID, TOPIC_ID, Story, a_day_of_three

Stored = Callable[..., Timeline]


def fresh_frame(entries: list[Entry], sequence: int) -> dict[str, Any]:
    state = initial_state(GROUP)
    for entry in entries[:sequence]:
        state = replay(state, entry)
    return orjson.loads(orjson.dumps(frame(state)))


def long_story() -> Story:
    story = Story()
    for number in range(120):
        story.joins(f"member-{number}", [number])
    return story


def test_who_reads_all_entries_can_write_meanwhile_as_others_do(stored: Stored) -> None:
    """As a fold made anew does while runs and imports store."""
    timeline = stored(long_story())
    entries = storage.every_entry(timeline)
    read = [next(entries)]
    with ThreadPoolExecutor() as others:
        others.submit(rename_in_another_connection, timeline.id).result()
    Timeline.objects.filter(pk=timeline.id).update(problem="written by the reader")
    read += entries
    assert [entry["sequence"] for entry in read] == list(range(1, timeline.last + 1))


def rename_in_another_connection(timeline_id: str) -> None:
    try:
        Timeline.objects.filter(pk=timeline_id).update(title="written by another one")
    finally:
        connection.close()


def test_the_frame_at_every_entry_is_that_of_a_fresh_fold(stored: Stored) -> None:
    story = a_day_of_three()
    timeline = stored(story)
    for sequence in range(len(story.entries) + 1):
        assert storage.frame_at(timeline, sequence) == fresh_frame(story.entries, sequence)


def test_a_seek_into_any_chunk_gives_the_fresh_frame(stored: Stored) -> None:
    story = long_story()
    timeline = stored(story)
    chunks = storage.chunks(timeline)
    assert len(chunks) > 1
    assert chunks[0].first == 1
    assert chunks[-1].last == timeline.last
    assert all(one.last + 1 == next_one.first for one, next_one in pairwise(chunks))
    edges = {edge + step for chunk in chunks for edge in (chunk.first, chunk.last) for step in (-1, 0, 1)}
    for sequence in sorted(edge for edge in edges if 0 <= edge <= timeline.last):
        assert storage.frame_at(timeline, sequence) == fresh_frame(story.entries, sequence)


def test_each_chunk_leads_from_its_frame_to_the_next_ones(stored: Stored) -> None:
    timeline = stored(long_story())
    for chunk in storage.chunks(timeline):
        text, closed = storage.chunk_text(timeline, chunk.first) or (b"{}", False)
        content = orjson.loads(text)
        assert closed
        assert (content["first"], content["last"]) == (chunk.first, chunk.last)
        assert content["frame"] == storage.frame_at(timeline, chunk.first - 1)
        assert apply(content["frame"], content["changes"]) == storage.frame_at(timeline, chunk.last)


def test_the_last_chunk_of_a_running_timeline_is_open(transactional_db: None) -> None:
    timeline = storage.create_timeline(title="Orders", source="simulation", group=GROUP)
    writer = storage.open_writer(timeline.id, "one")
    writer.append(a_day_of_three().batches()[0])
    found = storage.chunk_text(storage.get(timeline.id), 1)
    assert found is not None
    assert found[1] is False
    writer.finish("complete")
    found = storage.chunk_text(storage.get(timeline.id), 1)
    assert found is not None
    assert found[1] is True


def test_no_chunk_begins_within_another(stored: Stored) -> None:
    assert storage.chunk_text(stored(a_day_of_three()), 6) is None
    assert storage.chunk_text(stored(a_day_of_three()), 99) is None


def test_a_frame_beyond_the_end_is_not_there(stored: Stored) -> None:
    assert storage.frame_at(stored(a_day_of_three()), 21) is None


def test_a_timeline_without_entries_has_the_first_frame(transactional_db: None) -> None:
    timeline = storage.create_timeline(title="Orders", source="simulation", group=GROUP)
    assert storage.frame_at(timeline, 0) == fresh_frame([], 0)
    assert storage.chunks(timeline) == []
    assert orjson.loads(storage.changes_after(timeline, 0))["changes"] == []


def test_the_changes_after_any_entry_lead_to_the_last_frame(stored: Stored) -> None:
    timeline = stored(a_day_of_three(), units_a_batch=3)
    for after in range(timeline.last + 1):
        answer = orjson.loads(storage.changes_after(timeline, after))
        old = storage.frame_at(timeline, after)
        assert old is not None
        assert apply(old, answer["changes"]) == storage.frame_at(timeline, timeline.last)
        assert all(moment["sequence"] > after for moment in answer["moments"])
        assert answer["more"] is False


def test_a_long_way_is_caught_up_in_several_answers(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = stored(long_story())
    monkeypatch.setattr(timeline_reader, "CHANGES_BYTES_MOST", 20_000)
    caught_up = storage.frame_at(timeline, 0)
    assert caught_up is not None
    after, answers = 0, 0
    while True:
        answer = orjson.loads(storage.changes_after(timeline, after))
        caught_up = apply(caught_up, answer["changes"])
        after, answers = answer["last"], answers + 1
        if not answer["more"]:
            break
    assert answers > 3
    assert caught_up == storage.frame_at(timeline, timeline.last)


def test_entries_come_as_they_were_recorded_and_not_more_than_the_bound(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = a_day_of_three()
    timeline = stored(story, units_a_batch=2)
    assert storage.entries_between(timeline, 1, 20) == [entry.to_json() for entry in story.entries]
    assert [entry["sequence"] for entry in storage.entries_between(timeline, 9, 12)] == [9, 10, 11, 12]
    monkeypatch.setattr(timeline_reader, "ENTRIES_MOST", 3)
    assert [entry["sequence"] for entry in storage.entries_between(timeline, 9, 20)] == [9, 10, 11]


def test_a_cache_of_another_fold_is_not_shown_and_is_made_anew_from_the_entries(stored: Stored) -> None:
    story = long_story()
    timeline = stored(story)
    before = [storage.frame_at(timeline, sequence) for sequence in (0, 7, timeline.last)]
    summary = timeline.summary
    Timeline.objects.update(fold_version=FOLD_VERSION - 1, summary={})
    Folded.objects.update(fold_version=FOLD_VERSION - 1, changes=b"[]", moments=b"[]")
    timeline.refresh_from_db()
    with pytest.raises(NotReady, match="ready in a moment"):
        storage.frame_at(timeline, 7)
    assert list(storage.stale()) == [timeline]

    assert storage.refold(timeline.id, "the test")
    timeline.refresh_from_db()
    assert [storage.frame_at(timeline, sequence) for sequence in (0, 7, timeline.last)] == before
    assert timeline.summary == summary
    assert not Folded.objects.exclude(fold_version=FOLD_VERSION).exists()
    assert not storage.refold(timeline.id, "the test")


def test_a_topic_id_that_is_given_a_name_is_shown_by_it_everywhere_and_stored_nowhere(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    version = storage.version(timeline)
    storage.set_topic_names(timeline.id, {TOPIC_ID: "foo"})
    timeline.refresh_from_db()

    assert storage.version(timeline) != version
    found = storage.chunk_text(timeline, 1)
    assert found is not None
    chunk = orjson.loads(found[0])
    assert chunk["moments"][0]["says"] == "A joins and gets foo-0"
    for sequence in range(21):
        shown = storage.frame_at(timeline, sequence)
        assert shown is not None
        assert apply(chunk["frame"], [c for c in chunk["changes"] if c["sequence"] <= sequence]) == shown
    last = storage.frame_at(timeline, 20)
    assert last is not None
    assert last["members"]["A"]["assigned"] == {"foo": [0]}
    # The id itself stays an id, and the topic that was only subscribed to has become this one.
    assert last["topics"] == {"foo": {"id": TOPIC_ID, "partitions": None}}
    assert TOPIC_ID not in orjson.dumps(timeline.topic_names | {TOPIC_ID: ""}).decode().replace(
        TOPIC_ID, "", 1
    )
    assert TOPIC_ID in orjson.dumps(timeline.summary).decode()
    assert (
        storage.entries_between(timeline, 3, 3)[0]["payload"]["value"]["topicPartitions"][0]["topicId"]
        == TOPIC_ID
    )

    storage.set_topic_names(timeline.id, {TOPIC_ID: None})
    assert storage.version(storage.get(timeline.id)) == version


def test_a_list_tells_what_a_description_does_and_reads_no_whole_summary(stored: Stored) -> None:
    for number, title in enumerate(("first", "second")):
        timeline = stored(a_day_of_three(), title=title)
        storage.set_topic_names(timeline.id, {TOPIC_ID: f"named-{number}"})
    empty = storage.create_timeline(title="empty", source="simulation", group=GROUP)
    timelines = [storage.get(empty.id), *Timeline.objects.exclude(pk=empty.id).order_by("-created")]
    due = [storage.describe(each) for each in timelines]
    for each in due:
        each["summary"] = {bit: each["summary"].get(bit) for bit in timeline_reader.LISTED_BITS}
    with CaptureQueriesContext(connection) as asked:
        told = storage.described(10)
    assert told == due
    assert len(asked) == 1, "one question for all of them"
    assert '"summary", "groups_timeline"."verdict"' not in asked[0]["sql"]
    assert [each["id"] for each in storage.described(1)] == [empty.id]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"nowhere": "foo"}, "no topic whose name is unknown under the id 'nowhere'"),
        ({"foo": "bar"}, "no topic whose name is unknown under the id 'foo'"),
        ({TOPIC_ID: "a topic"}, "'a topic' is no topic name"),
        ({TOPIC_ID: ".."}, "'..' is no topic name"),
        ({TOPIC_ID: 7}, "7 is no topic name"),
        ({TOPIC_ID: "bar", OTHER_TOPIC_ID: "bar"}, "called 'bar' already"),
    ],
)
def test_a_name_that_cannot_be_is_refused_in_one_line(
    stored: Stored, names: dict[str, Any], message: str
) -> None:
    timeline = stored(a_day_of_three().joins("D", [0], OTHER_TOPIC_ID))
    with pytest.raises(BadName, match=message.replace(".", r"\.")):
        storage.set_topic_names(timeline.id, names)
    assert storage.get(timeline.id).topic_names == {}
