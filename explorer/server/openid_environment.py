"""The settings of an OpenID Connect provider from the environment, and one clear line for each mistake in them."""

from __future__ import annotations

import importlib.util
import re
from typing import Final

from django.core.exceptions import ImproperlyConfigured

from explorer.accounts.provider import MappedRole, OpenId
from explorer.server.environment import parts_of, text
from groups.clusters.settings import keeps_secret

ROLE: Final = re.compile(r"\s*(?P<group>.+)=(?P<role>viewer|editor|admin)(?:@(?P<cluster>[^@=;]+))?\s*")


def openid(login: tuple[str, ...]) -> OpenId | None:
    """The provider's settings; null unless people sign in there."""
    if "oidc" not in login:
        return None
    if importlib.util.find_spec("mozilla_django_oidc") is None:
        raise ImproperlyConfigured(
            "LOGIN=oidc needs packages that are not installed: pip install 'rebalance-explorer[oidc]'."
        )
    given = {name: text(name, "") for name in ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")}
    if missing := [name for name, value in given.items() if not value]:
        raise ImproperlyConfigured(
            f"LOGIN=oidc needs {', '.join(missing)}, as the provider has registered this server."
        )
    issuer = given["OIDC_ISSUER"]
    parts = parts_of("OIDC_ISSUER", issuer)
    if not keeps_secret(issuer) or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"OIDC_ISSUER={issuer!r} must begin with https:// and a host.")
    scopes = text("OIDC_SCOPES", "openid profile email")
    if "openid" not in scopes.split():
        raise ImproperlyConfigured(f"OIDC_SCOPES={scopes!r} must have openid among its words.")
    return OpenId(
        issuer=issuer,
        client_id=given["OIDC_CLIENT_ID"],
        client_secret=given["OIDC_CLIENT_SECRET"],
        scopes=scopes,
        groups_claim=text("OIDC_GROUPS_CLAIM", "groups"),
        roles=_roles(text("OIDC_ROLES", "")),
        name=text("OIDC_NAME", parts.hostname or issuer),
    )


def _roles(given: str) -> tuple[MappedRole, ...]:
    """Parted by semicolons: names of groups in a directory have commas and equals signs."""
    found = []
    for part in filter(str.strip, given.split(";")):
        match = ROLE.fullmatch(part)
        if match is None:
            raise ImproperlyConfigured(
                f"OIDC_ROLES has {part.strip()!r}; write GROUP=viewer, GROUP=editor or GROUP=admin, "
                "with @CLUSTER behind it for one cluster, and a semicolon between two."
            )
        found.append(MappedRole(match["group"].strip(), match["role"], (match["cluster"] or "").strip()))
    return tuple(found)
