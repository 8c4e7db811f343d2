"""``manage.py fork ID``: a branch of a stored timeline from one of its moments, simulated here, as a JSON line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, Final

import orjson
from django.core.management.base import CommandError, CommandParser

import explorer.celery  # noqa: F401 - without it a task is sent to a queue that is not ours
from explorer.pages.forks.starting import branch_of, described
from explorer.web.endpoint import BadRequest
from groups import database, storage
from groups.command_line import TerminalCommand, in_one_line, usage, whole_number
from groups.models import TITLE_LENGTH_MOST, Timeline
from simulations.fork.edits import NEEDS_LENGTH, VERBS, edits_of
from simulations.fork.values import Edits, Fault, ForkError
from simulations.jobs import run_tasks
from simulations.world.scenario import ScenarioError, Verb
from simulations.world.scenario.nodes import parse
from simulations.world.scenario.values import UNTIL_MAX_MS

FAULT: Final = re.compile(r"(?P<who>[^@]*)@(?P<after>[\w.]+)(?:\+(?P<length>[\w.]+))?(?:=(?P<to>\d+))?")
"""``B@12s``, ``B@12s+30s`` (it lasts 30 s), ``foo@12s=8`` (the topic's new number of partitions)."""


class Command(TerminalCommand):
    help = (
        "Continue a timeline otherwise from one of its moments, in the simulator; the branch as a JSON line."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("id", metavar="ID", help="as `timeline list` prints it")
        parser.add_argument(
            "--at", type=whole_number, metavar="SEQUENCE", help="after this entry; default: the last"
        )
        parser.add_argument("--title", default="", help="default: what the branch changes")
        parser.add_argument(
            "--set",
            dest="changes",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            type=setting,
            help="another setting, such as session_timeout_ms=60000",
        )
        for verb in VERBS:
            parser.add_argument(
                f"--{verb.replace('_', '-')}",
                dest="faults",
                action="append",
                default=[],
                metavar=example(verb),
                type=fault_of(verb),
                help=f"{verb}, so long after the moment",
            )

    def handle(self, *_args: Any, **options: Any) -> None:
        database.prepare()
        title = options["title"].strip()
        if len(title) > TITLE_LENGTH_MOST:
            raise usage(f"--title: at most {TITLE_LENGTH_MOST} characters, these are {len(title)}")
        try:
            timeline = storage.get(options["id"])
            at = timeline.last if options["at"] is None else options["at"]
            if not 0 <= at <= timeline.last:
                raise CommandError(f"--at {at}: timeline {timeline.id} has entries 1 to {timeline.last}")
            edits = Edits(
                settings=edits_of(dict(options["changes"]), None).settings, faults=tuple(options["faults"])
            )
            branch, made = branch_of(timeline, at, edits, title)
        except storage.StorageError as error:
            raise CommandError(str(error)) from error
        except ForkError as error:
            place = f"--at {at}" if error.field == "at" else error.field.replace("set.", "--set ", 1)
            raise usage(f"{place}: {error}") from error
        except BadRequest as error:
            raise usage(str(error)) from error
        # Where a worker was faster, this does nothing, and the line has the status of that moment.
        run_tasks.run(branch.id)
        self.stdout.write(orjson.dumps(line_of(storage.get(branch.id)) | described(made)).decode())


def line_of(branch: Timeline) -> dict[str, object]:
    return {
        "id": branch.id,
        "title": branch.title,
        "parent": branch.parent_id,
        "at": branch.fork_sequence,
        "status": branch.status,
        "entries": branch.last,
    }


def example(verb: Verb) -> str:
    if verb is Verb.ADD_PARTITIONS:
        return "TOPIC@TIME=N"
    if verb is Verb.FAIL_OVER:
        return "@TIME"
    return "MEMBER@TIME+LENGTH" if verb in NEEDS_LENGTH else "MEMBER@TIME"


def setting(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, found {word!r}")
    return key, value


def fault_of(verb: Verb) -> Callable[[str], Fault]:
    def read(word: str) -> Fault:
        found = FAULT.fullmatch(word)
        if found is None:
            raise argparse.ArgumentTypeError(f"expected {example(verb)}, such as B@12s, found {word!r}")
        given: dict[str, object] = {"do": str(verb), "after_ms": duration_ms(found["after"])}
        if found["who"]:
            given["who"] = found["who"]
        if found["length"] is not None:
            given["for_ms"] = duration_ms(found["length"])
        if found["to"] is not None:
            given["to"] = found["to"]
        try:
            return edits_of(None, [given]).faults[0]
        except ForkError as error:
            wrong = error.field.rpartition(".")[2]
            raise argparse.ArgumentTypeError(
                f"{word!r}: {wrong}: {error}; expected {example(verb)}"
            ) from None

    return read


def duration_ms(word: str) -> int:
    """A length as a scenario has it."""
    try:
        return parse(f"after: {word}").mapping()["after"].duration_ms(UNTIL_MAX_MS)
    except ScenarioError as error:
        raise argparse.ArgumentTypeError(f"{word!r}: {error.message}") from None
