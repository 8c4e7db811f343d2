"""Sweeps: two pages and their API."""

from __future__ import annotations

from typing import Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from explorer.pages.sweeps.describing import Shown, cell_detail, detail, listed, seed_detail, shown_of, table
from explorer.pages.sweeps.starting import asked_in_form, go_on, start, wished
from explorer.web.endpoint import (
    BadRequest,
    created_response,
    json_body,
    json_response,
    listed_page,
    shown_on_a_page,
)
from explorer.web.inlined import inlined
from groups.spark_ready import install_spark, missing_packages
from simulations.jobs import sweep_runs
from simulations.laboratory import BOARDS
from simulations.models import Sweep
from simulations.sweeps.asked import SEEDS_MOST, USUAL_SHAPES, axes_of
from simulations.sweeps.axes import Happening, name_of
from simulations.sweeps.sentences import RUNS_AS
from simulations.sweeps.summary import EVENT_LABELS, shape_label

LISTED_MOST: Final = 200
RECENT_MOST: Final = 20
"""Sweeps on the page that begins one."""


# -- pages


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The page that begins a sweep; its form works without scripts."""
    refused: BadRequest | None = None
    given = wished(request.GET)
    if request.method == "POST":
        asked = asked_in_form(request.POST)
        try:
            return redirect("sweep", start(asked).id)
        except BadRequest as error:
            refused, given = error, asked
    own = [shape for shape in given["shapes"] if shape not in USUAL_SHAPES]
    context = {
        "assignors": [
            (name_of(board), board.assignor, RUNS_AS[board.rebalance], name_of(board) in given["assignors"])
            for board in BOARDS
        ],
        "shapes": [(shape, shape_label(shape), shape in given["shapes"]) for shape in USUAL_SHAPES],
        "more": " ".join(own),
        "events": [(str(each), EVENT_LABELS[each], str(each) in given["events"]) for each in Happening],
        "seeds": given["seeds"],
        "seeds_most": SEEDS_MOST,
        "recent": [
            listed(sweep) | {"done": f"{sweep.done:,}", "cases": f"{sweep.cases:,}"}
            for sweep in Sweep.objects.all()[:RECENT_MOST]
        ],
        "spark_ready": not missing_packages(),
        "install_spark": install_spark(),
        "refused": refused,
    }
    return render(request, "sweeps/new.html", context, status=refused.status if refused else 200)


@require_http_methods(["GET", "HEAD"])
@ensure_csrf_cookie
def show(request: HttpRequest, sweep_id: str) -> HttpResponse:
    """A sweep while it runs, and when it is done."""
    sweep = shown_on_a_page(sweep_runs.get, sweep_id)
    shown = shown_of(request.GET)
    found = detail(sweep, shown if isinstance(shown, Shown) else Shown())
    context = {
        "sweep": sweep,
        "sweep_data": inlined("sweep-data", orjson.dumps(found)),
    }
    return render(request, "sweeps/sweep.html", context)


# -- the API


def api_list(request: HttpRequest) -> HttpResponse:
    return listed_page(request, Sweep.objects.all(), LISTED_MOST, listed)


def api_start(request: HttpRequest) -> HttpResponse:
    """``POST /api/sweeps``: 201 with the sweep's id and address; the sweep itself has only been queued."""
    sweep = start(json_body(request))
    return created_response("sweep", sweep.id, page="sweep", api="api-sweep", cases=sweep.cases)


def api_detail(request: HttpRequest, sweep_id: str) -> HttpResponse:
    return json_response(detail(sweep_runs.get(sweep_id), _shown(request)))


def api_cell(request: HttpRequest, sweep_id: str, cell: int) -> HttpResponse:
    sweep = sweep_runs.get(sweep_id)
    check_place(sweep, cell)
    return json_response(cell_detail(sweep, cell, _shown(request)))


def api_seed(request: HttpRequest, sweep_id: str, cell: int, seed: int) -> HttpResponse:
    """Where one case opens, answered again."""
    sweep = sweep_runs.get(sweep_id)
    check_place(sweep, cell, seed)
    return json_response(seed_detail(sweep, cell, seed))


def api_table(request: HttpRequest, sweep_id: str) -> HttpResponse:
    response = HttpResponse(table(sweep_runs.get(sweep_id)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="sweep-{sweep_id}.csv"'
    return response


def api_cancel(request: HttpRequest, sweep_id: str) -> HttpResponse:
    """Stop, and keep what is answered. 409 if it had ended."""
    sweep = sweep_runs.get(sweep_id)
    if not sweep_runs.cancel(sweep_id):
        raise BadRequest(f"The sweep has ended: it is {sweep.status}.", status=409)
    return json_response(listed(sweep_runs.get(sweep_id)))


def api_resume(request: HttpRequest, sweep_id: str) -> HttpResponse:
    """Go on with a sweep that stopped before its end. 409 if there is nothing to go on with."""
    sweep_runs.get(sweep_id)
    return json_response(listed(go_on(sweep_id)))


def api_delete(request: HttpRequest, sweep_id: str) -> HttpResponse:
    """Remove the sweep and its answers; one that runs is stopped first."""
    sweep_runs.get(sweep_id)
    sweep_runs.cancel(sweep_id)
    sweep_runs.delete(sweep_id)
    return HttpResponse(status=204)


def _shown(request: HttpRequest) -> Shown:
    shown = shown_of(request.GET.dict())
    if isinstance(shown, str):
        raise BadRequest(shown, field=shown.partition("=")[0])
    return shown


def check_place(sweep: Sweep, cell: int, seed: int | None = None) -> None:
    axes = axes_of(sweep.axes)
    if not 0 <= cell < axes.cells:
        raise BadRequest(f"The sweep has cells 0 to {axes.cells - 1}; there is no {cell}.", status=404)
    if seed is not None and not axes.first_seed <= seed <= axes.last_seed:
        raise BadRequest(
            f"The sweep has seeds {axes.first_seed} to {axes.last_seed}; there is no {seed}.", status=404
        )
