"""``manage.py case_studies``: what ``serve`` does by itself, for servers that are started otherwise."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from explorer import case_studies
from groups import database
from groups.command_line import TerminalCommand, in_one_line
from groups.jobs.children import ChildFailed


class Command(TerminalCommand):
    help = "Store the bundled case studies that are missing or were recorded by another version."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        database.prepare()
        try:
            with database.prepared_alone():
                recorded = case_studies.load_missing()
        except ChildFailed as error:
            raise CommandError(f"A case study could not be recorded: {error}") from error
        self.stderr.write(f"Recorded {', '.join(recorded)}." if recorded else "All case studies are there.")
