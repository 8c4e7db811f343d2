"""The command line: ours before Django's, the product's version, and one line for a setting that cannot be."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from django.core.exceptions import ImproperlyConfigured
from django.core.management import ManagementUtility
from django.db import OperationalError

from groups.command_line import BAD_USAGE
from groups.places import NAME, VERSION
from groups.terminal import terminal_name

COMMANDS: Final[dict[str, dict[str, str]]] = {
    "Watch": {
        "serve": "prepare the database and the case studies, then serve the pages on this machine",
        "migrate": "bring the database's tables up to this version; several may start it at once",
        "backup": "copy the database and the store into a folder, while servers run",
        "restore": "put a backup into an empty database and store",
        "set_role": "give an account a role, everywhere or on a cluster",
        "make_token": "make a token with which a program acts for an account",
        "mcp": "answer agents by the Model Context Protocol",
        "worker": "work on what waits in Redis: runs, imports and sweeps of a team's servers",
        "watch": "record the groups of a live cluster, read-only, as they rebalance",
        "clusters": "apply a file of live clusters and their alert rules, or print one",
        "groups": "list and describe the groups of a live cluster, as Kafka's own tool does",
        "import_log": "import segments of __consumer_offsets as timelines",
        "archive_log": "copy a live cluster's whole __consumer_offsets into segments",
        "timeline": "list, show, add and remove stored timelines",
        "case_studies": "store the bundled case studies that are missing",
        "lessons": "list the lessons, show one, or check lesson files against their runs",
    },
    "Simulate": {
        "simulate": "run a scenario or a case study; entries, frames, records or a Kafka log segment",
        "fork": "continue a timeline otherwise from one of its moments",
        "helped": "play an incident again under remedies, and rank them by what would have helped",
        "rehearse": "play a group's upgrade bounce by bounce, and print the plan",
        "compare_semantics": "run a scenario as the KIP says and as Kafka does, and compare",
        "assign": "answer an assignment with Kafka's own assignors",
        "sweep": "compare the assignors over many groups and events",
    },
    "Check": {
        "conform": "compare a recorded broker with the simulated coordinator, answer by answer",
        "budget": "hold a run or a log against limits, in a CI: rebalances, moves, time without an owner",
        "explore": "check every order of events of a small scenario",
        "fuzz": "check random scenarios",
        "decode": "read the bytes of a record, a batch, a request or a segment",
    },
}
"""Our commands as ``help`` groups them, each with one line."""


class CommandLine(ManagementUtility):
    """Django's, which lists our commands alone until it is asked for all."""

    def main_help_text(self, commands_only: bool = False) -> str:
        if commands_only:
            return str(super().main_help_text(commands_only))
        widest = max(len(name) for group in COMMANDS.values() for name in group)
        lines = [
            f"Rebalance Explorer {VERSION}: watch Apache Kafka consumer groups rebalance, epoch by epoch."
        ]
        for title, commands in COMMANDS.items():
            lines += ["", f"{title}:"]
            lines += [f"  {name:<{widest}}  {line}" for name, line in commands.items()]
        lines += [
            "",
            f"`{self.prog_name} COMMAND --help` tells what a command takes;",
            f"`{self.prog_name} help --commands` lists these and Django's own.",
        ]
        return "\n".join(lines)


def run(words: Sequence[str]) -> None:
    """Run the command of ``words`` (the program's name first); bad settings end with one line and exit code 2."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    # Each command of Django's would print Django's version; what runs here is this product.
    if "--version" in words[1:3] or list(words[1:]) == ["version"]:
        sys.stdout.write(f"{NAME} {VERSION}\n")
        return
    try:
        CommandLine(list(words)).execute()
    except ImproperlyConfigured as error:
        # A bad setting is bad input: one line with its name and what would be right, never a traceback.
        sys.stderr.write(f"{terminal_name(str(error))}\n")
        sys.exit(BAD_USAGE)
    except OperationalError as error:
        # Django's own commands, such as migrate, meet a database that is not there, too.
        from groups.database import unreachable

        sys.stderr.write(f"{terminal_name(unreachable(error))}\n")
        sys.exit(BAD_USAGE)
