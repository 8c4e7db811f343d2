"""What goes wrong while a request is worked on, reported to the client: the right status, and one sentence.

Django calls these for what no view has caught; ``explorer.urls`` names them.
"""

from __future__ import annotations

import sys

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse

from explorer.access.bodies import TooSlow
from explorer.access.refusals import refusal
from groups.one_line import one_line
from groups.reserve import is_full


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, and what Django takes for it."""
    path = request.path_info
    if isinstance(exception, RequestDataTooBig):
        return refusal(path, 413, "The request is larger than this server takes.")
    if isinstance(exception, TooManyFieldsSent):
        fields = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return refusal(path, 413, f"The form has more fields than this server takes ({fields}).")
    if isinstance(exception, TooManyFilesSent):
        return refusal(
            path,
            413,
            f"These are more files than one upload takes ({settings.DATA_UPLOAD_MAX_NUMBER_FILES}); "
            "import larger logs on the server with `manage.py import_log PATH…`.",
        )
    if isinstance(exception, TooSlow):
        return refusal(path, 408, str(exception))
    message = str(exception) if isinstance(exception, BadRequest) else ""
    return refusal(path, 400, message or "The request cannot be understood.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    path = request.path_info
    message = exception.args[0] if isinstance(exception, Http404) and exception.args else ""
    # Without a reason of a view's own, the resolver would list every address.
    if not isinstance(message, str) or not message:
        message = "There is nothing at this address."
    return refusal(path, 404, f"{message} The address may be mistyped, or what was here was removed.")


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or what an exception means that nothing of ours is to blame for."""
    status, message = meaning(sys.exc_info()[1])
    return refusal(request.path_info, status, message)


def meaning(error: BaseException | None) -> tuple[int, str]:
    """Status and sentence of an exception, and of what it comes from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and is_full(error):
            return (
                507,
                "The server's disk is full: nothing of this was kept. Free some space, then try again.",
            )
        if isinstance(error, OperationalError):
            if is_full(error):
                return 507, (
                    "The disk of the server's database is full: nothing of this was kept. "
                    "Delete imports or timelines, or free some space, then try again."
                )
            return 503, f"The database cannot be used just now: {one_line(error)}. Try again soon."
        error = error.__cause__ or error.__context__
    return 500, "Something went wrong here, and the server's log says what. It is not your request's fault."
