"""Who makes rows: the account whose request is being answered. Commands and workers have none."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final

from django.conf import settings
from django.db import models

current: Final[ContextVar[int | None]] = ContextVar("author", default=None)
"""The account's number; ``explorer.access`` sets it for each request of a signed-in sender."""


def author_now() -> int | None:
    return current.get()


def author_field() -> models.ForeignKey[Any, Any]:
    """The column of a model whose rows people make: null for what a command or a worker has made, and once the account is deleted."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, default=author_now, on_delete=models.SET_NULL, related_name="+"
    )
