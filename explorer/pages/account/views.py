"""Signing in by a password, and out; what somebody's account is."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from explorer.accounts.guesses import Guesses

GUESSES_MOST: Final = 10
"""Wrong passwords of one account, whoever tries them; a person who has forgotten theirs tries five."""

GUESSES_FROM_ADDRESS_MOST: Final = 30
"""Wrong passwords from one address: an office has one address."""

WITHIN_S: Final = 600.0

TOO_MANY: Final = "Too many passwords were tried. Wait ten minutes, then try again."

by_account = Guesses(GUESSES_MOST, WITHIN_S)
by_address = Guesses(GUESSES_FROM_ADDRESS_MOST, WITHIN_S)
"""Of this process: each server process counts its own."""


class SignInForm(AuthenticationForm):
    error_messages = {  # noqa: RUF012  (as Django has it)
        "invalid_login": "This name and password do not belong together. Passwords differ by large and small letters.",
        "inactive": "This name and password do not belong together. Passwords differ by large and small letters.",
    }


class SignIn(LoginView):
    template_name = "account/sign_in.html"
    form_class = SignInForm

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        account = request.POST.get("username", "")[:150].casefold()
        address = (getattr(request, "scope", {}).get("client") or ("",))[0]
        # Counted before the password is looked at: of many that come at once, no more are looked at either.
        counters = [(by_account, account)] + ([(by_address, address)] if address else [])
        counted = [guesses.are_too_many(key) for guesses, key in counters]
        if any(counted):
            return self.render_to_response(self.get_context_data(too_many=TOO_MANY), status=429)
        response = super().post(request, *args, **kwargs)
        if response.status_code == 302:
            for guesses, key in counters:
                guesses.forget(key)
        return response


@method_decorator(never_cache, name="dispatch")
class SignOut(LogoutView):
    """POST alone: a link cannot sign anybody out."""


def account(request: HttpRequest) -> HttpResponse:
    return render(request, "account/account.html")


def no_admin(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "refused.html",
        {"heading": "This is not allowed", "message": "The admin pages are for admins."},
        status=403,
    )
