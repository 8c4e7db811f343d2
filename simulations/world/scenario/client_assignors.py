"""Reads the assignors that members bring (client-side ones, which only ``kip`` has), and what Streams' own assignor reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulations.protocol.assignors.client_side import CLIENT_ASSIGNORS
from simulations.protocol.assignors.streams_like import STANDBY_VERSION, STREAMS_LIKE, Reason
from simulations.world.scenario.errors import nearest
from simulations.world.scenario.nodes import Node

CLIENT: Final = "client:"
"""Before the name of an assignor that runs on the members."""

BROUGHT: Final = (*CLIENT_ASSIGNORS, STREAMS_LIKE)
"""The client-side assignors that a scenario can name."""

STREAMS_KEYS: Final = ("topology", "version", "standbys", "reads_classic")

STANDBYS_MAX: Final = 10
"""Copies of a task's state; more than there are instances of any application that is looked at here."""

TASK_MAX: Final = 9_999
"""A task is a partition number, and a scenario has 10,000 partitions at most."""

LAG_MAX: Final = 2**31 - 1
"""Records that a standby is behind; a larger number changes nothing."""

REASONS: Final = {reason.name.lower(): reason for reason in Reason}
"""What ``report`` can give as the reason for another assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """An instance of a Streams application: its ``topology``, the newest metadata ``version`` it reads and writes.

    ``reads_classic``: whether it also reads version -1, the metadata of instances of the classic protocol.
    """

    topology: str = "topology-1"
    version: int = STANDBY_VERSION
    standbys: int = 1
    reads_classic: bool = False


def read_client_assignor(assignor: Node | None) -> str | None:
    """The name in ``assignor: client:range``."""
    chosen = assignor.text() if assignor is not None else ""
    if assignor is None or not chosen.startswith(CLIENT):
        return None
    name = chosen.removeprefix(CLIENT)
    if name not in BROUGHT:
        raise assignor.wrong(f"unknown client-side assignor {name}; {nearest(name, BROUGHT)}")
    return name


def read_client_assignors(node: Node) -> tuple[str, ...]:
    """Assignors that run on the member, the best first."""
    return node.choices(BROUGHT, "client-side assignor")


def read_streams(node: Node) -> Streams:
    keys, usual = node.mapping(STREAMS_KEYS), Streams()
    return Streams(
        topology=keys.text("topology", usual.topology),
        version=keys.integer("version", 1, STANDBY_VERSION, usual.version),
        standbys=keys.integer("standbys", 0, STANDBYS_MAX, usual.standbys),
        reads_classic=keys.yes("reads_classic", usual=usual.reads_classic),
    )


def read_reason(node: Node) -> Reason:
    return REASONS[node.choice(tuple(REASONS), "reason")]


def read_lags(node: Node) -> dict[int, int]:
    """Task → records that its standby here is behind."""
    lags: dict[int, int] = {}
    for key, value in node.mapping().items():
        if not key.isascii() or not key.isdecimal() or len(key) > 4:
            raise value.wrong(f"expected a task, 0 to {TASK_MAX}, as the key, found {key!r}")
        lags[int(key)] = value.integer(0, LAG_MAX)
    return lags
