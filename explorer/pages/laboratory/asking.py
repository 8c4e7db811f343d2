"""What a request asks of the laboratory: a link's group, a document's, that of a timeline's moment, after changes.

The answers are made in children, two at a time: the largest group takes a second and hundreds of megabytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict

import orjson
from django.http import HttpRequest, QueryDict

from explorer.web.children import answer_of
from explorer.web.endpoint import BadRequest, no_such_entry, number
from groups import storage
from groups.history.frames.shapes import Frame
from groups.jobs.warm_children import WarmChildren
from simulations.laboratory import BOARDS

CHILDREN_MOST: Final = 2
"""Groups that are answered at once: each takes a processor."""

children = WarmChildren("simulations.jobs.laboratory_child", CHILDREN_MOST)

CHANGES_MOST: Final = 100
"""Changes of one request; the page sends one."""

MOMENT_KEYS: Final = ("timeline", "at")

BODY_KEYS: Final = ("query", "case", "changes", "board")


class BoardMoment(TypedDict):
    """A timeline's moment: its frame, and the names of those in it (``summary["cast"]``)."""

    frame: Frame
    cast: Sequence[Mapping[str, str]]


class Question(TypedDict, total=False):
    """A group as ``simulations.jobs.laboratory_child`` is asked for it."""

    query: str
    case: Any
    moment: BoardMoment
    changes: list[dict[str, Any]]
    board: int
    hide_names: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """The answers to a group: their title, and all of them as JSON."""

    title: str
    json: bytes


def question_in_address(query: str) -> Question:
    """What an address asks for: ``timeline`` and ``at`` name a moment; nothing is the example."""
    values = QueryDict(query)
    if "timeline" not in values:
        return {"query": query}
    for key in values:
        if key not in MOMENT_KEYS:
            raise BadRequest(f"{key[:40]} does not go with timeline; there is at.", field=key)
    return {"moment": moment_of(values)}


def moment_of(values: Mapping[str, str]) -> BoardMoment:
    """The frame of a timeline's moment, and the names of those in it."""
    if "\0" in values["timeline"]:
        raise BadRequest("No timeline's id has the character U+0000 in it.", field="timeline")
    timeline = storage.get(values["timeline"])
    at = number(values, "at", timeline.last)
    frame = storage.frame_at(timeline, at)
    if frame is None:
        raise no_such_entry(timeline, at)
    return {"frame": frame, "cast": storage.summary(timeline).get("cast") or []}


def question_in_body(body: Mapping[str, Any]) -> Question:
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
        question: Question = {"case": document}
    elif isinstance(query, str):
        question = question_in_address(query.removeprefix("?"))
    else:
        raise BadRequest("query must be text.", field="query")
    changes = body.get("changes", [])
    if not isinstance(changes, list) or len(changes) > CHANGES_MOST:
        raise BadRequest(f"changes must be a list of {CHANGES_MOST} at most.", field="changes")
    if not all(isinstance(change, dict) for change in changes):
        raise BadRequest('A change is {"what": …}.', field="changes")
    return question | {"changes": changes}


def board_of(body: Mapping[str, Any]) -> int:
    """The place of a board, from 0, of its number from 1."""
    board = body.get("board")
    if not isinstance(board, int) or isinstance(board, bool) or not 1 <= board <= len(BOARDS):
        raise BadRequest(f"board must be a whole number from 1 to {len(BOARDS)}.", field="board")
    return board - 1


def sheet_of(request: HttpRequest, question: Question) -> Sheet:
    """The answers; a case that fits into no link is refused."""
    answer, sheet = _answer(request, question)
    return Sheet(answer["title"], sheet)


def scenario_of(request: HttpRequest, question: Question, board: int) -> str:
    """The scenario that plays a group's event under one of the assignors; a 409 contains why there is none."""
    answer, _ = _answer(request, question | {"board": board})
    if "reason" in answer:
        raise BadRequest(answer["reason"], status=409, field="board")
    return str(answer["scenario"])


def _answer(request: HttpRequest, question: Question) -> tuple[dict[str, Any], bytes]:
    busy = (
        f"{CHILDREN_MOST} groups are being answered, as many as this server answers at once. Try again soon."
    )
    line = answer_of(children, request, question, busy=busy, name="The laboratory")
    summary, _, sheet = line.partition(b"\t")
    answer: dict[str, Any] = orjson.loads(summary)
    if "error" in answer:
        problem, field = str(answer["error"]), answer["field"]
        # A sentence begins with a capital letter; a key of a link is written as it is.
        named = problem.startswith((f"{field} ", f"{field}:", f"{field}="))
        raise BadRequest(f"{problem if named else problem[:1].upper() + problem[1:]}.", field=field)
    return answer, sheet
