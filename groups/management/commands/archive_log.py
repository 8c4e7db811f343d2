"""``manage.py archive_log``: copy the log of a cluster's groups into segments on this disk, with Spark Structured Streaming."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Final

import orjson
from django.core.management.base import CommandError, CommandParser

from groups import database
from groups.cluster_models import Cluster
from groups.clusters.faults import ClusterError
from groups.clusters.options import add_cluster_options, properties_from
from groups.clusters.settings import settings_of, unknown_names
from groups.command_line import TerminalCommand, in_one_line, usage
from groups.jobs.children import ChildFailed, run_child
from groups.spark_ready import how_to_install, missing_packages
from groups.watching import registry

EVERY_S: Final = 60.0
EVERY_LEAST_S, EVERY_MOST_S = 1.0, 86_400.0
"""Brokers keep a record until compaction, which takes minutes at least: once a day loses most of them, once a minute few."""


class Command(TerminalCommand):
    help = "Copy a live cluster's whole __consumer_offsets into segments that import_log takes, read-only, until Ctrl-C."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("name", nargs="?", metavar="CLUSTER", help="a cluster that is known by name")
        add_cluster_options(parser)
        parser.add_argument(
            "--into", metavar="FOLDER", required=True, help="where segments and checkpoint stand"
        )
        parser.add_argument(
            "--every", type=float, default=EVERY_S, metavar="S", help="seconds between two looks"
        )
        parser.add_argument("--once", action="store_true", help="end when all is read that is there now")
        parser.add_argument("--master", metavar="URL", default="", help="Spark master; default: local[*]")

    def handle(self, *args: Any, **options: Any) -> None:
        if missing := missing_packages():
            raise usage(how_to_install(missing))
        if not EVERY_LEAST_S <= options["every"] <= EVERY_MOST_S:
            raise usage(f"--every takes seconds from {EVERY_LEAST_S:g} to {EVERY_MOST_S:g}.")
        try:
            properties, by_hand = self.cluster(options)
            settings_of(properties, by_hand=by_hand)
        except (ClusterError, registry.BadCluster) as error:
            raise usage(str(error)) from None
        for name in unknown_names(properties):
            self.stderr.write(f"{name} is not known here and is passed over.")
        question = {
            "properties": properties,
            "by_hand": by_hand,
            "into": str(Path(options["into"]).absolute()),
            "every_s": options["every"],
            "once": options["once"],
            "master": options["master"] or None,
        }
        try:
            with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
                for message in run_child("groups.archiving.job", question=question):
                    self.write(message)
        except ChildFailed as error:
            raise CommandError(str(error)) from error

    def cluster(self, options: dict[str, Any]) -> tuple[dict[str, str], bool]:
        """The client properties of the cluster that is meant, and whether they come from a page."""
        database.prepare()
        registry.take_environment()
        wanted = options["name"] or options["cluster"]
        found = Cluster.objects.filter(name=wanted).first() if wanted else None
        if found is not None:
            return registry.properties_of(found), found.origin == Cluster.Origin.PAGE
        return properties_from({**options, "cluster": wanted}), False

    def write(self, message: dict[str, Any]) -> None:
        match message.pop("type"):
            case "starting":
                self.stderr.write("The cluster answers; Spark is starting.")
            case "waiting":
                self.stderr.write(f"{message['message']} Asked again in {message['for_s']:g} s.")
            case "error":
                raise CommandError(message["message"])
            case _:
                self.stdout.write(orjson.dumps(message).decode())
                self.stdout.flush()
