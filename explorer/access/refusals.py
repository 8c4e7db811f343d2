"""What is answered in the place of what was asked: JSON under ``/api``, a page elsewhere, one sentence in both."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.http import HttpResponse
from django.template.loader import render_to_string

from explorer.web.endpoint import error_response

HEADINGS: Final = {
    400: "This request cannot be understood",
    401: "The token is missing",
    403: "This is not allowed",
    404: "There is nothing here",
    408: "This took too long",
    413: "This is too large",
    429: "Too much at once",
    500: "Something went wrong",
    503: "Not now",
    507: "The disk is full",
}


def refusal(path: str, status: int, message: str, **context: Any) -> HttpResponse:
    """The answer to a request for ``path`` that is refused; ``context`` is the page's alone."""
    if path.startswith("/api/"):
        return error_response(status, message)
    facts = {"heading": HEADINGS.get(status, HEADINGS[400]), "message": message, **context}
    page = render_to_string("refused.html", facts)
    return HttpResponse(page, status=status)


def without_token(
    path: str, query: list[tuple[str, str]], *, wrong: bool, from_elsewhere: bool
) -> HttpResponse:
    """401, with where the token is: where the server was started, and in a file of the account that started it."""
    message = (
        f"{'This token is not the one of this server.' if wrong else 'This server answers to whoever has its token.'} "
        "The address that it printed when it was started has the token; "
        f"so has {settings.ACCESS_TOKEN_PLACE}. Programs send it as `Authorization: Bearer …`."
    )
    response = refusal(
        path, 401, message, heading="This is not the token" if wrong else HEADINGS[401], asks_for_token=True, query=query, place=settings.ACCESS_TOKEN_PLACE, wrong=wrong,
        from_elsewhere=from_elsewhere,
    )  # fmt: skip
    response["WWW-Authenticate"] = 'Bearer realm="Rebalance Explorer"'
    return response
