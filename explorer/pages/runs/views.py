"""Runs: the API's way to start one, and the page's."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from explorer.pages.proofs.starting import start_exploration
from explorer.pages.proofs.views import recent
from explorer.pages.runs.starting import SEMANTICS, start_run
from explorer.web.endpoint import BadRequest, created_response, json_body
from groups.releases import Release
from simulations.world import studies

SEMANTICS_MEAN = {"kafka": "as Kafka was released", "kip": "as the text of the KIP has it"}

FAULTS = {
    "losses": "Connections that break",
    "fail_overs": "Fail-overs",
    "timers": "Timeouts of living members",
    "duplicates": "Requests sent again",
}
"""How many of each an exploration has, as its form asks."""

BEGINS_WITH = "kip848-basic"
"""The simplest of the case studies, and the one that the tutorial begins with."""

LINE_MOST = 200
"""A mistake is shown with its line of the scenario; of a longer line, the beginning."""


def start(request: HttpRequest) -> HttpResponse:
    """``POST /api/runs``: 201 with the timeline's id and address; the run itself has only been queued."""
    body = json_body(request)
    timeline = start_run(body.get("scenario"), body.get("semantics"), body.get("seed"), body.get("release"))
    return created_response("timeline", timeline.id, page="board", api="api-timeline")


@require_http_methods(["GET", "HEAD", "POST"])
def simulate(request: HttpRequest) -> HttpResponse:
    """The form that starts a run: begins with a case study's text, to be changed; works without scripts."""
    names = studies.names()
    asked = request.GET.get("scenario")
    chosen = asked if asked in names else BEGINS_WITH
    given = {
        "scenario": studies.text(chosen),
        "semantics": request.GET.get("semantics", ""),
        "seed": request.GET.get("seed", ""),
        "release": request.GET.get("release", ""),
    }
    refused: BadRequest | None = None
    if request.method == "POST":
        given = {name: request.POST.get(name, "") for name in (*given, *FAULTS, "unhurried", "explore")}
        # Browsers send line ends as CR LF; the scenario's own are LF, and its text is kept as it was given.
        given["scenario"] = given["scenario"].replace("\r\n", "\n")
        try:
            if given["explore"]:
                return redirect("proof", start_exploration(given).id)
            timeline = start_run(
                given["scenario"], given["semantics"] or None, given["seed"], given["release"]
            )
        except BadRequest as error:
            refused = error
        else:
            return redirect("board", timeline.id)
    context = {
        "names": names,
        "chosen": chosen,
        "given": given,
        "refused": _at_its_place(refused, given["scenario"]) if refused else None,
        "releases": list(Release),
        "budgets": [(name, label, given.get(name) or 0) for name, label in FAULTS.items()],
        "semantics": [(name, SEMANTICS_MEAN[name]) for name in SEMANTICS],
        "proofs": recent("explore"),
    }
    return render(request, "runs/simulate.html", context, status=refused.status if refused else 200)


def _at_its_place(refused: BadRequest, scenario: str) -> dict[str, object]:
    """Which control the message belongs to, and the line of the text that it speaks of."""
    lines = scenario.splitlines()
    line = refused.facts.get("line")
    line = line if line and line <= len(lines) else None
    return {
        "message": refused.message,
        "at": refused.field
        if line is None and refused.field in {"semantics", "seed", "release"}
        else "scenario",
        "line": line,
        "text": lines[line - 1].strip()[:LINE_MOST] if line else "",
    }
