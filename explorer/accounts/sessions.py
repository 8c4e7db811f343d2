"""Sessions of signed-in people: found by their cookie, and ended after a time without a request, and after a time in all."""

from __future__ import annotations

import time
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.http.cookie import parse_cookie
from django.utils import timezone

SIGNED_IN: Final = "rebalance.user"
"""In a request's scope: the account that has sent it."""

BEGAN: Final = "began_s"
SEEN: Final = "seen_s"
"""In a session: when it began, and when its last request was, in seconds since 1970."""

NOTED_EVERY_S: Final = 60
"""A session's last request is written this often: each request would be a write."""

NAME_LENGTH_MOST: Final = 150
"""Of an account, as Django stores it."""

KEY_LETTERS: Final = 32
"""Of a session's key as Django draws it: anything else is no session, and costs no query."""


def key_of(cookies: bytes) -> str:
    """The session's key in a ``Cookie`` header; empty if it has none of a key's shape."""
    key = parse_cookie(cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME, "")
    return key if len(key) == KEY_LETTERS and key.isascii() and key.isalnum() else ""


def user_of(key: str, *, is_request: bool = True) -> User | None:
    """The account that is signed in by a session; null if the session has ended or the account is not active.

    ``is_request`` is false for what is no sign that somebody is there, such as an open socket.
    """
    if not key:
        return None
    request = HttpRequest()
    request.session = session = SessionStore(key)
    # Django's own: it compares the session with the account's password, and asks whether the account is active.
    user = get_user(request)
    if not isinstance(user, User):
        return None
    now_s = time.time()
    if now_s - session.get(BEGAN, 0) > settings.SESSION_MOST_S:
        session.flush()
        return None
    if is_request and now_s - session.get(SEEN, 0) > NOTED_EVERY_S:
        session[SEEN] = int(now_s)
        try:
            session.save()
        except UpdateError:  # signed out by another request meanwhile
            return None
    return user


def user_named(name: bytes) -> User | None:
    """The account that has signed in at a proxy, made when it is first seen; null if it is not active, or its name is none."""
    try:
        username = User.normalize_username(name.decode().strip())
    except UnicodeDecodeError:
        return None
    if not 0 < len(username) <= NAME_LENGTH_MOST or not username.isprintable():
        return None
    user, _ = User.objects.get_or_create(username=username, defaults={"password": make_password(None)})
    return user if user.is_active else None


def note_start(sender: Any, request: HttpRequest, user: AbstractBaseUser, **more: Any) -> None:
    """Django calls it when somebody signs in. It keeps the key of a session that was the account's before, whoever else has it."""
    request.session.cycle_key()
    request.session[BEGAN] = request.session[SEEN] = int(time.time())


def remove_ended() -> None:
    """Deletes sessions that nobody can use any more."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()


user_logged_in.connect(note_start, dispatch_uid="explorer.accounts.sessions")
