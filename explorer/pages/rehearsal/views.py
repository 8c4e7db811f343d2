"""The page on which an upgrade is rehearsed, and its part of the JSON API. The page works without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from explorer.pages.rehearsal.asking import (
    asked_in,
    asked_in_body,
    given_in,
    plan_of,
    rehearsed,
    scenario_of,
    way_in,
)
from explorer.pages.runs.starting import start_run
from explorer.web.endpoint import SEARCH_LENGTH_MOST, BadRequest, created_response, json_body, json_response
from groups import storage
from groups.models import Timeline
from groups.storage import NoSuchTimeline, NotReady
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.protocol.coordinator.settings import MigrationPolicy
from simulations.rehearsal.judging import Sheet, StageRow, WaySheet
from simulations.rehearsal.markdown import group_text, settings_text
from simulations.rehearsal.values import MEMBERS_MOST, NEWEST_BROKER, PARTITIONS_MOST
from simulations.rehearsal.ways import WayName

# -- A rehearsal's sheet as the page shows it: texts of cells, and a hue for each member in the order of the group.

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


TIMELINES_OFFERED: Final = 20
"""Timelines in the list: the newest that match what is searched for."""

FIND_LENGTH_MOST: Final = 200
"""Characters of a search."""

NEXT_TO: Final = "beside"
"""A button's value begins so where it plays the planned way and another one side by side; others are a way's name, with ``@`` and a
sequence where the board is to open there."""


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The form, and the rehearsal of what its address asks for. ``POST`` plays a way on the board, or two side by side."""
    given: dict[str, str] = {}
    refused, status = "", 200
    sheet: Sheet | None = None
    asked = request.GET.copy()
    find = asked.pop("find", [""])[-1].strip()[:FIND_LENGTH_MOST]
    try:
        given = given_in(asked.urlencode())
        if request.method == "POST":
            return _played(request, given)
        sheet = orjson.loads(rehearsed(request, asked_in(given)).json)
    except BadRequest as error:
        refused, status = str(error), error.status
    except NoSuchTimeline as error:
        refused, status = str(error), 404
    except NotReady as error:
        refused, status = str(error), 503
    context = {
        "given": given,
        "refused": refused,
        "sheet": shown(sheet) if sheet is not None else None,
        "at": given.get("at") or (sheet["question"].get("at", "") if sheet else ""),
        "at_once": sheet["question"]["at_once"] if sheet else 1,
        "brokers": NEWEST_BROKER,
        "query": urlencode(given),
        **_timelines(find),
        "strategies": _strategies(given.get("assignors", "")),
        "policies": [str(each) for each in MigrationPolicy],
        "bounds": f"{MEMBERS_MOST} members, {PARTITIONS_MOST:,} partitions",
    }
    return render(request, "rehearsal/rehearsal.html", context, status=status)


def _played(request: HttpRequest, given: dict[str, str]) -> HttpResponse:
    asked = asked_in(given)
    wanted = request.POST.get("way", "")
    other = wanted.removeprefix(f"{NEXT_TO}-")
    if other == wanted:
        name, _, first = wanted.partition("@")
        timeline = start_run(scenario_of(request, asked, way_in(name)))
        # The same scenario gives the same run, entry for entry: the rehearsal's sequences are the timeline's.
        at = f"?at={first}" if first.isdigit() else ""
        return redirect(f"{reverse('board', args=[timeline.id])}{at}")
    ways = (WayName.PLANNED, way_in(other))
    ids = [start_run(scenario_of(request, asked, way)).id for way in ways]
    return redirect(f"{reverse('compare')}?runs={','.join(ids)}")


def _timelines(find: str) -> dict[str, Any]:
    """The list of timelines to choose from: classic groups, or with ``find`` those that it finds, or whose id it is."""
    kept = Timeline.objects.filter(last__gt=0)
    if find:
        named = storage.matches(find[:SEARCH_LENGTH_MOST]) | Q(pk=find)
        kept = kept.filter(named, protocol__in=("classic", "consumer"))
    else:
        kept = kept.filter(protocol="classic")
    return {
        "find": find,
        "timelines": list(kept.only("id", "title", "group")[:TIMELINES_OFFERED]),
        "matching": kept.count(),
    }


def _strategies(given: str) -> list[str]:
    usual = ["range,cooperative-sticky", *STRATEGIES]
    return usual if not given or given in usual else [given, *usual]


def linked(request: HttpRequest) -> HttpResponse:
    """``GET /api/rehearsal?members=3&topics=orders:6…``: the rehearsal of a link's group."""
    return json_response(rehearsed(request, asked_in(given_in(request.META["QUERY_STRING"]))).json)


def described(request: HttpRequest) -> HttpResponse:
    """``POST /api/rehearsal``: of a group that is described in a document."""
    return json_response(rehearsed(request, asked_in_body(json_body(request))).json)


def plan(request: HttpRequest) -> HttpResponse:
    """``GET /api/rehearsal/plan?…``: the plan as Markdown."""
    return _markdown(plan_of(request, asked_in(given_in(request.META["QUERY_STRING"]))))


def plan_described(request: HttpRequest) -> HttpResponse:
    """``POST /api/rehearsal/plan``: of a group that is described in a document."""
    return _markdown(plan_of(request, asked_in_body(json_body(request))))


def _markdown(text: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="upgrade-plan.md"'
    response["Cache-Control"] = "no-cache"
    return response


def play(request: HttpRequest) -> HttpResponse:
    """``POST /api/rehearsal/runs``: queues a run of one of the ways; 201."""
    body: dict[str, Any] = json_body(request)
    asked, way = asked_in_body(body), way_in(body.get("way", WayName.PLANNED))
    timeline = start_run(scenario_of(request, asked, way))
    return created_response("timeline", timeline.id, page="board", api="api-timeline")
