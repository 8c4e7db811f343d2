"""Tokens with which programs act for an account."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.contrib.auth.models import User
from django.db import models

NAME_LENGTH_MOST: Final = 60


class Scope(models.TextChoices):
    """What a token may do."""

    READ = "read", "read"
    """GET and HEAD, and sockets, which only push."""

    WRITE = "write", "read and write"


class Token(models.Model):
    """A token of an account. Its text is not stored: only its hash is."""

    token_hash = models.CharField(max_length=64, unique=True)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=NAME_LENGTH_MOST)
    """What it is for, in its owner's words."""

    scope = models.CharField(max_length=8, choices=Scope)
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    last_use = models.DateTimeField(null=True)
    """To the minute; null before the first."""

    revoked = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created", "-id")

    def __str__(self) -> str:
        return f"{self.name} of {self.owner} ({self.scope}, until {self.expires:%Y-%m-%d})"

    def is_valid(self, now: datetime) -> bool:
        return self.revoked is None and self.expires > now
