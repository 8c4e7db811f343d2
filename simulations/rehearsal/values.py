"""A group as it is described, and what is to become of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from groups.releases import NEWEST, Release
from simulations.protocol.client.classic.releases import LIBRDKAFKA
from simulations.protocol.coordinator.settings import MigrationPolicy
from simulations.rehearsal.versions import CONSUMER_PROTOCOL_SINCE, broker_release, version_of

MEMBERS_MOST: Final = 60
"""Members of a group that is rehearsed: three runs of it take about ten seconds, which somebody waits for."""

PARTITIONS_MOST: Final = 2_000
"""Of all topics together; see ``MEMBERS_MOST``."""

TOPICS_MOST: Final = 50

STAGES_MOST: Final = 12
"""Bounces of one round that a table shows side by side; a larger group is bounced some members at a time."""

CONSUMER: Final = "consumer"
COOPERATIVE: Final = "cooperative"
NEW_BROKERS: Final = "brokers"
TARGETS: Final = (CONSUMER, COOPERATIVE, NEW_BROKERS)
"""What a group can be taken to: the consumer protocol (KIP-848), cooperative rebalancing within the classic one (KIP-429), or brokers
of a newer release, under members that stay as they are."""

NEWEST_CLIENT: Final = "4.3"

NEWEST_BROKER: Final = NEWEST


class RehearsalError(ValueError):
    """What cannot be rehearsed, in one line; ``field`` is its place in the document, ``line`` where it has lines."""

    def __init__(self, message: str, field: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    """A member as it runs today.

    ``client`` is the release of its Java client as its team calls it (``3.8``), or ``librdkafka``; ``release`` the row of the
    simulator's table that means it. ``assignors`` is ``partition.assignment.strategy``, of the classic protocol; ``remote_assignor`` is
    ``group.remote.assignor``, of the consumer protocol.
    """

    name: str
    topics: tuple[str, ...]
    protocol: str = "classic"
    client: str = NEWEST_CLIENT
    release: str = NEWEST_CLIENT
    assignors: tuple[str, ...] = ("range",)
    remote_assignor: str | None = None
    instance_id: str | None = None
    session_timeout_ms: int = 45_000
    rebalance_timeout_ms: int = 300_000

    @property
    def is_classic(self) -> bool:
        return self.protocol == "classic"

    @property
    def is_librdkafka(self) -> bool:
        return self.release == LIBRDKAFKA.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """How the classic group is before the first bounce; ``owned``: member → topic → partitions."""

    generation: int
    leader: str
    owned: Mapping[str, Mapping[str, tuple[int, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A group, and how it is to be upgraded.

    ``to``: one of ``TARGETS``. ``at_once``: how many members are bounced together. ``away_ms``: from when a process closes
    until the next one starts. ``start``: the group as it is; ``None`` lets it form. ``turn_after``: after how many bounces the way back begins; ``None`` after all of them.
    ``assumed``: what the description did not contain, in a sentence each. ``timeline``: id and sequence that it was taken from.
    """

    group: str
    topics: Mapping[str, int]
    members: tuple[GroupMember, ...]
    to: str = CONSUMER
    brokers: str = str(version_of(NEWEST_BROKER))
    new_brokers: str = str(version_of(NEWEST_BROKER))
    new_client: str = NEWEST_CLIENT
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    at_once: int = 1
    away_ms: int = 2_000
    turn_after: int | None = None
    server_assignor: str | None = None
    start: Begun | None = None
    assumed: tuple[str, ...] = ()
    timeline: tuple[str, int] | None = None

    @property
    def brokers_serve(self) -> bool:
        """Whether the brokers serve the consumer protocol as they are."""
        return version_of(self.brokers) >= CONSUMER_PROTOCOL_SINCE

    @property
    def rolls_brokers(self) -> bool:
        """Whether the way to the consumer protocol begins with the brokers."""
        return self.to == CONSUMER and not self.brokers_serve

    @property
    def broker_release(self) -> Release:
        """The release that the brokers are played as before anything is done to them."""
        return broker_release(version_of(self.brokers))

    @property
    def new_release(self) -> Release:
        """The release that the brokers are rolled to, where they are."""
        return broker_release(version_of(self.new_brokers)) if self.to == NEW_BROKERS else NEWEST_BROKER

    @property
    def tied(self) -> dict[str, list[str]]:
        """Server-side assignor → who asks for it, where two or more are asked for by equally many, and none by more."""
        votes: dict[str, list[str]] = {}
        for member in self.members:
            if member.remote_assignor is not None:
                votes.setdefault(member.remote_assignor, []).append(member.name)
        most = max(map(len, votes.values()), default=0)
        first = {name: who for name, who in votes.items() if len(who) == most}
        return first if len(first) > 1 else {}

    @property
    def classic(self) -> tuple[GroupMember, ...]:
        return tuple(member for member in self.members if member.is_classic)
