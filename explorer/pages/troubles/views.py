"""The page of all groups, the gravest first, and the same table as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from explorer.web.endpoint import json_response
from explorer.web.inlined import inlined
from groups.alert_models import Alert
from groups.cluster_models import WatchedGroup
from groups.imports import lifecycle
from groups.models import Timeline
from groups.storage.trouble_table import GROUPS_MOST, TroubleTable, trouble_table
from groups.watching import registry
from groups.watching.alerts.registry import ShownAlert, shown_alert

ALERTS_MOST: Final = 20
"""Alerts above the table: more are on the page of their cluster."""


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """``/groups``: the newest timeline of every group of live clusters, and those of all imports."""
    context = {
        "table": inlined("troubles-data", orjson.dumps(table_of({}))),
        "alerts": held_alerts(),
    }
    return render(request, "troubles/groups.html", context)


def api_table(request: HttpRequest) -> HttpResponse:
    """``?import=ID`` or ``?cluster=ID`` narrows it to one; 404 where there is none."""
    return json_response(table_of(request.GET))


def table_of(query: Mapping[str, str]) -> TroubleTable:
    """The table that a query asks for: of one import, of one cluster, or of all groups."""
    watched = WatchedGroup.objects.exclude(condition="deleted")
    if import_id := query.get("import"):
        found = Timeline.objects.filter(imports=lifecycle.get(import_id))
    elif cluster_id := query.get("cluster"):
        found = Timeline.objects.filter(
            pk__in=watched.filter(cluster=registry.get(cluster_id)).values("timeline")
        )
    else:
        found = Timeline.objects.filter(
            Q(source=Timeline.Source.IMPORT) | Q(pk__in=watched.values("timeline"))
        )
    found = found.defer("scenario", "packs", "index_place")
    return trouble_table(found.order_by("-weight", "pk")[:GROUPS_MOST], found.count())


def held_alerts() -> list[ShownAlert]:
    """Those that hold now, of all clusters, the newest first."""
    held = Alert.objects.filter(ended_ms=None).select_related("rule__cluster")
    return [shown_alert(row) for row in held[:ALERTS_MOST]]
