"""The laboratory's page, and its part of the JSON API."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from explorer.pages.laboratory.asking import (
    board_of,
    question_in_address,
    question_in_body,
    scenario_of,
    sheet_of,
)
from explorer.pages.runs.starting import start_run
from explorer.web.endpoint import BadRequest, created_response, json_body, json_response
from explorer.web.inlined import inlined
from groups.storage import NoSuchTimeline, NotReady
from simulations.laboratory import BOARDS
from simulations.laboratory.cases import MEMBERS_MOST, PARTITIONS_MOST, TOPICS_MOST
from simulations.laboratory.presets import SHAPES


@require_http_methods(["GET", "HEAD"])
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """The page, with the answers of its address in it; an address that makes no sense is reported in one line."""
    refused, status, found = "", 200, None
    try:
        found = sheet_of(request, question_in_address(request.META["QUERY_STRING"]))
    except BadRequest as error:
        refused, status = str(error), error.status
    except NoSuchTimeline as error:
        refused, status = str(error), 404
    except NotReady as error:
        refused, status = str(error), 503
    context = {
        "refused": refused,
        "sheet_data": inlined("sheet-data", b"null" if found is None else found.json),
        "title": found.title if found else "",
        "boards": [(number, board) for number, board in enumerate(BOARDS, 1)],
        "shapes": SHAPES,
        "bounds": f"{MEMBERS_MOST:,} members, {TOPICS_MOST} topics, {PARTITIONS_MOST:,} partitions",
    }
    return render(request, "laboratory/laboratory.html", context, status=status)


def linked(request: HttpRequest) -> HttpResponse:
    """``GET /api/laboratory?g=…``: the answers to a link's group, or to that of a timeline's moment."""
    return json_response(sheet_of(request, question_in_address(request.META["QUERY_STRING"])).json)


def change(request: HttpRequest) -> HttpResponse:
    """``POST /api/laboratory``: the answers to a group after changes."""
    return json_response(sheet_of(request, question_in_body(json_body(request))).json)


def play(request: HttpRequest) -> HttpResponse:
    """``POST /api/laboratory/runs``: a run of the group and its event under one of the assignors; 201."""
    body = json_body(request)
    question, board = question_in_body(body), board_of(body)
    timeline = start_run(scenario_of(request, question, board))
    return created_response("timeline", timeline.id, page="board", api="api-timeline")
