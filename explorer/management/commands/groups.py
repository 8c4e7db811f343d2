"""``manage.py groups list|describe|validate-regex``: what Kafka's own tool prints of a cluster's groups, or JSON.

``manage.py groups trouble`` prints the table of what is wrong in the groups that are stored.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser

from explorer.pages.troubles.views import table_of
from groups.address_space import ADDRESS_BYTES_MOST
from groups.clusters import tables
from groups.clusters.brokers import Brokers, Listed, open_cluster
from groups.clusters.faults import ClusterError
from groups.clusters.offsets import Committed, committed, ends, group_configs
from groups.clusters.options import add_cluster_options, settings_from
from groups.clusters.sentences import undescribed, unreadable
from groups.command_line import TerminalCommand, in_one_line, usage
from groups.history.polls.description import GroupDescription, GroupKind, Undescribed
from groups.history.polls.plain import plain
from groups.history.words import counted, duration
from groups.imports.lifecycle import NoSuchImport
from groups.shown import shown_name
from groups.watching.registry import NoSuchCluster
from simulations.protocol.coordinator.consumer.regexes import description

LEVELS = ("no trouble", "warning", "critical")
"""Words of ``TroubleRow.severity``."""


class Command(TerminalCommand):
    help = "List and describe the groups of a cluster, read-only, as Kafka's own tool does."
    requires_system_checks = ()
    address_bytes_most = ADDRESS_BYTES_MOST

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        verbs = parser.add_subparsers(
            dest="verb", required=True, metavar="list|describe|trouble|validate-regex"
        )
        listed = verbs.add_parser("list", help="the groups that may be seen")
        listed.add_argument(
            "--state", nargs="*", metavar="STATE", help="tell states; with names, these alone"
        )
        listed.add_argument(
            "--type", nargs="*", choices=[str(kind) for kind in GroupKind], help="tell types; or these alone"
        )
        describe = verbs.add_parser("describe", help="offsets and lag, members, or the state of groups")
        chosen = describe.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--group", action="append", metavar="G", help="may be given several times")
        chosen.add_argument("--all-groups", action="store_true")
        what = describe.add_mutually_exclusive_group()
        what.add_argument("--offsets", action="store_true", help="the default")
        what.add_argument("--members", action="store_true")
        what.add_argument("--state", action="store_true", dest="describe_state")
        describe.add_argument("--verbose", action="store_true", help="with epochs and assignments")
        for verb in (listed, describe):
            add_cluster_options(verb)
            verb.add_argument("--json", action="store_true", help="a line of JSON for each group")
        trouble = verbs.add_parser("trouble", help="what is wrong in stored groups, the gravest first")
        of = trouble.add_mutually_exclusive_group()
        of.add_argument("--import", metavar="ID", help="of one import alone")
        of.add_argument("--cluster", metavar="ID", help="of one watched cluster alone")
        trouble.add_argument("--all", action="store_true", help="groups without trouble, too")
        trouble.add_argument("--json", action="store_true", help="the table as GET /api/groups has it")
        regex = verbs.add_parser("validate-regex", help="whether a group may subscribe to it (RE2)")
        regex.add_argument("regex")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"] == "validate-regex":
            self.validate(options["regex"])
            return
        if options["verb"] == "trouble":
            self.print_trouble(options)
            return
        try:
            with contextlib.suppress(BrokenPipeError):
                missing = asyncio.run(self.ask(options))
        except ClusterError as error:
            raise usage(str(error)) from None
        if missing:
            raise CommandError(" ".join(missing))

    def validate(self, regex: str) -> None:
        wrong = description(regex)
        if wrong is not None:
            raise CommandError(f"The regular expression `{regex}` is invalid: {wrong}.")
        self.stdout.write(f"The regular expression `{regex}` is valid.")

    def print_trouble(self, options: dict[str, Any]) -> None:
        query = {name: options[name] for name in ("import", "cluster") if options[name]}
        try:
            table = table_of(query)
        except (NoSuchImport, NoSuchCluster) as error:
            raise usage(str(error)) from None
        if options["json"]:
            self.line(dict(table))
            return
        for cause in table["causes"]:
            self.stdout.write(f"{cause['text']}.")
        troubled = [row for row in table["rows"] if row["severity"]]
        for row in table["rows"] if options["all"] else troubled:
            worst = "" if row["worst_ms"] is None else f" (worst {duration(row['worst_ms'])})"
            said = [
                LEVELS[row["severity"]],
                row["pattern"] or "no pattern",
                row["headline"] or "nothing is known yet",
            ]
            self.stdout.write(f"{shown_name(row['group'])}: {', '.join(said[:2])}{worst}: {said[2]}")
        self.stdout.write(f"{len(troubled)} of {counted(table['matching'], 'group')} in trouble.")

    async def ask(self, options: dict[str, Any]) -> list[str]:
        """Prints what was asked; the sentences of what could not be reported."""
        async with open_cluster(settings_from(options)) as cluster:
            if options["verb"] == "list":
                return await self.print_list(cluster, options)
            return await self.print_groups(cluster, options)

    async def print_list(self, cluster: Brokers, options: dict[str, Any]) -> list[str]:
        kinds = [GroupKind(kind) for kind in options["type"] or ()]
        listing = await cluster.list_groups(states=options["state"] or (), kinds=kinds)
        rows = listing.groups.values()
        if options["json"]:
            for row in rows:
                self.line(
                    {
                        "group": row.group,
                        "type": row.kind,
                        "state": row.state or None,
                        "protocol_type": row.protocol_type,
                        "coordinator": row.broker,
                    }
                )
        else:
            said = [(row.group, row.kind.capitalize() if row.kind else "-", row.state or "-") for row in rows]
            types, states = options["type"] is not None, options["state"] is not None
            if text := tables.listing(said, types=types, states=states):
                self.stdout.write(text)
        return [
            f"Broker {node} did not answer, so its groups are missing: {error}"
            for node, error in listing.silent.items()
        ]

    async def print_groups(self, cluster: Brokers, options: dict[str, Any]) -> list[str]:
        listing = await cluster.list_groups()
        wanted: Sequence[str] = options["group"] or list(listing.groups)
        found: dict[str, Any] = dict(
            await cluster.describe(listing.groups[name] for name in wanted if name in listing.groups)
        )
        missing = []
        for name in wanted:
            answer = found[name] if name in found else await cluster.find(name)
            if isinstance(answer, GroupDescription):
                await self.print_one(cluster, answer, listing.groups.get(name), options)
                missing += unreadable(answer)
            elif isinstance(answer, Undescribed):
                missing.append(undescribed(answer))
            else:
                missing.append(f"Group {name} could not be described: {answer}")
        return missing

    async def print_one(
        self, cluster: Brokers, description: GroupDescription, row: Listed | None, options: dict[str, Any]
    ) -> None:
        verbose = options["verbose"]
        has: list[Committed] = []
        if row is not None and not options["members"] and not options["describe_state"]:
            answer = await committed(cluster, row)
            has = answer if not isinstance(answer, Undescribed) else []
        places = tables.readers(description, [(each.topic, each.partition) for each in has])
        asked: dict[str, list[int]] = {}
        for (topic, partition), _ in places if description.kind is not GroupKind.STREAMS else ():
            asked.setdefault(topic, []).append(partition)
        known_ends = (
            await ends(cluster, asked) if not (options["members"] or options["describe_state"]) else {}
        )
        if options["json"]:
            configs = await group_configs(cluster, [description.group])
            self.line(
                {
                    **plain(description),
                    "coordinator": row.broker if row else None,
                    "offsets": [
                        {
                            "topic": each.topic,
                            "partition": each.partition,
                            "offset": each.offset,
                            "leader_epoch": each.leader_epoch,
                            "end": (end := known_ends.get((each.topic, each.partition))),
                            "lag": None if end is None else end - each.offset,
                        }
                        for each in has
                    ],
                    "configs": configs.get(description.group),
                }
            )
            return
        if (line := tables.said_of_state(description)) is not None:
            self.stderr.write(line)
        self.stdout.write("")
        if options["members"]:
            self.stdout.write(tables.members(description, verbose=verbose))
        elif options["describe_state"]:
            node = row.broker if row else -1
            self.stdout.write(tables.states(description, (node, cluster.brokers.get(node)), verbose=verbose))
        else:
            self.stdout.write(tables.offsets(description, has, known_ends, verbose=verbose))

    def line(self, value: dict[str, Any]) -> None:
        self.stdout.write(orjson.dumps(value).decode())
