"""What the holder of a link is shown. Nothing here reads a timeline: a link has a page of its own.

The address with the token (``/s/<token>``) is a card for chat tools, which gives a browser a cookie for this one link and
leads on to an address without a token. A frame in another site's page gets no cookie, so the token stands in the frame's address.
"""

from __future__ import annotations

import gzip
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from explorer.sharing import links
from explorer.sharing.door import cookie_name
from explorer.sharing.gone import gone
from explorer.sharing.models import Link
from explorer.web.endpoint import json_response

KEPT_FROM_ADDRESS: Final = ("at", "play")
"""What of an address's query is handed on: the moment. Nothing else in it can lead anywhere."""

CARD_POLICY: Final = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@require_safe
def door(request: HttpRequest, token: str) -> HttpResponse:
    link = links.found_by(token)
    if link is None:
        return gone()
    if link.timeline_id is None:
        return deleted()
    links.note_opened(link)
    kept = {name: request.GET[name] for name in KEPT_FROM_ADDRESS if request.GET.get(name, "").isdigit()}
    address = reverse("share-page", args=[link.id]) + (f"?{urlencode(kept)}" if kept else "")
    response = render(
        request,
        "sharing/door.html",
        {
            "link": link,
            "address": address,
            "card": request.build_absolute_uri(reverse("share-card", args=[token])),
        },
    )
    response["Content-Security-Policy"] = CARD_POLICY
    response.set_cookie(
        cookie_name(link.id),
        token,
        max_age=link.until - timezone.now(),
        path=reverse("share-page", args=[link.id]),
        secure=settings.BEHIND_TLS,
        httponly=True,
        # Lax, and not Strict: the door may have been opened from a chat.
        samesite="Lax",
    )
    return private(response)


@require_safe
def card(request: HttpRequest, token: str) -> HttpResponse:
    link = links.found_by(token)
    if link is None or link.timeline_id is None:
        return gone()
    response = private(HttpResponse(bytes(link.page.card), content_type="image/png"))
    # Chat tools show it from their own servers.
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@require_safe
def page(request: HttpRequest, link_id: str) -> HttpResponse:
    link = _by_cookie(request, link_id)
    if link is None:
        return gone()
    return deleted() if link.timeline_id is None else _shown(request, link, "'none'")


@require_safe
def state(request: HttpRequest, link_id: str) -> HttpResponse:
    return _state(_by_cookie(request, link_id))


@xframe_options_exempt
@require_safe
def embed(request: HttpRequest, token: str) -> HttpResponse:
    link = links.found_by(token)
    if link is None or not link.embed_origins:
        return gone()
    return deleted() if link.timeline_id is None else _shown(request, link, " ".join(link.embed_origins))


@require_safe
def embed_state(request: HttpRequest, token: str) -> HttpResponse:
    return _state(links.found_by(token))


def deleted() -> HttpResponse:
    """Told to whoever has the token alone."""
    return gone(410, "The timeline that this link showed was deleted.")


def private(response: HttpResponse) -> HttpResponse:
    """No search engine, no cache and no other page's log learns of it."""
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex, noarchive"
    response["Cache-Control"] = "no-store"
    return response


def _by_cookie(request: HttpRequest, link_id: str) -> Link | None:
    link = links.found_by(request.COOKIES.get(cookie_name(link_id), ""))
    return link if link is not None and link.id == link_id else None


def _shown(request: HttpRequest, link: Link, ancestors: str) -> HttpResponse:
    content = links.content_of(link)
    if content is None:
        return gone()
    packed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(content.page if packed else gzip.decompress(content.page))
    if packed:
        response["Content-Encoding"] = "gzip"
    response["Content-Security-Policy"] = f"{content.policy}; frame-ancestors {ancestors}"
    return private(response)


def _state(link: Link | None) -> HttpResponse:
    if link is None or link.timeline_id is None:
        return private(json_response({"open": False}, status=410))
    return private(json_response({"open": True}))
