"""Runs: the API's way to start one, and the page's."""

from __future__ import annotations

import secrets

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from explorer.pages.proofs.starting import start_exploration
from explorer.pages.proofs.views import recent
from explorer.pages.runs.starting import SCENARIO_BYTES_MOST, SEMANTICS, asked_run, start_run
from explorer.web.endpoint import BadRequest, created_response, json_body, json_response, shown_on_a_page
from groups import storage
from groups.releases import Release
from simulations.world import studies
from simulations.world.scenario import ScenarioError
from simulations.world.scenario.verbs import FORMS, Who
from simulations.world.scenario.vocabulary import vocabulary

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

VERBS = {
    title: [(verb, form.sentence) for verb, form in FORMS.items() if form.who in whose]
    for title, whose in {
        "To a member": {Who.MEMBER},
        "To the topics": {Who.TOPIC, Who.NEW_TOPIC},
        "To the network, the coordinator and the group": set(Who) - {Who.MEMBER, Who.TOPIC, Who.NEW_TOPIC},
    }.items()
}

LINE_MOST = 200
"""A mistake is shown with its line of the scenario; of a longer line, the beginning."""


def start(request: HttpRequest) -> HttpResponse:
    """``POST /api/runs``: 201 with the timeline's id and address; the run itself has only been queued."""
    body = json_body(request)
    timeline = start_run(body.get("scenario"), body.get("semantics"), body.get("seed"), body.get("release"))
    return created_response("timeline", timeline.id, page="board", api="api-timeline")


def check(request: HttpRequest) -> HttpResponse:
    """``POST /api/runs/check``: what would be wrong with a run of this scenario; nothing is started."""
    body = json_body(request)
    text = body.get("scenario")
    if not isinstance(text, str):
        raise BadRequest("The scenario must be a text.", field="scenario")
    try:
        asked_run(text, body.get("semantics"), body.get("release"))
    except BadRequest as error:
        line, field = error.facts.get("line"), error.field
        wrong = error.__cause__
        message = wrong.message if isinstance(wrong, ScenarioError) else error.message
        return json_response({"problems": [{"line": line, "field": field, "message": message}]})
    return json_response({"problems": []})


@require_http_methods(["GET", "HEAD", "POST"])
def simulate(request: HttpRequest) -> HttpResponse:
    """The form that starts a run: begins with the text of a case study or of a run, to be changed; works without scripts."""
    names = studies.names()
    asked = request.GET.get("scenario")
    chosen = asked if asked in names else BEGINS_WITH
    of_run = request.GET.get("timeline")
    run = shown_on_a_page(storage.get, of_run) if of_run else None
    if run is not None and not run.scenario:
        raise Http404(f"{run.id} is no run of a scenario.")
    given = {
        "scenario": studies.text(chosen) if run is None else run.scenario,
        **{name: request.GET.get(name, "") for name in ("semantics", "seed", "release")},
    }
    if run is not None:
        given |= {"semantics": run.semantics, "seed": str(run.seed), "release": run.release}
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
        "bytes_most": SCENARIO_BYTES_MOST,
        "vocabulary": vocabulary(),
        "verbs": VERBS,
        "nonce": secrets.token_urlsafe(16),
    }
    response = render(request, "runs/simulate.html", context, status=refused.status if refused else 200)
    response["X-Style-Nonce"] = str(context["nonce"])
    return response


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
