"""Who is signed in, for Django's views: the account that the gate has found, and no other answer to that question."""

from __future__ import annotations

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from explorer.accounts.sessions import SIGNED_IN


class SignedIn(AuthenticationMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        request.user = getattr(request, "scope", {}).get(SIGNED_IN) or AnonymousUser()
