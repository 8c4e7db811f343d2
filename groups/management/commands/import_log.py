"""``manage.py import_log PATH…``: Kafka's own log files, in; stored timelines and a report as JSON, out."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import CommandParser

from groups import database
from groups.cluster_models import Cluster
from groups.command_line import TerminalCommand, file_named, in_one_line, usage
from groups.imports import lifecycle
from groups.imports.client_settings import BadSetting, settings_of
from groups.imports.topic_copy import SCHEME
from groups.management.commands.archive_log import EVERY_LEAST_S, EVERY_MOST_S
from groups.models import Import
from groups.one_line import without_credentials
from groups.pipeline.engine import ENGINES, LOCAL, SPARK
from groups.pipeline.topics.naming import BadTopicsFile, read_topics_file
from groups.texts.end_offsets import BadEndOffsets, EndOffsets, read_end_offsets
from groups.watching import registry

SOURCES = ("auto", "segments")
"""What the paths hold. Every file is recognised by its content, whichever of the two is given."""

TIMELINE_FIELDS = ("id", "group", "protocol", "entries", "first_ms", "last_ms", "gaps")
SKIPPED_FIELDS = ("file", "offset", "reason")


class Command(TerminalCommand):
    help = "Import segments of __consumer_offsets (files, folders, archives, dumps as text) as timelines; a JSON report on standard output."

    # `manage.py check` and `serve` report settings that do not fit together; scripts need not print them each time.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "paths",
            nargs="*",
            default=[],
            metavar="PATH",
            help="segment files, folders that hold them, either packed (.tar, .tar.gz, .zip, .gz, .zst), or text of kafka-dump-log",
        )
        source.add_argument(
            "--cluster",
            metavar="NAME",
            help="in place of paths: the offsets topic of a cluster that is added, read-only",
        )
        parser.add_argument(
            "--follow", action="store_true", help="with --cluster: again from where it ended, until Ctrl-C"
        )
        parser.add_argument(
            "--every",
            type=float,
            default=60.0,
            metavar="S",
            help="with --follow: seconds between two imports",
        )
        parser.add_argument(
            "--group",
            metavar="G",
            action="append",
            help="import this group alone; may be given several times",
        )
        parser.add_argument(
            "--from",
            dest="from_",
            metavar="TIME",
            help="only groups of which something is later (ISO 8601, or ms)",
        )
        parser.add_argument("--until", metavar="TIME", help="leave out what is later (ISO 8601, or ms)")
        parser.add_argument("--source", choices=SOURCES, default="auto", help="default: auto, by content")
        parser.add_argument(
            "--topics",
            metavar="FILE",
            help='names of topic ids, JSON: {"topic id": "name"} in base64 as Kafka prints it',
        )
        parser.add_argument(
            "--end-offsets",
            metavar="FILE",
            help="end offsets over time, for lag: CSV, JSON lines, or times and output of kafka-get-offsets",
        )
        parser.add_argument(
            "--session-timeout-ms",
            metavar="MS",
            help='the consumers\' session timeout, which no record of the consumer protocol tells; findings say "as given"',
        )
        parser.add_argument(
            "--max-poll-interval-ms",
            metavar="MS",
            help="their max.poll.interval.ms, where no record tells it",
        )
        parser.add_argument(
            "--master", metavar="URL", default="", help="Spark master; default: SPARK_MASTER, else local[*]"
        )
        parser.add_argument(
            "--engine",
            choices=ENGINES,
            default="",
            help="spark, or local: without Spark; default: IMPORT_ENGINE, else auto, by size",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["engine"] == LOCAL and options["master"]:
            raise usage("--master is of Spark, and --engine local reads without it: give one of them.")
        database.prepare()
        if options["cluster"]:
            self.topic(options)
        elif options["follow"]:
            raise usage("--follow reads a topic again and again: name the cluster with --cluster NAME.")
        else:
            paths = [str(Path(path).absolute()) if Path(path).exists() else path for path in options["paths"]]
            self.read(title_of(paths), paths, options)

    def topic(self, options: dict[str, Any]) -> None:
        """Reads the cluster's topic to its end; again and again with ``--follow``: each time what is new continues the timelines."""
        if not EVERY_LEAST_S <= options["every"] <= EVERY_MOST_S:
            raise usage(f"--every takes seconds from {EVERY_LEAST_S:g} to {EVERY_MOST_S:g}.")
        registry.take_environment()
        cluster = Cluster.objects.filter(name=options["cluster"]).first()
        if cluster is None:
            raise usage(f"No cluster {options['cluster']!r} is added: `clusters` lists them.")
        with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
            while True:
                self.read(f"Topic of {cluster.name}", [f"{SCHEME}{cluster.pk}"], options)
                if not options["follow"]:
                    return
                self.stdout.flush()
                time.sleep(options["every"])

    def read(self, title: str, paths: list[str], options: dict[str, Any]) -> None:
        try:
            created = lifecycle.create(
                title=title,
                paths=paths,
                groups=options["group"],
                from_ms=moment_of("--from", options["from_"]),
                until_ms=moment_of("--until", options["until"]),
                topics=content_of_topics(options["topics"]) if options["topics"] else {},
                master=options["master"] or settings.SPARK_MASTER,
                settings=given_settings(options),
                end_offsets=content_of_end_offsets(options["end_offsets"])
                if options["end_offsets"]
                else None,
                engine=options["engine"] or (SPARK if options["master"] else ""),
            )
        except lifecycle.BadPath as error:
            raise usage(str(error)) from error
        self.shown = ""
        done = lifecycle.perform(created.id, publish=self.publish)
        if done.status == Import.Status.FAILED:
            # The files are listed even where nothing in them could be read.
            if done.progress.get("sources") is not None or done.report["records"]["skipped"]:
                self.stdout.write(orjson.dumps(report_of(done.report)).decode())
            for line in done.report.get("log", ()):
                self.stderr.write(f"Spark: {line}")
            raise usage(done.problem)
        for line in same_lines(done.report):
            self.stderr.write(line)
        if options["group"] and not done.report["timelines"] and done.report["records"]["decoded"]:
            names = ", ".join(map(repr, options["group"]))
            self.stderr.write(f"No record of group {names} is in what was read.")
        self.stdout.write(orjson.dumps(report_of(done.report)).decode())

    def publish(self, progress: Mapping[str, Any]) -> None:
        """A line for each stage, and its counts."""
        counts = [
            f"{stage['name'].lower()} {stage['done']}{_of(stage)} {_unit(stage)}"
            for stage in progress["stages"]
            if stage["done"]
        ]
        line = f"{progress['stage']}: {', '.join(counts)}" if counts else progress["stage"]
        if line != self.shown:
            self.shown = line
            self.stderr.write(line)


def report_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """The report as scripts rely on it, field for field."""
    records = report["records"]
    return {
        "timelines": [{name: each.get(name) for name in TIMELINE_FIELDS} for each in report["timelines"]],
        "records": {
            "read": records["read"],
            "decoded": records["decoded"],
            "skipped": [{name: each[name] for name in SKIPPED_FIELDS} for each in records["skipped"]],
        },
        "times": report.get("times", []),
        "engine": report.get("engine"),
    }


def content_of_topics(file: str) -> dict[str, Any]:
    """The content of ``--topics``, checked."""
    try:
        with file_named(f"--topics {file}"):
            content = orjson.loads(Path(file).read_bytes())
        read_topics_file(content)
    except orjson.JSONDecodeError as error:
        raise usage(f"--topics {file} is no JSON: {error}") from error
    except BadTopicsFile as error:
        raise usage(f"--topics {file}: {error}") from error
    return dict(content)


def content_of_end_offsets(file: str) -> EndOffsets:
    """The content of ``--end-offsets``, checked."""
    try:
        with (
            file_named(f"--end-offsets {file}"),
            Path(file).open(encoding="utf-8", errors="replace") as lines,
        ):
            return read_end_offsets(lines)
    except BadEndOffsets as error:
        raise usage(f"--end-offsets {file}: {error}") from error


def given_settings(options: Mapping[str, Any]) -> dict[str, int]:
    try:
        return settings_of(options)
    except BadSetting as error:
        option = f"--{error.field.replace('_', '-')}"
        raise usage(str(error).replace(error.field, option, 1)) from error


def title_of(paths: list[str]) -> str:
    first = Path(without_credentials(paths[0]))
    return first.name if len(paths) == 1 else f"{first.name} and {len(paths) - 1} more"


def same_lines(report: Mapping[str, Any]) -> list[str]:
    """A line for each timeline that was there already, went on, or shares offsets with another one."""
    lines = []
    for timeline in report["timelines"]:
        who = f"{timeline['id']} ({timeline['group']})"
        if timeline.get("same_as"):
            lines.append(f"{who} was imported before: it has the same entries.")
        elif timeline.get("continues"):
            lines.append(f"{who} was imported before and goes on after entry {timeline['continues_after']}.")
        elif timeline.get("overlaps"):
            lines.append(
                f"{who} holds some of the same offsets as {', '.join(timeline['overlaps'])}, and differs."
            )
    return lines


def moment_of(option: str, text: str | None) -> int | None:
    """Milliseconds since 1970 of a time that was given as such, or in ISO 8601 (UTC if no zone is given)."""
    if text is None:
        return None
    if re.fullmatch(r"\d{1,15}", text):
        return int(text)
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise usage(
            f"{option} {text!r} is no time: 2026-11-22T10:30:00Z was expected, or milliseconds since 1970."
        ) from error
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def _unit(stage: Mapping[str, Any]) -> str:
    """``records``, and ``record`` for one."""
    unit = str(stage["unit"])
    return unit.removesuffix("s") if stage["done"] == 1 else unit


def _of(stage: Mapping[str, Any]) -> str:
    return f" of {stage['of']}" if stage["of"] and stage["of"] != stage["done"] else ""
