"""Where a request comes from: which names the server answers to, and whose pages may ask it.

A browser used by another's page is what all this is against: a site of the internet, and no less a page that another
port of this machine serves. It shows where a request comes from by ``Origin`` (with whatever is no plain GET, and with
every socket) and by ``Sec-Fetch-Site`` (with everything). Programs that are no browser say neither, and need the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

OWN_FETCHES: Final = (b"", b"same-origin", b"none")
"""``Sec-Fetch-Site`` of what our own pages ask, of what a user types or opens from a bookmark, and of no browser."""

USUAL_PORTS: Final = {"http": 80, "https": 443}


def is_known(host: str) -> bool:
    """Whether a ``Host`` header names this server; any name could be made to lead to loopback."""
    name, _ = split_domain_port(host)
    return bool(name) and validate_host(name, settings.ALLOWED_HOSTS)


def is_own(origin: str, host: str) -> bool:
    """Whether a page's origin is the host that it asks, port included.

    >>> is_own("http://127.0.0.1:8000", "127.0.0.1:8000"), is_own("http://127.0.0.1:9000", "127.0.0.1:8000")
    (True, False)

    Behind a proxy that speaks TLS the page is ``https://rebalance.internal`` and the host ``rebalance.internal``.
    """
    try:
        page = urlsplit(origin)
        asked = urlsplit(f"{page.scheme}://{host}")
        usual = USUAL_PORTS[page.scheme]
        if settings.BEHIND_TLS and page.scheme != "https":
            return False  # anyone who is between a browser and the proxy can write such a page
        return (page.hostname, page.port or usual) == (asked.hostname, asked.port or usual)
    except (ValueError, KeyError):
        return False


def is_foreign(headers: Mapping[bytes, bytes], host: str) -> bool:
    """Whether a browser sends it for a page that is not ours."""
    origin = headers.get(b"origin")
    if origin is not None and not is_own(origin.decode("latin-1"), host):
        return True
    return headers.get(b"sec-fetch-site", b"") not in OWN_FETCHES


def is_followed_link(method: str, path: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a user has followed a link to one of our pages, from wherever: the page that has it learns nothing."""
    return (
        method in ("GET", "HEAD")
        and not path.startswith("/api/")
        and b"origin" not in headers
        and headers.get(b"sec-fetch-mode") == b"navigate"
        and headers.get(b"sec-fetch-dest") == b"document"
    )
