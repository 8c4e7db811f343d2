"""What every endpoint of the JSON API has in common: methods, errors in one line, JSON in and out."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypedDict, TypeVar

import orjson
from django.core.exceptions import RequestDataTooBig
from django.db import IntegrityError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import RawPostDataException
from django.urls import reverse
from django.utils.cache import patch_cache_control

from groups.imports.lifecycle import NoSuchImport
from groups.models import Timeline
from groups.one_line import one_line
from groups.storage import BadName, CannotOpen, NoSuchTimeline, NotReady
from groups.watching.registry import NoSuchCluster
from simulations.jobs.long_questions import NoSuchQuestion

GONE: Final = (NoSuchTimeline, NoSuchImport, NoSuchCluster, NoSuchQuestion)
"""There never was one of that id, or somebody deleted it meanwhile, at whatever moment of the request."""

log = logging.getLogger(__name__)

View = Callable[..., HttpResponse]

Row = TypeVar("Row", bound=Model)


CODES: Final = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "request_timeout",
    409: "conflict",
    410: "gone",
    413: "too_large",
    422: "cannot_be_done",
    429: "too_many_requests",
    500: "server_error",
    503: "not_ready",
    507: "disk_full",
}
"""What a program distinguishes errors by, since messages are for people."""

ASK_AGAIN: Final = (429, 503)
"""As much is under way as the server takes, or a part of it is away."""

ASK_AGAIN_S: Final = 1
"""Seconds after which a client may ask again."""


class Problem(TypedDict):
    """``code`` is for programs, ``message`` for people. ``field``: where the mistake is; ``expected``: what would be right; null where unknown."""

    code: str
    message: str
    field: str | None
    expected: str | None


class ErrorAnswer(TypedDict):
    """The one form of every error. Next to these four there may be ``line`` and ``column`` of a text, ``path`` or ``side``."""

    error: Problem


class BadRequest(Exception):
    """The request cannot be understood or done; ``facts`` are added to the message (line, field, expected: what would be right)."""

    def __init__(self, message: str, *, status: int = 400, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.facts = facts

    @property
    def field(self) -> str | None:
        """The field of the request that is wrong, if it is one."""
        return self.facts.get("field")


def shown_on_a_page(get: Callable[[str], Row], row_id: str) -> Row:
    """What ``get`` finds, or Django's page of 404: a page is not answered with the API's JSON."""
    try:
        return get(row_id)
    except GONE as error:
        raise Http404(str(error)) from error


def check_room(waiting: int, most: int, what: str) -> None:
    """429 where as many wait or run already as this server takes."""
    if waiting >= most:
        message = (
            f"{waiting} {what} are waiting or running, which is as many as this server takes. Try again soon."
        )
        raise BadRequest(message, status=429)


def no_such_entry(timeline: Timeline, at: int) -> BadRequest:
    """404, for a moment that a timeline does not have."""
    message = f"Timeline {timeline.id} has entries 1 to {timeline.last}; there is no {at}."
    return BadRequest(message, status=404, field="at")


def endpoint(**views: View) -> View:
    """One address of the API, a view for each method: ``endpoint(GET=…, POST=…)``.

    Whatever goes wrong that a caller can mend is answered as ``{"error": {"code", "message", "field", "expected"}}``.
    """

    @functools.wraps(next(iter(views.values())))
    def answer(request: HttpRequest, **captured: Any) -> HttpResponse:
        view = views.get("GET" if request.method == "HEAD" else request.method or "")
        if view is None:
            allowed = ", ".join(views)
            response = error_response(
                405, f"{request.method} is not for this address, which takes {allowed}."
            )
            response["Allow"] = allowed
            return response
        try:
            return view(request, **captured)
        except GONE as error:
            return error_response(404, str(error))
        except IntegrityError as error:
            log.warning("%s %s lost a race: %s", request.method, request.path, one_line(error))
            return error_response(409, "What this belongs to was deleted or changed meanwhile: look again.")
        except (NotReady, CannotOpen) as error:
            return error_response(503, str(error))
        except BadName as error:
            return error_response(400, str(error))
        except BadRequest as error:
            return error_response(error.status, str(error), **error.facts)
        except RequestDataTooBig:
            return error_response(413, "The request is larger than this server takes.")

    answer.__dict__["methods"] = tuple(views)
    return answer


def methods_of(view: object) -> tuple[str, ...]:
    """The methods of a view that ``endpoint`` made; none of any other."""
    return getattr(view, "methods", ())


def json_response(value: Any, *, status: int = 200) -> HttpResponse:
    """``value`` (or JSON text as bytes) as an answer that may change: a browser asks again, with its ETag."""
    body = value if isinstance(value, bytes) else orjson.dumps(value)
    response = HttpResponse(body, status=status, content_type="application/json")
    patch_cache_control(response, no_cache=True)
    return response


def lasting_response(value: bytes) -> HttpResponse:
    """JSON text that never changes under its address. A browser keeps it, no proxy: it is for holders of the token."""
    response = HttpResponse(value, content_type="application/json")
    patch_cache_control(response, private=True, max_age=365 * 24 * 3600, immutable=True)
    return response


def created_response(type_: str, id_: str, *, page: str, api: str, **more: Any) -> HttpResponse:
    """What was made, or queued to be: 201 with ``{"id", "type", "url", …}``. ``page`` and ``api`` name its two addresses."""
    url = reverse(page, args=[id_])
    # Its id stood under its type's name before; programs that read it there go on.
    response = json_response({"id": id_, "type": type_, "url": url, **more, type_: id_}, status=201)
    response["Location"] = reverse(api, args=[id_])
    return response


def error_response(status: int, message: str, **facts: Any) -> HttpResponse:
    """``{"error": {"code", "message", "field", "expected", …}}``; the last two are null where nothing is known of them."""
    problem: Problem = {
        "code": CODES.get(status, CODES[400]),
        "message": message,
        "field": None,
        "expected": None,
    }
    answer = {"error": {**problem, **facts}}
    response = HttpResponse(orjson.dumps(answer), status=status, content_type="application/json")
    if status in ASK_AGAIN:
        response["Retry-After"] = str(ASK_AGAIN_S)
    patch_cache_control(response, no_store=True)
    return response


def json_body(request: HttpRequest) -> dict[str, Any]:
    """The request's JSON object; ``BadRequest`` for anything else."""
    try:
        body = orjson.loads(request.body)
    except RawPostDataException as error:  # the check of the page's token has read it as a form
        raise BadRequest("The request is a form, and must be JSON.") from error
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The request is no JSON: {error}.") from error
    if not isinstance(body, dict):
        raise BadRequest("The request must be a JSON object.")
    if b"\\u0000" in request.body and (place := nul_in(body)) is not None:
        raise BadRequest(
            f"{place or 'The request'} has the character U+0000 in it, which no name has.", field=place
        )
    return body


def nul_in(value: Any, place: str = "") -> str | None:
    """Where in JSON a text has the character U+0000, which PostgreSQL keeps in no text; null where none has."""
    if isinstance(value, str):
        return place if "\0" in value else None
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        if any("\0" in key for key in value):
            return place
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    for key, each in inside:
        if (found := nul_in(each, f"{place}.{key}" if place else str(key))) is not None:
            return found
    return None


def number(query: Mapping[str, str], name: str, default: int | None = None, *, least: int = 0) -> int:
    """The whole number ``name`` of a query string."""
    given = query.get(name)
    expected = f"a whole number from {least}"
    if given is None:
        if default is None:
            raise BadRequest(
                f"The query lacks {name}: a whole number from {least}.", field=name, expected=expected
            )
        return default
    # More than 18 digits are no sequence and do not fit the database's column.
    if not given.isascii() or not given.isdigit() or len(given) > 18 or int(given) < least:
        raise BadRequest(
            f"{name}={given!r} must be a whole number from {least}.", field=name, expected=expected
        )
    return int(given)


SEARCH_LENGTH_MOST: Final = 200


def searched_for(query: Mapping[str, str]) -> str:
    """The words ``q`` of a search."""
    q = query.get("q", "").strip()
    if len(q) > SEARCH_LENGTH_MOST:
        raise BadRequest(f"q has {len(q)} characters; it takes {SEARCH_LENGTH_MOST}.", field="q")
    if "\0" in q:
        raise BadRequest("q has the character U+0000 in it, which no name has.", field="q")
    return q


def listed_page(
    request: HttpRequest,
    found: QuerySet[Row],
    most: int,
    shown: Callable[[Row], object],
    *,
    by: str = "title",
) -> HttpResponse:
    """``most`` rows of a list as a JSON array, behind the first ``after`` ones; the header ``Link`` leads to those that follow.

    With ``q`` those whose field ``by`` has it.
    """
    after = number(request.GET, "after", 0)
    if q := searched_for(request.GET):
        found = found.filter(**{f"{by}__icontains": q})
    rows = list(found[after : after + most + 1])
    response = json_response([shown(row) for row in rows[:most]])
    return linked(response, request, after + most) if len(rows) > most else response


def linked(response: HttpResponse, request: HttpRequest, after: int) -> HttpResponse:
    """With the address of the next page (RFC 8288)."""
    query = request.GET.copy()
    query["after"] = str(after)
    response["Link"] = f'<{request.path}?{query.urlencode()}>; rel="next"'
    return response


def choice(value: object, name: str, choices: Collection[str]) -> str:
    """``value`` of the field ``name``, if it is one of ``choices``; JSON has anything there."""
    if isinstance(value, str) and value in choices:
        return value
    expected = ", ".join(choices)
    raise BadRequest(f"{name}={str(value)[:40]!r} must be one of {expected}.", field=name, expected=expected)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """What a request without our pages' token gets, in one line."""
    return error_response(
        403,
        f"{reason or 'The token is missing.'} Send the page's csrftoken cookie, and its value as the header "
        "X-CSRFToken.",
    )
