"""What is noted of each request: its id for log lines, and how long it took."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, Final

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from explorer.server import spans
from explorer.server.metrics.request_times import NO_ROUTE, request_times
from explorer.web.coalescing import CAME_S

log = logging.getLogger(__name__)

REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""An id that a proxy in front gives (``X-Request-Id``); any other is replaced."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A request that is being answered."""

    id: str
    request: HttpRequest
    place: spans.Place

    def facts(self) -> dict[str, str]:
        """What a log line has of it: ``request``, ``timeline`` where it is about one, ``user`` where one has logged in.

        The user is taken only if Django has read it already: a log line asks no database.
        """
        match = self.request.resolver_match
        timeline = match.kwargs.get("timeline_id") if match else None
        user = getattr(self.request, "_cached_user", None)
        name = user.get_username() if user is not None and user.is_authenticated else ""
        facts = {"request": self.id, "timeline": timeline, "user": name}
        return {key: str(value) for key, value in facts.items() if value}


current: Final[ContextVar[Noted | None]] = ContextVar("request", default=None)


@sync_and_async_middleware
def noting_requests(get_response: Any) -> Any:
    """Middleware, the first one: log lines of a request have its id, and its time is counted."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> Any:
            with _noted(request) as done:
                return done(await get_response(request))

        return answer_later

    def answer(request: HttpRequest) -> Any:
        with _noted(request) as done:
            return done(get_response(request))

    return answer


@contextmanager
def _noted(request: HttpRequest) -> Iterator[Any]:
    given = request.headers.get("X-Request-Id", "")
    request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex[:16]
    noted = Noted(request_id, request, spans.place_after(request.headers.get("traceparent", "")))
    came_s = getattr(request, "scope", {}).get(CAME_S, time.monotonic())
    before = current.set(noted)

    def done(response: HttpResponseBase) -> HttpResponseBase:
        seconds = time.monotonic() - came_s
        match = request.resolver_match
        route = match.route if match else None
        request_times.add(route, response.status_code, seconds)
        spans.note(
            f"{request.method} /{route or NO_ROUTE}",
            noted.place,
            seconds,
            kind=spans.SERVER,
            failed=response.status_code >= 500,
            facts=noted.facts() | {"http.response.status_code": response.status_code},
        )
        log.info("%s %s: %d in %.3f s", request.method, request.path, response.status_code, seconds)
        return response

    try:
        yield done
    finally:
        current.reset(before)
