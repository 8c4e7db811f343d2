"""``manage.py conform``: would Kafka have done this? Recorded requests through the simulated coordinator."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from django.core.management.base import CommandError, CommandParser

from groups.command_line import TerminalCommand, file_named, in_one_line, usage
from groups.history.words import counted
from groups.releases import EARLIER, since
from simulations.management.commands.simulate import release_asked, release_option

if TYPE_CHECKING:
    from simulations.proof.conformance import ImageChange, Judge

DIFFERS = 1

PROBLEMS_SHOWN_MOST = 20
"""Lines about what could not be read; a file that is none at all would fill the screen."""


class Command(TerminalCommand):
    help = "Put a broker's recorded group requests to the simulated coordinator; the differences as JSON."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "paths",
            nargs="*",
            metavar="PATH",
            help="segments of __consumer_offsets and of __cluster_metadata, or folders that hold them",
        )
        parser.add_argument(
            "--requests",
            metavar="FILE",
            help="the broker's request log (kafka.request.logger at DEBUG), or JSON Lines; .gz is read too",
        )
        parser.add_argument(
            "--sample",
            metavar="NAME",
            help="a bundled recording with its broker's settings, in place of --requests and PATH: recorded-clients, recorded-classic",
        )
        parser.add_argument(
            "--topics",
            metavar="FILE",
            help='topics, where no metadata log is there: {"topic id": {"name": "foo", "partitions": 3}}',
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            dest="told",
            help="a broker setting that is not Kafka's default, as group.consumer.session.timeout.ms=6000",
        )
        release_option(parser, default=f"what the recording shows, else {EARLIER}")
        parser.add_argument("--group", metavar="G", help="judge this group alone")
        parser.add_argument(
            "--timeline",
            metavar="FILE",
            help="write the judged group's entries, its differences among them; needs --group if there are more",
        )
        parser.add_argument(
            "--utc-offset",
            default="+00:00",
            metavar="+HH:MM",
            help="zone of the request log's dates where they name none; default: +00:00",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        # Only here: what the simulator needs is not to slow down every other command.
        from groups.history.state.group import Semantics
        from simulations.proof.conformance import BadSetting, settings_of
        from simulations.proof.conformance.judging import NotServed, judged
        from simulations.proof.conformance.other_rules import STEPS_MOST
        from simulations.recorded_files import read

        bundled = bundled_settings(options)
        try:
            settings = settings_of({**bundled, **settings_option(options["told"])})
        except BadSetting as error:
            raise usage(f"--set: {error}") from None
        given = topics_of(options["topics"]) if options["topics"] else ()
        try:
            files = read(options["requests"], options["paths"], utc_offset_of(options["utc_offset"]))
        except OSError as error:
            raise usage(f"--requests {options['requests']}: {error.strerror or error}") from None
        except UnicodeDecodeError as error:
            raise usage(
                f"--requests {options['requests']}: not text in UTF-8, byte {error.start} is wrong"
            ) from None
        for problem in files.problems[:PROBLEMS_SHOWN_MOST]:
            self.stderr.write(problem)
        if len(files.problems) > PROBLEMS_SHOWN_MOST:
            self.stderr.write(f"{len(files.problems) - PROBLEMS_SHOWN_MOST} more of that kind")
        images = given or files.images
        if not files.requests:
            raise usage(
                f"--requests {options['requests']} holds no group request: is kafka.request.logger at DEBUG?"
            )
        if not images:
            raise usage("no topics: give segments of __cluster_metadata among the paths, or --topics")
        try:
            result, judges, not_judged = judged(
                files.requests,
                files.written,
                images,
                settings,
                release=release_asked(options["release"], Semantics.KAFKA),
                only=options["group"],
            )
        except NotServed as error:
            raise usage(f"--release {options['release']}: {error}") from None
        if options["group"] and not judges and not not_judged.requests:
            raise usage(f"--group {options['group']}: no request of that group is in the log")
        if options["timeline"]:
            write_timeline(options["timeline"], judges)
        self.stdout.write(orjson.dumps(result).decode())
        self.stderr.write(f"Judged as Kafka {result['release']}: {result['release_because']}")
        excused = sum(each["count"] for each in result["excused"])
        because = "; ".join(f"{each['count']} times {each['reason']}" for each in result["excused"])
        judged_count = result["requests"] + sum(judge.tally.records_judged for judge in judges)
        self.stderr.write(
            f"{judged_count:,} judged, {excused:,} excused" + (f": {because}" if because else "")
        )
        for rule, count in result["rules"].items():
            self.stderr.write(f"{count:,} differ by {rule}, which Kafka has from {since(rule)} on")
        if result["unsought"]:
            groups = counted(result["unsought"], "group")
            self.stderr.write(
                f"In {groups} no rule was looked for after {STEPS_MOST:,} steps that found none"
            )
        if result["differences"]:
            first = result["differences"][0]
            summary = (
                f"{len(result['differences'])} differences, the first at {first['at_ms']}: {first['what']}"
            )
            raise CommandError(summary, returncode=DIFFERS)


def bundled_settings(options: dict[str, Any]) -> Mapping[str, str]:
    """The settings of the bundled recording that ``--sample`` names, whose files become the options' own."""
    from simulations import samples

    name = options["sample"]
    if name is None:
        if not options["requests"] or not options["paths"]:
            raise usage(
                "give --requests FILE and the PATHs of the broker's segments, or --sample "
                f"{' or '.join(samples.names())} for a bundled recording"
            )
        return {}
    if options["requests"] or options["paths"]:
        raise usage("--sample names the requests and the segments: leave out --requests and PATH")
    if name not in samples.names():
        raise usage(f"--sample {name}: there is {', '.join(samples.names())}")
    found = samples.sample(name)
    options["requests"], options["paths"] = str(found.requests), [str(found.segments)]
    return found.settings


def settings_option(words: list[str]) -> Mapping[str, str]:
    settings: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise usage(f"--set {word}: expected KEY=VALUE")
        settings[name.strip()] = value.strip()
    return settings


def utc_offset_of(text: str) -> timedelta:
    found = re.fullmatch(r"([+-])(\d\d):?(\d\d)", text)
    if found is None:
        raise usage(f"--utc-offset {text}: expected a sign, hours and minutes, as +02:00")
    offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
    if offset >= timedelta(hours=24):
        raise usage(f"--utc-offset {text}: less than 24 hours was expected")
    return -offset if found[1] == "-" else offset


def topics_of(file: str) -> tuple[ImageChange, ...]:
    from groups.management.commands.import_log import content_of_topics
    from groups.pipeline.topics.naming import read_topics_file
    from simulations.proof.conformance import image_of_names

    names, partitions = read_topics_file(content_of_topics(file))
    for topic_id, name in names.items():
        if topic_id not in partitions:
            raise usage(
                f"--topics {file}: {name} has no partition count; "
                f'expected {{"{topic_id}": {{"name": "{name}", "partitions": 3}}}}'
            )
    return image_of_names({topic_id: (name, partitions[topic_id]) for topic_id, name in names.items()})


def write_timeline(file: str, judges: list[Judge]) -> None:
    if len(judges) != 1:
        groups = ", ".join(judge.recording.group for judge in judges)
        raise usage(f"--timeline takes one group: choose it with --group ({groups or 'none was judged'})")
    lines = [
        orjson.dumps(entry.to_json(), option=orjson.OPT_APPEND_NEWLINE) for entry in judges[0].story.entries
    ]
    with file_named(f"--timeline {file}"):
        Path(file).write_bytes(b"".join(lines))
