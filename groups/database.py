"""The database made ready: what a command does first, so that it works in a fresh clone."""

from __future__ import annotations

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from groups.reserve import makes_room


def prepare(*, change_servers: bool = False) -> None:
    """Create or update the tables.

    A SQLite file is changed by whatever command comes first. A server's database is its keeper's to change, unless
    ``change_servers``: one line says how.
    """
    try:
        executor = _executor()
    except DatabaseError as error:
        raise CommandError(unreachable(error), returncode=2) from error
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    if connection.vendor != "sqlite" and not change_servers:
        raise CommandError("The database is not up to date: run `manage.py migrate` first.", returncode=2)
    call_command("migrate", interactive=False, verbosity=0)


@makes_room
def _executor() -> MigrationExecutor:
    # On a full disk SQLite cannot even be read without the room for its index.
    return MigrationExecutor(connection)


def unreachable(error: Exception) -> str:
    """Why a database cannot be used, in one line."""
    problem = " ".join(str(error).split()).rstrip(".?!")
    return f"The database cannot be used: {problem}. Look at DATABASE_URL."
