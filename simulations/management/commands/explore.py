"""``manage.py explore SCENARIO``: every order of a small scenario's events; what it breaks, by the shortest way."""

from __future__ import annotations

import time
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError, CommandParser

from groups.command_line import TerminalCommand, chosen, file_named, in_one_line, number, usage
from groups.history.entries import EntryLine
from simulations.management.commands.simulate import (
    SEMANTICS,
    at_release,
    release_asked,
    release_option,
    scenario_of,
)

if TYPE_CHECKING:
    from simulations.proof.exploration import AnyWorlds, Violated

BUDGET_MAX = 9
"""Each fault more multiplies the worlds; nobody has seen the end of this many."""

BUDGET_OPTIONS = {
    "losses": ("--max-connection-losses", "connections that may break"),
    "fail_overs": ("--max-failovers", "coordinators that may be replaced"),
    "timers": ("--max-expired-timeouts", "timeouts of living members that may expire"),
    "duplicates": ("--max-duplicate-requests", "requests that may be sent again"),
}
"""Of each fault how many there may be: its option, and what it bounds."""

PROCESSES_MAX = 64
"""Each has all parts of the worlds; beyond this nobody has cores for them."""


class Command(TerminalCommand):
    help = "Model-check a small scenario (a YAML file, or one that is bundled): every order of its events; a report in JSON."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "scenario",
            metavar="SCENARIO",
            help="a scenario file, - for standard input, a case study's name, or a bundled small scenario's",
        )
        parser.add_argument("--semantics", metavar="kip|kafka", help="default: the scenario's")
        release_option(parser)
        parser.add_argument("--max-states", metavar="N", help="stop beyond so many states; default: 10000000")
        parser.add_argument(
            "--processes", metavar="N", help="how many processes share the states out; default: 1"
        )
        for field, (option, description) in BUDGET_OPTIONS.items():
            # The short names are those of earlier releases.
            parser.add_argument(
                option,
                f"--{field.replace('_', '-')}",
                dest=field,
                metavar="N",
                help=f"{description}; default: 0",
            )
        parser.add_argument(
            "--unhurried",
            action="store_true",
            help="each line of the script waits until the group is at rest, as a rolling bounce does that is watched",
        )
        parser.add_argument("--out", metavar="FOLDER", help="write the entries of each violation's trace")

    def handle(self, *_args: Any, **options: Any) -> None:
        # Only here: what the simulator needs is not to slow down every other command.
        from simulations.jobs.explorations import explore_shared
        from simulations.proof.exploration import STATES_MAX, Budgets, NotExplorable, explore
        from simulations.proof.exploration.plan import has_classic_members
        from simulations.proof.exploration.report import as_json

        scenario = scenario_of(options["scenario"])
        semantics_option = options["semantics"]
        semantics = chosen("--semantics", semantics_option, SEMANTICS) if semantics_option else None
        scenario = at_release(scenario, release_asked(options["release"], semantics or scenario.semantics))
        states_max = number("--max-states", options["max_states"], STATES_MAX, STATES_MAX * 10)
        budgets = Budgets(
            **{
                field.name: number(BUDGET_OPTIONS[field.name][0], options[field.name], 0, BUDGET_MAX, least=0)
                for field in fields(Budgets)
            }
        )
        processes = number("--processes", options["processes"], 1, PROCESSES_MAX)
        folder = folder_of(options["out"])
        if processes > 1 and has_classic_members(scenario):
            raise usage("--processes: groups with classic members are walked by one process")
        walk = explore if processes == 1 else partial(explore_shared, processes=processes)
        begun_s = self.shown_s = time.monotonic()
        try:
            report, worlds = walk(
                scenario,
                semantics,
                budgets,
                states_max=states_max,
                unhurried=options["unhurried"],
                progress=self.progress,
            )
        except NotExplorable as error:
            raise usage(str(error)) from None
        seconds = time.monotonic() - begun_s
        self.stdout.write(dumped(as_json(report, worlds)))
        self.stderr.write(
            f"{report.states:,} states in {seconds:.1f} s, {report.states / max(seconds, 1e-9):,.0f} a second"
        )
        if folder is not None:
            for violated in report.violations:
                path = folder / f"{violated.invariant}.jsonl"
                with file_named(f"cannot write {path}"):
                    path.write_text("".join(dumped(e) + "\n" for e in entries(worlds, violated)), "utf-8")
        if report.violations:
            first = report.violations[0]
            summary = f"{len(report.violations)} invariants are broken; {first.invariant}: {first.sentence}"
            raise CommandError(summary)
        if not report.complete:
            summary = f"not complete: more than {states_max:,} states; give it fewer faults, or --max-states"
            raise CommandError(summary)

    def progress(self, states: int, transitions: int, depth: int) -> None:
        """A word every second."""
        if time.monotonic() - self.shown_s >= 1:
            self.shown_s = time.monotonic()
            self.stderr.write(f"{states:,} states, {transitions:,} transitions, depth {depth}")


def entries(worlds: AnyWorlds, violated: Violated) -> list[EntryLine]:
    from simulations.proof.exploration.trace import timeline

    trace_lines = timeline(worlds, violated.trace, violated.invariant, violated.sentence)
    return [entry.to_json() for entry in trace_lines]


def dumped(value: object) -> str:
    import orjson

    return orjson.dumps(value).decode()


def folder_of(text: str | None) -> Path | None:
    if text is None:
        return None
    folder = Path(text)
    with file_named(f"--out {text}"):
        folder.mkdir(parents=True, exist_ok=True)
    return folder
