"""A sweep's figures as Plotly JSON: a heat map for each assignor, and a strip of the seeds of one cell.

Colours are the page's: a map's ``z`` is a step from 0 to 8 of one ramp of ink, and traces of a strip are distinguished
by ``meta``. The text colour of a cell follows from its step (``static/js/sweep/maps.js``).
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

STEPS: Final = 9

BINS: Final = 50
"""Places of a strip: dots that would overlap are drawn side by side."""

SIDE_BY_SIDE_MOST: Final = 6
"""So many dots of one place are drawn; more, and equal ones, are one with their number if there is room for it."""

ROOM: Final = 6
"""Places that the number of a dot takes."""

NAMES_PX: Final = 128
LEFT: Final[dict[str, object]] = {"xanchor": "left", "showarrow": False}

APART: Final = 0.12
"""How far such dots are from each other, in lines."""

GRID: Final = 4
"""Parts of a strip's axis."""

PARTS: Final = (1, 2, 2.5, 5, 10)
"""How large such a part may be, times a power of ten."""


class Figure(TypedDict):
    """Both are Plotly's own, and read by nobody else."""

    data: list[dict[str, object]]
    layout: dict[str, object]


@dataclass(frozen=True, slots=True)
class Line:
    """One assignor's values in a strip, none of them yet where ``values`` is empty."""

    name: str
    values: Sequence[float]


def step_of(value: float, cuts: Sequence[float]) -> int:
    """How dark a value is: how many of the eight cuts it is above."""
    return sum(value > cut for cut in cuts)


def heat_map(
    steps: Sequence[Sequence[int | None]],
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
) -> Figure:
    """One map, the first row on top; a place without a step has no value yet."""
    return {
        "data": [
            {
                "type": "heatmap",
                "z": [list(row) for row in steps],
                "x": list(range(len(columns))),
                "y": list(range(len(rows))),
                "text": [list(row) for row in texts],
                "texttemplate": "%{text}",
                "zmin": 0,
                "zmax": STEPS - 1,
                "showscale": False,
                "hoverinfo": "skip",
            }
        ],
        "layout": {
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "xaxis": {"tickvals": list(range(len(columns))), "ticktext": list(columns), "fixedrange": True},
            "yaxis": {
                "tickvals": list(range(len(rows))),
                "ticktext": list(rows),
                "autorange": "reversed",
                "fixedrange": True,
            },
        },
    }


def strip(lines: Sequence[Line], *, chosen: int, percent: bool, unit: str) -> Figure:
    """Each value a dot, the lines above each other, the median a stroke; values in many places once, with their number."""
    top = axis_end(max((value for line in lines for value in line.values), default=0), percent=percent)
    data: list[dict[str, object]] = []
    for place, line in enumerate(lines):
        data.append(_dots(line, place, top, chosen=place == chosen, unit=unit))
    medians = [(place, statistics.median(line.values)) for place, line in enumerate(lines) if line.values]
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": [value for _, value in medians],
            "y": [place for place, _ in medians],
            "marker": {"symbol": "line-ns", "size": 20, "line": {"width": 2}},
            "hoverinfo": "skip",
            "meta": {"line": "median"},
        }
    )
    names = [f"<b>{line.name}</b>" if place == chosen else line.name for place, line in enumerate(lines)]
    layout: dict[str, object] = {
        "margin": {"l": NAMES_PX, "r": 16, "t": 4, "b": 24},
        "showlegend": False,
        "xaxis": {
            "range": [-0.02 * top, 1.04 * top],
            "tickvals": [top * part / GRID for part in range(GRID + 1)],
            "zeroline": False,
            "fixedrange": True,
        },
        "yaxis": {
            "range": [len(lines) - 0.5, -0.5],
            "tickvals": list(range(len(lines))),
            "showticklabels": False,
            "zeroline": False,
            "showgrid": False,
            "fixedrange": True,
        },
        # Tick labels would end at the axis; names begin at the edge.
        "annotations": [
            {"xref": "paper", "x": 0, "xshift": 4 - NAMES_PX, "y": place, "text": name} | LEFT
            for place, name in enumerate(names)
        ]
        + [
            {"x": 0, "y": place, "text": "not yet"} | LEFT
            for place, line in enumerate(lines)
            if not line.values
        ],
    }
    return {"data": data, "layout": layout}


def axis_end(most: float, *, percent: bool) -> float:
    """Where the axis ends: a number that can be parted into four, 100 at most for a share."""
    if percent:
        return min(100, max(20, -(-most // 20) * 20))
    power = 10.0 ** (math.floor(math.log10(most / GRID)) if most > 0 else -2)
    part = next(part for part in PARTS if GRID * part * power >= most)
    return float(f"{GRID * part * power:.4g}")


def _dots(line: Line, place: int, top: float, *, chosen: bool, unit: str) -> dict[str, object]:
    dots = [
        dot
        for values, alone in _bins(line.values, top)
        for dot in _bin(values, place, alone=alone, unit=unit)
    ]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": line.name,
        "x": [dot.x for dot in dots],
        "y": [dot.y for dot in dots],
        "text": [dot.text for dot in dots],
        # What lies at the end of the axis has its number before it.
        "textposition": ["middle left" if dot.x > 0.9 * top else "middle right" for dot in dots],
        "hovertext": [dot.hover for dot in dots],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"size": [9 if dot.text else 6 for dot in dots]},
        "meta": {"line": "seeds", "chosen": chosen},
    }


@dataclass(frozen=True, slots=True)
class _Dot:
    x: float
    y: float
    text: str
    hover: str


def _bins(values: Sequence[float], top: float) -> list[tuple[list[float], bool]]:
    """Values by their place on the axis, each with whether there is room for a number next to it."""
    bins: dict[int, list[float]] = {}
    for value in sorted(values):
        bins.setdefault(round(BINS * value / top), []).append(value)
    taken = list(bins)
    return [
        (found, all(other == at or abs(other - at) >= ROOM for other in taken)) for at, found in bins.items()
    ]


def _bin(values: list[float], place: int, *, alone: bool, unit: str) -> list[_Dot]:
    [(common, equal)] = Counter(values).most_common(1)
    many = len(values)
    if alone and (many > SIDE_BY_SIDE_MOST or 1 < equal == many):
        near = "at" if equal == many else "near"
        return [_Dot(common, place, f"×{many}", f"{many} seeds {near} {common:.3g}{unit}")]
    dots = []
    for turn, value in enumerate(values[:SIDE_BY_SIDE_MOST]):
        # 0, then one below and one above, two below and two above.
        y = place + (-1 if turn % 2 else 1) * ((turn + 1) // 2) * APART
        known = f"{value:.3g}{unit}" if many <= SIDE_BY_SIDE_MOST else f"{many} seeds near {common:.3g}{unit}"
        dots.append(_Dot(value, y, "", known))
    return dots
