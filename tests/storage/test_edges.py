"""Where a timeline begins and ends, and what is told of one without entries."""

from __future__ import annotations

from collections.abc import Callable

import orjson
import pytest

from groups import storage
from groups.models import Timeline
from groups.storage import timeline_reader
from groups.storage.digests import FINEST, Stretch, level_for
from groups.storage.importing import _overlaps
from tests.stories import a_day_of_three

Stored = Callable[..., Timeline]

EARLIER = {"orders": [("earlier", [[3, 100, 199], [4, 0, 9]])]}
"""An earlier timeline that spans offsets 100 to 199 of partition 3."""


def test_the_frame_before_the_first_entry_is_there_and_none_lies_beyond_either_end(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    before = storage.frame_at(timeline, 0)
    assert before is not None
    assert before["members"] == {}
    assert storage.frame_at(timeline, timeline.last) is not None
    assert storage.frame_at(timeline, -1) is None
    assert storage.frame_at(timeline, timeline.last + 1) is None


@pytest.mark.django_db(transaction=True)
def test_a_timeline_without_entries_has_nobody_in_it() -> None:
    timeline = storage.create_timeline(title="Orders", source="simulation")
    assert storage.members_most(timeline) == 0


def test_as_many_members_are_told_as_were_there_at_once(stored: Stored) -> None:
    timeline = stored(a_day_of_three())
    frames = [storage.frame_at(timeline, sequence) for sequence in range(timeline.last + 1)]
    assert storage.members_most(timeline) == max(len(frame["members"]) for frame in frames if frame)


@pytest.mark.parametrize(
    ("offsets", "overlaps"),
    [
        ([[3, 0, 99]], []),
        ([[3, 0, 100]], ["earlier"]),
        ([[3, 199, 300]], ["earlier"]),
        ([[3, 200, 300]], []),
        ([[5, 100, 199]], []),
        ([[5, 0, 9], [4, 9, 9]], ["earlier"]),
    ],
)
def test_timelines_overlap_that_hold_one_offset_of_one_partition_at_least(
    offsets: list[list[int]], overlaps: list[str]
) -> None:
    told = _overlaps({"group": "orders", "offsets": offsets}, EARLIER)
    assert told.get("overlaps", []) == overlaps
    assert _overlaps({"group": "payments", "offsets": offsets}, EARLIER) == {}


def test_a_browser_that_catches_up_is_given_so_much_at_a_time_and_misses_nothing(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = stored(a_day_of_three())
    whole = orjson.loads(storage.changes_after(timeline, 0))
    assert (whole["more"], whole["last"]) == (False, timeline.last)
    monkeypatch.setattr(timeline_reader, "CHANGES_BYTES_MOST", 1)
    after, answers, changes = 0, 0, []
    while True:
        answer = orjson.loads(storage.changes_after(timeline, after))
        changes += answer["changes"]
        after, answers = answer["last"], answers + 1
        if not answer["more"]:
            break
    assert changes == whole["changes"]
    assert answers > 2


@pytest.mark.parametrize(("coarse", "level"), [(4, FINEST), (5, 1), (50, 1)])
def test_a_window_is_told_at_the_coarsest_level_that_has_half_its_columns(coarse: int, level: int) -> None:
    def part(at: int, columns: int) -> Stretch:
        return Stretch(level=at, first=1, last=99, begins=True, columns=columns, moments=columns)

    assert level_for([part(FINEST, 100), part(1, coarse - 1), part(1, 1)], 10) == level
    assert level_for([part(FINEST, 1)], 10) == FINEST, "there is nothing finer"
