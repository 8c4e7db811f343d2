"""The one page of a link that opens nothing: unknown, ended and withdrawn are the same, so that nothing is learned by asking."""

from __future__ import annotations

from functools import lru_cache

from django.http import HttpResponse
from django.template.loader import render_to_string

GONE_TEXT = "This link does not open anything, or does not any more. Ask whoever sent it for a new one."


def gone(status: int = 404, message: str = GONE_TEXT) -> HttpResponse:
    response = HttpResponse(_page(message), status=status)
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex, noarchive"
    response["Cache-Control"] = "no-store"
    # Said aloud, so that nothing on the way packs it: the door's own answers are not packed either.
    response["Content-Encoding"] = "identity"
    response["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return response


@lru_cache
def _page(message: str) -> bytes:
    """Made once: a flood of guesses costs no rendering."""
    return render_to_string("sharing/gone.html", {"says": message}).encode()
