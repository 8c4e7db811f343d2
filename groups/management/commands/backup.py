"""``manage.py backup FOLDER``: the database and the store as they are now, while servers run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from groups import backups, database
from groups.command_line import TerminalCommand, in_one_line


class Command(TerminalCommand):
    help = "Copy the database and the store into a new folder; servers may run meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("folder", type=Path, help="a folder that is new or empty")

    def handle(self, *args: Any, **options: Any) -> None:
        database.prepare()
        manifest = backups.back_up(options["folder"])
        self.stdout.write(
            f"{options['folder']} has {len(manifest['files'])} files; `restore` puts them back."
        )
