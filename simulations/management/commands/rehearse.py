"""``manage.py rehearse [FILE|-]``: a group's upgrade, bounce by bounce, played by the simulator."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.core.management.base import CommandError, CommandParser

from groups.command_line import TerminalCommand, chosen, in_one_line, text_of_file, usage

FORMATS: Final = ("json", "markdown", "scenario")
WAYS: Final = ("planned", "hasty", "back")


class Command(TerminalCommand):
    help = "Rehearse a group's upgrade: a description (YAML or JSON), or a timeline's moment; the plan on standard output."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "file", metavar="FILE", nargs="?", help="the group's description; - reads standard input"
        )
        parser.add_argument("--timeline", metavar="ID", help="take the group from this timeline instead")
        parser.add_argument("--at", metavar="N", help="at this entry; default: the last one with members")
        parser.add_argument("--to", metavar="consumer|cooperative|brokers", help="what to upgrade to")
        parser.add_argument(
            "--client", metavar="V", help="the clients' release today, or librdkafka (with --timeline)"
        )
        parser.add_argument("--assignors", metavar="A,B", help="what the clients list (with --timeline)")
        parser.add_argument("--policy", metavar="P", help="group.consumer.migration.policy")
        parser.add_argument("--format", metavar="json|markdown|scenario", default="json")
        parser.add_argument(
            "--way", metavar="planned|hasty|back", default="planned", help="of --format scenario"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        # Only here: what the simulator needs is not to slow down every other command.
        from simulations.rehearsal.judging import DONE, NOTHING, answer, scenario_for
        from simulations.rehearsal.markdown import markdown_of
        from simulations.rehearsal.values import RehearsalError
        from simulations.rehearsal.ways import WayName

        form = chosen("--format", options["format"], FORMATS)
        way = chosen("--way", options["way"], WAYS)
        try:
            question = _question(options)
            if form == "scenario":
                self.stdout.write(scenario_for(question, WayName(way))[0], ending="")
                return
            sheet = answer(question)
        except RehearsalError as error:
            place = [f"line {error.line}"] if error.line and not options["timeline"] else []
            where = ", ".join([*place, *([error.field] if error.field else [])])
            raise usage(
                f"{options['file'] or options['timeline']}: {f'{where}: ' if where else ''}{error}"
            ) from None
        if form == "markdown":
            self.stdout.write(markdown_of(sheet), ending="")
        else:
            self.stdout.write(orjson.dumps(sheet).decode())
        if sheet["outcome"] not in (DONE, NOTHING):
            raise CommandError(sheet["says"][0])


def _question(options: dict[str, Any]) -> Any:
    from simulations.jobs.rehearsal_child import question_in
    from simulations.rehearsal.question_yaml import question_of

    wishes = {key: options[key] for key in ("to", "client") if options[key] is not None}
    if options["policy"] is not None:
        wishes["migration_policy"] = options["policy"]
    if options["assignors"] is not None:
        wishes["assignors"] = [each.strip() for each in options["assignors"].split(",")]
    if (options["file"] is None) == (options["timeline"] is None):
        raise usage("one of FILE and --timeline is needed")
    if options["timeline"] is not None:
        return question_in({"moment": _moment(options["timeline"], options["at"]), "wishes": wishes})
    for key in ("client", "assignors", "at"):
        if options[key] is not None:
            raise usage(f"--{key} goes with --timeline; a description has it as a key of its own")
    text = text_of_file(options["file"])
    if not wishes:
        return question_of(text)
    return question_of(_with_wishes(text, wishes))


def _with_wishes(text: str, wishes: dict[str, str]) -> str:
    """The description with its own lines for these keys taken out, and these in their place."""
    import yaml

    from simulations.rehearsal.question_yaml import question_of

    question_of(text)
    return orjson.dumps({**yaml.safe_load(text), **wishes}, default=str).decode()


def _moment(timeline_id: str, at: str | None) -> dict[str, Any]:
    from groups import storage

    if at is not None and not (at.isascii() and at.isdigit() and len(at) <= 18):
        raise usage(f"--at {at}: expected a whole number from 1")
    try:
        timeline = storage.get(timeline_id)
        moment = storage.last_with_members(timeline) if at is None else int(at)
        frame = storage.frame_at(timeline, moment)
    except (storage.NoSuchTimeline, storage.NotReady) as error:
        raise CommandError(str(error)) from None
    if frame is None:
        raise CommandError(f"timeline {timeline_id} has entries 1 to {timeline.last}; there is no {moment}")
    cast = storage.summary(timeline).get("cast") or []
    return {"frame": frame, "cast": cast, "timeline": timeline.id, "at": moment}
