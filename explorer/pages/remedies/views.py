"""Searches for what would have helped: a page and its API."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from explorer.pages.runs.starting import start_run
from explorer.web.endpoint import (
    BadRequest,
    check_room,
    created_response,
    json_body,
    json_response,
    shown_on_a_page,
)
from explorer.web.inlined import inlined
from groups import storage
from simulations.jobs import remedy_runs
from simulations.jobs.incidents import incident_of
from simulations.jobs.question_tasks import run_search
from simulations.jobs.remedy_runs import searches
from simulations.models import RemedySearch
from simulations.remedies.searching import branch_text
from simulations.remedies.values import SEEDS_MOST, SEEDS_USUAL, RemediesError

SEARCHES_OPEN_MOST: Final = 5
"""Searches that wait or run at once: each takes a processor for up to minutes."""


@require_http_methods(["GET", "HEAD"])
@ensure_csrf_cookie
def show(request: HttpRequest, search_id: str) -> HttpResponse:
    """A search while it runs, and when it has ended."""
    search = shown_on_a_page(searches.get, search_id)
    context = {"search": search, "data": inlined("remedies-data", orjson.dumps(described(search)))}
    return render(request, "remedies/remedies.html", context)


def start(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``POST {"at", "seeds"}``: 201 with the search, which is queued."""
    timeline, body = storage.get(timeline_id), json_body(request)
    at, seeds = body.get("at", 1), body.get("seeds", SEEDS_USUAL)
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at <= timeline.last:
        raise BadRequest(f"at must be an entry's number, from 0 to {timeline.last}.", field="at")
    if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= SEEDS_MOST:
        raise BadRequest(f"seeds must be a whole number from 1 to {SEEDS_MOST}.", field="seeds")
    check_room(searches.open_count(), SEARCHES_OPEN_MOST, "searches")
    with transaction.atomic():
        search = remedy_runs.create(timeline, at, seeds)
        transaction.on_commit(lambda: run_search.delay(search.id), robust=True)
    return created_response("search", search.id, page="remedies", api="api-remedy-search")


def detail(request: HttpRequest, search_id: str) -> HttpResponse:
    return json_response(described(searches.get(search_id)))


def cancel(request: HttpRequest, search_id: str) -> HttpResponse:
    """Stops, and keeps the rows that are there. 409 if it had ended."""
    search = searches.get(search_id)
    if not searches.cancel(search_id):
        raise BadRequest(f"The search has ended: it is {search.status}.", status=409)
    return json_response(described(searches.get(search_id)))


def branch(request: HttpRequest, search_id: str) -> HttpResponse:
    """``POST {"remedy"}``: the row's first seed as a branch of the timeline; ``compare`` opens it next to its parent."""
    search, key = searches.get(search_id), json_body(request).get("remedy")
    if not isinstance(key, str):
        raise BadRequest("remedy must be a row's key.", field="remedy")
    try:
        incident = incident_of(search.timeline, search.at)
        remedy, text = branch_text(incident, key)
        made = start_run(
            text,
            str(incident.semantics),
            incident.seed,
            title=f"{remedy.name}: {remedy.setting}".removesuffix(": "),
            parent=search.timeline,
            fork_sequence=search.at,
        )
    except RemediesError as error:
        raise BadRequest(
            f"{error}.", status=400 if error.field == "remedy" else 409, field=error.field
        ) from error
    compare = f"{reverse('compare')}?runs={search.timeline_id},{made.id}"
    return created_response("timeline", made.id, page="board", api="api-timeline", compare=compare)


def described(search: RemedySearch) -> dict[str, Any]:
    """A search as the API gives it."""
    return {
        "id": search.id,
        "timeline": search.timeline_id,
        "title": search.timeline.title,
        "at": search.at,
        "seeds": search.seeds,
        "status": search.status,
        "stage": search.stage,
        "problem": search.problem,
        "done": search.done,
        "runs": search.runs,
        "answer": search.answer,
    }
