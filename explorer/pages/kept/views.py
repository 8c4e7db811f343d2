"""The page of all timelines, and its part of the JSON API."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from explorer.accounts import audit
from explorer.accounts.permissions import Action
from explorer.accounts.roles import rights_in
from explorer.accounts.targets import Target
from explorer.pages.kept.listing import SOURCES, Asked, author_names, group_names, page_of
from explorer.pages.timelines.notes import mentions_of
from explorer.web.endpoint import BadRequest, json_body, json_response
from explorer.web.inlined import inlined
from groups import storage
from groups.imports import lifecycle
from groups.models import Import, Timeline

DELETED_MOST: Final = 500
"""Rows of one request: more take longer than a browser waits."""


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The list, with the filters that its address names."""
    refused = ""
    try:
        first = page_of(Asked.read(request.GET), rights_in(request))
    except BadRequest as error:
        refused, first = str(error), page_of(Asked(), rights_in(request))
    context = {
        "kept": inlined("kept-data", orjson.dumps(first)),
        "refused": refused,
        "sources": SOURCES.items(),
        "groups": group_names(),
        "mentions": mentions_of(rights_in(request)),
        "authors": author_names() if rights_in(request) else None,
    }
    return render(request, "kept/timelines.html", context, status=400 if refused else 200)


def api_list(request: HttpRequest) -> HttpResponse:
    """``?q=&source=&group=&author=&trouble=&days=&from_ms=&until_ms=&sort=&after=``: rows of the list."""
    return json_response(page_of(Asked.read(request.GET), rights_in(request)))


def api_delete(request: HttpRequest) -> HttpResponse:
    """``POST {"timelines": [id, …], "imports": [id, …]}``: removes what is there; ``refused`` names what stays, and why.

    An id that is not there any more is as good as deleted: a reader may ask twice.
    """
    body = json_body(request)
    timelines, imports = _ids(body, "timelines"), _ids(body, "imports")
    if not 0 < len(timelines) + len(imports) <= DELETED_MOST:
        raise BadRequest(f"Name 1 to {DELETED_MOST} timelines and imports.", field="timelines")
    found = Timeline.objects.filter(pk__in=timelines)
    refused = dict.fromkeys(
        found.filter(source=Timeline.Source.CASE_STUDY).values_list("pk", flat=True),
        "Case studies belong to the program and stay.",
    )
    brought = dict(Import.objects.filter(pk__in=imports).values_list("pk", "author_id"))
    if rights := rights_in(request):
        targets = {pk: Target(author) for pk, author in brought.items()}
        for pk, author, cluster in found.values_list("pk", "author_id", "cluster_id"):
            targets[pk] = Target(author, cluster)
        for pk, target in targets.items():
            if why := rights.refused(Action.DELETE, target):
                refused.setdefault(pk, why)
    deleted = storage.delete_all([one for one in timelines if one not in refused])
    for one in brought:
        if one not in refused:
            lifecycle.cancel(one)
            lifecycle.delete(one)
            deleted += 1
    audit.detail(request, deleted=[one for one in (*timelines, *brought) if one not in refused])
    listed = [{"id": one, "why": why} for one, why in sorted(refused.items())]
    return json_response({"deleted": deleted, "refused": listed})


def _ids(body: dict[str, Any], field: str) -> list[str]:
    found = body.get(field, [])
    if not (isinstance(found, list) and all(isinstance(one, str) for one in found)):
        raise BadRequest(f'{field} must be a list of ids: {{"{field}": ["abc", …]}}.', field=field)
    return found
