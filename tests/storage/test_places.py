"""Questions for a place of a timeline: rows and packs answer alike, at each edge of what they keep together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from groups import storage
from groups.history.digests import window
from groups.history.digests.digest_json import group_answer, member_answer, partition_answer
from groups.history.state.group import Semantics
from groups.imports import lifecycle
from groups.models import Timeline
from groups.packs.index import StoredChunk
from groups.storage import opened
from groups.storage.digests import Wanted, unknown
from groups.storage.names import named
from groups.storage.rows_log import RowsLog
from groups.storage.stored_log import OPENED_FOR_ONE_ANSWER, StoredLog
from tests.pipeline.segments import FOO, Group, Segment, hash_of
from tests.storage.test_stored_logs import Kept, _none_made, busy, in_this_process, kept, made
from tests.stories import Story, a_day_of_three

__all__ = ["_none_made", "kept"]

pytestmark = pytest.mark.django_db(transaction=True)

Stored = Callable[..., Timeline]


def crowd_comes() -> Story:
    story = Story()
    for number in range(120):
        story.joins(f"member-{number}", [number])
    return story


@pytest.fixture(params=["rows", "packs"])
def timeline(request: pytest.FixtureRequest, stored: Stored, kept: Kept) -> Timeline:
    if request.param == "rows":
        return stored(crowd_comes(), units_a_batch=7)
    return kept(busy(Group()))


def log(timeline: Timeline) -> RowsLog | StoredLog:
    return RowsLog(timeline) if timeline.index_place is None else StoredLog(timeline)


def test_a_chunk_is_found_by_its_first_entry_alone_and_by_each_that_it_holds(timeline: Timeline) -> None:
    chunks = storage.chunks(timeline)
    assert len(chunks) > 1
    for chunk in chunks:
        found = log(timeline).opened(chunk.first)
        assert found is not None
        _, place, closed = found
        assert (place.first, place.last, closed) == (chunk.first, chunk.last, True)
        for sequence in (chunk.first, chunk.last):
            before = log(timeline).before(sequence)
            assert before is not None
            assert (before[1].first, before[1].last) == (chunk.first, chunk.last)
        assert log(timeline).opened(chunk.first + 1) is None
    assert log(timeline).opened(timeline.last + 1) is None


def test_what_follows_on_an_entry_begins_with_the_next_one(timeline: Timeline) -> None:
    ends = [chunk.last for chunk in storage.chunks(timeline)]
    for after in (0, ends[0] - 1, ends[0], ends[0] + 1, timeline.last - 1):
        first, last, _, _ = next(log(timeline).changes_after(after))
        assert first <= after + 1 <= last
    assert list(log(timeline).changes_after(timeline.last)) == []


def test_entries_are_read_up_to_both_ends_of_each_chunk(timeline: Timeline) -> None:
    for chunk in storage.chunks(timeline)[:3]:
        for first, last in (
            (chunk.first, chunk.last),
            (chunk.first, chunk.last + 1),
            (chunk.last, chunk.last),
            (chunk.last, min(chunk.last + 1, timeline.last)),
        ):
            told = [entry["sequence"] for entry in log(timeline).entries_between(first, last)]
            assert told == list(range(first, min(last, timeline.last) + 1))


def test_commits_are_those_of_the_entries_asked_for_and_of_the_partitions_asked_for(
    timeline: Timeline,
) -> None:
    every = list(log(timeline).committed_between(1, timeline.last, None))
    for first, last in ((1, timeline.last // 2), (timeline.last // 2, timeline.last)):
        told = list(log(timeline).committed_between(first, last, None))
        assert told == [each for each in every if first <= each[1].sequence <= last]
    for wanted in (frozenset(), frozenset({place for place, _ in every[:1]})):
        told = list(log(timeline).committed_between(1, timeline.last, wanted))
        assert told == [each for each in every if each[0] in wanted]


def test_commits_in_rows_are_told_by_partition(stored: Stored) -> None:
    story = a_day_of_three()
    for partition, offset in ((0, 5), (1, 6), (0, 7)):
        key = {"group": "orders", "topic": "foo", "partition": partition}
        value = {"offset": offset, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 1}
        story.unit({"type": 1, "key": key, "version": 3, "value": value})
    timeline = stored(story)
    told = storage.committed_lines(timeline, 1, timeline.last, 100, [("foo", 0)])
    assert [(line["partition"], line["commits"]) for line in told["lines"]] == [(0, 2)]
    assert [point[2] for point in told["lines"][0]["points"]] == [5, 7]
    both = storage.committed_lines(timeline, 1, timeline.last, 100, None)
    assert [(line["partition"], line["commits"]) for line in both["lines"]] == [(0, 2), (1, 1)]


def test_the_entry_that_changed_a_place_last_is_found_through_the_chunks(timeline: Timeline) -> None:
    changes = orjson.loads(storage.changes_after(timeline, 0))["changes"]
    paths = {tuple(change["path"]) for change in changes}
    by_the_first = {tuple(change["path"]) for change in changes if change["sequence"] == 1}
    assert by_the_first
    for path in [*sorted(paths)[:6], *sorted(by_the_first)[:3]]:
        at = [change["sequence"] for change in changes if tuple(change["path"]) == path]
        assert storage.last_change(timeline, list(path), timeline.last) == at[-1]
        assert storage.last_change(timeline, list(path), timeline.last + 5) == at[-1]
        assert storage.last_change(timeline, list(path), at[0]) == at[0]
        assert storage.last_change(timeline, list(path), at[0] - 1) is None
    assert storage.last_change(timeline, ["nowhere"], timeline.last) is None
    ends = {chunk.last for chunk in storage.chunks(timeline)[:-1]}
    at_ends = [change for change in changes if change["sequence"] in ends]
    assert at_ends
    for change in at_ends:
        after = change["sequence"] + 1
        if not any(each["path"] == change["path"] and each["sequence"] == after for each in changes):
            assert storage.last_change(timeline, change["path"], after) == change["sequence"]


def test_the_metrics_before_the_first_entry_are_those_of_nobody(timeline: Timeline) -> None:
    told = storage.metrics_at(timeline, 0)
    assert told is not None
    assert told["clients"] == []
    assert storage.metrics_at(timeline, timeline.last + 1) is None


def test_the_facts_tell_the_whole_summary_where_it_is_asked_for(timeline: Timeline) -> None:
    assert storage.describe(timeline, whole=True)["summary"] == storage.summary(timeline)
    assert storage.describe(timeline)["summary"] == timeline.in_short()
    if timeline.index_place is not None:
        assert timeline.summary != storage.summary(timeline)


def test_a_digest_covers_the_window_and_tells_only_what_is_wanted(timeline: Timeline) -> None:
    middle = timeline.last // 2
    for first, last in ((1, middle), (middle, middle), (middle, timeline.last)):
        for _ in range(len(storage.chunks(timeline))):
            digest = log(timeline).digest(first, last, 1000, Wanted(members=True, partitions=True))
        assert digest is not None
        assert digest.columns.first[0] <= first
        assert digest.columns.last[-1] >= last
        without = log(timeline).digest(first, last, 1000, Wanted(members=False, partitions=False))
        assert without is not None
        assert without.columns == digest.columns
        assert without.members is None or not without.members.changes
        assert without.partitions is None or not without.partitions.changes


def test_an_answer_of_a_timeline_that_still_grows_is_not_kept_for_good(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    for _ in range(2):
        assert storage.digest_answer(timeline, "group", 0, timeline.last, 800)[1] is True
    timeline.status = Timeline.Status.RUNNING
    for columns in (800, 800, 801):
        text, lasting = storage.digest_answer(timeline, "group", 0, timeline.last, columns)
        assert lasting is False
        assert orjson.loads(text)["exact"] is True
    assert orjson.loads(storage.digest_answer(timeline, "group", 0, timeline.last, 1)[0])["exact"] is False


def test_each_kind_of_answer_is_that_of_the_whole_digest(stored: Stored) -> None:
    """Only what an answer needs is read of the rows."""
    timeline = stored(a_day_of_three())
    whole = RowsLog(timeline).digest(1, timeline.last, 800, Wanted(members=True, partitions=True))
    assert whole is not None
    shown = window(whole, 1, timeline.last)
    for of, answer in (
        ("members", member_answer(shown)),
        ("partitions", partition_answer(shown)),
        ("group", group_answer(shown)),
    ):
        told = orjson.loads(storage.digest_answer(timeline, of, 1, timeline.last, 800)[0])
        assert told == {"from": 1, "to": timeline.last, "exact": True, **orjson.loads(orjson.dumps(answer))}
        assert "A" in told.get("ids", "A")


def test_a_chunk_that_is_followed_by_another_is_closed_while_the_timeline_grows(stored: Stored) -> None:
    timeline = stored(crowd_comes(), units_a_batch=3)
    timeline.status = Timeline.Status.RUNNING
    *earlier, last = storage.chunks(timeline)
    told = [RowsLog(timeline).opened(chunk.first) for chunk in earlier]
    assert all(found is not None and found[2] for found in told)
    found = RowsLog(timeline).opened(last.first)
    assert found is not None
    assert not found[2]


def test_each_chunk_in_rows_has_its_own_moments(stored: Stored) -> None:
    timeline = stored(crowd_comes(), units_a_batch=3)
    for chunk in storage.chunks(timeline):
        found = storage.chunk_text(timeline, chunk.first)
        assert found is not None
        assert chunk.moments == len(orjson.loads(found[0])["moments"])


def test_a_timeline_of_the_proposal_begins_with_the_proposals_frame(stored: Stored) -> None:
    kip, kafka = (stored(a_day_of_three(), semantics=each) for each in Semantics)
    assert kip.semantics != kafka.semantics
    empty = storage.create_timeline(title="Orders", source="simulation", semantics=Semantics.KIP)
    begins = storage.frame_at(empty, 0)
    assert begins is not None
    plain = storage.create_timeline(title="Orders", source="simulation")
    assert begins != storage.frame_at(plain, 0)


def test_a_member_with_a_topics_given_name_stays() -> None:
    names = {"id-of-foo": "foo"}
    changes = [
        {"sequence": 1, "path": ["topics", "foo"], "new": {"id": None}},
        {"sequence": 2, "path": ["topics", "bar"], "new": {"id": None}},
        {"sequence": 3, "path": ["members", "foo"], "new": {"epoch": 1}},
        {"sequence": 4, "path": ["topics", "id-of-foo", "id"], "old": "id-of-foo", "new": "id-of-foo"},
        {"sequence": 5, "path": ["topics"], "new": {"foo": {}, "id-of-foo": {"id": "id-of-foo"}}},
        {"sequence": 6, "path": ["state"], "new": "id-of-foo is told"},
    ]
    told = named(changes, names)
    assert [change["sequence"] for change in told] == [2, 3, 4, 5, 6]
    assert told[2] == {"sequence": 4, "path": ["topics", "foo", "id"], "old": "id-of-foo", "new": "id-of-foo"}
    assert told[4]["new"] == "foo is told"
    assert named({"topics": {"foo": {}, "id-of-foo": {"id": "id-of-foo"}}}, names) == {
        "topics": {"foo": {"id": "id-of-foo"}}
    }
    assert named(changes, {}) is changes


# -- imports


def test_an_import_lists_its_timelines_and_one_that_goes_on_continues_them(kept: Kept) -> None:
    group, segment = Group(), Segment()
    segment.add(group.join("A", {FOO: [0, 1, 2]}, hash_of({"foo": (FOO, 3)})))
    timeline = kept(segment)
    assert (timeline.protocol, timeline.group, timeline.status) == ("consumer", "orders", "complete")
    same = kept(segment)
    assert same.pk == timeline.pk
    segment.add(group.leave("A"))
    longer = kept(segment)
    assert (longer.pk, longer.last > timeline.last) == (timeline.pk, True)
    assert storage.get(timeline.pk).last == longer.last
    listed = [
        sorted(found.timelines.values_list("pk", flat=True))
        for found in lifecycle.Import.objects.order_by("created")
    ]
    assert listed == [[timeline.pk]] * 3


def test_chunks_that_processes_of_their_own_open_lie_beside_each_other(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = kept(busy(Group()))
    chunks = StoredLog(timeline).index["chunks"]
    here = [opened.opened(timeline, chunk) for chunk in chunks[:2]]
    opened.forget(timeline.id)
    assert [opened.look(timeline, chunk) for chunk in chunks[:2]] == [None, None]
    monkeypatch.undo()
    assert [opened.opened(timeline, chunk) for chunk in chunks[:2]] == here


def test_a_chunk_that_nobody_has_opened_is_one_column_behind_the_entry_before_it(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    chunk = StoredLog(timeline).index["chunks"][1]
    columns = unknown(chunk["first"], chunk["last"], chunk["digest"], None).columns
    assert (columns.first, columns.last) == (
        [chunk["first"] - 1, chunk["first"]],
        [chunk["first"] - 1, chunk["last"]],
    )
    assert (columns.unknown, columns.moments) == ([0, 1], [0, 0])
    assert columns.members == [chunk["digest"]["members"]] * 2
    assert columns.unassigned == [chunk["digest"]["unassigned"]] * 2


def test_only_two_chunks_are_opened_at_once(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes a core for as long as it lasts."""
    timeline = kept(busy(Group()))
    chunks = StoredLog(timeline).index["chunks"][:3]
    inside, release = threading.Semaphore(0), threading.Event()

    def slow(path: Path, chunk: StoredChunk) -> None:
        inside.release()
        release.wait()
        in_this_process(path, chunk)

    monkeypatch.setattr(opened, "_open", slow)
    threads = [threading.Thread(target=opened.opened, args=(timeline, chunk)) for chunk in chunks]
    for thread in threads:
        thread.start()
    for _ in range(2):
        inside.acquire()
    free = opened._slots.acquire(blocking=False)
    release.set()
    for thread in threads:
        thread.join()
    assert not free
    assert len(made) == 3


def test_a_question_for_a_digest_opens_a_few_chunks_and_the_next_one_goes_on(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    log = StoredLog(timeline)
    everything = Wanted(members=True, partitions=True)
    digest = log.digest(1, timeline.last, 1000, everything)
    assert digest is not None
    assert len(made) == OPENED_FOR_ONE_ANSWER
    left = [at for at, unknown in enumerate(digest.columns.unknown) if unknown]
    chunks = storage.chunks(timeline)
    assert len(left) == len(chunks) - OPENED_FOR_ONE_ANSWER
    assert [digest.columns.last[at] for at in left] == [
        chunk.last for chunk in chunks[OPENED_FOR_ONE_ANSWER:]
    ]
