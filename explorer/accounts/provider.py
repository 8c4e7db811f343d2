"""What is set of the OpenID Connect provider where people sign in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from django.conf import settings


class MappedRole(NamedTuple):
    """The role that a group of the provider gives, everywhere or on one cluster."""

    group: str
    role: str
    cluster: str
    """Its name; empty: everywhere."""


@dataclass(frozen=True, slots=True)
class OpenId:
    """The provider, this server as its client, and what its groups may do."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    """On no page with the settings, as Django has for an error where DEBUG is set."""

    scopes: str
    groups_claim: str
    roles: tuple[MappedRole, ...]
    """Empty: admins give roles by hand."""

    name: str
    """What the page of signing in calls the provider."""


def openid() -> OpenId:
    """Where LOGIN has such a provider."""
    found = settings.OIDC
    assert found is not None
    return found
