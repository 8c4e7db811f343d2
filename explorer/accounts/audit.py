"""The audit log: who did what, when and from where. Only where people sign in; in local mode nobody has a name."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from datetime import timedelta
from getpass import getuser
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import timezone

from explorer.accounts.models import ABOUT_LENGTH_MOST, NAME_LENGTH_MOST, AuditEntry
from explorer.accounts.permissions import Action
from groups.command_line import command_ended
from groups.one_line import without_credentials

log = logging.getLogger(__name__)

SIGN_IN: Final = "sign-in"
SIGN_OUT: Final = "sign-out"
REFUSED: Final = "sign-in-refused"
FORBIDDEN: Final = "forbidden"
ROLE: Final = "role"
"""Actions that are no address's."""


COMMANDS: Final[Mapping[str, tuple[Action, tuple[str, ...]]]] = {
    "import_log": (Action.IMPORT, ("paths", "cluster", "group")),
    "timeline add": (Action.IMPORT, ("file",)),
    "timeline rename": (Action.CHANGE, ("id", "title")),
    "timeline remove": (Action.DELETE, ("ids",)),
    "timeline export": (Action.EXPORT, ("ids",)),
    "clusters apply": (Action.CLUSTER, ("file",)),
    "restore": (Action.ADMINISTER, ("folder",)),
}
"""Commands that leave an entry, with the options that say about what. Roles and tokens have their own."""

BY_PROXY: Final = "proxy"

ENTRIES_MOST: Final = 1_000_000
"""Entries that are kept, the newest: half a gigabyte. A program that makes one a second has made as many in twelve days."""

DETAILS: Final = "rebalance.audit"
"""In a request's scope: what ``detail`` has added."""


class Source(NamedTuple):
    """Who acts, and from where."""

    user: User | None = None
    by: str = "browser"
    """``browser``, ``proxy``, ``token`` and its name, or ``command of`` and the operating system's user."""

    client: str = ""


current: Final[ContextVar[Source | None]] = ContextVar("audit", default=None)
"""Of the request that is answered; the gate sets it. Null in a command."""


def note(action: str, about: str, account: User | None = None, **details: Any) -> None:
    """Adds an entry of what was done. ``account``: who did it, if the request had no sender yet."""
    if not settings.LOGIN:
        return
    source = current.get() or Source(by=f"command of {_system_user()}"[: NAME_LENGTH_MOST + 10])
    user = account or source.user
    try:
        AuditEntry.objects.create(
            account=user,
            name=user.get_username() if user else "",
            by=source.by,
            client=source.client,
            action=action,
            about=about[:ABOUT_LENGTH_MOST],
            details=details,
        )
    except DatabaseError:
        # It was done; what is not written here is at least in the server's log.
        log.exception("Not in the audit log: %s %s by %s from %s", action, about, user, source.client)


def detail(request: HttpRequest, **details: Any) -> None:
    """Adds to the entry of what a request does what its address does not have."""
    getattr(request, "scope", {}).setdefault(DETAILS, {}).update(details)


def forget() -> None:
    """Deletes entries that are older than ``AUDIT_KEEP_DAYS``, and those before the newest ``ENTRIES_MOST``."""
    before = timezone.now() - timedelta(days=settings.AUDIT_KEEP_DAYS)
    AuditEntry.objects.filter(at__lt=before).delete()
    newest = AuditEntry.objects.values_list("pk", flat=True).first()
    if newest is not None:
        AuditEntry.objects.filter(pk__lte=newest - ENTRIES_MOST).delete()


def shown(entries: Iterable[AuditEntry]) -> list[dict[str, Any]]:
    return [
        {
            "id": one.pk,
            "at": one.at.isoformat(),
            "account": one.name,
            "by": one.by,
            "client": one.client,
            "action": one.action,
            "about": one.about,
            "details": one.details,
        }
        for one in entries
    ]


def _system_user() -> str:
    """The operating system's user; in a container its number may have no name."""
    try:
        return getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def _signed_in(sender: Any, request: HttpRequest, user: User, **more: Any) -> None:
    note(SIGN_IN, user.get_username(), user)


def _signed_out(sender: Any, request: HttpRequest, user: User | None, **more: Any) -> None:
    if user is not None:
        note(SIGN_OUT, user.get_username(), user)


def _command_ended(sender: Any, name: str, options: Mapping[str, Any], *, failed: bool, **more: Any) -> None:
    verb = options.get("verb")
    found = COMMANDS.get(f"{name} {verb}" if verb else name)
    if found is None or options.get("dry_run"):
        return
    action, of = found
    said = [options[each] for each in of if options.get(each)]
    words = [
        without_credentials(str(word))
        for each in said
        for word in (each if isinstance(each, list) else [each])
    ]
    details: dict[str, Any] = {"failed": True} if failed else {}
    about = " ".join([name, *([verb] if verb else []), *words])
    # A file's name may be no text, which a database does not take.
    note(action, about.encode(errors="backslashreplace").decode(), **details)


def _refused(sender: Any, credentials: Mapping[str, Any], **more: Any) -> None:
    note(REFUSED, str(credentials.get("username", "")))


for signal, receiver in ((user_logged_in, _signed_in), (user_logged_out, _signed_out), (user_login_failed, _refused)):  # fmt: skip
    signal.connect(receiver, dispatch_uid=f"explorer.accounts.audit.{receiver.__name__}")

command_ended.connect(_command_ended, dispatch_uid="explorer.accounts.audit.commands")
