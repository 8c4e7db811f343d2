"""``manage.py clusters``: live clusters and their alert rules as a file, applied and written."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from groups import database
from groups.command_line import TerminalCommand, in_one_line, text_of_file, usage
from groups.watching import declared
from groups.watching.declared import BadDeclaration


class Command(TerminalCommand):
    help = "Apply a file of live clusters and their alert rules, or write one of those that are there."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        verbs = parser.add_subparsers(dest="verb", required=True)
        apply = verbs.add_parser("apply", help="make what is stored as the file has it")
        in_one_line(apply)
        apply.add_argument("file", metavar="FILE")
        apply.add_argument("--prune", action="store_true", help="remove rules that the file does not have")
        apply.add_argument(
            "--dry-run", action="store_true", help="print what would change, and change nothing"
        )
        in_one_line(verbs.add_parser("export", help="print the file of what is there, without its secrets"))

    def handle(self, *args: Any, **options: Any) -> None:
        database.prepare()
        if options["verb"] == "export":
            self.stdout.write(declared.written(), ending="")
            return
        text = text_of_file(options["file"])
        try:
            with transaction.atomic():
                changes = list(declared.apply(declared.read(text, os.environ), prune=options["prune"]))
                transaction.set_rollback(options["dry_run"])
        except BadDeclaration as error:
            raise usage(f"{options['file']}: {error}") from None
        for change in changes:
            self.stdout.write(change)
