"""``manage.py serve``: everything from a fresh database to a page that plays, on loopback."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import secrets
import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote

import uvicorn
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from explorer import case_studies
from explorer.access.connections import BoundedConnection, RefusableSocket
from explorer.server import memory, static_version
from explorer.server.redis_client import check_redis
from groups import database
from groups.command_line import TerminalCommand, in_one_line, usage, whole_number
from groups.jobs.children import ChildFailed

PORTS_TRIED = 20
"""Ports after the asked one that may be tried: a few servers side by side are usual, more are a mistake."""

SOCKET_MESSAGE_BYTES_MOST = 4096
"""A browser has nothing to say on our sockets."""


class Command(TerminalCommand):
    help = (
        "Prepare the database, the case studies and the static files, then serve on this machine's loopback."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "--host",
            default="127.0.0.1",
            help="the address to listen on: of loopback, or with LOGIN any (default: 127.0.0.1)",
        )
        parser.add_argument(
            "--port",
            type=whole_number,
            default=8000,
            help="the port, or the next one that is free (default: 8000)",
        )
        parser.add_argument(
            "--unix-socket",
            metavar="PATH",
            help="listen at a Unix socket, which its owner and group may use, for a proxy in front",
        )
        parser.add_argument(
            "--links-only",
            action="store_true",
            help="answer share links and nothing else; may then listen beyond loopback, beside a server that has the rest",
        )
        parser.add_argument(
            "--no-token",
            action="store_true",
            help="answer whoever asks: every account of this machine, or whoever the proxy in front lets through",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # Before the case studies, whose children have threads: from then on the C library's bound cannot be moved.
        memory.keep_little()
        host, port = options["host"], options["port"]
        settings.LINKS_ONLY = options["links_only"]
        if not settings.LINKS_ONLY and not settings.LOGIN and not is_loopback(host):
            raise usage(
                f"{host} is not loopback. This server speaks no TLS, so without LOGIN it listens on 127.0.0.1, ::1 or localhost only; "
                "for a proxy that does, on a Unix socket (--unix-socket PATH). With --links-only it may listen anywhere."
            )
        if not 0 <= port <= 65535:
            raise usage(f"{port} is no port: use a number from 1 to 65535.")
        # What is written from here on (uploads, logs, static files) is the server's alone.
        os.umask(0o077)
        if options["no_token"]:
            settings.REQUIRE_TOKEN = False
        # Processes that share a proxy must know each other's cookies.
        elif not options["unix_socket"]:
            settings.ACCESS_START = secrets.token_urlsafe(16)
        if settings.LOGIN and options["no_token"]:
            raise usage("--no-token is for a server without accounts, and LOGIN is set: everybody signs in.")
        check_redis()
        with database.prepared_alone():
            self.prepare()
        with (
            unix_socket(options["unix_socket"])
            if options["unix_socket"]
            else free_socket(host, port) as listening
        ):
            if listening.family != socket.AF_UNIX and port not in (0, listening.getsockname()[1]):
                self.stdout.write(f"Port {port} is taken.")
            server = Server(
                uvicorn.Config(
                    "explorer.asgi:application",
                    lifespan="on",
                    http=BoundedConnection,
                    ws=RefusableSocket,
                    # A client could claim another address; a proxy's header is believed only with BEHIND_TLS.
                    proxy_headers=False,
                    log_level="warning",
                    access_log=False,
                    server_header=False,
                    ws_max_size=SOCKET_MESSAGE_BYTES_MOST,
                    # Open sockets must not keep a server from ending.
                    timeout_graceful_shutdown=2,
                ),
                lambda: self.say(host, listening),
            )
            # Ctrl-C is how a server on a desk is ended; uvicorn ends well and then raises it again.
            with contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listening])
        if not server.started:
            raise CommandError("The server did not start; the lines above tell why.")

    def prepare(self) -> None:
        """Tables, case studies and static files, as far as they are missing."""
        database.prepare(change_servers=True)
        try:
            recorded = [] if settings.LINKS_ONLY else case_studies.load_missing()
        except ChildFailed as error:
            raise CommandError(f"A case study could not be recorded: {error}") from error
        if recorded:
            self.stdout.write(f"Recorded {len(recorded)} case studies.")
        folder = Path(settings.STATIC_ROOT)
        if not settings.DEBUG and not settings.LINKS_ONLY and not static_version.is_complete(folder):
            call_command("collectstatic", interactive=False, verbosity=0)
            static_version.mark_complete(folder)
            static_version.remove_unused(folder)

    def say(self, host: str, listening: socket.socket) -> None:
        if listening.family == socket.AF_UNIX:
            address = f"the Unix socket {listening.getsockname()}"
        else:
            name = f"[{host}]" if ":" in host else host
            shows = settings.REQUIRE_TOKEN and not settings.LINKS_ONLY and not settings.LOGIN
            token = f"?token={quote(settings.ACCESS_TOKEN)}" if shows else ""
            address = f"http://{name}:{listening.getsockname()[1]}/{token}"
        what = "shows what share links lead to" if settings.LINKS_ONLY else "plays"
        self.stdout.write(f"Rebalance Explorer {what} at {address}  (Ctrl-C ends it)")
        if settings.LOGIN and not settings.BEHIND_TLS and not is_loopback(host):
            self.stdout.write(
                "Passwords reach it as they are typed: put a proxy in front that speaks TLS, and set BEHIND_TLS=1."
            )
        self.stdout.flush()


class Server(uvicorn.Server):
    """Uvicorn's server, which prints the address once a page would be answered, not before."""

    def __init__(self, config: uvicorn.Config, ready: Any) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def free_socket(host: str, port: int) -> socket.socket:
    """A socket that listens on the port, or on the next one that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last = min(port + PORTS_TRIED, 65535)
    for candidate in range(port, last + 1) if port else (0,):
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen(128)
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE:
                raise usage(f"{host}, port {candidate}, cannot be listened at: {error.strerror}.") from error
            continue
        return listening
    raise usage(f"No port from {port} to {last} is free on {host}; choose one with --port.")


def unix_socket(path: str) -> socket.socket:
    """A socket that listens at ``path``, for its owner and group alone."""
    with contextlib.suppress(OSError):
        # One that a server left behind; whatever else lies there stays.
        if Path(path).is_socket() and not is_listened_at(path):
            Path(path).unlink()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o117)
    try:
        listening.bind(path)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise usage(f"{path} cannot be listened at: {error.strerror or error}.") from error
    finally:
        os.umask(before)
    return listening


def is_listened_at(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(path)
        except OSError:
            return False
        return True
