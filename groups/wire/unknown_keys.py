"""The group in a key of a type that nobody here knows: in all known types the group's name stands first."""

from __future__ import annotations

import struct


def group_of_unknown_key(key: bytes | None) -> str | None:
    """The group's name; None where the key does not have one where all known types have it.

    >>> group_of_unknown_key(bytes.fromhex("001f0006") + b"orders" + b"...")
    'orders'
    """
    if key is None or len(key) < 5:
        return None
    length = struct.unpack_from(">h", key, 2)[0]
    name = key[4 : 4 + length] if length > 0 else b""
    if not name or len(name) < length:
        return None
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None
