"""Tokens of accounts: made, found by what a program sends, listed and revoked."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.db.models import Q
from django.utils import timezone

from explorer.accounts.models import NAME_LENGTH_MOST, Scope, Token

PREFIX: Final = "rebalance_"
"""By it people, and programs that look for leaked secrets, see what a token is."""

RANDOM_BYTES: Final = 32
"""Nobody guesses so many, so that a plain hash is enough and guesses need not be counted."""

SHAPE: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
"""43 letters of base64 are 32 bytes. Anything else is no token, and costs no query."""

DAYS_DEFAULT: Final = 90
DAYS_MOST: Final = 366

TOKENS_MOST: Final = 20
"""Valid tokens of an account: one for each program, and few enough that their owner knows what each is for."""

ENDED_MOST: Final = 20
"""Revoked and expired tokens of an account that are still listed; making one removes older ones."""

NOTED_EVERY_S: Final = 60
"""A token's last use is written this often: each request would be a write."""


class TokenRefused(Exception):
    """A token cannot be made as asked; the text is one sentence."""


def make(owner: User, name: str, scope: str, days: int) -> tuple[Token, str]:
    """A new token and its text, which cannot be read again. Raises ``TokenRefused``."""
    name = " ".join(name.split())
    if not 0 < len(name) <= NAME_LENGTH_MOST or not name.isprintable():
        raise TokenRefused(f"A token's name has 1 to {NAME_LENGTH_MOST} letters.")
    if scope not in Scope.values:
        raise TokenRefused(f"A token's scope is one of {', '.join(Scope.values)}, not {scope[:20]!r}.")
    if not 1 <= days <= DAYS_MOST:
        raise TokenRefused(f"A token is valid for 1 to {DAYS_MOST} days.")
    text = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    now = timezone.now()
    with transaction.atomic():
        # One at a time for each account, or the bound would not hold.
        User.objects.select_for_update().get(pk=owner.pk)
        valid = Token.objects.filter(owner=owner, revoked=None, expires__gt=now)
        if valid.filter(name=name).exists():
            raise TokenRefused(
                f"This account has a token with the name {name!r}; revoke it or choose another."
            )
        if valid.count() >= TOKENS_MOST:
            raise TokenRefused(f"An account has {TOKENS_MOST} valid tokens at most; revoke one first.")
        ended = Token.objects.filter(owner=owner).exclude(pk__in=valid)
        Token.objects.filter(pk__in=list(ended.values_list("pk", flat=True)[ENDED_MOST:])).delete()
        made = Token.objects.create(
            token_hash=_hash_of(text), owner=owner, name=name, scope=scope, expires=now + timedelta(days=days)
        )
    return made, text


def found_by(text: str) -> Token | None:
    """The token with this text, with its owner; null if it is not valid or its owner not active. Notes its use."""
    if not SHAPE.fullmatch(text):
        return None
    now = timezone.now()
    token = Token.objects.select_related("owner").filter(token_hash=_hash_of(text)).first()
    if token is None or not token.is_valid(now) or not token.owner.is_active:
        return None
    before = now - timedelta(seconds=NOTED_EVERY_S)
    if token.last_use is None or token.last_use < before:
        # A full disk, or a database that another process writes to, keeps no reader out.
        with contextlib.suppress(DatabaseError):
            unused = Q(last_use=None) | Q(last_use__lt=before)
            Token.objects.filter(unused, pk=token.pk).update(last_use=now)
    return token


def revoke(owner: User, token_id: int) -> bool:
    """Whether the account has such a token, which is then valid no longer."""
    of_owner = Token.objects.filter(owner=owner, pk=token_id)
    of_owner.filter(revoked=None).update(revoked=timezone.now())
    return of_owner.exists()


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
