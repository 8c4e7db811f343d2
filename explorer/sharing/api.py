"""Handing on over the API: files, the preview of hidden names, share links."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Final

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from explorer.accounts import audit
from explorer.accounts.roles import rights_in
from explorer.sharing import comparing, laboratory, links
from explorer.sharing.asking import asked_of, compared_of, group_in, key_of, stretch_of, terms_of, wanted_of
from explorer.sharing.models import Link
from explorer.web.endpoint import BadRequest, choice, error_response, json_body, json_response, listed_page
from groups import storage
from groups.exporting import EXPORTERS, Export
from groups.storage.handing_on import CannotHandOn, checked, redactor_for

MADE_AT_ONCE: Final = 2
"""Files and pages that are made at once: each folds and packs for seconds."""

PREVIEWED_MOST: Final = 500
"""Names of a preview: more are counted."""

LISTED_MOST: Final = 200
"""Links of one answer, ended ones among them."""

TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "data": "application/gzip",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "otlp": "application/json",
    "perfetto": "application/octet-stream",
}

_making = threading.BoundedSemaphore(MADE_AT_ONCE)

View = Callable[..., HttpResponse]


def _makes(view: View) -> View:
    """A view that works for seconds: a few at once, and one line for what cannot be made."""

    @wraps(view)
    def answer(request: HttpRequest, **captured: str) -> HttpResponse:
        if not _making.acquire(blocking=False):
            return error_response(
                429, f"{MADE_AT_ONCE} incidents are being made. Try again when one is done."
            )
        try:
            return view(request, **captured)
        except CannotHandOn as error:
            raise BadRequest(str(error)) from error
        finally:
            _making.release()

    return answer


@_makes
def export(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """A file; its name contains nothing that is hidden."""
    timeline = storage.get(timeline_id)
    body = json_body(request)
    kind = choice(body.get("format", "html"), "format", sorted(EXPORTERS))
    return _file(EXPORTERS[kind](timeline, wanted_of(body, timeline)), kind)


def _file(made: Export, kind: str) -> HttpResponse:
    response = HttpResponse(made.content, content_type=TYPES[kind])
    response["Content-Disposition"] = f'attachment; filename="{made.name}"'
    response["Cache-Control"] = "no-store"
    return response


@_makes
def export_comparison(request: HttpRequest) -> HttpResponse:
    """Timelines side by side, as one file."""
    return _file(comparing.html(compared_of(json_body(request))), "html")


@_makes
def pseudonyms(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """What each name would be called, and the key with which it then is."""
    timeline = storage.get(timeline_id)
    body = json_body(request)
    key = key_of(body)
    stretch = checked(timeline, stretch_of(body, timeline))
    pseudonyms = redactor_for(timeline, stretch.last, key).pseudonyms()
    return json_response(
        {
            "key": key.hex(),
            "pseudonyms": [{"kind": one.kind, "here": one.here, "there": one.there} for one in pseudonyms[:PREVIEWED_MOST]],
            "more": max(0, len(pseudonyms) - PREVIEWED_MOST),
        }
    )  # fmt: skip


def listed(request: HttpRequest, timeline_id: str) -> HttpResponse:
    return _listed(request, Link.objects.filter(timeline=storage.get(timeline_id)))


def _listed(request: HttpRequest, found: QuerySet[Link]) -> HttpResponse:
    links.clear_ended()
    rights = rights_in(request)
    rows = found.select_related("author", "timeline")
    return listed_page(request, rows, LISTED_MOST, lambda link: links.link_row(link, rights))


@_makes
def make(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """A link. Its address is shown once, here: the token in it is not stored."""
    timeline = storage.get(timeline_id)
    return _made(request, *links.make(timeline, asked_of(json_body(request), timeline)))


def listed_of_laboratory(request: HttpRequest) -> HttpResponse:
    return _listed(request, links.of_laboratory())


@_makes
def make_of_laboratory(request: HttpRequest) -> HttpResponse:
    """A link to a group of the laboratory, or to a cell of a sweep."""
    body = json_body(request)
    group = group_in(request, body)
    terms = terms_of(body, hides_names=group.hides_names)
    return _made(request, *links.make_of(laboratory.subject_of(group, terms.made), terms))


@_makes
def export_laboratory(request: HttpRequest) -> HttpResponse:
    """The same as one file."""
    return _file(laboratory.html(group_in(request, json_body(request)), timezone.now()), "html")


def _made(request: HttpRequest, link: Link, token: str) -> HttpResponse:
    row = links.link_row(link, rights_in(request))
    audit.detail(request, link=link.id, who=row["who"])
    address = (
        reverse("share-signed-in", args=[link.id]) if link.signed_in else reverse("share-door", args=[token])
    )
    embed = reverse("share-embed", args=[token]) if link.embed_origins else None
    known = {**row, "type": "link", "url": address, "embed_url": embed}
    return json_response(known, status=201)


def withdraw(request: HttpRequest, link_id: str) -> HttpResponse:
    if not links.withdraw(link_id):
        raise BadRequest(f"There is no link {link_id}.", status=404)
    return HttpResponse(status=204)
