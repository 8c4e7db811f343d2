"""What is cut out of a timeline to be handed on, and what is taken in elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from groups import storage
from groups.exporting import Wanted, data
from groups.history.frames.frame import frame
from groups.history.state.group import Semantics, initial_state
from groups.incidents.pieces import Stretch
from groups.models import Timeline
from groups.storage import exported, handing_on
from groups.storage.handing_on import CannotHandOn, incident
from tests.stories import TOPIC_ID, Story, a_day_of_three

pytestmark = pytest.mark.django_db(transaction=True)

Stored = Callable[..., Timeline]
MADE = datetime(2026, 11, 22, 17, 0, tzinfo=UTC)
KEY = bytes(range(32))


def a_long_day() -> Story:
    story = a_day_of_three()
    for member in "DEFG":
        story.joins(member, [ord(member) % 8]).leaves(member)
    return story


def test_a_timeline_of_the_proposal_keeps_its_semantics_when_names_are_hidden(stored: Stored) -> None:
    for semantics in Semantics:
        timeline = stored(a_day_of_three(), semantics=semantics)
        hidden = incident(timeline, key=KEY)
        assert hidden.pieces[0].frame == frame(initial_state(hidden.group, semantics))


def test_the_gaps_of_a_stretch_are_those_from_its_first_entry_to_its_last(stored: Stored) -> None:
    pieces = incident(stored(a_long_day()), Stretch(first=8, last=14)).pieces
    first, last = pieces[0].first, pieces[-1].last
    assert first > 1
    gaps = [{"sequence": at} for at in (first - 1, first, last, last + 1, None)]
    assert handing_on._within({"gaps": gaps}, pieces)["gaps"] == gaps[1:3]


def test_a_stretch_tells_what_was_found_in_it_and_who_was_there(stored: Stored) -> None:
    timeline = stored(a_long_day())
    whole = storage.summary(timeline)
    moments = storage.chunk_text(timeline, 1)
    assert moments is not None
    ends = [moment["sequence"] for moment in orjson.loads(moments[0])["moments"]]
    for begin in range(1, len(ends) - 1):
        stretch = Stretch(first=ends[begin - 1] + 1, last=ends[begin + 1])
        told = incident(timeline, stretch)
        summary = told.summary
        inside = range(stretch.first, stretch.last + 1)
        assert (told.stretch.first, told.stretch.last) == (stretch.first, stretch.last)
        assert summary["entries"] == len(inside)
        assert [each["sequence"] for each in summary["epochs"]] == [
            each["sequence"] for each in whole["epochs"] if each["sequence"] in inside
        ]
        ended = storage.summary_at(timeline, stretch.last)
        assert summary["findings"] == [
            found
            for found in ended["findings"]
            if found["sequences"] and set(found["sequences"]) <= set(inside)
        ]
        shown = [storage.frame_at(timeline, at) for at in (stretch.first - 1, *inside)]
        there = {member for each in shown if each for member in each["members"]}
        assert [member["id"] for member in summary["cast"]] == [
            member["id"] for member in ended["cast"] if member["id"] in there
        ]
        entries = storage.entries_between(timeline, stretch.first, stretch.last)
        assert (summary["first_ms"], summary["last_ms"]) == (entries[0]["at_ms"], entries[-1]["at_ms"])


def test_some_findings_stand_within_a_stretch(stored: Stored) -> None:
    timeline = stored(a_long_day())
    found = [
        found
        for begin in (6, 11, 16)
        for found in incident(timeline, Stretch(first=begin, last=timeline.last)).summary["findings"]
    ]
    assert found


@pytest.mark.parametrize(
    ("members", "partitions", "crowded"), [(60, 1, False), (61, 1, True), (1, 600, False), (1, 601, True)]
)
def test_a_crowd_is_more_members_or_more_partitions_than_a_board_has_rows_for(
    members: int, partitions: int, crowded: bool
) -> None:
    held: Any = {"members": {f"m{number}": {} for number in range(members)}}
    piece = handing_on.Piece(first=1, last=1, frame=held, metrics={}, changes=[], moments=[], entries=[])
    told = {"topics": {"foo": {"partitions": partitions - 1}, "bar": {"partitions": 1}, "baz": {}}}
    assert handing_on.is_crowd(told, [piece]) is crowded
    assert handing_on.is_crowd({}, [piece]) is (members > 60)


def test_a_crowds_digests_are_those_that_the_server_answers_with_names_open_or_hidden(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing_on, "ROWS_MEMBERS_MOST", 2)
    timeline = stored(a_day_of_three())
    told = incident(timeline)
    hidden = incident(timeline, key=KEY)
    assert set(told.digests) == set(hidden.digests) == {"members", "partitions", "group"}
    for of in ("members", "partitions", "group"):
        text, _ = storage.digest_answer(timeline, of, 1, timeline.last, handing_on.COLUMNS_MOST)
        assert told.digests[of] == orjson.loads(text)
        assert {**hidden.digests[of], "rows": None, "topics": None}.keys() >= {"from", "to", "exact"}
        assert hidden.digests[of]["columns"] == told.digests[of]["columns"]
        assert hidden.digests[of]["exact"] is told.digests[of]["exact"] is True
        assert (hidden.digests[of]["from"], hidden.digests[of]["to"]) == (1, timeline.last)


def test_what_is_too_long_or_not_there_is_refused(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = stored(a_day_of_three())
    monkeypatch.setattr(handing_on, "ENTRIES_MOST", timeline.last)
    assert incident(timeline).stretch.last == timeline.last
    monkeypatch.setattr(handing_on, "ENTRIES_MOST", timeline.last - 1)
    with pytest.raises(
        CannotHandOn, match=f"Entries 1 to {timeline.last} are more than the {timeline.last - 1}"
    ):
        incident(timeline)
    monkeypatch.undo()
    for first, last in ((0, 5), (6, 5), (5, timeline.last + 1)):
        with pytest.raises(CannotHandOn, match="is no stretch of them"):
            incident(timeline, Stretch(first=first, last=last))
    monkeypatch.setattr(handing_on, "FOLDED_MOST", timeline.last - 1)
    assert incident(timeline).pieces
    with pytest.raises(CannotHandOn, match="Names can be hidden up to entry"):
        incident(timeline, key=KEY)
    empty = storage.create_timeline(title="Orders", source="simulation")
    with pytest.raises(CannotHandOn, match="has no entries yet"):
        incident(empty)


def test_what_is_taken_in_has_the_title_that_is_asked_for_or_its_own(stored: Stored) -> None:
    timeline = stored(a_day_of_three(), title="Of the file")
    content = data(timeline, Wanted(made=MADE)).content
    assert exported.take_in(content, new_id=True).title == "Of the file"
    assert exported.take_in(content, title="Asked for", new_id=True).title == "Asked for"


def test_the_line_of_a_bad_entry_is_told_as_an_editor_counts(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    entries = list(storage.every_entry(timeline))
    for number, entry in enumerate(entries[:3], 1):
        line = orjson.dumps({**entry, "sequence": 99})
        with pytest.raises(exported.BadExport, match=f"line {number} has sequence 99"):
            exported._entry(number, line)
        assert exported._entry(number, orjson.dumps(entry)).sequence == number
    with pytest.raises(exported.BadExport, match="line 7 is no JSON"):
        exported._entry(7, b"{")


def test_topic_names_go_with_the_data(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    storage.set_topic_names(timeline.id, {TOPIC_ID: "foo"})
    content = data(storage.get(timeline.id), Wanted(made=MADE)).content
    again = exported.take_in(content, new_id=True)
    assert again.topic_names == {TOPIC_ID: "foo"}
    assert exported.take_in(content).pk == timeline.pk
    shown = storage.frame_at(again, again.last)
    assert shown is not None
    assert list(shown["topics"]) == ["foo"]
