"""``manage.py make_token``: a token for a program, made where no browser is."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandParser

from explorer.accounts import tokens
from explorer.accounts.models import Scope
from groups import database
from groups.command_line import TerminalCommand, in_one_line, usage, whole_number


class Command(TerminalCommand):
    help = "Make a token with which a program acts for an account, and print it: it cannot be read again."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("account", metavar="ACCOUNT", help="the name with which its person signs in")
        parser.add_argument("name", metavar="NAME", help="what the token is for, such as prometheus")
        parser.add_argument("--scope", choices=Scope.values, default=Scope.READ.value, help="default: read")
        parser.add_argument(
            "--days", type=whole_number, default=tokens.DAYS_DEFAULT,
            help=f"how long it is valid, 1 to {tokens.DAYS_MOST}; default: {tokens.DAYS_DEFAULT}",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.LOGIN:
            raise usage("This server has no accounts, so that no token of one opens it: set LOGIN.")
        database.prepare()
        owner = User.objects.filter(username=options["account"], is_active=True).first()
        if owner is None:
            raise usage(f"There is no active account {options['account']!r}.")
        try:
            _, text = tokens.make(owner, options["name"], options["scope"], options["days"])
        except tokens.TokenRefused as error:
            raise usage(str(error)) from error
        self.stdout.write(text)
