"""``/status`` and ``GET /api/status``."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from explorer.server.status.status_facts import status
from explorer.web.endpoint import json_response
from explorer.web.times import time_element


@require_safe
@never_cache
def page(request: HttpRequest) -> HttpResponse:
    """One page without scripts: it is asked when something does not work."""
    found = status()
    context = {
        "found": found,
        "parts": [(each["part"], each["problem"], _state(each["part"])) for each in found["parts"]],
        "started": time_element(found["server"]["started_ms"]),
        "clusters": [
            (each, time_element(each["look_ms"]) if each["look_ms"] else "") for each in found["clusters"]
        ],
        "lines": [(line, time_element(line["at_ms"])) for line in found["lines"]],
    }
    return render(request, "status/status.html", context)


def _state(part: str) -> str:
    """What is said of a part without a problem."""
    return "not used here" if part in ("redis", "workers") and not settings.REDIS_URL else "works"


def api_status(request: HttpRequest) -> HttpResponse:
    """The same as JSON. A part that cannot be read has its problem in ``parts``, and what depends on it is empty."""
    return json_response(status())
