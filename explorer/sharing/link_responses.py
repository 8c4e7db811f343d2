"""What is answered to the holder of a link. Nothing here reads a timeline: a link has a page of its own."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone

from explorer.sharing.addresses import cookie_name
from explorer.sharing.gone import gone
from explorer.sharing.looks import Look
from explorer.web.endpoint import json_response

KEPT_FROM_ADDRESS: Final = ("at", "play")
"""What of an address's query is handed on: the moment. Nothing else in it can lead anywhere."""

CARD_POLICY: Final = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def door(look: Look | None, token: str, query: Mapping[str, str], origin: str) -> HttpResponse:
    """The card for chat tools, which gives a browser a cookie for this one link and leads on to an address without a token."""
    if look is None:
        return gone()
    if look.content is None:
        return deleted()
    kept = {name: query[name] for name in KEPT_FROM_ADDRESS if query.get(name, "").isdigit()}
    page = f"/s/open/{look.id}/"
    context = {
        "link": look,
        "address": page + (f"?{urlencode(kept)}" if kept else ""),
        "card": f"{origin}/s/{token}/card.png",
    }
    response = HttpResponse(render_to_string("sharing/door.html", context))
    response["Content-Security-Policy"] = CARD_POLICY
    response.set_cookie(
        cookie_name(look.id),
        token,
        max_age=look.until - timezone.now(),
        path=page,
        secure=settings.BEHIND_TLS,
        httponly=True,
        # Lax, and not Strict: the door may have been opened from a chat.
        samesite="Lax",
    )
    return private(response)


def card(look: Look | None) -> HttpResponse:
    if look is None or look.content is None:
        return gone()
    response = private(HttpResponse(look.content.card, content_type="image/png"))
    # Chat tools show it from their own servers.
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def page(look: Look | None, *, packed: bool) -> HttpResponse:
    """The page, in gzip where ``packed``."""
    return _shown(look, "'none'", packed=packed)


def embed(look: Look | None, *, packed: bool) -> HttpResponse:
    """The page in a frame of somebody else's, where the link's maker named that one's origin."""
    if look is None or not look.embed_origins:
        return gone()
    return _shown(look, " ".join(look.embed_origins), packed=packed)


def state(look: Look | None) -> HttpResponse:
    """Whether the link is still open."""
    is_open = look is not None and look.content is not None
    return private(json_response({"open": is_open}, status=200 if is_open else 410))


def deleted() -> HttpResponse:
    """Sent only to a client that has the token."""
    return gone(410, "What this link showed was deleted.")


def private(response: HttpResponse) -> HttpResponse:
    """No search engine, no cache and no other page's log learns of it."""
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex, noarchive"
    response["Cache-Control"] = "no-store"
    # Said aloud, so that nothing on the way packs it, or packs it once more.
    response.headers.setdefault("Content-Encoding", "identity")
    return response


def _shown(look: Look | None, ancestors: str, *, packed: bool) -> HttpResponse:
    if look is None:
        return gone()
    if look.content is None:
        return deleted()
    content = look.content
    response = HttpResponse(content.page if packed else gzip.decompress(content.page))
    if packed:
        response["Content-Encoding"] = "gzip"
    response["Content-Security-Policy"] = f"{content.policy}; frame-ancestors {ancestors}"
    return private(response)
