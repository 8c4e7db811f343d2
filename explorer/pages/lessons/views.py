"""The pages of the lessons, and their part of the JSON API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from explorer.figures.thumbnails import thumbnail
from explorer.pages.lessons.asking import ask, checked, sheet_text, taking_over_in, text_in
from explorer.pages.lessons.drafting import draft_of
from explorer.pages.lessons.listing import line_of, listed, study_of
from explorer.web.endpoint import BadRequest, json_body, json_response
from explorer.web.inlined import inlined
from groups import storage
from groups.incidents.pieces import frames_at_moments
from simulations import courses
from simulations.lessons.taking_over import VERBS

BEGINS_WITH = "three-epochs"
"""What the page for writing begins with, where no other lesson is asked for."""


@require_http_methods(["GET", "HEAD"])
def overview(request: HttpRequest) -> HttpResponse:
    """All courses; what was done is in the browser alone."""
    return render(
        request,
        "lessons/lessons.html",
        {"courses": listed()},
    )


@require_http_methods(["GET", "HEAD"])
@ensure_csrf_cookie
def lesson(request: HttpRequest, name: str) -> HttpResponse:
    """The player, with all of the lesson in it."""
    try:
        sheet = sheet_text(request, name)
    except BadRequest as error:
        return _refused(request, error)
    return render(
        request, "lessons/lesson.html", _context(name) | {"sheet_data": inlined("sheet-data", sheet)}
    )


@require_http_methods(["GET", "HEAD"])
def handout(request: HttpRequest, name: str) -> HttpResponse:
    """The lesson on paper: its beats, its questions, and the answers at the end."""
    try:
        sheet = orjson.loads(sheet_text(request, name))
    except BadRequest as error:
        return _refused(request, error)
    context = _context(name) | {"sheet": sheet, "picture": _picture(sheet["run"])}
    return render(request, "lessons/handout.html", context)


def _picture(run: Mapping[str, Any] | None) -> SafeString:
    """Who owned what in the lesson's run, for paper; numbers and colours alone."""
    if run is None:
        return SafeString("")
    chunk = run["chunk"]
    shown = frames_at_moments(chunk["frame"], chunk["changes"], chunk["moments"])
    cast = [member["id"] for member in run["summary"]["cast"]]
    return SafeString(thumbnail([frame for moment, frame in shown if moment["shape"] != "commit"], cast))


@require_http_methods(["GET", "HEAD"])
@ensure_csrf_cookie
def write(request: HttpRequest) -> HttpResponse:
    """The page on which lessons are written: begun from the lesson that ``from`` names, or from a ``timeline``."""
    asked = request.GET.get("from")
    timeline = request.GET.get("timeline")
    name = asked if asked in courses.names() else BEGINS_WITH
    if name not in courses.names():
        name = courses.names()[0]
    return render(
        request,
        "lessons/write.html",
        {
            "text": _draft(timeline) if timeline else courses.text(name),
            "begun_with": name,
            "names": courses.names(),
        },
    )


def _draft(timeline_id: str) -> str:
    try:
        return draft_of(storage.get(timeline_id))
    except storage.NoSuchTimeline as error:
        raise Http404(str(error)) from error


def api_listed(request: HttpRequest) -> HttpResponse:
    """``GET /api/lessons``: the courses and their lessons."""
    return json_response(listed())


def api_lesson(request: HttpRequest, name: str) -> HttpResponse:
    """``GET /api/lessons/<id>``: a lesson as it is played."""
    return json_response(sheet_text(request, name))


def api_check(request: HttpRequest) -> HttpResponse:
    """``POST /api/lessons/check``: a lesson's text as it is played, and what is wrong with it."""
    return json_response(checked(request, text_in(json_body(request))))


def api_run(request: HttpRequest) -> HttpResponse:
    """``POST /api/lessons/runs``: the run of a lesson, played on from a moment with what the reader does."""
    return json_response(ask(request, taking_over_in(json_body(request))))


def _refused(request: HttpRequest, error: BadRequest) -> HttpResponse:
    if error.status == 404:
        raise Http404(str(error))
    response = render(request, "board/not_ready.html", {"says": str(error)}, status=error.status)
    if error.status in (429, 503):
        response["Retry-After"] = "1"
    return response


def _context(name: str) -> dict[str, Any]:
    course = courses.course_of(name)
    assert course is not None
    after = courses.after(name)
    return {
        "lesson": line_of(name),
        "course": course,
        "number": course.lessons.index(name) + 1,
        "next": line_of(after) if after else None,
        "study": study_of(name),
        "verbs": VERBS,
        "handout_url": reverse("lesson-handout", args=[name]),
    }
