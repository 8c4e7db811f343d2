from __future__ import annotations

from typing import Any

import pytest

from explorer.figures.epochs import MEMBERS_MOST, POINTS_MOST, Epochs, Point, collect, figure

START = {
    "sequence": 0,
    "at_ms": 0,
    "group_epoch": 0,
    "assignment_epoch": 0,
    "members": {},
}


def changes(*told: tuple[int, int, list[str], Any]) -> list[dict[str, Any]]:
    """``(sequence, at_ms, path, new)`` as changes, each sequence with its own time."""
    result: list[dict[str, Any]] = []
    for sequence, at_ms, path, new in told:
        result.append({"sequence": sequence, "path": ["at_ms"], "new": at_ms})
        change: dict[str, Any] = {"sequence": sequence, "path": path, "old": None}
        result.append(change if new is ... else change | {"new": new})
    return result


BASIC = changes(
    (1, 0, ["members", "A"], {"epoch": 0}),
    (2, 0, ["group_epoch"], 1),
    (3, 100, ["assignment_epoch"], 1),
    (4, 1000, ["members", "A", "epoch"], 1),
    (5, 12000, ["members", "B"], {"epoch": 0}),
    (6, 12000, ["group_epoch"], 2),
    (7, 15000, ["members", "A"], ...),
    (8, 15000, ["state"], "Stable"),
    (9, 20000, ["timers"], None),
)


def stairs(drawn: dict[str, Any], name: str) -> list[tuple[int, int | None, int]]:
    trace = next(trace for trace in drawn["data"] if trace["name"] == name)
    return list(zip(trace["x"], trace["y"], trace["customdata"], strict=True))


def test_each_line_is_a_staircase_of_times_epochs_and_the_entries_that_prove_them() -> None:
    drawn = figure(collect([(START, BASIC)]))
    assert stairs(drawn, "group epoch") == [(0, 1, 2), (12000, 2, 6), (20000, 2, 6)]
    assert stairs(drawn, "assignment epoch") == [(100, 1, 3), (20000, 1, 3)]
    assert stairs(drawn, "A") == [(0, 0, 1), (1000, 1, 4), (15000, None, 7)]
    assert stairs(drawn, "B") == [(12000, 0, 5), (20000, 0, 5)]


def test_chunks_put_together_give_the_same_figure_as_one() -> None:
    middle = START | {"sequence": 4, "at_ms": 1000, "group_epoch": 1, "members": {"A": {"epoch": 1}}}
    halves = [(START, BASIC[:8]), (middle, BASIC[8:])]
    assert figure(collect(halves)) == figure(collect([(START, BASIC)]))


def test_a_timeline_that_begins_with_members_has_their_epochs_from_the_start() -> None:
    frame = START | {"group_epoch": 21, "assignment_epoch": 21, "members": {"A": {"epoch": 21}}}
    drawn = figure(collect([(frame, changes((1, 5000, ["members", "A", "epoch"], 22)))]))
    assert stairs(drawn, "A") == [(0, 21, 0), (5000, 22, 1)]
    assert stairs(drawn, "group epoch") == [(0, 21, 0), (5000, 21, 0)]


def test_a_classic_group_has_one_line_of_generations() -> None:
    frame = {"sequence": 0, "at_ms": 0, "generation": 0, "members": {}}
    drawn = figure(collect([(frame, changes((1, 10, ["generation"], 1), (2, 50, ["generation"], 2)))]))
    assert [trace["name"] for trace in drawn["data"]] == ["generation"]
    assert stairs(drawn, "generation") == [(10, 1, 1), (50, 2, 2)]


def test_more_members_than_can_be_told_apart_are_one_line_of_the_farthest_behind() -> None:
    joins = changes(
        *((n + 1, n, ["members", f"m{n}"], {"epoch": n % 3 + 1}) for n in range(MEMBERS_MOST + 1))
    )
    drawn = figure(collect([(START, [*joins, *changes((90, 90, ["group_epoch"], 3))])]))
    assert [trace["meta"]["line"] for trace in drawn["data"]] == ["group", "behind"]
    assert {epoch for _, epoch, _ in stairs(drawn, "the member farthest behind")} == {1}


def test_the_figure_has_a_bound_and_keeps_the_newest() -> None:
    many = changes(*((n, n, ["group_epoch"], n) for n in range(1, POINTS_MOST + 500)))
    line = stairs(figure(collect([(START, many)])), "group epoch")
    assert len(line) == POINTS_MOST
    assert line[-1][1] == POINTS_MOST + 499


def test_a_log_has_dates_and_a_simulation_seconds() -> None:
    assert figure(collect([(START, BASIC)]))["layout"]["xaxis"]["type"] == "linear"
    log = changes((1, 1_700_000_000_000, ["group_epoch"], 5))
    assert figure(collect([(START, log)]))["layout"]["xaxis"]["type"] == "date"


def test_nothing_seen_is_nothing_drawn() -> None:
    assert figure(collect([]))["data"] == []
    assert figure(collect([(START, [])]))["data"] == []


def test_states_within_a_request_are_not_drawn() -> None:
    """A join's first record makes a member of epoch 0, its last one gives it the group's; a leave passes through −1."""
    drawn = figure(
        collect(
            [
                (
                    START,
                    changes(
                        (1, 1000, ["members", "A"], {"epoch": 0}),
                        (2, 1000, ["members", "A", "epoch"], 2),
                        (3, 9000, ["members", "A", "epoch"], -1),
                        (4, 9000, ["members", "A"], ...),
                    ),
                )
            ]
        )
    )
    assert stairs(drawn, "A") == [(1000, 2, 2), (9000, None, 4)]


def test_a_line_pauses_while_its_static_member_is_away_and_a_high_group_has_its_own_range() -> None:
    drawn = figure(
        Epochs(
            group=[Point(0, 40, 1), Point(9, 41, 5)],
            members={"A": [Point(0, 40, 1), Point(3, -2, 2), Point(9, 41, 5)]},
        )
    )
    assert drawn["data"][-1]["y"] == [40, None, 41]
    assert drawn["layout"]["yaxis"]["rangemode"] == "normal"
    assert drawn["layout"]["yaxis"]["dtick"] == 1
    low = figure(Epochs(group=[Point(0, 1, 1)]))
    assert low["layout"]["yaxis"]["rangemode"] == "tozero"


@pytest.mark.parametrize(("epoch", "left_px"), [(7, 44), (999, 44), (138_929, 68)])
def test_labels_of_long_generations_have_the_room_that_they_need(epoch: int, left_px: int) -> None:
    drawn = figure(Epochs(group=[Point(0, epoch, 1), Point(9, epoch, 2)], classic=True, end_ms=9))
    margin: Any = drawn["layout"]["margin"]
    assert margin["l"] == left_px
