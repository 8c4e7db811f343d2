"""What a request asks of the laboratory: a link's group, a document's, that of a timeline's moment, after changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from django.http import QueryDict

from explorer.api.endpoint import BadRequest, number
from groups import storage
from simulations.laboratory import BOARDS, Case, CaseError, Event
from simulations.laboratory.changes import changed
from simulations.laboratory.documents import from_json
from simulations.laboratory.links import case_of
from simulations.laboratory.moments import case_of_frame
from simulations.laboratory.presets import Racks, Shape, Sizes, happening, preset
from simulations.laboratory.sheets import sheet

T = TypeVar("T")

CHANGES_MOST: Final = 100
"""Changes of one request; the page sends one."""

MOMENT_KEYS: Final = ("timeline", "at")

BODY_KEYS: Final = ("query", "case", "changes", "board")


def example() -> Case:
    """What stands there where nobody asks for anything else: small enough to be followed by eye, and no two alike."""
    return preset(Shape(6, 3, 21), sizes=Sizes.SKEWED, racks=Racks.THREE, event=Event.JOIN)


def case_in_address(query: str) -> Case:
    """The case of an address: ``timeline`` and ``at`` name a moment; nothing is the example."""
    told = QueryDict(query)
    if "timeline" in told:
        for key in told:
            if key not in MOMENT_KEYS:
                raise BadRequest(f"{key[:40]} does not go with timeline; there is at.", field=key)
        return case_of_moment(told)
    return understood(lambda: case_of(query)) if query else example()


def case_of_moment(told: Mapping[str, str]) -> Case:
    """The group of a timeline's moment, and one more who joins."""
    timeline = storage.get(told["timeline"])
    at = number(told, "at", timeline.last)
    frame = storage.frame_at(timeline, at)
    if frame is None:
        raise BadRequest(
            f"Timeline {timeline.id} has entries 1 to {timeline.last}; there is no {at}.",
            status=404,
            field="at",
        )
    cast = storage.summary(timeline).get("cast") or []
    return understood(lambda: happening(case_of_frame(frame, cast), Event.JOIN))


def case_of_body(body: Mapping[str, Any]) -> Case:
    """``query`` or ``case``, one of the two, after ``changes``."""
    for key in body:
        if key not in BODY_KEYS:
            raise BadRequest(f"{key[:40]!r} is no field; there are {', '.join(BODY_KEYS)}.", field="query")
    query, document = body.get("query"), body.get("case")
    if (query is None) == (document is None):
        raise BadRequest(
            "The request needs query (a link's) or case (a document), one of the two.", field="query"
        )
    if document is not None:
        case = understood(lambda: from_json(document))
    elif isinstance(query, str):
        case = case_in_address(query.removeprefix("?"))
    else:
        raise BadRequest("query must be text.", field="query")
    changes = body.get("changes", [])
    if not isinstance(changes, list) or len(changes) > CHANGES_MOST:
        raise BadRequest(f"changes must be a list of {CHANGES_MOST} at most.", field="changes")
    for change in changes:
        if not isinstance(change, dict):
            raise BadRequest('A change is {"what": …}.', field="changes")
        case = _after(case, change)
    return case


def _after(case: Case, change: Mapping[str, Any]) -> Case:
    return understood(lambda: changed(case, change))


def board_of(body: Mapping[str, Any]) -> int:
    """The place of a board, from 0, of its number from 1."""
    board = body.get("board")
    if not isinstance(board, int) or isinstance(board, bool) or not 1 <= board <= len(BOARDS):
        raise BadRequest(f"board must be a whole number from 1 to {len(BOARDS)}.", field="board")
    return board - 1


def sheet_of(case: Case) -> dict[str, Any]:
    """The answers; a case that fits into no link is refused."""
    return understood(lambda: sheet(case))


def understood(make: Callable[[], T]) -> T:
    """What ``make`` gives; a case that makes no sense is a bad request."""
    try:
        return make()
    except CaseError as error:
        told = str(error)
        # A sentence begins with a capital letter; a key of a link is written as it is.
        named = told.startswith((f"{error.field} ", f"{error.field}:", f"{error.field}="))
        raise BadRequest(f"{told if named else told[:1].upper() + told[1:]}.", field=error.field) from error
