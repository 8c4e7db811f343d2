"""``manage.py sweep``: assignors × shapes × events × seeds on Spark; a line of JSON for each case, as they are answered."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import CommandParser

from groups import database
from groups.command_line import TerminalCommand, in_one_line, usage
from groups.spark_ready import how_to_install, missing_packages
from simulations.jobs import sweep_runs
from simulations.models import Sweep
from simulations.sweeps.answering import table_row
from simulations.sweeps.asked import USUAL_HAPPENINGS, USUAL_SEEDS, AxesError, axes_of, range_of


class Command(TerminalCommand):
    help = (
        "Sweep assignors over shapes of groups, events and seeds on Spark; JSON Lines, a line for each case."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "--assignor",
            metavar="PROTOCOL/NAME",
            action="append",
            help="such as classic/sticky; default: all six",
        )
        parser.add_argument(
            "--shape",
            metavar="SHAPE",
            action="append",
            help="members, topics, partitions such as 20x5x200, then -skewed, -nested or -disjoint, -racks; "
            "default: eight usual ones",
        )
        parser.add_argument(
            "--event",
            metavar="EVENT",
            action="append",
            help=f"default: {', '.join(USUAL_HAPPENINGS)}; also join-many, leave-many",
        )
        parser.add_argument(
            "--seeds",
            metavar="A-B",
            default=f"1-{USUAL_SEEDS}",
            help=f"first and last seed, or one alone; default: 1-{USUAL_SEEDS}",
        )
        parser.add_argument(
            "--master", metavar="URL", default="", help="Spark master; default: SPARK_MASTER, else local[*]"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            first, last = range_of(options["seeds"])
            asked = {
                key: value
                for key, value in (
                    ("assignors", options["assignor"]),
                    ("shapes", options["shape"]),
                    ("events", options["event"]),
                    ("seeds", last - first + 1),
                    ("first_seed", first),
                )
                if value is not None
            }
            self.axes = axes_of(asked)
        except AxesError as error:
            raise usage(str(error)) from None
        if missing := missing_packages():
            raise usage(how_to_install(missing))
        database.prepare()
        sweep = sweep_runs.create(self.axes, master=options["master"] or settings.SPARK_MASTER)
        self.stderr.write(f"Sweep {sweep.id}: {sweep.cases:,} cases.")
        try:
            done = sweep_runs.perform(sweep.id, publish=self.publish)
        except BrokenPipeError:
            # The reader of the output has closed it (head, a closed pager); Python would complain again at its own end.
            sweep_runs.cancel(sweep.id)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
        except KeyboardInterrupt:
            sweep_runs.cancel(sweep.id)
            raise
        if done.status != Sweep.Status.COMPLETE:
            raise usage(done.problem or f"The sweep is {done.status}.")
        self.stderr.write(f"{done.done:,} cases in {done.took_ms / 1_000:.1f} s, on {done.cores} cores.")

    def publish(self, sweep: Sweep, blocks: Sequence[Mapping[str, Any]]) -> None:
        for block in blocks:
            cell = self.axes.cell(block["cell"])
            for seed, row in enumerate(block["rows"], block["first"]):
                self.stdout.write(orjson.dumps(table_row(cell, seed, row)).decode())
        self.stdout.flush()
        self.stderr.write(f"{sweep.done:,} of {sweep.cases:,} cases" if blocks else sweep.stage)
