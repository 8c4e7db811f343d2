"""The child process that answers the laboratory's questions: a line of JSON in, a line out, one after the other.

A question is a group (``query``, ``case``, ``moment`` of a timeline, or nothing, which is the example), ``changes`` of
it, ``hide_names``, and ``board`` where a run is wanted. The answer is ``{"title"}``, a tab and the answers' own JSON, so that they
can be passed on unread; or ``{"scenario"}`` or ``{"reason"}`` of a run; or ``{"error", "field"}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from groups.child_side import answer_lines
from simulations.laboratory import BOARDS, Case, CaseError, Event, answer
from simulations.laboratory.changes import changed
from simulations.laboratory.documents import from_json
from simulations.laboratory.links import case_of
from simulations.laboratory.moments import case_of_frame
from simulations.laboratory.playing import scenario_of, why_not
from simulations.laboratory.presets import Racks, Shape, Sizes, happening, preset
from simulations.laboratory.renaming import nameless
from simulations.laboratory.sheets import sheet


def example() -> Case:
    """What is there where nobody asks for anything else: small enough to be followed by eye, and no two alike."""
    return preset(Shape(6, 3, 21), sizes=Sizes.SKEWED, racks=Racks.THREE, event=Event.JOIN)


def case_in(question: Mapping[str, Any]) -> Case:
    if (moment := question.get("moment")) is not None:
        case = happening(case_of_frame(moment["frame"], moment["cast"]), Event.JOIN)
    elif question.get("case") is not None:
        case = from_json(question["case"])
    else:
        query = question.get("query")
        case = case_of(query) if query else example()
    for change in question.get("changes") or ():
        case = changed(case, change)
    return nameless(case) if question.get("hide_names") else case


def answered(question: Mapping[str, Any]) -> bytes:
    try:
        case = case_in(question)
        place = question.get("board")
        if place is None:
            found = sheet(case)
            return orjson.dumps({"title": found["title"]}) + b"\t" + orjson.dumps(found)
        played = answer(case, BOARDS[place])
        reason = why_not(case, played)
        return orjson.dumps({"scenario": scenario_of(case, played)} if reason is None else {"reason": reason})
    except CaseError as error:
        return orjson.dumps({"error": str(error), "field": error.field})


if __name__ == "__main__":
    answer_lines(answered)
