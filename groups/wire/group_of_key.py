"""The group in a record's key: in all known types the group's name is the first field, behind the type."""

from __future__ import annotations

import re
import struct
from typing import Final

LONGEST_NAME: Final = 32_767

_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""Of these three bytes Java makes one replacement character, Python three."""

NAME_AT: Final = 4
"""Behind the type and the name's length, an int16 each."""


def _name_of(key: bytes) -> bytes | None:
    if len(key) < NAME_AT:
        return None
    length = struct.unpack_from(">h", key, 2)[0]
    name = key[NAME_AT : NAME_AT + length] if length >= 0 else b""
    return name if len(name) == length else None


def group_of_unknown_key(key: bytes | None) -> str | None:
    """The group's name; None where the key does not have one where all known types have it.

    >>> group_of_unknown_key(bytes.fromhex("001f0006") + b"orders" + b"...")
    'orders'
    """
    name = None if key is None else _name_of(key)
    if not name:
        return None
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None


def with_readable_group(key: bytes) -> bytes | None:
    """The key with replacement characters in the group's name, as Kafka reads one that is not UTF-8; None if it is.

    >>> with_readable_group(bytes.fromhex("00020004fffe6162"))[4:].decode()
    '\\ufffd\\ufffdab'
    """
    name = _name_of(key)
    shown = None if name is None else _SURROGATE.sub(b"\xef\xbf\xbd", name).decode(errors="replace").encode()
    if name is None or shown is None or shown == name or len(shown) > LONGEST_NAME:
        return None
    return key[:2] + struct.pack(">h", len(shown)) + shown + key[NAME_AT + len(name) :]
