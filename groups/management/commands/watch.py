"""``manage.py watch``: record the groups of a live cluster, read-only; a line of JSON for each change."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser

from groups import database
from groups.address_space import ADDRESS_BYTES_MOST
from groups.cluster_models import Cluster
from groups.clusters.faults import ClusterError
from groups.clusters.options import add_cluster_options, properties_from
from groups.clusters.settings import settings_of, unknown_names
from groups.command_line import TerminalCommand, in_one_line, usage
from groups.watching import registry
from groups.watching.alerts.registry import ShownAlert
from groups.watching.group_row import GroupRow
from groups.watching.job import Watching
from groups.watching.pulling import Round


class Command(TerminalCommand):
    help = "Record what happens to the groups of a live cluster as timelines, read-only, until Ctrl-C."
    requires_system_checks = ()
    address_bytes_most = ADDRESS_BYTES_MOST

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument("name", nargs="?", metavar="CLUSTER", help="a cluster that is known by name")
        add_cluster_options(parser)
        parser.add_argument("--group", action="append", metavar="G", help="this group alone; may be repeated")
        parser.add_argument("--every", type=float, metavar="S", help="seconds between full rounds")
        how = parser.add_mutually_exclusive_group()
        how.add_argument(
            "--follow",
            action="store_true",
            help="follow __consumer_offsets, record by record, or end with what is missing",
        )
        how.add_argument(
            "--poll", action="store_true", help="ask over and over, though the log could be followed"
        )
        parser.add_argument("--seconds", type=float, metavar="S", help="end after so long")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["every"] is not None and not 0.1 <= options["every"] <= 3600:
            raise usage("--every takes seconds from 0.1 to 3600.")
        database.prepare()
        try:
            cluster = self.cluster(options)
        except (ClusterError, registry.BadCluster) as error:
            raise usage(str(error)) from None
        owner = f"command {uuid.uuid4()}"
        if not registry.take(cluster.pk, owner):
            raise CommandError(f"Cluster {cluster.name} is being watched already.")
        end_s = None if options["seconds"] is None else time.monotonic() + options["seconds"]
        watching = Watching(
            cluster,
            owner,
            stopped=lambda: end_s is not None and time.monotonic() >= end_s,
            groups=options["group"],
            every_s=options["every"],
            follow=True if options["follow"] else False if options["poll"] else None,
            on_round=self.notify_silent,
            on_rows=self.write,
            on_alert=self.print_alert,
        )
        with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
            asyncio.run(watching.run())
        registry.give_back(cluster.pk, owner)
        if cluster.origin == Cluster.Origin.COMMAND:
            # It was given to this command alone: no server goes on with it.
            Cluster.objects.filter(pk=cluster.pk).update(watched=False)
        found = registry.get(cluster.pk)
        if found.status == Cluster.Status.FAILING:
            raise CommandError(found.problem)

    def cluster(self, options: dict[str, Any]) -> Cluster:
        """The row of the cluster that is meant; one that is given by options is made, or made again."""
        registry.take_environment()
        wanted = options["name"] or options["cluster"]
        if wanted and (found := Cluster.objects.filter(name=wanted).first()) is not None:
            return registry.set_watched(found, watched=True)
        properties = properties_from({**options, "cluster": wanted})
        settings = settings_of(properties)
        for name in unknown_names(properties):
            self.stderr.write(f"{name} is not known here and is passed over.")
        return registry.of_command(str(settings.servers[0]), properties)

    def write(self, rows: list[GroupRow]) -> None:
        for row in rows:
            self.stdout.write(orjson.dumps({"at_ms": time.time_ns() // 1_000_000, **row}).decode())

    def notify_silent(self, seen: Round, rows: list[GroupRow]) -> None:
        for node, error in seen.listing.silent.items():
            self.stderr.write(f"Broker {node}: {error}")

    def print_alert(self, alert: ShownAlert) -> None:
        over = "" if alert["ended_ms"] is None or alert["kind"] == "finding" else "over: "
        self.stderr.write(f"Alert, {over}{alert['says']}" + (f" ({alert['url']})" if alert["url"] else ""))
