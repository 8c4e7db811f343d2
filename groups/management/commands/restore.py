"""``manage.py restore FOLDER``: a backup into an empty database and store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db import DatabaseError

from groups import backups, database
from groups.command_line import TerminalCommand, in_one_line, usage


class Command(TerminalCommand):
    help = "Put a backup into an empty database and an empty store."

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("folder", type=Path, help="what `backup` made")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backups.restore(options["folder"])
        except DatabaseError as error:
            raise usage(database.unreachable(error)) from error
        self.stdout.write(
            f"Restored the backup of {manifest['made']}, made by version {manifest['version']}."
        )
