"""The page of all groups, the gravest first, and the same table as JSON; the pages of an import and of a cluster have it, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from explorer.web.endpoint import json_response, number
from explorer.web.inlined import inlined
from groups.alert_models import Alert
from groups.cluster_models import Cluster, WatchedGroup
from groups.imports import lifecycle
from groups.models import Timeline
from groups.storage.trouble_table import GROUPS_MOST, TroubleTable, trouble_table
from groups.watching import registry
from groups.watching.alerts.registry import ShownAlert, shown_alert
from groups.watching.group_row import GroupRow
from groups.watching.rows import row_of

COLUMNS: Final = (
    *("id", "title", "group", "protocol", "status", "problem"),
    *("summary", "verdict", "topic_names"),
)
"""What a row is made of: of 2,000 timelines each further column costs."""

ALERTS_MOST: Final = 20
"""Alerts above the table: more are on the page of their cluster."""


class GroupTable(TroubleTable):
    """``live``: how the watched groups among the rows are now, by timeline; null where none is, for an import, and for one cluster."""

    live: dict[str, GroupRow] | None


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """``/groups``: the newest timeline of every group of live clusters, and those of all imports."""
    table = table_of({})
    context = {
        "table": inlined("troubles-data", orjson.dumps(table)),
        "live": bool(table["live"]),
        "alerts": held_alerts(),
        "clusters": Cluster.objects.only("name", "status", "problem").order_by("name"),
    }
    return render(request, "troubles/groups.html", context)


def inlined_table(query: Mapping[str, str]) -> SafeString:
    """The table as a page carries it in itself."""
    return inlined("troubles-data", orjson.dumps(table_of(query)))


def api_table(request: HttpRequest) -> HttpResponse:
    """``?import=ID`` or ``?cluster=ID`` narrows it to one; 404 where there is none. ``after``: how many were shown before."""
    return json_response(table_of(request.GET))


def table_of(query: Mapping[str, str]) -> GroupTable:
    """The table that a query asks for: of one import, of one cluster, or of all groups."""
    watched = WatchedGroup.objects.exclude(condition="deleted")
    notes: dict[str, str] = {}
    import_id, cluster_id = query.get("import"), query.get("cluster")
    if import_id:
        imported = lifecycle.get(import_id)
        found = Timeline.objects.filter(imports=imported)
        notes = {row["id"]: _note(row) for row in (imported.report or {}).get("timelines", ())}
    elif cluster_id:
        found = Timeline.objects.filter(
            pk__in=watched.filter(cluster=registry.get(cluster_id)).values("timeline")
        )
    else:
        found = Timeline.objects.filter(
            Q(source=Timeline.Source.IMPORT) | Q(pk__in=watched.values("timeline"))
        )
    found = found.only(*COLUMNS)
    after = number(query, "after", 0)
    rows = found.order_by("-weight", "pk")[after : after + GROUPS_MOST]
    table = trouble_table(rows, found.count(), notes)
    # A cluster's page has the rows of its groups already, and is pushed what changes.
    narrowed = import_id or cluster_id
    shown = [] if narrowed else watched.filter(timeline__in=[row["timeline"] for row in table["rows"]])
    return {**table, "live": {str(row.timeline_id): row_of(row) for row in shown} or None}


def _note(row: Mapping[str, Any]) -> str:
    """What an import's report contains about one timeline: that the group was deleted, and how it relates to earlier imports."""
    parts = (
        "deleted at the end" if row.get("deleted") else "",
        f"continues an earlier import after entry {row['continues_after']:,}" if row.get("continues") else "",
        f"overlaps {', '.join(row['overlaps'])}" if row.get("overlaps") else "",
    )
    return "; ".join(filter(None, parts))


def held_alerts() -> list[ShownAlert]:
    """Those that hold now, of all clusters, the newest first."""
    held = Alert.objects.filter(ended_ms=None).select_related("rule__cluster")
    return [shown_alert(row) for row in held[:ALERTS_MOST]]
