"""``manage.py budget WHAT --max-unassigned 5s``: does what a group went through stay within limits? Exit code 1 if not, for CI."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as xml

import orjson
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

import explorer.celery  # noqa: F401 - without it a task is sent to a queue that is not ours
from explorer.pages.runs.starting import start_run
from explorer.web.endpoint import BadRequest
from groups import database, exporting, storage
from groups.command_line import TerminalCommand, in_one_line, usage, whole_number
from groups.imports import lifecycle
from groups.models import Import, Timeline
from simulations import small_scenarios
from simulations.jobs import run_tasks
from simulations.management.commands.simulate import scenario_of
from simulations.world import studies
from simulations.world.scenario import ScenarioError
from simulations.world.scenario.nodes import parse
from simulations.world.scenario.values import UNTIL_MAX_MS

WAIT_S: Final = 0.5

EXCEEDED: Final = 1
"""Exit code where a limit is exceeded."""

LIMITS: Final[dict[str, tuple[str, str]]] = {
    "rebalances": ("N", "group epochs or generations"),
    "moves": ("N", "partitions that changed from one owner to another"),
    "unassigned": ("TIME", "partition-seconds without an owner, such as 5s"),
    "not_read": ("TIME", "partition-seconds that nobody read"),
    "read_twice": ("N", "records that were read twice for certain"),
}


class Command(TerminalCommand):
    help = "Hold a scenario's run, a log or a stored timeline against limits; a JSON line for each group, exit code 1 where one is exceeded."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "what",
            metavar="SCENARIO|LOG|ID",
            help="a stored timeline, a scenario (file, or name of a case study), or a log as `import_log` takes it",
        )
        parser.add_argument(
            "--group", action="append", metavar="G", help="of a log: this group alone; may be repeated"
        )
        parser.add_argument("--seed", metavar="N", help="of a scenario; default: the scenario's")
        for name, (what, about) in LIMITS.items():
            parser.add_argument(
                f"--max-{name.replace('_', '-')}",
                dest=name,
                metavar=what,
                type=whole_number if what == "N" else milliseconds,
                help=f"at most so many {about}",
            )
        parser.add_argument("--junit", metavar="FILE", help="write the result as JUnit XML, too")
        parser.add_argument(
            "--page",
            metavar="FILE",
            help="write the first timeline that exceeds a limit as one page that plays offline",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        limits = {name: options[name] for name in LIMITS if options[name] is not None}
        if not limits:
            named = ", ".join(f"--max-{name.replace('_', '-')}" for name in LIMITS)
            raise usage(f"No limit is given: give one or more of {named}.")
        database.prepare()
        lines = []
        for timeline in self.timelines(options):
            lines.append(line_of(timeline, limits))
            self.stdout.write(
                orjson.dumps({**lines[-1], "exceeded": [*lines[-1]["exceeded"].values()]}).decode()
            )
        failed = [line for line in lines if line["exceeded"]]
        try:
            if options["junit"]:
                Path(options["junit"]).write_bytes(junit(options["what"], lines, limits))
            if options["page"] and failed:
                wanted = exporting.Wanted(
                    made=timezone.now(), stretch=None, key=None, view="investigator", at=None
                )
                page = exporting.EXPORTERS["html"](storage.get(failed[0]["timeline"]), wanted)
                Path(options["page"]).write_bytes(page.content)
        except storage.StorageError as error:
            raise usage(f"--page: {error}") from None
        except OSError as error:
            raise usage(f"{error.filename}: {error.strerror}") from None
        if failed:
            summary = "; ".join(f"{line['group']}: {', '.join(line['exceeded'].values())}" for line in failed)
            raise CommandError(f"Over the budget: {summary}.", returncode=EXCEEDED)

    def timelines(self, options: dict[str, Any]) -> Iterator[Timeline]:
        """Of a log one for each group, else one."""
        what = options["what"]
        stored = Timeline.objects.filter(pk=what).first()
        path = Path(what)
        is_log = path.is_dir() or (path.is_file() and path.suffix not in (".yaml", ".yml"))
        if stored is not None and not path.exists():
            yield stored
        elif is_log:
            yield from imported(path, options["group"])
        else:
            yield ran(what, options["seed"])


def ran(what: str, seed: str | None) -> Timeline:
    """A run of a scenario, stored as those of the page are. ``CommandError`` for one that is wrong or fails."""
    if what == "-":
        raise usage("-: write the scenario into a file, whose name the result has.")
    # It states what is wrong with a name or a file, and where.
    scenario_of(what)
    text = what
    if what in small_scenarios.names():
        text = small_scenarios.text(what)
    elif what not in studies.names():
        text = Path(what).read_text(encoding="utf-8")
    try:
        timeline = start_run(text, seed=None if seed is None else int(seed))
    except (BadRequest, ScenarioError, ValueError) as error:
        raise usage(f"{what}: {error}") from None
    # Where a worker was faster, it has the run, and this waits for its end; if the worker dies, this takes over.
    while timeline.status == Timeline.Status.RUNNING:
        run_tasks.run(timeline.pk)
        timeline.refresh_from_db()
        if timeline.status == Timeline.Status.RUNNING:
            time.sleep(WAIT_S)
    if timeline.status != Timeline.Status.COMPLETE:
        raise usage(f"{what}: the run did not end: {timeline.problem or timeline.status}")
    return timeline


def imported(path: Path, groups: list[str] | None) -> Iterator[Timeline]:
    created = lifecycle.create(title=path.name, paths=[str(path.absolute())], groups=groups)
    done = lifecycle.perform(created.id, publish=lambda _progress: None)
    if done.status != Import.Status.COMPLETE:
        raise usage(done.problem)
    found = list(Timeline.objects.filter(imports=done).order_by("group"))
    if not found:
        raise usage(f"{path}: no group is in it.")
    yield from found


def line_of(timeline: Timeline, limits: dict[str, int]) -> dict[str, Any]:
    """What a timeline came to, in the units of the limits, and a sentence for each limit that it exceeds, by its name."""
    try:
        answer = storage.lag_between(timeline, 1, timeline.last, 1)
    except storage.StorageError as error:
        raise usage(str(error)) from None
    if answer["earlier"] is None:
        raise usage(f"{timeline.pk}: its owners are not known yet; ask again.")
    costs = answer["rebalances"]
    found = {
        "rebalances": len(costs) + answer["earlier"],
        "moves": sum(cost["moved"] for cost in costs),
        "unassigned": sum(cost["unassigned_partition_ms"] for cost in costs),
        "not_read": sum(cost["unread_partition_ms"] for cost in costs),
        "read_twice": sum(cost["read_twice_least"] for cost in costs),
    }
    return {
        "timeline": timeline.pk,
        "group": timeline.group,
        **{name: shown(name, value) for name, value in found.items()},
        "exceeded": {
            name: exceeded(name, found[name], most) for name, most in limits.items() if found[name] > most
        },
    }


def shown(name: str, value: int) -> float:
    return value if LIMITS[name][0] == "N" else value / 1000


def exceeded(name: str, value: int, most: int) -> str:
    unit = "" if LIMITS[name][0] == "N" else " s"
    return f"{name.replace('_', ' ')} {shown(name, value):g}{unit}, at most {shown(name, most):g}{unit}"


def junit(what: str, lines: list[dict[str, Any]], limits: dict[str, int]) -> bytes:
    """A test case for each group and limit, as CI servers read them."""
    suite = xml.Element("testsuite", name=f"rebalance budget of {what}", tests=str(len(lines) * len(limits)))
    for line in lines:
        for name in limits:
            case = xml.SubElement(
                suite, "testcase", classname=printable(line["group"]), name=f"max-{name.replace('_', '-')}"
            )
            if name in line["exceeded"]:
                xml.SubElement(case, "failure", message=line["exceeded"][name])
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    written: bytes = xml.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written


def printable(name: str) -> str:
    """XML has no place for control characters, which a group's name may have."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)


def milliseconds(word: str) -> int:
    try:
        return parse(f"max: {word}").mapping()["max"].duration_ms(UNTIL_MAX_MS)
    except ScenarioError as error:
        raise argparse.ArgumentTypeError(f"{word!r}: {error.message}") from None
