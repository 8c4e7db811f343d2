"""The audit log: a page with filters, its rows as JSON, and as JSON lines for a log store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import orjson
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from explorer.accounts import audit
from explorer.accounts.models import AuditEntry
from explorer.accounts.permissions import Action
from explorer.web.endpoint import BadRequest, choice, json_response, number
from explorer.web.times import time_element

ROWS_A_PAGE: Final = 100

LINES_MOST: Final = 10_000
"""Lines of one export, some 3 MB: ``before`` goes on."""

DAYS_MOST: Final = 3650

PERIODS: Final = (("1", "in the last day"), ("7", "in the last 7 days"), ("30", "in the last 30 days"))

ACTIONS: Final = (
    audit.SIGN_IN,
    audit.SIGN_OUT,
    audit.REFUSED,
    audit.FORBIDDEN,
    audit.ROLE,
    *(action.value for action in Action),
)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    refused = ""
    asked: Mapping[str, str] = request.GET.dict()
    try:
        found = _found(asked)
    except BadRequest as error:
        refused, asked, found = str(error), {}, _found({})
    rows = list(found[: ROWS_A_PAGE + 1])
    query = request.GET.copy()
    if len(rows) > ROWS_A_PAGE:
        query["before"] = str(rows[ROWS_A_PAGE - 1].pk)
    context = {
        "rows": [(row, time_element(round(row.at.timestamp() * 1000))) for row in rows[:ROWS_A_PAGE]],
        "older": query.urlencode() if len(rows) > ROWS_A_PAGE else "",
        "export": request.GET.urlencode() if not refused else "",
        "actions": sorted(set(AuditEntry.objects.order_by().values_list("action", flat=True).distinct())),
        "accounts": sorted(
            set(AuditEntry.objects.order_by().values_list("name", flat=True).distinct()) - {""}
        ),
        "periods": PERIODS,
        "asked": asked,
        "refused": refused,
        "keep_days": settings.AUDIT_KEEP_DAYS,
    }
    return render(request, "audit/audit.html", context, status=400 if refused else 200)


def api_entries(request: HttpRequest) -> HttpResponse:
    """``?account=&action=&days=&before=``: entries, the newest first."""
    return json_response({"rows": audit.shown(_found(request.GET)[:ROWS_A_PAGE])})


def api_lines(request: HttpRequest) -> HttpResponse:
    """The same as a JSON object a line."""
    found = audit.shown(_found(request.GET)[:LINES_MOST])
    text = b"".join(orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in found)
    response = HttpResponse(text, content_type="application/jsonl")
    response["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
    response["Cache-Control"] = "no-store"
    return response


def _found(asked: Mapping[str, Any]) -> QuerySet[AuditEntry]:
    found = AuditEntry.objects.all()
    if asked.get("account"):
        found = found.filter(name=asked["account"])
    if asked.get("action"):
        found = found.filter(action=choice(asked["action"], "action", ACTIONS))
    if asked.get("days"):
        days = number(asked, "days", least=1)
        if days > DAYS_MOST:
            raise BadRequest(f"days={days} must be {DAYS_MOST} at most.", field="days")
        found = found.filter(at__gte=timezone.now() - timedelta(days=days))
    if asked.get("before"):
        found = found.filter(pk__lt=number(asked, "before"))
    return found
