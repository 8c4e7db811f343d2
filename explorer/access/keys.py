"""The token, and the cookie that means it in a browser.

The token is in the address that ``manage.py serve`` prints, and in a file of its owner's. A server on loopback
is reached by every account of the machine, so without it the server answers nothing.

The cookie holds no token: it is made of the token, the server's start, a date, the port, and the account whose browser it was
given to. It is valid until that date, also where servers share a proxy and have no start of their own. Browsers send a cookie to every port of a host, also to one at which another account of the machine listens.
Shown by a process of that account, it is not valid; where the system does not show whose process asks (``peers``), it is
until the next start. Its name carries the port, so that two servers do not overwrite each other's.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.http.cookie import parse_cookie

from explorer.access.peers import UNKNOWN, account_of

COOKIE: Final = "rebalance-explorer"

BEARER: Final = "bearer "

COOKIE_S: Final = 7 * 24 * 3600
"""A browser that stays open shows the token again after a week."""

DATE_DIGITS_MOST: Final = 12
"""Seconds since 1970 have ten digits until the year 2286."""


OPEN: Final = ("/healthz", "/readyz")
"""What a load balancer or a monitor asks without a token; the answers have no detail then."""

ADMITTED: Final = "rebalance.admitted"
"""In the scope of such a request: whether it showed the token, or none is asked for."""


def is_token(given: str) -> bool:
    return hmac.compare_digest(given.encode(), settings.ACCESS_TOKEN.encode())


def shows_token(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a program shows a token, right or wrong. Another kind of ``Authorization`` is the login of a proxy in front."""
    return headers.get(b"authorization", b"").decode("latin-1").lower().startswith(BEARER)


def admits(scope: Mapping[str, Any], headers: Mapping[bytes, bytes], host: str) -> bool:
    """Whether a request to ``host`` shows the token: as a program's bearer, or as the cookie of this start and its account."""
    if shows_token(headers):
        return is_token(headers[b"authorization"].decode("latin-1")[len(BEARER) :].strip())
    shown = parse_cookie(headers.get(b"cookie", b"").decode("latin-1")).get(cookie_name(host), "")
    until = shown.partition(".")[0]
    if not (
        until.isascii() and until.isdigit() and len(until) <= DATE_DIGITS_MOST and int(until) > time.time()
    ):
        return False
    return hmac.compare_digest(shown.encode(), _pass_of(host, account_of(scope), int(until)).encode())


def cookie_name(host: str) -> str:
    """The name of the cookie for a host as a browser calls it.

    >>> cookie_name("127.0.0.1:8000"), cookie_name("[::1]:8000"), cookie_name("rebalance.internal")
    ('rebalance-explorer-8000', 'rebalance-explorer-8000', 'rebalance-explorer')
    """
    port = port_of(host)
    return f"{COOKIE}-{port}" if port else COOKIE


def cookie_for(host: str, account: str = UNKNOWN) -> str:
    """The header that gives a browser of ``account`` its cookie. It goes when the browser is closed, and no script sees it."""
    secure = "; Secure" if settings.BEHIND_TLS else ""
    made = _pass_of(host, account, int(time.time()) + COOKIE_S)
    return f"{cookie_name(host)}={made}; Path=/; HttpOnly; SameSite=Strict{secure}"


def port_of(host: str) -> str:
    """The port in a ``Host`` header; nothing where the scheme's own is meant."""
    port = host.rpartition("]")[2].rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
    return port if port.isascii() and port.isdigit() else ""


def _pass_of(host: str, account: str, until_s: int) -> str:
    what = f"cookie {settings.ACCESS_START} {until_s} {port_of(host)} {account}"
    return f"{until_s}.{hmac.digest(settings.ACCESS_TOKEN.encode(), what.encode(), 'sha256').hex()}"
