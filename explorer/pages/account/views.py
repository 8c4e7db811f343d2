"""Signing in by a password, and out; an account's page, which lists, makes and revokes its tokens."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe

from explorer.accounts import audit, tokens
from explorer.accounts.guesses import Guesses
from explorer.accounts.models import NAME_LENGTH_MOST, Scope
from explorer.accounts.provider import openid
from explorer.accounts.roles import rights_in
from groups.models import Cluster

GUESSES_MOST: Final = 10
"""Wrong passwords of one account, from all clients together; a person who has forgotten theirs tries five."""

GUESSES_FROM_ADDRESS_MOST: Final = 30
"""Wrong passwords from one address: an office has one address."""

WITHIN_S: Final = 600.0

TOO_MANY: Final = "Too many passwords were tried. Wait ten minutes, then try again."

by_account = Guesses(GUESSES_MOST, WITHIN_S)
by_address = Guesses(GUESSES_FROM_ADDRESS_MOST, WITHIN_S)
"""Of this process: each server process counts its own."""


def account_named(given: str) -> str:
    """The account that a name leads to. The form strips and normalizes names: a name of five letters has thousands of spellings."""
    return unicodedata.normalize("NFKC", given.strip())[:150].casefold()


Counters = list[tuple[Guesses, str]]


def counters_of(account: str) -> Counters:
    """What counts a guess of an account's password that the request at hand makes."""
    source = audit.current.get()
    address = source.client if source else ""
    return [(by_account, account)] + ([(by_address, address)] if address else [])


def are_too_many(counters: Counters) -> bool:
    """Counts a guess, before the password is looked at: of many that come at once, no more are looked at either."""
    counted = [guesses.are_too_many(key) for guesses, key in counters]
    return any(counted)


class SignInForm(AuthenticationForm):
    error_messages = {  # noqa: RUF012  (as Django has it)
        "invalid_login": "This name and password do not belong together. Passwords differ by large and small letters.",
        "inactive": "This name and password do not belong together. Passwords differ by large and small letters.",
    }


class SignIn(LoginView):
    template_name = "account/sign_in.html"
    form_class = SignInForm
    http_method_names = ("get", "head", "post")

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        provider = openid().name if "oidc" in settings.LOGIN else ""
        return super().get_context_data(by_password="password" in settings.LOGIN, provider=provider, **more)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "password" not in settings.LOGIN:
            raise Http404("Nobody signs in here by a password.")
        counters = counters_of(account_named(request.POST.get("username", "")))
        if are_too_many(counters):
            return self.render_to_response(self.get_context_data(too_many=TOO_MANY), status=429)
        response = super().post(request, *args, **kwargs)
        if response.status_code == 302:
            for guesses, key in counters:
                guesses.forget(key)
        return response


@require_GET
def start_at_provider(request: HttpRequest) -> HttpResponse:
    return at_provider("Start", request)


@require_GET
def back_from_provider(request: HttpRequest) -> HttpResponse:
    return at_provider("Callback", request)


def at_provider(view: str, request: HttpRequest) -> HttpResponse:
    if "oidc" not in settings.LOGIN:
        raise Http404("Nobody signs in here at a provider.")
    from explorer.pages.account import openid as at  # its packages are installed where LOGIN has it alone

    return at.answered(getattr(at, view).as_view(), request)


class ChangePassword(PasswordChangeView):
    """Changes one's own password, by the present one: a stolen session is not enough, and guesses are counted."""

    template_name = "account/password.html"
    success_url = reverse_lazy("account")
    http_method_names = ("get", "head", "post")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        counters = counters_of(account_named(signed_in_user(request).get_username()))
        if are_too_many(counters):
            return self.render_to_response(self.get_context_data(too_many=TOO_MANY), status=429)
        response = super().post(request, *args, **kwargs)
        if response.status_code == 302:
            for guesses, key in counters:
                guesses.forget(key)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=400)


@method_decorator(never_cache, name="dispatch")
class SignOut(LogoutView):
    """POST alone: a link cannot sign anybody out."""


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return account_page(request, status=200)


@require_POST
def make_token(request: HttpRequest) -> HttpResponse:
    """Makes a token, and shows its text on this one page: it is in no address, session or table."""
    asked = {name: request.POST.get(name, "") for name in ("name", "scope", "days")}
    days = asked["days"].strip()
    # More digits than these are too many days, however many.
    number = int(days) if days.isascii() and days.isdigit() and len(days) <= 6 else 0
    try:
        made, text = tokens.make(signed_in_user(request), asked["name"], asked["scope"], number)
    except tokens.TokenRefused as error:
        return account_page(request, status=400, refused=str(error), asked=asked)
    return account_page(request, status=201, made=made, text=text)


@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    if not tokens.revoke(signed_in_user(request), token_id):
        raise Http404("Your account has no such token.")
    return redirect("account")


def account_page(request: HttpRequest, *, status: int, **more: Any) -> HttpResponse:
    now = timezone.now()
    rows = [(token, token.is_valid(now)) for token in signed_in_user(request).tokens.all()]
    rights = rights_in(request)
    assert rights is not None
    names = dict(
        Cluster.objects.filter(pk__in=[pk for pk, _ in rights.on_clusters]).values_list("pk", "name")
    )
    facts = {
        "role": rights.role.label,
        "on_clusters": [(names[pk], role.label) for pk, role in rights.on_clusters],
        "by_proxy": (source := audit.current.get()) is not None and source.by == audit.BY_PROXY,
        "rows": sorted(rows, key=lambda row: not row[1]),
        "asked": {"scope": Scope.READ.value, "days": tokens.DAYS_DEFAULT},
        "scopes": Scope.choices,
        "days_most": tokens.DAYS_MOST,
        "name_length_most": NAME_LENGTH_MOST,
        **more,
    }
    return render(request, "account/account.html", facts, status=status)


def signed_in_user(request: HttpRequest) -> User:
    """The account that the gate has found: it lets nobody else to these addresses."""
    assert isinstance(request.user, User)
    return request.user


def no_admin(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "refused.html",
        {"heading": "This is not allowed", "message": "The admin pages are for admins."},
        status=403,
    )
