"""``manage.py mcp``: the server for agents."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from groups.command_line import TerminalCommand, in_one_line, usage, whole_number


class Command(TerminalCommand):
    help = "Answer agents by the Model Context Protocol, over standard input and output or over HTTP."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "--url", default="http://127.0.0.1:8000", help="the server that is asked (default: %(default)s)"
        )
        parser.add_argument(
            "--write", action="store_true", help="offer tools that run scenarios and search remedies, too"
        )
        parser.add_argument(
            "--http",
            type=whole_number,
            metavar="PORT",
            help="listen on 127.0.0.1; each caller sends its own token",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if importlib.util.find_spec("mcp") is None:
            raise usage("This needs packages that are not installed: pip install 'rebalance-explorer[mcp]'.")
        from explorer.agents.server import server_of  # its packages are an extra

        # Over HTTP everybody who reaches the port would have this token.
        of_local_mode = "" if settings.LOGIN else settings.ACCESS_TOKEN
        token = "" if options["http"] else os.environ.get("REBALANCE_TOKEN", of_local_mode)
        try:
            server = server_of(options["url"], token, may_write=options["write"])
        except ValueError as error:
            raise usage(str(error)) from error
        if options["http"]:
            server.run("streamable-http", host="127.0.0.1", port=options["http"], stateless_http=True)
        else:
            server.run("stdio")
