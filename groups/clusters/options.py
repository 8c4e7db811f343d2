"""The options by which a command receives its cluster: Kafka's own, or the name of one that is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from groups.clusters import named
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import ClusterSettings, settings_of


def add_cluster_options(parser: CommandParser) -> None:
    parser.add_argument("--cluster", metavar="NAME", help="one that REBALANCE_CLUSTER_NAME or the page names")
    parser.add_argument("--bootstrap-server", metavar="HOST:PORT", help="a broker, or several with commas")
    parser.add_argument(
        "--command-config", metavar="FILE", help="Kafka's client properties, as Kafka's own tools take them"
    )


def properties_from(options: Mapping[str, Any]) -> dict[str, str]:
    """The client properties that the options name; ``ClusterError`` where they name none."""
    properties: dict[str, str] = {}
    if options["cluster"]:
        properties = known(options["cluster"])
    if options["command_config"]:
        properties |= named.read(Path(options["command_config"]))
    if options["bootstrap_server"]:
        properties["bootstrap.servers"] = options["bootstrap_server"]
    if "bootstrap.servers" not in properties:
        names = named.names()
        also = f", or --cluster with one of {', '.join(names)}" if names else ""
        raise ClusterError(Fault.SETTINGS, f"Which cluster? Give --bootstrap-server HOST:PORT{also}.")
    return properties


def known(name: str) -> dict[str, str]:
    """The properties of a cluster by its name."""
    return named.properties(name)


def settings_from(options: Mapping[str, Any]) -> ClusterSettings:
    properties = properties_from(options)
    return settings_of(properties)
