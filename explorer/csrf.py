"""Who may change something: our own pages, with their token, and programs that are no browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware

SAID_BY_BROWSERS = ("HTTP_ORIGIN", "HTTP_REFERER", "HTTP_SEC_FETCH_SITE", "HTTP_COOKIE")
"""A browser that sends what a foreign page wants to be sent says at least one of these: each of them names the origin
of a request that is not a GET, and whoever is logged in shows it by a cookie."""


class PagesAndPrograms(CsrfViewMiddleware):
    """Django's check, which leaves the API to programs: the danger that it meets is a browser used by another's page."""

    def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponse] | None,
        callback_args: tuple[Any, ...],
        callback_kwargs: dict[str, Any],
    ) -> HttpResponse | None:
        if request.path_info.startswith("/api/") and not any(
            name in request.META for name in SAID_BY_BROWSERS
        ):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)
