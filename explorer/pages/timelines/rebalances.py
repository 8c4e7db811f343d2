"""The rebalances of a timeline: a table with their costs, as a page and as JSON."""

from __future__ import annotations

from typing import TypedDict

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from explorer.web.endpoint import json_response, shown_on_a_page
from explorer.web.inlined import inlined
from groups import storage
from groups.history.verdict.rebalances import RebalanceRow, rebalances_of
from groups.models import Timeline
from groups.storage.lag import RebalanceCost


class CostedRow(RebalanceRow):
    """With what it cost; null of earlier ones, and where owners are not known yet."""

    cost: RebalanceCost | None


class RebalanceTable(TypedDict):
    first_ms: int | None
    last_ms: int | None
    rebalances: list[CostedRow]


def listed(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``GET …/rebalances``: a row for each, in order."""
    return json_response(table_of(storage.get(timeline_id)))


@require_http_methods(["GET", "HEAD"])
def show(request: HttpRequest, timeline_id: str) -> HttpResponse:
    timeline = shown_on_a_page(storage.get, timeline_id)
    data = {"timeline": timeline.id, **table_of(timeline)}
    context = {"timeline": timeline, "data": inlined("rebalances-data", orjson.dumps(data))}
    return render(request, "board/rebalances.html", context)


def table_of(timeline: Timeline) -> RebalanceTable:
    """``rebalances``, each with its ``cost`` as ``GET …/lag`` has it, which is null of earlier ones and where owners are not known yet."""
    summary = storage.describe(timeline, whole=True)["summary"]
    first = max(1, timeline.last - storage.COMMITS_WITHIN)
    costs = storage.lag_between(timeline, first, timeline.last, 2)["rebalances"] if timeline.last else []
    by_sequence = {one["sequence"]: one for one in costs}
    rows: list[CostedRow] = [
        {**row, "cost": by_sequence.get(row["sequence"])}
        for row in rebalances_of(
            summary.get("epochs") or (),
            summary.get("findings") or (),
            timeline.last,
            summary.get("last_ms") or 0,
        )
    ]
    return {"first_ms": summary.get("first_ms"), "last_ms": summary.get("last_ms"), "rebalances": rows}
