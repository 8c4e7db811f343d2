"""The database made ready: what a command does first, so that it works in a fresh clone."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from groups.command_line import usage
from groups.history.entries import ENTRY_FORMAT
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Timeline
from groups.reserve import makes_room

LOCK: Final = 0x5245_4241_4C41_4E43
"""The number of the advisory lock in PostgreSQL: "REBALANC"."""

LOCK_FILE: Final = "preparing.lock"

SERVERS_START_S: Final = 300.0
"""A server that starts first makes the tables within seconds; an update of large ones takes longer."""

LOOK_EVERY_S: Final = 1.0

_within = threading.RLock()
_depth = 0


@contextlib.contextmanager
def prepared_alone() -> Iterator[None]:
    """Holds the lock of what servers that start together may not do at the same time: tables, case studies, static files.

    A file's lock for the processes that share the folder, and the database's for those that share the database. May be
    taken again within itself.
    """
    global _depth
    with _within, contextlib.ExitStack() as stack:
        if not _depth:
            stack.enter_context(_lock_of_the_folder(Path(settings.VAR)))
            if connection.vendor == "postgresql":
                stack.enter_context(_lock_of_the_database())
        _depth += 1
        stack.callback(_leave)
        yield


def _leave() -> None:
    global _depth
    _depth -= 1


@contextlib.contextmanager
def _lock_of_the_folder(folder: Path) -> Iterator[None]:
    file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


@contextlib.contextmanager
def _lock_of_the_database() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
    try:
        yield
    finally:
        # A connection that is gone has given the lock back.
        with contextlib.suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def prepare(*, change_servers: bool = False) -> None:
    """Create or update the tables.

    A SQLite file is changed by whatever command comes first. A server's database is its keeper's to change, unless
    ``change_servers``: one line describes how. One of a newer version is left alone, with a line, too.
    """
    try:
        if not _is_behind():
            return
        if connection.vendor != "sqlite" and not change_servers:
            raise usage("The database is not up to date: run `manage.py migrate` first.")
        with prepared_alone():
            # Another process may have done it meanwhile.
            if _is_behind():
                call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise usage(unreachable(error)) from error


def prepare_after_servers(say: Callable[[str], object]) -> None:
    """As ``prepare``, for a process that starts together with servers and their database: it waits for a database that
    is away, and for the server that changes the tables, ``SERVERS_START_S`` in all."""
    until_s = time.monotonic() + SERVERS_START_S
    said = ""
    while time.monotonic() < until_s and (waits := _waits_for()):
        if waits != said:
            say(waits)
            said = waits
        time.sleep(LOOK_EVERY_S)
    prepare()


def _waits_for() -> str:
    """What a process that starts with others waits for, in one line; empty where it may begin."""
    if connection.vendor == "sqlite":
        return ""
    try:
        if _is_behind():
            return "The database is not up to date: waiting for a server that updates it."
    except OperationalError as error:
        connection.close()
        return f"{unreachable(error)} It is tried again for up to {SERVERS_START_S:.0f} s."
    except DatabaseError:
        return ""  # Waiting does not help: ``prepare`` prints in one line what is wrong.
    return ""


def is_up_to_date() -> bool:
    """Whether all tables are there, and none is a newer version's."""
    try:
        return not _is_behind()
    except CommandError:
        return False


def _is_behind() -> bool:
    """Whether tables are missing. ``CommandError`` where they are a newer version's."""
    executor = _executor()
    behind = bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    known = executor.loader.disk_migrations
    ours = {app for app, _ in known}
    unknown = sorted(
        f"{app}.{name}"
        for app, name in executor.loader.applied_migrations
        if app in ours and (app, name) not in known
    )
    if unknown:
        raise usage(_newer(f"it has the migration {unknown[-1]}"))
    if not behind:
        refuse_newer_entries()
    return behind


def refuse_newer_entries() -> None:
    """Raises ``CommandError`` where a newer version has stored or folded timelines, which this one would misread."""
    newest = Timeline.objects.order_by("-fold_version").values_list("fold_version", flat=True).first()
    if newest is not None and newest > FOLD_VERSION:
        what = f"a timeline is folded by version {newest}, and this program has version {FOLD_VERSION}"
        raise usage(_newer(what))
    if Timeline.objects.filter(entry_format__gt=ENTRY_FORMAT).exists():
        raise usage(_newer("its entries have a newer format"))


def _newer(what: str) -> str:
    return (
        f"The database was used by a newer version of Rebalance Explorer: {what}. Update this installation."
    )


@makes_room
def _executor() -> MigrationExecutor:
    # On a full disk SQLite cannot even be read without the room for its index.
    return MigrationExecutor(connection)


def unreachable(error: Exception) -> str:
    """Why a database cannot be used, in one line."""
    problem = " ".join(str(error).split()).rstrip(".?!")
    return f"The database cannot be used: {problem}. Look at DATABASE_URL."
