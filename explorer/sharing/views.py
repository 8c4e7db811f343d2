"""The addresses of links for Django, which looks up what they show; ``crowd`` answers requests of the next second."""

from __future__ import annotations

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from explorer.sharing import link_responses, links
from explorer.sharing.addresses import cookie_name
from explorer.sharing.looks import Look
from groups.reserve import is_full


@require_safe
def door(request: HttpRequest, token: str) -> HttpResponse:
    look = links.found_by(token)
    _note_opened(look)
    query = {name: str(request.GET[name]) for name in request.GET}
    return link_responses.door(look, token, query, f"{request.scheme}://{request.get_host()}")


@require_safe
def card(request: HttpRequest, token: str) -> HttpResponse:
    return link_responses.card(links.found_by(token))


@require_safe
def page(request: HttpRequest, link_id: str) -> HttpResponse:
    return link_responses.page(_by_cookie(request, link_id), packed=_takes_gzip(request))


@require_safe
def state(request: HttpRequest, link_id: str) -> HttpResponse:
    return link_responses.state(_by_cookie(request, link_id))


@require_safe
def signed_in_page(request: HttpRequest, link_id: str) -> HttpResponse:
    """The page of a link that is for accounts: the gate has let one in."""
    look = links.found_for_account(link_id)
    _note_opened(look)
    return link_responses.page(look, packed=_takes_gzip(request))


@require_safe
def signed_in_state(request: HttpRequest, link_id: str) -> HttpResponse:
    return link_responses.state(links.found_for_account(link_id))


@xframe_options_exempt
@require_safe
def embed(request: HttpRequest, token: str) -> HttpResponse:
    return link_responses.embed(links.found_by(token), packed=_takes_gzip(request))


@require_safe
def embed_state(request: HttpRequest, token: str) -> HttpResponse:
    return link_responses.state(links.found_by(token))


def _note_opened(look: Look | None) -> None:
    if look is None or look.content is None:
        return
    try:
        links.note_opened({look.id: 1})
    except OperationalError as error:
        # On a full disk what is there can be looked at, though nobody counts it.
        if not is_full(error):
            raise


def _takes_gzip(request: HttpRequest) -> bool:
    return "gzip" in request.headers.get("Accept-Encoding", "")


def _by_cookie(request: HttpRequest, link_id: str) -> Look | None:
    look = links.found_by(request.COOKIES.get(cookie_name(link_id), ""))
    return look if look is not None and look.id == link_id else None
