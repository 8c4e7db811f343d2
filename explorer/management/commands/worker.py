"""``manage.py worker``: takes what waits in Redis (runs, imports, sweeps) and works on it, each in a child process."""

from __future__ import annotations

import os
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from explorer.server.redis_client import check_redis
from explorer.server.worker import Worker
from groups import database
from groups.command_line import TerminalCommand, in_one_line, usage, whole_number
from groups.jobs.serving import QUEUES

TASKS_MOST = 64
"""Tasks at once in one worker, as in an embedded one: each has a child process, so more than the cores only share them."""


class Command(TerminalCommand):
    help = "Work on what waits in Redis: runs, imports and sweeps. A server without REDIS_URL does it itself."

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "--queues",
            default=",".join(QUEUES),
            help=f"the queues to take from, separated by commas (default: {','.join(QUEUES)})",
        )
        parser.add_argument(
            "--concurrency",
            type=whole_number,
            default=settings.WORKER_THREADS,
            help=f"tasks at once (default: WORKER_THREADS, {settings.WORKER_THREADS})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        queues = [word for word in options["queues"].split(",") if word]
        if not queues or not set(queues) <= set(QUEUES):
            raise usage(f"--queues {options['queues']}: use one or more of {', '.join(QUEUES)}.")
        if not 1 <= options["concurrency"] <= TASKS_MOST:
            raise usage(f"--concurrency {options['concurrency']}: use a number from 1 to {TASKS_MOST}.")
        if not settings.REDIS_URL:
            raise usage(
                "REDIS_URL is not set: each server then works on its tasks itself, and no worker is needed."
            )
        os.umask(0o077)
        check_redis()
        database.prepare_after_servers(self.warn)
        worker = Worker(queues=queues, concurrency=options["concurrency"])
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: worker.ask_to_end())
        worker.run(lambda: self.say(queues))

    def warn(self, line: str) -> None:
        self.stderr.write(line)
        self.stderr.flush()

    def say(self, queues: list[str]) -> None:
        self.stdout.write(f"Working on what waits in the queues {' and '.join(queues)}  (Ctrl-C ends it)")
        self.stdout.flush()
