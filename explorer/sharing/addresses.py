"""The addresses of links: how a request shows which token it has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from django.http.cookie import parse_cookie

from explorer.sharing import tokens

PREFIX: Final = "/s/"
PAGE: Final = re.compile(r"/s/open/(?P<id>[a-z0-9]{1,64})/(?:state)?")
TOKEN: Final = re.compile(rf"/s/(?P<token>{tokens.SHAPE})(?:/card\.png|/embed/(?:state)?)?")

COOKIE: Final = "rebalance-share"


def cookie_name(link_id: str) -> str:
    return f"{COOKIE}-{link_id}"


def leads_here(path: str) -> bool:
    """Whether an address is one of links; all others need the server's token."""
    return path.startswith(PREFIX)


def token_of(path: str, headers: Mapping[bytes, bytes]) -> str:
    """The token that a request shows, in its address or as a cookie; empty where it shows none."""
    if found := TOKEN.fullmatch(path):
        return found["token"]
    if found := PAGE.fullmatch(path):
        cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
        return cookies.get(cookie_name(found["id"]), "")
    return ""
