"""Which addresses a webhook may reach: public ones, and the networks that the server's settings name.

A page lets somebody have this server ask an address of their choice. Without a bound it could be made to ask what only it can
reach: the machine itself, the company's network, a cloud's metadata. So the name is resolved first, the address is looked
at, and the connection goes to this address and no other: a name that resolves otherwise a moment later changes nothing.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NAT64: Final = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
"""Prefixes behind which an IPv4 address is in the last 32 bits (RFC 6052, RFC 8215)."""


UNICAST: Final = ipaddress.IPv6Network("2000::/3")
"""All IPv6 addresses of the Internet. What is next to it (site-local, IPv4-compatible and -translated, segments) leads into
somebody's own network, though nobody lists it as private."""

DOCUMENTATION: Final = ipaddress.IPv6Network("3fff::/20")
"""RFC 9637, which ``ipaddress`` does not know yet."""


PLATFORMS: Final = (ipaddress.IPv4Network("192.0.0.0/24"), ipaddress.IPv4Network("168.63.129.16/32"))
"""Addresses that ``ipaddress`` calls global and that lead to a cloud's own services from its machines: the block for
protocols (RFC 6890; Oracle's metadata are at 192.0.0.192), and Azure's platform."""


def networks(words: Sequence[str]) -> tuple[Network, ...]:
    """``ValueError`` for a word that is no network."""
    return tuple(ipaddress.ip_network(word, strict=False) for word in words)


def is_allowed(text: str, also: Iterable[Network] = ()) -> bool:
    """Whether an address is public as a whole and in what it carries, or is in one of the networks ``also``.

    >>> is_allowed("93.184.216.34"), is_allowed("10.0.0.1"), is_allowed("::ffff:127.0.0.1")
    (True, False, False)
    >>> is_allowed("10.0.0.1", networks(["10.0.0.0/8"]))
    True
    """
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    carried = _carried(address)
    if any(each in network for each in (address, *carried) for network in also):
        return True
    return _is_public(address) and all(map(_is_public, carried))


def _is_public(address: Address) -> bool:
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in PLATFORMS)
    return (address in UNICAST and address not in DOCUMENTATION) or address in NAT64[0]


def _carried(address: Address) -> list[Address]:
    """The IPv4 addresses that an IPv6 address leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    last = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo[1] if address.teredo else None
    nat64 = last if any(address in prefix for prefix in NAT64) else None
    return [each for each in (address.ipv4_mapped, address.sixtofour, teredo, nat64) if each is not None]
