"""Who may change something: our own pages, with their token, and programs that are no browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseForbidden
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware

SAID_BY_BROWSERS = ("HTTP_ORIGIN", "HTTP_REFERER", "HTTP_SEC_FETCH_SITE", "HTTP_COOKIE")
"""A browser sends at least one of these with any request that a foreign page causes: the first three show where a
request that is not a GET comes from, and a logged-in account sends its cookie."""


class PagesAndPrograms(CsrfViewMiddleware):
    """Django's check, which leaves the API to programs: what it is against is a browser used by another's page."""

    def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        callback_args: tuple[Any, ...],
        callback_kwargs: dict[str, Any],
    ) -> HttpResponseForbidden | None:
        from_a_browser = any(request.META.get(name) for name in SAID_BY_BROWSERS)
        if request.path_info.startswith("/api/") and not from_a_browser:
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)
