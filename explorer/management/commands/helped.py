"""``manage.py helped ID --at N``: what would have helped, as one JSON line for each row, the replay first."""

from __future__ import annotations

from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser

from groups import database, storage
from groups.command_line import TerminalCommand, in_one_line, usage, whole_number
from simulations.jobs.incidents import incident_of
from simulations.remedies.searching import Progress, search
from simulations.remedies.values import SEEDS_MOST, SEEDS_USUAL, RemediesError


class Command(TerminalCommand):
    help = "Replay an incident under each remedy that fits it, with many seeds, and rank them; JSON Lines."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("id", metavar="ID", help="as `timeline list` prints it")
        parser.add_argument(
            "--at",
            type=whole_number,
            metavar="SEQUENCE",
            default=1,
            help="the moment before the incident; default: the first",
        )
        parser.add_argument(
            "--seeds",
            type=whole_number,
            default=SEEDS_USUAL,
            help=f"runs of each remedy, at most {SEEDS_MOST}; default: {SEEDS_USUAL}",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        database.prepare()
        last: Progress | None = None
        try:
            incident = incident_of(storage.get(options["id"]), options["at"])
            for last in search(incident, options["seeds"]):
                if self.stderr.isatty():
                    self.stderr.write(f"\r{last['done']:,} of {last['runs']:,} runs ", ending="")
        except storage.StorageError as error:
            raise CommandError(str(error)) from error
        except RemediesError as error:
            place = "" if error.field == "seeds" else f"--at {options['at']}: "
            raise usage(f"{place}{error}") from error
        assert last is not None
        answer = last["answer"]
        self.stdout.write(orjson.dumps({"recorded": answer["recorded"], "why": answer["why"]}).decode())
        for row in answer["rows"]:
            self.stdout.write(orjson.dumps(row).decode())
        if answer["why"]:
            raise CommandError(answer["why"])
