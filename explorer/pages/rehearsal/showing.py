"""A rehearsal's sheet as the page shows it: texts of cells, and a hue for each member in the order of the group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from simulations.rehearsal.judging import Sheet, StageRow, WaySheet
from simulations.rehearsal.markdown import group_text, settings_text

HUES: Final = 6
"""Members that have a colour of their own; those beyond are grey, as on the board."""

ROWS_MOST: Final = 12
"""Members that have a row each in the table of bounces; in a larger group each bounce names its members."""

OUTCOMES: Final[Mapping[str, str]] = {
    "done": "Works",
    "refused": "Refused",
    "unsafe": "Unsafe",
    "unfinished": "Not at rest",
    "nothing": "Nothing to do",
}

LEVELS: Final[Mapping[str, str]] = {"stops": "Stops it", "warning": "Warning", "note": "To know"}


def shown(sheet: Sheet) -> dict[str, Any]:
    """The sheet with what a template needs in addition."""
    names = list(sheet["question"]["members"])
    large = len(names) > ROWS_MOST
    return {
        **sheet,
        "large": large,
        "first_says": sheet["says"][0],
        "other_says": sheet["says"][1:],
        "warnings": [{**each, "label": LEVELS[each["level"]]} for each in sheet["warnings"]],
        "ways": [_way(way, names, large=large) for way in sheet["ways"]],
    }


def _way(way: WaySheet, names: list[str], *, large: bool) -> dict[str, Any]:
    stages = [_stage(stage) for stage in way["stages"]]
    rows = [] if large else [_row(place, name, way["stages"]) for place, name in enumerate(names)]
    return {
        **way,
        "label": OUTCOMES[way["outcome"]],
        "stages": stages,
        "rows": rows,
        "columns": len(stages) + 1,
    }


def _stage(stage: StageRow) -> dict[str, Any]:
    bounced = [member for member in stage["members"] if member["bounced"]]
    return {
        **stage,
        "who": ", ".join(member["name"] for member in bounced),
        "to": settings_text(bounced[0]) if bounced else "",
        "group_text": group_text(stage),
        "bad": bool(stage["refusals"] or stage["violations"] or stage["read_twice"]),
    }


def _row(place: int, name: str, stages: list[StageRow]) -> dict[str, Any]:
    cells = []
    for stage in stages:
        member = stage["members"][place]
        cells.append(
            {
                "text": settings_text(member),
                "letter": name[:1].upper(),
                "classic": member["protocol"] == "classic",
                "bounced": member["bounced"],
                "out": member["status"] == "out",
                "rebalance": (member["rebalance"] or "").lower(),
            }
        )
    return {
        "name": name,
        "letter": name[:1].upper(),
        "hue": str(place) if place < HUES else "x",
        "cells": cells,
    }
