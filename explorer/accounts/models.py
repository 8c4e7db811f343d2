"""Roles of accounts, tokens with which programs act for one, and the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from explorer.accounts.permissions import Role
from groups.models import Cluster

NAME_LENGTH_MOST: Final = 60

ABOUT_LENGTH_MOST: Final = 500

SUBJECT_LENGTH_MOST: Final = 255
"""Of a person's ``sub`` at a provider, by OpenID Connect."""


class Grant(models.Model):
    """A role that an account was given: everywhere, or on one cluster, where it only adds to the one that it has everywhere.

    Admins everywhere have none: they are Django's superusers. Anyone who has no grant is a viewer.
    """

    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grants")
    cluster = models.ForeignKey(Cluster, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    role = models.SmallIntegerField(choices=Role)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["account", "cluster"], name="grant_on_cluster"),
            models.UniqueConstraint(fields=["account"], condition=Q(cluster=None), name="grant_everywhere"),
        )

    def __str__(self) -> str:
        where = "" if self.cluster is None else f" on {self.cluster.name}"
        return f"{self.account.get_username()}: {Role(self.role).label}{where}"


class Identity(models.Model):
    """Who an account's person is at an OpenID Connect provider. Names and e-mail addresses change hands there; this does not."""

    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=SUBJECT_LENGTH_MOST)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["issuer", "subject"], name="identity_of_one_account"),)
        verbose_name_plural = "identities"

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


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


class AuditEntry(models.Model):
    """What somebody did. An account that is deleted leaves its name."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    account = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=150, blank=True)
    by = models.CharField(max_length=NAME_LENGTH_MOST + 10)
    client = models.CharField(max_length=64, blank=True)
    """The address that it came from; empty for a command, and where it is not known."""

    action = models.CharField(max_length=16)
    about = models.CharField(max_length=ABOUT_LENGTH_MOST)
    details: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.name}: {self.action} {self.about}"
