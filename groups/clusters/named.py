"""Clusters that the environment names: ``REBALANCE_CLUSTER_PROD_EU=/etc/kafka/prod-eu.properties``.

The file is what Kafka's own tools take as ``--command-config``, with ``bootstrap.servers`` in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import PROPERTIES_BYTES_MOST, parse_properties

PREFIX: Final = "REBALANCE_CLUSTER_"


def names(environment: Mapping[str, str] = os.environ) -> list[str]:
    """``prod-eu`` for ``REBALANCE_CLUSTER_PROD_EU``, sorted."""
    return sorted(
        variable.removeprefix(PREFIX).lower().replace("_", "-")
        for variable, value in environment.items()
        if re.fullmatch(rf"{PREFIX}[A-Z0-9_]+", variable) and value
    )


def properties(name: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The properties of a cluster that the environment names; ``ClusterError`` where its file cannot be read."""
    variable = PREFIX + name.upper().replace("-", "_")
    if name not in names(environment):
        known = ", ".join(names(environment)) or "none"
        raise ClusterError(
            Fault.SETTINGS, f"No cluster is named {name!r}; known: {known}. {variable} would name its file."
        )
    return read(Path(environment[variable]))


def read(path: Path) -> dict[str, str]:
    """A properties file; ``ClusterError`` where it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(PROPERTIES_BYTES_MOST + 1)
    except OSError as error:
        raise ClusterError(Fault.SETTINGS, f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > PROPERTIES_BYTES_MOST:
        raise ClusterError(
            Fault.SETTINGS, f"{path} is larger than {PROPERTIES_BYTES_MOST:,} bytes: no properties file."
        )
    try:
        return parse_properties(data.decode())
    except UnicodeDecodeError:
        raise ClusterError(
            Fault.SETTINGS, f"{path} is no text: it must be a properties file in UTF-8."
        ) from None
