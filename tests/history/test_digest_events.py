"""Like events told as one: what is alike, how far apart it may be, and what a line of several says."""

from __future__ import annotations

from typing import get_args

import pytest

from groups.history.digests.events import APART_MS, OPEN_MOST, PROBLEMS, TOGETHER, collapsed, event_of, joined
from groups.history.digests.part import EventGroup
from groups.history.story.moment import Moment, MomentShape


def moment(
    sequence: int,
    shape: MomentShape = "join",
    *,
    at_ms: int = 0,
    actor: str = "A",
    epoch: int | None = 2,
    step: int | None = None,
) -> Moment:
    return {
        "sequence": sequence,
        "first": sequence,
        "at_ms": at_ms,
        "actor": actor,
        "shape": shape,
        "says": f"{actor}: {shape}",
        "epoch": epoch,
        "cause": 1,
        "step": step,
    }


def told(*moments: Moment) -> list[tuple[int, int, int, str]]:
    """Of each line its first and last moment, their number, and what it says."""
    return [(line.first, line.last, line.count, line.text) for line in collapsed(moments)]


def test_a_moment_by_itself_is_told_as_it_is() -> None:
    assert event_of(moment(7, at_ms=40)) == EventGroup(
        first=7,
        last=7,
        from_ms=40,
        to_ms=40,
        count=1,
        shape="join",
        epoch=2,
        actor="A",
        text="A: join",
        cause=1,
        problem=False,
        alone=False,
    )
    assert collapsed([moment(7, at_ms=40)]) == [event_of(moment(7, at_ms=40))]


def test_what_is_alike_is_one_line_though_something_else_happens_in_between() -> None:
    lines = collapsed(
        [
            moment(3, at_ms=10),
            moment(4, "gain", at_ms=20),
            moment(5, at_ms=30, actor="B"),
            moment(6, at_ms=40, epoch=3),
        ]
    )
    assert [(line.first, line.last, line.from_ms, line.to_ms, line.count) for line in lines] == [
        (3, 6, 10, 40, 3),
        (4, 4, 20, 20, 1),
    ]
    crowd = lines[0]
    assert (crowd.text, crowd.actor, crowd.epoch, crowd.cause) == ("3 members join", None, None, None)


def test_who_and_when_are_told_of_several_where_they_are_one_and_the_same() -> None:
    (line,) = collapsed([moment(3, "note"), moment(4, "note"), moment(5, "note")])
    assert (line.actor, line.epoch) == ("A", 2)


@pytest.mark.parametrize(("apart_ms", "lines"), [(APART_MS, 1), (APART_MS + 1, 2)])
def test_lines_end_where_nothing_alike_follows_within_a_while(apart_ms: int, lines: int) -> None:
    """From the last of them on, however long ago the first was."""
    moments = [moment(3 + number, at_ms=number * apart_ms) for number in range(3)]
    assert len(told(*moments)) == (1 if lines == 1 else 3)


def test_a_line_that_ended_is_not_taken_up_again_by_what_is_alike_later() -> None:
    late = APART_MS + 1
    assert told(moment(3), moment(4, at_ms=late), moment(5, at_ms=late)) == [
        (3, 3, 1, "A: join"),
        (4, 5, 2, "2 members join"),
    ]


def test_members_that_advance_are_a_crowd_within_one_epoch_alone() -> None:
    assert told(
        moment(3, "advance", epoch=2),
        moment(4, "advance", epoch=3),
        moment(5, "advance", epoch=2),
        moment(6, "advance", epoch=3),
    ) == [(3, 5, 2, "2 members move to epoch 2"), (4, 6, 2, "2 members move to epoch 3")]


def test_what_is_rare_stands_by_itself_and_ends_the_lines_before_it() -> None:
    assert told(moment(3), moment(4, "fault"), moment(5, "fault"), moment(6), moment(7)) == [
        (3, 3, 1, "A: join"),
        (4, 4, 1, "A: fault"),
        (5, 5, 1, "A: fault"),
        (6, 7, 2, "2 members join"),
    ]


def test_a_row_of_a_proposals_table_stands_by_itself() -> None:
    assert [line[:3] for line in told(moment(3), moment(4, step=1), moment(5))] == [
        (3, 3, 1),
        (4, 4, 1),
        (5, 5, 1),
    ]


def test_every_shape_is_told_together_or_is_rare_and_what_needs_attention_is_marked() -> None:
    for shape in get_args(MomentShape):
        line = event_of(moment(3, shape))
        assert line.alone is (shape not in TOGETHER)
        assert line.problem is (shape in PROBLEMS)
    assert {"fault", "fail_over", "violation", "gap", "state"} == set(get_args(MomentShape)) - set(TOGETHER)
    assert {"remove", "fault", "fence", "fail_over", "violation", "gap"} == PROBLEMS


def test_large_numbers_are_written_in_groups_of_three() -> None:
    assert told(*[moment(3 + number, "commit") for number in range(1_234)])[0][3] == "1,234 commits"


@pytest.mark.parametrize(("others", "lines"), [(OPEN_MOST - 1, 0), (OPEN_MOST, 1)])
def test_of_more_lines_than_may_grow_at_once_the_one_that_began_first_ends(others: int, lines: int) -> None:
    moments = [moment(3)]
    moments += [moment(4 + number, "advance", epoch=number) for number in range(others)]
    moments.append(moment(4 + others))
    assert len(told(*moments)) == 1 + others + lines


def test_parts_that_follow_each_other_are_told_as_if_they_had_been_one() -> None:
    moments = [
        moment(3),
        moment(4, "gain", at_ms=5),
        moment(5, at_ms=10),
        moment(6, "fault", at_ms=11),
        moment(7, "advance", at_ms=12),
        moment(8, at_ms=13),
        moment(9, "advance", at_ms=14, epoch=3),
        moment(10, at_ms=12 + APART_MS),
        moment(11, "advance", at_ms=14 + APART_MS, epoch=3),
    ]
    whole = collapsed(moments)
    for cut in range(len(moments) + 1):
        parts = [collapsed(moments[:cut]), collapsed(moments[cut:])]
        before = [list(map(repr, part)) for part in parts]
        assert joined(parts) == whole
        assert [list(map(repr, part)) for part in parts] == before, "the parts are left as they are"
