"""Signing in at an OpenID Connect provider: its description, the check of what it answers, and the account of a person there.

mozilla-django-oidc asks and exchanges the code. It compares neither issuer nor audience, finds accounts by their
e-mail address and keeps those signed in that are not active any more: all of that is done here.
"""

from __future__ import annotations

import logging
import time
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

import jwt
import requests
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from explorer.accounts import audit
from explorer.accounts.models import SUBJECT_LENGTH_MOST, Identity
from explorer.accounts.permissions import Role
from explorer.accounts.provider import openid
from explorer.accounts.roles import give, rights_of
from explorer.accounts.sessions import NAME_LENGTH_MOST
from groups.models import Cluster

log = logging.getLogger(__name__)

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a key that the provider alone has. One by the client's secret, or none, is no proof of who signed."""

WAIT_S: Final = 10.0
"""For an answer of the provider, while a person looks at an empty page."""

CLOCK_S: Final = 60.0
"""How far the provider's clock may be ahead of ours or behind it."""

DESCRIBED_FOR_S: Final = 600.0
"""How long the provider's description of itself is used."""

REQUIRED: Final = ["iss", "sub", "aud", "exp", "iat", "nonce"]

BY_PROVIDER: Final = "provider"
"""In the audit log: by what a role was given."""

_described: dict[str, tuple[float, dict[str, Any]]] = {}


class SignInRefused(Exception):
    """What the provider answered does not sign anybody in; the text is one sentence, without anything secret."""


def description() -> dict[str, Any]:
    """The provider's own addresses, as it publishes them. Raises ``SignInRefused``."""
    issuer = openid().issuer
    read_at, described = _described.get(issuer, (-DESCRIBED_FOR_S, {}))
    if time.monotonic() - read_at < DESCRIBED_FOR_S:
        return described
    address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        answer = requests.get(address, timeout=WAIT_S, allow_redirects=False)
        answer.raise_for_status()
        described = dict(answer.json())
        needed = [described[f"{name}_endpoint"] for name in ("authorization", "token")]
        needed.append(described["jwks_uri"])
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        log.warning("The provider's description %s could not be read: %s", address, error)
        raise SignInRefused("The provider cannot be reached. Try again in a minute.") from error
    if described.get("issuer") != issuer:
        log.warning("%s describes the issuer %r; OIDC_ISSUER is %r", address, described.get("issuer"), issuer)
        raise SignInRefused("The provider describes another issuer than OIDC_ISSUER names.")
    if issuer.startswith("https:") and not all(str(each).startswith("https:") for each in needed):
        raise SignInRefused("The provider has an address without TLS.")
    _described[issuer] = (time.monotonic(), described)
    return described


def option(name: str, *default: Any) -> Any:
    """The library's settings, by their names, from ours and from the provider's description."""
    ours, described = openid(), description()
    methods = described.get("token_endpoint_auth_methods_supported", [])
    options = {
        "OIDC_OP_AUTHORIZATION_ENDPOINT": described["authorization_endpoint"],
        "OIDC_OP_TOKEN_ENDPOINT": described["token_endpoint"],
        "OIDC_OP_USER_ENDPOINT": described.get("userinfo_endpoint"),
        "OIDC_OP_JWKS_ENDPOINT": described["jwks_uri"],
        "OIDC_RP_CLIENT_ID": ours.client_id,
        "OIDC_RP_CLIENT_SECRET": ours.client_secret,
        "OIDC_RP_SCOPES": ours.scopes,
        "OIDC_RP_SIGN_ALGO": "RS256",
        "OIDC_TOKEN_USE_BASIC_AUTH": "client_secret_post" not in methods,
        "OIDC_USE_PKCE": True,
        "OIDC_TIMEOUT": WAIT_S,
        "OIDC_AUTHENTICATION_CALLBACK_URL": "sign-in-callback",
    }
    return options[name] if name in options else default[0]


class Backend(OIDCAuthenticationBackend):  # type: ignore[misc]
    """Django's way to an account by a code of the provider."""

    get_settings = staticmethod(option)

    def __init__(self) -> None:
        """Asks the provider nothing: Django makes one for each request of a session."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        # Without both it is no answer to a question of ours: a form with a password may have a code in its address.
        if request is None or not credentials.get("nonce") or not credentials.get("code_verifier"):
            return None
        super().__init__()
        user: User | None = super().authenticate(request, **credentials)
        return user

    def verify_token(self, token: str, **more: Any) -> dict[str, Any]:
        """The claims of an ID token that this provider signed for this server, as answer to this question, and that is still valid."""
        ours = openid()
        claims: dict[str, Any] = jwt.decode(
            token,
            self.retrieve_matching_jwk(token),
            algorithms=ALGORITHMS,
            issuer=ours.issuer,
            audience=ours.client_id,
            leeway=CLOCK_S,
            options={"require": REQUIRED},
        )
        if claims["nonce"] != more.get("nonce"):
            raise SignInRefused("The ID token answers another question than ours.")
        if claims.get("azp", ours.client_id) != ours.client_id:
            raise SignInRefused("The ID token is for another client.")
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_LENGTH_MOST:
            raise SignInRefused("The ID token names nobody.")
        return claims

    def retrieve_matching_jwk(self, token: str) -> jwt.PyJWK:
        """The provider's key of a token. One that names no key is of the only one there is; the library demands a name."""
        answer = requests.get(self.OIDC_OP_JWKS_ENDPOINT, timeout=WAIT_S)
        answer.raise_for_status()
        named = jwt.get_unverified_header(token).get("kid")
        keys = [
            key for key in jwt.PyJWKSet.from_dict(answer.json()).keys if key.public_key_use in (None, "sig")
        ]
        fitting = [key for key in keys if named is None or key.key_id == named]
        if len(fitting) != 1:
            raise SignInRefused("The provider has no key, or several, that the ID token may be signed with.")
        return fitting[0]

    def get_or_create_user(self, access_token: str, id_token: str, claims: Mapping[str, Any]) -> User:
        """The account of the token's person, with the roles of the person's groups."""
        more = self.get_userinfo(access_token, id_token, claims) if self.OIDC_OP_USER_ENDPOINT else {}
        if more and more.get("sub") != claims["sub"]:
            raise SignInRefused("The provider describes another person than the one who signed in.")
        claims = {**more, **claims}
        user = account_of(openid().issuer, claims)
        if user.is_active:
            source = audit.current.get() or audit.Source()
            audit.current.set(source._replace(user=user, by=BY_PROVIDER))
            give_roles(user, claims)
        return user

    def get_user(self, user_id: int) -> Any:
        """Null for an account that is not active, as with a password."""
        return ModelBackend.get_user(self, user_id)


def account_of(issuer: str, claims: Mapping[str, Any]) -> User:
    """The account of the person with this ``sub`` at this issuer, made when first seen. A name or an e-mail address finds no account: a person may change them."""
    for _ in range(3):
        found = (
            Identity.objects.select_related("account").filter(issuer=issuer, subject=claims["sub"]).first()
        )
        if found is not None:
            return found.account
        try:
            with transaction.atomic():
                user = User.objects.create_user(free_name(claims), email=_text(claims, "email", 254))
                user.first_name, user.last_name = (
                    _text(claims, name, 150) for name in ("given_name", "family_name")
                )
                user.save()
                Identity.objects.create(account=user, issuer=issuer, subject=claims["sub"])
                return user
        except IntegrityError:  # another request made the account, or one with this name, meanwhile
            continue
    raise SignInRefused("No account could be made. Try again.")


def free_name(claims: Mapping[str, Any]) -> str:
    """A name for a new account: the person's own, with a number behind it where another account has it."""
    texts = [_text(claims, name, NAME_LENGTH_MOST - 10) for name in ("preferred_username", "email", "sub")]
    wanted = next(filter(None, texts), "person")
    name, number = wanted, 1
    while User.objects.filter(username__iexact=name).exists():
        number += 1
        name = f"{wanted} ({number})"
    return name


def _text(claims: Mapping[str, Any], name: str, length_most: int) -> str:
    """Of a claim what can be shown; empty if it is none."""
    value = claims.get(name)
    found = " ".join(unicodedata.normalize("NFKC", value).split()) if isinstance(value, str) else ""
    return found if found.isprintable() and len(found) <= length_most else ""


def give_roles(user: User, claims: Mapping[str, Any]) -> None:
    """The roles that ``OIDC_ROLES`` has for the person's groups, in the place of those before; nothing where it is not set."""
    mapped = openid().roles
    if not mapped:
        return
    given = claims.get(openid().groups_claim, [])
    given = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    groups = {each for each in given if isinstance(each, str)}
    wanted = dict.fromkeys(("", *(each.cluster for each in mapped)), Role.VIEWER)
    for each in mapped:
        if each.group in groups:
            role = next(role for role in Role if role.label == each.role)
            wanted[each.cluster] = max(wanted[each.cluster], role)
    everywhere = wanted.pop("")
    before = rights_of(user)
    if before is None or before.role is not everywhere:
        give(user, everywhere)
    rights = rights_of(user)
    had = dict(rights.on_clusters) if rights else {}
    for cluster in Cluster.objects.filter(name__in=wanted):
        role = wanted[cluster.name] if wanted[cluster.name] > everywhere else Role.VIEWER
        if role is not had.get(cluster.pk, Role.VIEWER):
            give(user, role, cluster)
