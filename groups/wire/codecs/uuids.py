"""Topic ids in the two forms that Kafka gives them: 16 bytes, and 22 characters of URL-safe base64.

The text form is that of ``org.apache.kafka.common.Uuid.toString``: base64 with ``-`` and ``_``, without padding.
"""

from __future__ import annotations

import binascii
from functools import lru_cache
from typing import Final

from groups.wire.errors import MalformedError, UnencodableError

UUID_BYTES: Final = 16
UUID_CHARACTERS: Final = 22

REMEMBERED_UUIDS: Final = 16_384
"""A log repeats the few ids of its topics in nearly every record; this many are remembered in text form
(about 2 MB), which is more topics than one group of a large cluster subscribes to."""

_TO_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_FROM_URL_SAFE: Final = str.maketrans("-_", "+/")


@lru_cache(maxsize=REMEMBERED_UUIDS)
def uuid_to_base64(value: bytes) -> str:
    """16 bytes as Kafka writes an id in text; ``MalformedError`` for another length."""
    if len(value) != UUID_BYTES:
        raise MalformedError(f"an id has {UUID_BYTES} bytes, this has {len(value)}")
    return binascii.b2a_base64(value, newline=False)[:UUID_CHARACTERS].translate(_TO_URL_SAFE).decode("ascii")


@lru_cache(maxsize=REMEMBERED_UUIDS)
def base64_to_uuid(text: str) -> bytes:
    """The inverse of ``uuid_to_base64``; ``UnencodableError`` for anything that is not an id in that form."""
    try:
        value = binascii.a2b_base64(text.translate(_FROM_URL_SAFE) + "==", strict_mode=True)
    except (ValueError, AttributeError):
        value = b""
    # Only the canonical text is taken: two texts must never name one topic.
    if len(value) != UUID_BYTES or uuid_to_base64(value) != text:
        raise UnencodableError(
            f"{text!r:.60} is not an id: Kafka writes one as 22 characters of URL-safe base64"
        )
    return value
