"""A sweep as its page and the API show it: the maps of one measure, and one cell with its seeds."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.urls import reverse

from explorer.figures.sweeps import STEPS, Line, heat_map, step_of, strip
from groups.jobs.leases import waits_of
from groups.spark_ready import missing_packages
from simulations.jobs import sweep_runs
from simulations.jobs.sweep_runs import Answers
from simulations.laboratory import BOARDS, CaseError, answer
from simulations.laboratory.links import query_of
from simulations.laboratory.playing import why_not
from simulations.models import Sweep
from simulations.sweeps import sentences
from simulations.sweeps.answering import FIGURES, table_row
from simulations.sweeps.asked import axes_of
from simulations.sweeps.axes import Axes, name_of
from simulations.sweeps.cases import case_of
from simulations.sweeps.summary import (
    AGGREGATES,
    EVENT_HEADS,
    EVENT_LABELS,
    MEASURES,
    Measure,
    shape_label,
    thrown_in,
    values_of,
    written,
)

SEEDS_SHOWN_MOST: Final = 48
"""Seeds of a cell that are buttons; of more, the worst. All are in the table that is exported."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the maps show: a measure, and which of a cell's seeds represents it."""

    measure: Measure = MEASURES[0]
    aggregate: str = "median"


def listed(sweep: Sweep) -> dict[str, Any]:
    """A sweep in a list."""
    return {
        "id": sweep.id,
        "title": sweep.title,
        "status": sweep.status,
        "stage": sweep.stage,
        "problem": sweep.problem,
        "waits": waits_of(sweep.status),
        "done": sweep.done,
        "cases": sweep.cases,
        "created": sweep.created.isoformat(),
        "finished": sweep.finished.isoformat() if sweep.finished else None,
        "took_ms": sweep.took_ms,
        "url": reverse("sweep", args=[sweep.id]),
    }


def detail(sweep: Sweep, shown: Shown) -> dict[str, Any]:
    """Everything that the page shows but the chosen cell."""
    axes = axes_of(sweep.axes)
    answers = sweep_runs.answers_of(sweep)
    return listed(sweep) | {
        "axes": {
            "assignors": [
                {
                    "name": name_of(board),
                    "label": board.assignor,
                    "runs_as": sentences.RUNS_AS[board.rebalance],
                }
                for board in axes.boards
            ],
            "shapes": [{"name": str(shape), "label": shape_label(str(shape))} for shape in axes.shapes],
            "events": [
                {"name": str(each), "label": EVENT_LABELS[each], "head": EVENT_HEADS[each]}
                for each in axes.happenings
            ],
            "seeds": axes.seeds,
            "first_seed": axes.first_seed,
        },
        "master": sweep.master or "local[*]",
        "cores": sweep.cores,
        "same_engine": sweep_runs.same_engine(sweep),
        "spark": {"ready": not missing_packages()} if sweep.status == Sweep.Status.WAITING else None,
        "measure": shown.measure.key,
        "aggregate": shown.aggregate,
        # Its name before.
        "of": shown.aggregate,
        "measures": [
            {"key": each.key, "label": each.label, "title": each.title, "unit": each.unit}
            for each in MEASURES
        ],
        "most": f"{written(shown.measure.cuts[-1])}+{shown.measure.unit}",
        "says": sentences.sentence(axes, answers),
        "maps": [_map(axes, answers, board, shown) for board in range(len(axes.boards))],
    }


def _map(axes: Axes, answers: Answers, board: int, shown: Shown) -> dict[str, Any]:
    cells: list[list[dict[str, Any]]] = []
    for shape in range(len(axes.shapes)):
        row = []
        for event in range(len(axes.happenings)):
            number = axes.number_of(board, shape, event)
            row.append(_place(axes, answers, number, shown))
        cells.append(row)
    figure = heat_map(
        [[cell["step"] for cell in row] for row in cells],
        [[cell["text"] for cell in row] for row in cells],
        [shape_label(str(shape)) for shape in axes.shapes],
        [EVENT_HEADS[event] for event in axes.happenings],
    )
    return {"figure": figure, "cells": [cell for row in cells for cell in row]}


def _place(axes: Axes, answers: Answers, number: int, shown: Shown) -> dict[str, Any]:
    rows = answers.get(number, {})
    values = list(values_of(rows, axes.cell(number), shown.measure).values())
    found: dict[str, Any] = {"cell": number, "seeds": len(rows), "text": "", "step": None}
    if values:
        value = AGGREGATES[shown.aggregate](values)
        found |= {"text": written(value), "step": step_of(value, shown.measure.cuts)}
    elif rows:
        # Kafka's assignor throws at every seed: as dark as can be, and said so.
        found |= {"text": "throws", "step": STEPS - 1}
    return found


def cell_detail(sweep: Sweep, number: int, shown: Shown) -> dict[str, Any]:
    """One cell: its seeds, the six assignors' values of its shape and event on one axis, and where it leads."""
    axes = axes_of(sweep.axes)
    answers = sweep_runs.answers_of(sweep)
    cell = axes.cell(number)
    measure = shown.measure
    rows = answers.get(number, {})
    values, thrown = values_of(rows, cell, measure), thrown_in(rows)
    board = axes.boards.index(cell.board)
    neighbour = number - axes.number_of(board, 0, 0)
    worst = max(values, key=lambda seed: (values[seed], -seed), default=min(thrown, default=None))
    seeds = sorted(values, key=lambda seed: (-values[seed], seed))[:SEEDS_SHOWN_MOST]
    ordered = list(values.values())
    return {
        "cell": number,
        "assignor": name_of(cell.board).replace("/", " "),
        "shape": shape_label(str(cell.shape)),
        "event": EVENT_LABELS[cell.happening],
        "unit": measure.unit,
        "in": len(rows),
        "median": written(statistics.median(ordered)) if ordered else None,
        "least": written(min(ordered)) if ordered else None,
        "most": written(max(ordered)) if ordered else None,
        "worst": worst,
        "seeds": [{"seed": seed, "text": written(values[seed])} for seed in sorted(seeds)],
        "thrown": [
            {"seed": seed, "says": problem} for seed, problem in sorted(thrown.items())[:SEEDS_SHOWN_MOST]
        ],
        "strip": strip(
            [_line(axes, answers, at, neighbour, measure) for at in range(len(axes.boards))],
            chosen=board,
            percent=measure.unit == " %",
            unit=measure.unit,
        ),
    }


def _line(axes: Axes, answers: Answers, board: int, neighbour: int, measure: Measure) -> Line:
    number = axes.number_of(board, 0, 0) + neighbour
    plain = [each.assignor for each in axes.boards]
    here = axes.boards[board]
    name = here.assignor if plain.count(here.assignor) == 1 else f"{here.protocol} {here.assignor}"
    return Line(name, list(values_of(answers.get(number, {}), axes.cell(number), measure).values()))


def seed_detail(sweep: Sweep, number: int, seed: int) -> dict[str, Any]:
    """Where a case of a sweep opens, and whether it can be played; ``reason`` where it cannot."""
    axes = axes_of(sweep.axes)
    cell = axes.cell(number)
    case, board = case_of(cell.shape, cell.happening, seed), cell.board
    try:
        query: str | None = query_of(case)
        reason = None
    except CaseError as error:
        query, reason = None, f"It cannot be opened: {error}."
    answered = answer(case, board)
    return {
        "cell": number,
        "seed": seed,
        "query": query,
        "url": None if query is None else f"{reverse('laboratory')}?{query}",
        "board": BOARDS.index(board) + 1,
        "reason": reason or why_not(case, answered),
        "figures": None
        if answered.measures is None
        else {**answered.measures.to_json(), "assigned": answered.measures.placed},
    }


def table(sweep: Sweep) -> str:
    """Every answered case as a line of CSV."""
    axes = axes_of(sweep.axes)
    out = io.StringIO()
    columns = ["protocol", "assignor", "shape", "event", "seed", *FIGURES, "error"]
    lines = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    lines.writeheader()
    for number, rows in sweep_runs.answers_of(sweep).items():
        cell = axes.cell(number)
        lines.writerows(table_row(cell, seed, row) for seed, row in sorted(rows.items()))
    return out.getvalue()


def shown_of(query: Mapping[str, str]) -> Shown | str:
    """What a query asks to be shown, or which of its words is none."""
    keys = {each.key: each for each in MEASURES}
    measure = query.get("measure", MEASURES[0].key)
    # ``of`` was its name before; links that have it still open.
    aggregate = query.get("aggregate", query.get("of", "median"))
    if measure not in keys:
        return f"measure={measure[:40]!r} must be one of {', '.join(keys)}."
    if aggregate not in AGGREGATES:
        return f"aggregate={aggregate[:40]!r} must be one of {', '.join(AGGREGATES)}."
    return Shown(keys[measure], aggregate)
