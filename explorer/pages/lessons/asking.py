"""What pages ask of the lessons: played and filled in by children, two at a time; a bundled one is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.http import HttpRequest

from explorer.pages.lessons.drafting import logs_of
from explorer.web.children import answer_of
from explorer.web.endpoint import BadRequest
from explorer.web.glossary import terms
from groups.jobs.warm_children import WarmChildren
from simulations import courses

CHILDREN_MOST: Final = 2
"""Lessons that are played at once: each takes a processor."""

TEXT_BYTES_MOST: Final = 64 * 1024
"""A lesson is some pages of text."""

children = WarmChildren("simulations.jobs.lesson_child", CHILDREN_MOST)

_sheets: dict[str, bytes] = {}
"""The bundled lessons' sheets as JSON: what makes them does not change while this process lives."""


def sheet_text(request: HttpRequest, name: str) -> bytes:
    """The sheet of a bundled lesson as JSON; 404 if there is none of that id."""
    if name not in courses.names():
        raise BadRequest(f"There is no lesson {name!r}.", status=404, field="lesson")
    if name not in _sheets:
        _sheets[name] = orjson.dumps(ask(request, {"lesson": name})["sheet"])
    return _sheets[name]


def checked(request: HttpRequest, text: str) -> dict[str, Any]:
    """``{"sheet", "problems"}`` of a lesson's text."""
    return ask(request, {"text": text, "words": list(terms()), "logs": logs_of(text)})


def ask(request: HttpRequest, question: Mapping[str, Any]) -> dict[str, Any]:
    busy = f"{CHILDREN_MOST} lessons are being played, as many as this server plays at once. Try again soon."
    answer: dict[str, Any] = orjson.loads(
        answer_of(children, request, question, busy=busy, name="The lesson")
    )
    if "error" in answer:
        problem = str(answer["error"])
        raise BadRequest(f"{problem[:1].upper()}{problem[1:]}.", field=answer["field"])
    return answer


def text_in(body: Mapping[str, Any]) -> str:
    """The YAML of a request."""
    text = body.get("text")
    if not isinstance(text, str) or not text.strip():
        raise BadRequest("text is missing: the YAML of a lesson.", field="text")
    if len(text.encode()) > TEXT_BYTES_MOST:
        raise BadRequest(f"The lesson is longer than {TEXT_BYTES_MOST // 1024} KB.", status=413, field="text")
    return text


def taking_over_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """The question of ``POST /api/lessons/runs``: a lesson's id or text, the moment, and what was done."""
    keys = ("lesson", "text", "at_ms", "acts")
    if unknown := [key for key in body if key not in keys]:
        raise BadRequest(f"{unknown[0][:40]!r} is no field; there are {', '.join(keys)}.", field="at_ms")
    question: dict[str, Any]
    if "text" in body:
        question = {"text": text_in(body)}
    else:
        name = body.get("lesson")
        if name not in courses.names():
            raise BadRequest("lesson must be the id of a lesson, or text its YAML.", field="lesson")
        question = {"lesson": name}
    at_ms, acts = body.get("at_ms"), body.get("acts", [])
    if not isinstance(at_ms, int) or isinstance(at_ms, bool) or not 0 <= at_ms < 2**53:
        raise BadRequest("at_ms must be a time of the run, in milliseconds.", field="at_ms")
    if not isinstance(acts, list) or not all(isinstance(act, dict) for act in acts):
        raise BadRequest('acts must be a list of {"at_ms", "do", "who"}.', field="acts")
    return question | {"take_over": {"at_ms": at_ms, "acts": acts}}
