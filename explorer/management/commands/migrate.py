"""``manage.py migrate``: Django's, one at a time, however many servers and people start it."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate

from groups.command_line import TerminalCommand
from groups.database import prepared_alone


class Command(TerminalCommand, migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with prepared_alone():
            super().handle(*args, **options)
