"""``manage.py compare_semantics [CASE]``: a difference between KIP-848's text and Kafka, played by both rules."""

from __future__ import annotations

from typing import Any

import orjson
from django.core.management.base import CommandParser

from groups.command_line import TerminalCommand, in_one_line, usage
from groups.history.state.group import Semantics
from simulations.proof.differences import DIFFERENCES, Difference, play
from simulations.proof.differences.pages import markdown


class Command(TerminalCommand):
    help = "Play a scripted exchange by KIP-848's text and by Kafka's released coordinator; JSON Lines on standard output."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("case", metavar="CASE", nargs="?", help="a difference's id; see --list")
        parser.add_argument("--list", action="store_true", help="every difference, a line each")
        parser.add_argument("--markdown", action="store_true", help="the tables of the docs, as Markdown")

    def handle(self, *args: Any, **options: Any) -> None:
        asked = [bool(options["case"]), options["list"], options["markdown"]]
        if sum(asked) != 1:
            raise usage("give one of CASE, --list and --markdown")
        if options["markdown"]:
            self.stdout.write(markdown(DIFFERENCES))
            return
        lines = map(_listed, DIFFERENCES) if options["list"] else _compared(_named(options["case"]))
        for line in lines:
            self.stdout.write(orjson.dumps(line, option=orjson.OPT_NON_STR_KEYS).decode())


def _named(name: str) -> Difference:
    for difference in DIFFERENCES:
        if difference.id == name:
            return difference
    raise usage(f"there is no difference {name!r}; compare_semantics --list names all")


def _listed(difference: Difference) -> dict[str, Any]:
    case = difference.case
    return {
        "id": difference.id,
        "topic": difference.topic,
        "section": difference.section,
        "proposal": difference.proposal,
        "reading": difference.reading,
        "kafka": difference.released,
        "seen": str(difference.seen),
        "case": case is not None,
        "scenario": difference.scenario.text if difference.scenario is not None else None,
        "studies": difference.studies,
        "unshown": difference.unshown,
    }


def _compared(difference: Difference) -> list[dict[str, Any]]:
    """A line for each operation with what both did, and one with what distinguishes them."""
    case, scenario = difference.case, difference.scenario
    if scenario is not None:
        found = {str(side): scenario.look(scenario.entries(side)) for side in Semantics}
        return [{"scenario": scenario.text}, {"looks_at": scenario.looks_at, **found}]
    if case is None:
        raise usage(f"{difference.id} has no case: {difference.unshown}")
    both = {semantics: play(case, semantics) for semantics in Semantics}
    steps = []
    for number, operation in enumerate(case.operations):
        sides = {str(semantics): dict(both[semantics][number]) for semantics in Semantics}
        for side in sides.values():
            del side["operation"]
        steps.append({"step": number + 1, "operation": operation.text, **sides})
    found = {str(semantics): case.look(both[semantics]) for semantics in Semantics}
    return [*steps, {"looks_at": case.looks_at, **found}]
