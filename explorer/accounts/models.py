"""Roles of accounts, and tokens with which programs act for one."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from explorer.accounts.permissions import Role
from groups.models import Cluster

NAME_LENGTH_MOST: Final = 60


class Grant(models.Model):
    """A role that an account was given: everywhere, or on one cluster, where it only adds to the one that it has everywhere.

    Admins everywhere have none: they are Django's superusers. Whoever has no grant is a viewer.
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
