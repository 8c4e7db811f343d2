"""The figures of a sweep: values in, Plotly JSON out."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.figures.sweeps import GRID, Line, axis_end, heat_map, step_of, strip


def dots(figure: dict[str, Any], line: int) -> dict[str, Any]:
    trace = figure["data"][line]
    assert trace["meta"]["line"] == "seeds"
    return dict(trace)


@pytest.mark.parametrize(("value", "step"), [(0, 0), (0.5, 1), (1, 1), (1.01, 2), (16, 5), (90, 7), (91, 8)])
def test_a_value_is_as_dark_as_the_cuts_that_it_is_above(value: float, step: int) -> None:
    assert step_of(value, (0, 1, 3, 6, 15, 30, 60, 90)) == step


def test_a_map_has_its_first_row_on_top_and_no_bar() -> None:
    figure = heat_map([[0, 8], [None, 3]], [["0", "95"], ["", "5"]], ["small", "large"], ["join", "leave"])
    [trace] = figure["data"]
    assert (trace["z"], trace["text"]) == ([[0, 8], [None, 3]], [["0", "95"], ["", "5"]])
    assert (trace["zmin"], trace["zmax"], trace["showscale"]) == (0, 8, False)
    assert figure["layout"]["yaxis"]["autorange"] == "reversed"


def test_equal_seeds_are_one_dot_with_their_number_and_others_stand_beside_each_other() -> None:
    figure = strip(
        [Line("sticky", [5.0] * 12), Line("range", [20.0, 20.1, 60.0]), Line("uniform", [])],
        chosen=1,
        percent=True,
        unit=" %",
    )
    sticky, spread = dots(figure, 0), dots(figure, 1)
    assert (sticky["x"], sticky["text"], sticky["hovertext"]) == ([5.0], ["×12"], ["12 seeds at 5 %"])
    assert (spread["x"], spread["text"]) == ([20.0, 20.1, 60.0], ["", "", ""])
    assert len(set(spread["y"])) == 2
    assert spread["meta"]["chosen"]
    assert figure["data"][-1]["x"] == [5.0, 20.1]
    assert [note["text"] for note in figure["layout"]["annotations"]] == [
        "sticky",
        "<b>range</b>",
        "uniform",
        "not yet",
    ]


def test_many_seeds_close_together_are_dots_without_numbers_that_would_lie_upon_each_other() -> None:
    figure = strip([Line("roundrobin", [90.0] * 9 + [93.0] * 9)], chosen=0, percent=True, unit=" %")
    assert set(dots(figure, 0)["text"]) == {""}
    assert len(dots(figure, 0)["x"]) == 12
    alone = strip([Line("roundrobin", [100.0] * 9)], chosen=0, percent=True, unit=" %")
    assert dots(alone, 0)["textposition"] == ["middle left"]


@pytest.mark.parametrize(
    ("most", "end"), [(0, 0.04), (0.03, 0.04), (0.09, 0.1), (3, 4), (7, 8), (9, 10), (41, 80), (130, 200)]
)
def test_an_axis_ends_at_a_number_that_can_be_parted(most: float, end: float) -> None:
    assert axis_end(most, percent=False) == end
    assert GRID == 4


@pytest.mark.parametrize(("most", "end"), [(0, 20), (19, 20), (41, 60), (100, 100)])
def test_an_axis_of_shares_ends_at_twenty_or_at_a_hundred(most: float, end: float) -> None:
    assert axis_end(most, percent=True) == end
