"""The two pages of live clusters, and their part of the API."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from explorer.pages.clusters.describing import (
    CLUSTERS_SHOWN_MOST,
    GROUPS_SHOWN_MOST,
    GroupTimeline,
    detail,
    groups_of,
    rows_of,
    sent,
    timelines_of,
)
from explorer.pages.clusters.testing import tested
from explorer.pages.troubles.views import inlined_table
from explorer.watchers import watchers
from explorer.web.endpoint import BadRequest, json_body, json_response, listed_page, shown_on_a_page
from explorer.web.inlined import inlined
from groups.cluster_models import Cluster
from groups.clusters.faults import ClusterError
from groups.clusters.sasl import MECHANISMS, OAUTHBEARER
from groups.clusters.settings import PROTOCOLS, parse_properties
from groups.history.words import duration
from groups.watching import registry
from groups.watching.alerts import forms
from groups.watching.alerts.registry import overview
from groups.watching.alerts.rules import FINDINGS, OFFERED
from groups.watching.rows import row_of

BY_HAND: Final = tuple(name for name in MECHANISMS if name != OAUTHBEARER)
"""Mechanisms whose secret can be typed in; a token comes from a file or a command of the server's own settings."""


@require_safe
def clusters(request: HttpRequest) -> HttpResponse:
    registry.take_environment()
    context = {
        "clusters": [detail(cluster) for cluster in Cluster.objects.all()],
        "protocols": PROTOCOLS,
        "mechanisms": BY_HAND,
        "sent": sent(),
    }
    return render(request, "clusters/clusters.html", context)


@require_safe
def cluster(request: HttpRequest, cluster_id: str) -> HttpResponse:
    found = shown_on_a_page(registry.get, cluster_id)
    data = {
        "cluster": detail(found),
        "groups": groups_of(found),
        "alerts": overview(found),
        "now_ms": time.time_ns() // 1_000_000,
    }
    context = {
        "cluster": data["cluster"],
        "alerts": data["alerts"],
        "kinds": [(kind.value, words) for kind, words in OFFERED.items()],
        "forms": [(form.value, words) for form, words in forms.OFFERED.items()],
        "findings": FINDINGS,
        "data": inlined("cluster-data", orjson.dumps(data)),
        "table": inlined_table({"cluster": found.pk}),
    }
    return render(request, "clusters/cluster.html", context)


@require_safe
def timelines(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """``?group=NAME``: all timelines of one group, with their spans."""
    found, group = shown_on_a_page(registry.get, cluster_id), request.GET.get("group", "")
    rows = timelines_of(found, group)
    if not rows:
        raise Http404(f"Cluster {found.name} has no timeline of a group {group!r}.")
    listed = [
        {**row, "from": _utc(row["first_ms"]), "to": _utc(row["last_ms"]), "span": _span(row)} for row in rows
    ]
    return render(
        request, "clusters/timelines.html", {"cluster": detail(found), "group": group, "rows": listed}
    )


def _utc(at_ms: int | None) -> str:
    return "" if at_ms is None else f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def _span(row: GroupTimeline) -> str:
    first_ms, last_ms = row["first_ms"], row["last_ms"]
    return "" if first_ms is None or last_ms is None else duration(last_ms - first_ms)


# -- the API


def api_list(request: HttpRequest) -> HttpResponse:
    registry.take_environment()
    return listed_page(request, Cluster.objects.all(), CLUSTERS_SHOWN_MOST, detail, by="name")


def api_add(request: HttpRequest) -> HttpResponse:
    """``POST /api/clusters``: 201; it is watched from now on. ``/check`` finds errors before that."""
    body = json_body(request)
    name = body.get("name")
    if not isinstance(name, str):
        raise BadRequest("The cluster needs a name.", field="name")
    try:
        added = registry.add(name, _properties(body))
    except registry.BadCluster as error:
        raise BadRequest(str(error), field=error.field) from error
    watchers.wake()
    response = json_response({**detail(added), "type": "cluster"}, status=201)
    response["Location"] = reverse("api-cluster", args=[added.pk])
    return response


def api_check(request: HttpRequest) -> HttpResponse:
    """``POST /api/clusters/check``: connects, step by step, and shows what each found. Nothing is stored."""
    steps = tested(request, _properties(json_body(request)))
    return json_response({"steps": steps, "ok": all(step["state"] != "failed" for step in steps)})


def api_detail(request: HttpRequest, cluster_id: str) -> HttpResponse:
    return json_response(detail(registry.get(cluster_id)))


def api_change(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """``PATCH``: ``{"watched": false}`` pauses, ``true`` goes on."""
    found = registry.get(cluster_id)
    watched = json_body(request).get("watched")
    if not isinstance(watched, bool):
        raise BadRequest("watched must be true or false.", field="watched")
    changed = registry.set_watched(found, watched=watched)
    watchers.wake()
    return json_response(detail(changed))


def api_delete(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """Forget the cluster, and all that was recorded of it."""
    registry.get(cluster_id)
    try:
        registry.remove(cluster_id)
    except registry.BadCluster as error:
        raise BadRequest(str(error), status=409, field=error.field) from error
    return HttpResponse(status=204)


def api_groups(request: HttpRequest, cluster_id: str) -> HttpResponse:
    found = rows_of(registry.get(cluster_id))
    return listed_page(request, found, GROUPS_SHOWN_MOST, row_of, by="group")


def api_timelines(request: HttpRequest, cluster_id: str) -> HttpResponse:
    """``GET …/timelines?group=NAME``: the group's timelines, the newest first; empty where there are none."""
    found = registry.get(cluster_id)
    group = request.GET.get("group")
    if group is None:
        raise BadRequest("group must name a group of the cluster.", field="group")
    return json_response(timelines_of(found, group))


def _properties(body: dict[str, Any]) -> dict[str, str]:
    """``properties``: an object of texts, or the text of a properties file."""
    given = body.get("properties")
    if isinstance(given, str):
        try:
            return parse_properties(given)
        except ClusterError as error:
            raise BadRequest(str(error), field="properties") from error
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise BadRequest(
            "properties must be an object of texts, or the text of a properties file.", field="properties"
        )
    return dict(given)
