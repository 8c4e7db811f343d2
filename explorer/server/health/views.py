"""``/healthz`` and ``/readyz``."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from explorer.access.keys import ADMITTED
from explorer.server.health.checks import NEEDED, check


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200: the process answers. Nothing else is asked."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 with ``{"ready": true}``, else 503. Who shows the token also reads ``parts``: what is wrong with each, or ""."""
    parts = check()
    ready = not any(parts[name] for name in NEEDED)
    body: dict[str, object] = {"ready": ready}
    if getattr(request, "scope", {}).get(ADMITTED):
        body["parts"] = parts
    return JsonResponse(body, status=200 if ready else 503)
