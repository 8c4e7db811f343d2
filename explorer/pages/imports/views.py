"""Imports: two pages and their API."""

from __future__ import annotations

from typing import Any

import orjson
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from explorer.pages.imports.describing import described, detail, groups, listed
from explorer.pages.imports.uploading import repeat, start_path, start_sample, start_topic, start_upload
from explorer.pages.proofs.starting import start_conformance
from explorer.pages.proofs.views import recent
from explorer.pages.troubles.views import inlined_table
from explorer.web.endpoint import BadRequest, created_response, json_body, json_response, listed_page
from explorer.web.inlined import inlined
from groups.imports import lifecycle
from groups.models import Import
from groups.spark_ready import install_spark, missing_packages
from simulations.samples import names as recordings

LISTED_MOST = 200
RECENT_MOST = 50
"""Imports on the page that begins one, each with what happened in it; the API lists more."""


# -- pages


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The page that begins an import; its form works without scripts."""
    refused: BadRequest | None = None
    if request.method == "POST":
        try:
            if asked := request.POST.get("conform"):
                return redirect("proof", start_conformance(request, asked).id)
            found = _started(request)
        except BadRequest as error:
            refused = error
        else:
            return redirect("import", found.id)
    context = {
        "samples": lifecycle.samples(),
        "recordings": recordings(),
        "recent": [listed(found) | described(found) for found in Import.objects.all()[:RECENT_MOST]],
        "recent_more": max(0, Import.objects.count() - RECENT_MOST),
        "spark_ready": not missing_packages(),
        "install_spark": install_spark(),
        "refused": refused,
        "proofs": recent("conform"),
        "prefixes": settings.IMPORT_PREFIXES,
    }
    return render(request, "imports/new.html", context, status=refused.status if refused else 200)


@require_http_methods(["GET", "HEAD"])
def show(request: HttpRequest, import_id: str) -> HttpResponse:
    """An import while it is read, and when it is done."""
    try:
        found = lifecycle.get(import_id)
    except lifecycle.NoSuchImport as error:
        raise Http404(str(error)) from error
    context = {
        "found": found,
        "import_data": inlined("import-data", orjson.dumps(detail(found))),
        "table": inlined_table({"import": found.id}),
    }
    return render(request, "imports/import.html", context)


# -- the API


def api_list(request: HttpRequest) -> HttpResponse:
    return listed_page(request, Import.objects.all(), LISTED_MOST, listed)


def api_start(request: HttpRequest) -> HttpResponse:
    """``POST /api/imports``: files as multipart, ``{"sample": true}``, ``{"cluster": ID}`` or ``{"path": …}``; 201 with the import's id and address."""
    return created_response("import", _started(request).id, page="import", api="api-import")


def api_detail(request: HttpRequest, import_id: str) -> HttpResponse:
    return json_response(detail(lifecycle.get(import_id)))


def api_groups(request: HttpRequest, import_id: str) -> HttpResponse:
    """``?q=&from_ms=&until_ms=&after=``: a page of the import's groups."""
    return json_response(groups(lifecycle.get(import_id), request.GET))


def api_rename(request: HttpRequest, import_id: str) -> HttpResponse:
    """``PATCH {"title": "…"}``: a name of the user's."""
    title = json_body(request).get("title")
    if not isinstance(title, str):
        raise BadRequest('Send the name as text: {"title": "Outage of 22 November"}.', field="title")
    lifecycle.get(import_id)
    try:
        return json_response(listed(lifecycle.rename(import_id, title)))
    except lifecycle.BadTitle as error:
        raise BadRequest(str(error), field="title") from error


def api_cancel(request: HttpRequest, import_id: str) -> HttpResponse:
    """Stop; nothing of it is kept. 409 if it had ended."""
    found = lifecycle.get(import_id)
    if not lifecycle.cancel(import_id):
        raise BadRequest(f"The import has ended: it is {found.status}.", status=409)
    return json_response(detail(lifecycle.get(import_id)))


def api_repeat(request: HttpRequest, import_id: str) -> HttpResponse:
    """Read a failed import again, from the files that it was given. 409 where that cannot be."""
    found = lifecycle.get(import_id)
    if not repeat(import_id):
        why = "its files are gone" if found.status == Import.Status.FAILED else f"it is {found.status}"
        raise BadRequest(f"The import cannot be repeated: {why}.", status=409)
    return json_response(detail(lifecycle.get(import_id)))


def api_delete(request: HttpRequest, import_id: str) -> HttpResponse:
    """Remove the import and the timelines that no other import contains; one that runs is stopped first."""
    lifecycle.get(import_id)
    lifecycle.cancel(import_id)
    lifecycle.delete(import_id)
    return HttpResponse(status=204)


def _started(request: HttpRequest) -> Import:
    if request.content_type == "application/json":
        body = json_body(request)
        wanted = body.get("sample")
        if wanted is True:
            return start_sample()
        if isinstance(wanted, str) and wanted:
            return start_sample(wanted)
        if isinstance(body.get("cluster"), str):
            return start_topic(body["cluster"])
        if isinstance(body.get("path"), str) and body["path"]:
            return start_path(body["path"])
        raise BadRequest(
            'Send files as multipart, {"cluster": "ID"}, {"path": "…"}, or {"sample": true} for the sample log.'
        )
    if sample := request.POST.get("sample"):
        return start_sample(None if sample == "true" else sample)
    if cluster := request.POST.get("cluster"):
        return start_topic(cluster)
    if path := request.POST.get("path"):
        return start_path(path.strip())
    files: list[Any] = [file for file in request.FILES.getlist("files") if file.name]
    end_offsets: Any = request.FILES.get("end_offsets") or None
    return start_upload(files, request.POST.getlist("paths"), request.POST.dict(), end_offsets)
