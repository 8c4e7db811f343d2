"""Where a request comes from: the peer of its connection, or what a trusted proxy has written of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.conf import settings

CLIENT: Final = "rebalance.client"
"""In a request's scope: its client's address; empty where it is not known."""

UNIX: Final = "unix"
"""In the setting: whatever comes by the server's Unix socket, which its folder's rights open to the proxy alone."""

_FORWARDED: Final = b"x-forwarded-for"


def peer_of(scope: Mapping[str, Any]) -> str:
    """The address of a connection's other end; empty for a Unix socket."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def is_trusted(address: str) -> bool:
    """Whether a connection from ``address`` is a proxy's of ours (``TRUSTED_PROXIES``)."""
    if not address:
        return UNIX in settings.TRUSTED_PROXIES
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(
        found in ipaddress.ip_network(each, strict=False) for each in settings.TRUSTED_PROXIES if each != UNIX
    )


def client_of(scope: Mapping[str, Any], headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The address that a request comes from. A proxy writes its own peer behind all others, so the last one that is no proxy of ours counts."""
    peer = peer_of(scope)
    if not is_trusted(peer):
        return peer
    lines = [value.decode("latin-1") for name, value in headers if name == _FORWARDED]
    for each in reversed(",".join(lines).split(",")):
        try:
            address = str(ipaddress.ip_address(each.strip()))
        except ValueError:
            return peer
        if not is_trusted(address):
            return address
    return peer
