"""Sweeps: the axes and their bounds, cases of seeds, what rows come to; the same through Spark."""

from __future__ import annotations

import io
import itertools
from contextlib import nullcontext
from typing import Any

import orjson
import pytest

from groups.child_side import Lines
from simulations.laboratory import BOARDS, answer
from simulations.laboratory.links import case_of as case_of_link
from simulations.laboratory.links import query_of
from simulations.spark.sweep_blocks import dealt
from simulations.spark.sweeps import PACE, answers_line
from simulations.sweeps import sentences, summary
from simulations.sweeps.answering import FIGURES, row_of, rows_of
from simulations.sweeps.asked import CASES_MOST, AxesError, axes_of, range_of, shape_of
from simulations.sweeps.axes import Axes, Block, Happening
from simulations.sweeps.cases import case_of

SMALL = {"shapes": ["6x3x21", "7x3x20-skewed-nested-racks"], "events": list(Happening), "seeds": 2}
NO_TIME = len(FIGURES) - 1


def still() -> float:
    return 0.0


def answered(axes: Axes) -> dict[int, dict[int, Any]]:
    found: dict[int, dict[int, Any]] = {}
    for block in axes.blocks():
        found.setdefault(block.cell, {}).update(enumerate(rows_of(axes, block, still), block.first))
    return found


def test_axes_that_nobody_names_are_the_usual_ones() -> None:
    axes = axes_of({})
    assert (len(axes.boards), len(axes.shapes), len(axes.happenings), axes.seeds) == (6, 8, 5, 12)
    assert axes.cases == 2_880


def test_axes_are_the_same_in_whatever_order_they_were_asked() -> None:
    told = {
        "assignors": ["consumer/uniform", "classic/range"],
        "events": ["leave", "full"],
        "shapes": ["3x1x6"],
    }
    axes = axes_of(told)
    assert axes.to_json() == {
        "assignors": ["classic/range", "consumer/uniform"],
        "events": ["full", "leave"],
        "shapes": ["3x1x6"],
        "seeds": 12,
    }
    assert axes_of(axes.to_json()) == axes


@pytest.mark.parametrize(
    "text", ["6x3x21", "20x5x200-skewed", "20x5x200-nested-racks", "9x3x30-skewed-disjoint"]
)
def test_a_shape_is_written_as_it_is_read(text: str) -> None:
    assert str(shape_of(text)) == text


@pytest.mark.parametrize(
    ("told", "field", "says"),
    [
        (
            {"assignors": ["classic/best"]},
            "assignors",
            "there is no assignor 'classic/best'; there are classic/range",
        ),
        ({"assignors": []}, "assignors", "at least one"),
        ({"assignors": "classic/range"}, "assignors", "a list of texts"),
        ({"shapes": ["6x3"]}, "shapes", "is no shape"),
        ({"shapes": ["6x3x21-round"]}, "shapes", "none of skewed, nested, disjoint, racks"),
        ({"shapes": ["6x3x21-nested-disjoint"]}, "shapes", "at once cannot be"),
        ({"shapes": ["0x3x21"]}, "shapes", "0 members, where 1 to 1,000 can be"),
        ({"shapes": ["6x9x3"]}, "shapes", "6x9x3 at full: a group needs a topic"),
        ({"shapes": ["1x1x3"]}, "shapes", "1x1x3 at leave"),
        ({"events": ["party"]}, "events", "there are full, stable, join"),
        ({"seeds": 0}, "seeds", "from 1 to 1,000"),
        ({"seeds": True}, "seeds", "from 1 to 1,000"),
        ({"seeds": 999}, "seeds", f"more than {CASES_MOST:,}"),
        ({"colour": ["red"]}, "colour", "is no axis"),
    ],
)
def test_what_makes_no_sweep_is_refused_with_its_axis(told: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(AxesError) as caught:
        axes_of(told)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.field == field


def test_the_blocks_are_every_case_once_and_begin_with_all_cells() -> None:
    axes = axes_of({**SMALL, "seeds": 14})
    blocks = list(axes.blocks())
    cases = [(block.cell, seed) for block in blocks for seed in range(block.first, block.last + 1)]
    assert sorted(cases) == list(itertools.product(range(axes.cells), range(1, 15)))
    assert [block.cell for block in blocks[: axes.cells]] == list(range(axes.cells))


def test_the_blocks_of_a_range_are_its_seeds_and_no_others() -> None:
    axes = axes_of({"shapes": ["6x3x21"], "events": ["join"], "seeds": 30, "first_seed": 40})
    told = {seed for block in axes.blocks() for seed in range(block.first, block.last + 1)}
    assert told == set(range(40, 70))
    assert axes_of(axes.to_json()) == axes


def test_a_range_is_written_as_in_fuzz() -> None:
    assert (range_of("1-42"), range_of("42")) == ((1, 42), (42, 42))


def test_cells_are_numbered_assignor_by_assignor_shape_by_shape() -> None:
    axes = axes_of(SMALL)
    for board, shape, happening in itertools.product(range(6), range(2), range(7)):
        cell = axes.cell(axes.number_of(board, shape, happening))
        assert cell.board == axes.boards[board]
        assert (cell.shape, cell.happening) == (axes.shapes[shape], axes.happenings[happening])


def test_a_link_to_the_laboratory_carries_the_case_of_every_seed() -> None:
    for shape, happening in itertools.product(axes_of(SMALL).shapes, Happening):
        case = case_of(shape, happening, 7)
        assert case_of_link(query_of(case)) == case


def test_a_seed_draws_who_comes_and_goes_and_which_topic_grows() -> None:
    shape = shape_of("20x5x200")
    joined = {case_of(shape, Happening.JOIN, seed).names[-1] for seed in range(1, 13)}
    left = {case_of(shape, Happening.LEAVE, seed).leaving for seed in range(1, 13)}
    grown = {case_of(shape, Happening.GROW, seed).grown for seed in range(1, 13)}
    assert len(joined) > 6
    assert len(left) > 6
    assert len(grown) > 2
    assert len(case_of(shape, Happening.JOIN_MANY, 3).joining) == 5
    assert len(case_of(shape, Happening.LEAVE_MANY, 3).leaving) == 5


def test_a_row_has_the_figures_that_the_laboratory_shows_of_the_case() -> None:
    shape = shape_of("7x3x20-skewed-nested-racks")
    for board, happening in itertools.product(BOARDS, Happening):
        case = case_of(shape, happening, 3)
        row = row_of(case, board, still)
        found = answer(case, board).measures
        assert found is not None
        assert not isinstance(row, str)
        assert dict(zip(FIGURES, row, strict=True)) == found.to_json() | {"ms": 0}


def test_rows_come_to_shares_of_partitions_and_of_the_members_that_stay() -> None:
    axes = axes_of({"shapes": ["4x1x8"], "events": ["leave"], "assignors": ["classic/range"]})
    row = [2, 2, 3, 6, 2, 3, 1, None, 8, 0.25]
    values = [summary.values_of({1: row}, axes.cell(0), measure)[1] for measure in summary.MEASURES]
    assert values == [25.0, 100.0, 1.0, 0.25]
    assert summary.values_of({1: "it throws"}, axes.cell(0), summary.MEASURES[0]) == {}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.004, "<0.01"),
        (0.04, "0.04"),
        (0.5, "0.5"),
        (4.5, "4.5"),
        (5.04, "5"),
        (9.96, "10"),
        (94.6, "95"),
    ],
)
def test_a_cell_shows_two_digits_that_tell_something(value: float, text: str) -> None:
    assert summary.written(value) == text


def test_a_shape_is_called_by_what_sets_it_apart() -> None:
    assert summary.shape_label("20x5x200") == "20 members, 200 partitions"
    assert summary.shape_label("20x5x200-skewed-nested-racks") == "20 members, 200 skewed nested, racks"


def test_the_sentence_says_who_moves_least_and_who_most_and_leads_to_the_cells() -> None:
    axes = axes_of({"shapes": ["20x5x200", "20x5x198-skewed"], "seeds": 3})
    parts = sentences.sentence(axes, answered(axes))
    text = "".join(part["text"] for part in parts)
    assert text.startswith("When one joins, sticky, cooperative-sticky and uniform never move over ")
    assert "; roundrobin moves " in text
    assert text.endswith(" partitions between fullest and emptiest.")
    for part in parts:
        if "roundrobin" in part["text"]:
            assert axes.cell(part["cell"]).board.assignor == "roundrobin"


def test_the_sentence_is_empty_while_nothing_is_in_and_tells_part_of_what_is() -> None:
    axes = axes_of({"shapes": ["6x3x21"], "events": ["stable", "join"], "seeds": 1})
    assert sentences.sentence(axes, {}) == []
    number = axes.number_of(1, 0, 1)
    found = {number: dict(enumerate(rows_of(axes, Block(number, 1, 1), still), 1))}
    assert "roundrobin never moves over" in "".join(part["text"] for part in sentences.sentence(axes, found))


def test_a_wave_is_about_a_second_long_and_grows_at_most_twofold() -> None:
    assert PACE.next_size(blocks=100, took_s=10.0, cores=4) == 40
    assert PACE.next_size(blocks=100, took_s=0.1, cores=4) == 200
    assert PACE.next_size(blocks=100, took_s=1_000.0, cores=2) == 16


def test_each_task_gets_of_all_blocks() -> None:
    blocks = list(axes_of(SMALL).blocks())[:10]
    assert [[block.cell for block in task] for task in dealt(blocks, 3)] == [
        [0, 3, 6, 9],
        [1, 4, 7],
        [2, 5, 8],
    ]
    assert dealt(blocks[:1], 8) == [blocks[:1]]


def test_the_line_of_a_wave_holds_the_rows_as_they_came() -> None:
    class Row:
        cell, first, rows = 4, 7, bytearray(b"[[1,null]]")

    assert orjson.loads(answers_line([Row, Row])) == {
        "type": "answers",
        "blocks": [{"cell": 4, "first": 7, "rows": [[1, None]]}] * 2,
    }


@pytest.mark.spark
def test_spark_gives_the_rows_that_one_process_gives_and_leaves_out_what_is_there(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulations.spark import sweeps as job

    monkeypatch.setattr(job, "spark_session", lambda **options: nullcontext(spark))
    axes = axes_of(SMALL)
    out = io.BytesIO()
    job.run({"axes": SMALL, "skip": [[0, 1], [5, 1]]}, Lines(out))

    said = [orjson.loads(line) for line in out.getvalue().splitlines()]
    rows = {
        (block["cell"], seed): row
        for message in said
        for block in message.get("blocks", ())
        for seed, row in enumerate(block["rows"], block["first"])
    }
    alone = {(cell, seed): row for cell, of in answered(axes).items() for seed, row in of.items()}
    assert set(alone) - set(rows) == {(cell, seed) for cell in (0, 5) for seed in (1, 2)}
    assert all(row[:NO_TIME] == alone[place][:NO_TIME] for place, row in rows.items())
    types = [message["type"] for message in said]
    assert (types[:2], types[-1]) == (["stage", "began"], "done")
    assert set(types[2:-1]) == {"answers"}
