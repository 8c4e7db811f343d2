"""How large the list of a zip's members is, by the records at its end: it is read into memory before any member is."""

from __future__ import annotations

import os
import struct
from typing import IO, Final

_END: Final = struct.Struct("<4s4H2LH")
_END_64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64: Final = struct.Struct("<4sLQL")
_MAGIC: Final = b"PK\x05\x06"
_COMMENT_BYTES_MOST: Final = 65_535


def directory_bytes(opened: IO[bytes]) -> int:
    """The bytes of the list, the larger number where the two records differ; 0 where there is no record."""
    size = opened.seek(0, os.SEEK_END)
    start = max(0, size - _COMMENT_BYTES_MOST - _END.size - _LOCATOR_64.size)
    opened.seek(start)
    tail = opened.read()
    opened.seek(0)
    at = len(tail) - _END.size
    if not tail[max(0, at) :].startswith(_MAGIC):
        # A comment follows it.
        at = tail.rfind(_MAGIC)
    if at < 0 or len(tail) - at < _END.size:
        return 0
    found: int = _END.unpack_from(tail, at)[5]
    if at >= _LOCATOR_64.size and tail[at - _LOCATOR_64.size :].startswith(b"PK\x06\x07"):
        place = start + at - _LOCATOR_64.size - _END_64.size
        opened.seek(max(0, place))
        record = opened.read(_END_64.size)
        opened.seek(0)
        if len(record) == _END_64.size:
            found = max(found, _END_64.unpack(record)[8])
    return found
