"""The way to an OpenID Connect provider and back."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Final

import jwt
import requests
from django.contrib import auth
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
    get_next_url,
)

from explorer.accounts import audit
from explorer.accounts.guesses import Guesses
from explorer.accounts.openid import SignInRefused, option

log = logging.getLogger(__name__)

STARTS_MOST: Final = 300
"""Ways to the provider that one address begins within ``WITHIN_S``: each keeps a session, and an office has one address."""

WITHIN_S: Final = 600
"""How long a person may take at the provider."""

STATES: Final = "oidc_states"
NEXT: Final = "oidc_login_next"
"""In a session: the library's."""

TOO_MANY: Final = "Too many people are signing in from this address. Wait ten minutes, then try again."

NOT_ASKED: Final = (
    "This way back from the provider was not begun in this browser, took too long, or was used before."
)

starts = Guesses(STARTS_MOST, WITHIN_S)


class Start(OIDCAuthenticationRequestView):  # type: ignore[misc]
    """Sends a browser to the provider, with a state, a nonce and a challenge that its session keeps."""

    get_settings = staticmethod(option)

    def get(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect(get_next_url(request, "next") or "home")
        source = audit.current.get()
        if source and source.client and starts.are_too_many(source.client):
            return refused(request, TOO_MANY, status=429)
        response: HttpResponse = super().get(request)
        request.session.set_expiry(WITHIN_S)
        response["Cache-Control"] = "no-store"
        return response


class Callback(OIDCAuthenticationCallbackView):  # type: ignore[misc]
    """Signs in the account that the provider sends back, once for each start."""

    get_settings = staticmethod(option)

    def get(self, request: HttpRequest) -> HttpResponse:
        if request.GET.get("state", "") not in request.session.get(STATES, {}):
            return refused(request, NOT_ASKED)
        if error := request.GET.get("error", ""):
            # The library would also sign out who is signed in, which a link on any page could ask for.
            request.session[STATES].pop(request.GET["state"])
            request.session.modified = True
            word = error if re.fullmatch(r"[a-z_]{1,40}", error) else "no reason"
            raise SignInRefused(f"The provider did not sign you in ({word}).")
        response: HttpResponse = super().get(request)
        return response

    def login_success(self) -> HttpResponse:
        then = self.request.session.get(NEXT)
        auth.login(self.request, self.user)
        for name in (STATES, NEXT):
            self.request.session.pop(name, None)
        self.request.session.set_expiry(None)
        return redirect(then or "home")

    def login_failure(self) -> HttpResponse:
        raise SignInRefused("This account is not active; an admin of this server can change that.")


def answered(view: Callable[[HttpRequest], HttpResponse], request: HttpRequest) -> HttpResponse:
    """A view's answer, or a page with the reason why nobody is signed in."""
    try:
        return view(request)
    except SignInRefused as error:
        why = str(error)
    except (
        jwt.PyJWTError,
        SuspiciousOperation,
        requests.RequestException,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        log.warning("The answer of the provider was not accepted: %s", error)
        has_reason = isinstance(error, jwt.PyJWTError)
        why = f"The answer of the provider was not accepted{f': {error}' if has_reason else ''}."
    audit.note(audit.REFUSED, "", reason=why)
    return refused(request, why)


def refused(request: HttpRequest, why: str, status: int = 400) -> HttpResponse:
    facts = {"heading": "You are not signed in", "message": why}
    response = render(request, "refused.html", facts, status=status)
    response["Cache-Control"] = "no-store"
    return response
