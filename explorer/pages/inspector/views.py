"""The inspector's page, and its part of the JSON API."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from explorer.pages.inspector.answering import BYTES_MOST, too_many
from explorer.pages.inspector.asking import asked_of
from explorer.pages.inspector.examples import examples, records_of_studies
from explorer.pages.inspector.offloading import answer_text
from explorer.pages.inspector.records import asked_record, bytes_of_entry
from explorer.web.endpoint import BadRequest, json_body, json_response
from groups import storage
from simulations.protocol.coordinator.consumer.regexes import description

REGEX_MOST: Final = 200
"""Characters of an expression: a hundred repetitions of a thousand took RE2 81 s."""


@require_http_methods(["GET", "HEAD"])
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """The page; what it opens is in its address, of which the part behind the # never comes here."""
    named = "timeline" in request.GET and "entry" in request.GET
    regex = request.GET.get("regex", "")
    context = {
        "examples": examples(),
        "records": records_of_studies(),
        "empty": not named,
        "bytes_most": BYTES_MOST,
        "regex": regex,
        "regex_says": _verdict(regex) if regex else "",
    }
    return render(request, "inspector/inspector.html", context)


def _verdict(regex: str) -> str:
    """As ``groups validate-regex`` says it."""
    if len(regex) > REGEX_MOST:
        return f"It has {len(regex)} characters; up to {REGEX_MOST} are checked here, more by groups validate-regex."
    wrong = description(regex)
    return "It is valid." if wrong is None else f"It is invalid: {wrong}."


def inspect_bytes(request: HttpRequest) -> HttpResponse:
    """``POST /api/inspect``: the fields of bytes, after edits if there are any."""
    body = _body(request)
    guess = body.get("guess", True)
    if not isinstance(guess, bool):
        raise BadRequest("guess must be true or false.", field="guess")
    return json_response(answer_text(request, asked_of(body), guesses=guess))


def compare(request: HttpRequest) -> HttpResponse:
    """``POST /api/inspect/compare``: two, field by field."""
    body = _body(request)
    sides = []
    for which in ("first", "second"):
        side = body.get(which)
        if not isinstance(side, dict):
            raise BadRequest(f"{which} is missing: an object as /api/inspect takes it.", field=which)
        try:
            sides.append(asked_record(side) if "entry" in side else asked_of(side, f"The {which}"))
        except BadRequest as error:
            message = str(error)
            raise BadRequest(
                f"The {which}: {message}", status=error.status, side=which, **error.facts
            ) from error
    return json_response(answer_text(request, sides[0], sides[1]))


def record_bytes(request: HttpRequest, timeline_id: str, sequence: int) -> HttpResponse:
    """``GET /api/timelines/<id>/entries/<sequence>/bytes``: key and value of a record, field by field."""
    return json_response(bytes_of_entry(request, storage.get(timeline_id), sequence))


def _body(request: HttpRequest) -> dict[str, Any]:
    try:
        return json_body(request)
    except RequestDataTooBig as error:
        raise BadRequest(too_many(), status=413, field="bytes") from error
