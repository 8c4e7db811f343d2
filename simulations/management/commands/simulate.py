"""``manage.py simulate SCENARIO``: a run of a scenario or of a bundled case study, as JSON Lines or as a segment."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from django.core.management.base import CommandError, CommandParser

from groups.command_line import TerminalCommand, chosen, in_one_line, number, text_of_file, usage
from groups.releases import NEWEST
from groups.terminal import terminal_line

if TYPE_CHECKING:
    from groups.history.entries import Entry
    from groups.history.state.group import Semantics
    from groups.releases import Release
    from simulations.world.scenario import Scenario

SEMANTICS = ("kip", "kafka")
SEED_MAX = 2**63 - 1


class Command(TerminalCommand):
    help = "Simulate a scenario (a YAML file, or one that is bundled, by its name); JSON Lines on standard output."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "scenario",
            metavar="SCENARIO",
            help="a scenario file, - for standard input, or the name of a case study or of a bundled small scenario",
        )
        parser.add_argument("--semantics", metavar="kip|kafka", help="default: the scenario's")
        release_option(parser)
        parser.add_argument("--seed", metavar="N", help="default: the scenario's")
        parser.add_argument(
            "--format",
            metavar="frames|changes|entries|records|segment|summary",
            default="frames",
            help="default: frames; those of a large group come as changes, with a whole frame now and then",
        )
        parser.add_argument(
            "--by",
            metavar="entry|unit|step",
            help="a line for each entry (default), settled entry, or narrated step",
        )
        parser.add_argument("--out", metavar="F", help="write to this file instead of standard output")

    def handle(self, *_args: Any, **options: Any) -> None:
        # Only here: what the simulator needs is not to slow down every other command.
        from groups.history.state.group import Semantics
        from simulations.output import BY, FORMATS, WHOLE_FRAMES_MEMBERS_MAX
        from simulations.world.engine import RunTooLong

        form = chosen("--format", options["format"], FORMATS)
        by = chosen("--by", options["by"] or "entry", BY)
        if options["by"] and form not in ("frames", "changes", "entries"):
            raise usage(f"--by goes with --format frames, changes or entries, not with {form}")
        if by == "step" and form == "changes":
            raise usage("--by step goes with --format frames or entries: a step is told by its whole frame")
        scenario = scenario_of(options["scenario"])
        if by == "step" and not scenario.steps:
            raise usage(
                f"--by step: {options['scenario']} narrates no steps; give it some, or use --by unit for settled states"
            )
        asked = options["semantics"]
        semantics = Semantics(chosen("--semantics", asked, SEMANTICS)) if asked else scenario.semantics
        scenario = at_release(scenario, release_asked(options["release"], semantics))
        seed = number("--seed", options["seed"], scenario.seed, SEED_MAX, least=0)
        if form == "segment" and semantics is Semantics.KIP:
            raise usage("no Kafka reads records of the proposal: --format segment needs --semantics kafka")
        if form == "frames" and by != "step" and len(scenario.members) > WHOLE_FRAMES_MEMBERS_MAX:
            form = "changes"
            self.stderr.write(
                f"More than {WHOLE_FRAMES_MEMBERS_MAX} members: a line holds the changes from the line before, "
                "every now and then a whole frame (as --format changes)"
            )
        for problem in broken_expressions(scenario, semantics):
            self.stderr.write(problem)
        broken: list[Entry] = []
        costs = Costs(scenario, semantics) if has_rates(scenario) else None
        lines = summary_lines(scenario, semantics, seed, form, by, broken, costs)
        try:
            if options["out"]:
                with Path(options["out"]).open("wb") as file:
                    write(lines, file)
            elif form == "segment" or not hasattr(self.stdout, "_out") or self.stdout._out is sys.stdout:
                write(lines if form == "segment" else map(terminal_line, lines), sys.stdout.buffer)
            else:
                for line in lines:
                    self.stdout.write(line.decode(), ending="")
        except RunTooLong as error:
            raise usage(str(error)) from None
        except BrokenPipeError:
            # The reader of the output has closed it (head, a closed pager); Python would complain again at its own end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            raise usage(f"cannot write {options['out'] or 'standard output'}: {error.strerror}") from None
        if costs is not None and (cost := costs.words()) is not None:
            self.stderr.write(cost)
        if broken:
            first = broken[0]
            message = f"{len(broken)} invariants are broken, first at entry {first.sequence}: {first.payload['says']}"
            raise CommandError(message)


def release_option(parser: CommandParser, *, default: str = "the scenario's") -> None:
    parser.add_argument(
        "--release",
        metavar="R",
        help=f"Kafka's release, such as {NEWEST}, in kafka semantics; default: {default}",
    )


def release_asked(named: str | None, semantics: Semantics | str | Sequence[str]) -> Release | None:
    """The release that ``--release`` names; ``None`` if it is not given."""
    from groups.history.state.group import Semantics
    from groups.releases import UnknownRelease, release_of

    if named is None:
        return None
    if Semantics.KAFKA not in ([semantics] if isinstance(semantics, str) else semantics):
        raise usage(f"--release {named}: a release has rules in kafka semantics alone")
    try:
        return release_of(named)
    except UnknownRelease as error:
        raise usage(f"--release: {error}") from None


def at_release(scenario: Scenario, release: Release | None) -> Scenario:
    from simulations.world.scenario import NotServed, with_release

    try:
        return scenario if release is None else with_release(scenario, release)
    except NotServed as error:
        raise usage(f"--release {release}: {error}") from None


def write(lines: Iterable[bytes], out: BinaryIO) -> None:
    for line in lines:
        out.write(line)
    out.flush()


def summary_lines(
    scenario: Scenario,
    semantics: Semantics,
    seed: int,
    form: str,
    by: str,
    broken: list[Entry],
    costs: Costs | None = None,
) -> Iterator[bytes]:
    """The run in the chosen form, as bytes to write one after the other; ``broken`` gets entries of violations."""
    import orjson

    from groups.history.state.group import initial_state
    from simulations import output
    from simulations.world.engine import run

    entries = noting(run(scenario, semantics, seed), broken, costs)
    if form == "segment":
        yield from output.segment(entries)
        return
    if form == "summary":
        summary = output.summary(entries, scenario.group, semantics)
        yield orjson.dumps(summary, option=orjson.OPT_APPEND_NEWLINE)
        return
    if form == "changes":
        yield from output.change_lines(entries, initial_state(scenario.group, semantics), by)
        return
    if form == "frames":
        rows: Iterator[Mapping[str, Any]] = output.frame_lines(
            entries, initial_state(scenario.group, semantics), by
        )
    elif form == "entries":
        rows = output.entry_lines(entries, by)
    elif form == "described":
        rows = output.described_lines(entries, scenario, semantics)
    else:
        rows = output.record_lines(entries)
    for row in rows:
        yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def noting(entries: Iterable[Entry], broken: list[Entry], costs: Costs | None = None) -> Iterator[Entry]:
    """The entries as they are; those with a violation are kept as well, and ``costs`` sees all."""
    from simulations.invariants import INVARIANT_FAULT

    for entry in entries:
        if entry.payload.get("fault") == INVARIANT_FAULT:
            broken.append(entry)
        if costs is not None:
            costs.see(entry)
        yield entry


def has_rates(scenario: Scenario) -> bool:
    """Whether the run has a topic's rate."""
    created = any(action.rate is not None for action in scenario.script)
    return created or any(topic.rate is not None for topic in scenario.topics.values())


class Costs:
    """What a run costs its records: lag, records read twice, time not read."""

    def __init__(self, scenario: Scenario, semantics: Semantics) -> None:
        from groups.history.state.group import initial_state

        self._state = initial_state(scenario.group, semantics)
        self._begin_ms, self._end_ms = scenario.start_ms, scenario.start_ms + scenario.until_ms

    def see(self, entry: Entry) -> None:
        """Notes show who reads what, records where the next reader begins; nothing else counts."""
        from groups.history.entries import Kind
        from groups.history.replay.fold import replay

        if entry.kind in (Kind.NOTE, Kind.RECORD):
            self._state = replay(self._state, entry)

    def words(self) -> str | None:
        """One sentence; ``None`` where there never was a topic with a rate."""
        from groups.history.frames.consumption import consumption_part, totals
        from groups.history.story.consumption import consumption_words

        if self._state.consumption is None:
            return None
        sums = totals(consumption_part(self._state.consumption, None, None), self._end_ms)
        return consumption_words(sums, self._begin_ms)


def broken_expressions(scenario: Scenario, semantics: Semantics) -> Iterator[str]:
    """A line for each expression that does not compile: only one form of the output shows what comes of it."""
    from groups.history.state.group import Semantics
    from simulations.protocol.coordinator.consumer.regexes import description

    members = ((member.name, member.regex) for member in scenario.members.values())
    actions = ((action.who, action.regex) for action in scenario.script)
    comes_of_it = "it is refused" if semantics is Semantics.KAFKA else "it matches no topic"
    for who, regex in dict.fromkeys((*members, *actions)):
        wrong = description(regex) if regex else None
        if wrong is not None:
            yield f"{who} subscribes by `{regex}`, which is not a valid regular expression ({wrong}): {comes_of_it}"


def scenario_of(named: str) -> Scenario:
    """A file, standard input, a case study or a small scenario; ``CommandError`` with the place of a mistake."""
    from simulations import small_scenarios
    from simulations.world import studies
    from simulations.world.scenario import ScenarioError, load
    from simulations.world.scenario.errors import nearest

    path = Path(named)
    try:
        if named == "-":
            return load(text_of_file(named), "scenario")
        if named in studies.names():
            return studies.load(named)
        if named in small_scenarios.names():
            return small_scenarios.load(named)
        if not path.is_file():
            known = (*studies.names(), *small_scenarios.names())
            raise usage(f"{named} is neither a file nor a bundled scenario; {nearest(named, known)}")
        return load(text_of_file(named), path.stem)
    except ScenarioError as error:
        raise usage(f"{named}: {error}") from None
