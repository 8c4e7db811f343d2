"""``GET /api/openapi.json``, and ``/api/docs``, which shows the same to people."""

from __future__ import annotations

from functools import cache

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from explorer.server.openapi.document import document
from explorer.server.openapi.showing import page_of
from explorer.web.endpoint import json_response


def api_document(request: HttpRequest) -> HttpResponse:
    return json_response(_text())


@cache
def _text() -> bytes:
    return orjson.dumps(document())


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Every operation and every shape, on one page without scripts of its own."""
    return render(request, "openapi/docs.html", page_of(document()))
