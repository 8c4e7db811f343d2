"""Tokens of share links: what they are made of, and which could be one.

32 random bytes and a checksum that only this installation can make. A guess is refused by its checksum, in microseconds and
without the database, before anything else is asked; of a token that passes, the SHA-256 is looked up. How long a look-up takes
reveals nothing about other tokens, since a guesser does not know what hash a token has until it has the token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import Final

from django.conf import settings

RANDOM_BYTES: Final = 32
CHECK_LETTERS: Final = 8
SHAPE: Final = r"[A-Za-z0-9_-]{51}"
"""43 letters of randomness and 8 of checksum."""

_SHAPE: Final = re.compile(SHAPE)


def draw() -> str:
    random = secrets.token_urlsafe(RANDOM_BYTES)
    return random + _check(random)


def is_ours(token: str) -> bool:
    """Whether this installation has drawn the token, at some time."""
    if not _SHAPE.fullmatch(token):
        return False
    return hmac.compare_digest(_check(token[:-CHECK_LETTERS]), token[-CHECK_LETTERS:])


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _check(random: str) -> str:
    digest = hmac.digest(settings.SECRET_KEY.encode(), f"share link {random}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode()[:CHECK_LETTERS]
