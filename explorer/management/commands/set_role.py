"""``manage.py set_role``: what an account may do, set where no browser is."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandParser

from explorer.accounts.permissions import Role
from explorer.accounts.roles import give
from groups import database
from groups.command_line import TerminalCommand, in_one_line, usage
from groups.models import Cluster


class Command(TerminalCommand):
    help = "Give an account a role: viewer, editor or admin, everywhere or on one cluster."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("account", metavar="ACCOUNT", help="the name with which its person signs in")
        parser.add_argument("role", choices=Role.labels, help="viewer looks, editor adds, admin manages")
        parser.add_argument(
            "--cluster", metavar="NAME", help="on this cluster alone, where it adds to the role everywhere"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        database.prepare()
        user = User.objects.filter(username=options["account"]).first()
        if user is None:
            raise usage(f"There is no account {options['account']!r}.")
        name = options["cluster"]
        cluster = None if name is None else Cluster.objects.filter(name=name).first()
        if name is not None and cluster is None:
            raise usage(f"There is no cluster {name!r}.")
        role = next(role for role in Role if role.label == options["role"])
        give(user, role, cluster)
        self.stdout.write(f"{user.get_username()} is {role.label} {f'on {name}' if name else 'everywhere'}.")
