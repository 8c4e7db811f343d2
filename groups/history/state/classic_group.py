"""State of a group of the classic protocol, as its type 2 records hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.wire.embedded.connect_protocol import CONNECT_PROTOCOL_TYPE

CONSUMER_PROTOCOL_TYPE: Final = "consumer"
"""Of consumers. Kafka Connect and others embed bytes of their own in the classic protocol."""

READ_TYPES: Final = frozenset({CONSUMER_PROTOCOL_TYPE, CONNECT_PROTOCOL_TYPE})
"""Protocol types whose members' bytes are read; those of others stay bytes."""

LEFT: Final = "left"
EXPIRED: Final = "session_expired"
TIMED_OUT: Final = "rebalance_timeout"
NOT_DESCRIBED: Final = "not_described"
"""Why a member is none any more, where that was seen; ``NOT_DESCRIBED``: its coordinator does not list it, and gives no reason."""

UNKNOWN_GENERATION: Final = -1
"""Of a group that was described: DescribeGroups does not report the generation."""

PREPARING_REBALANCE: Final = "PreparingRebalance"
COMPLETING_REBALANCE: Final = "CompletingRebalance"
BETWEEN: Final = frozenset({PREPARING_REBALANCE, COMPLETING_REBALANCE})
"""States between two generations, which leave no record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """What only a worker of Kafka Connect has. ``delay_ms``: after which it joins again by itself, 0 for not at all."""

    url: str = ""
    config_offset: int | None = None
    connectors: tuple[str, ...] = ()
    delay_ms: int = 0
    failed: bool = False
    """Whether its leader could not assign, since its own config was behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicMember:
    """A member of a generation. ``subscription`` and ``assignment`` are the embedded bytes in base64.

    ``assigned`` is what the leader gave it, topic name → partitions (connector → tasks of a worker of Kafka Connect);
    ``subscribed`` comes from its own bytes. ``unreadable`` has the reason for each of the two that cannot be decoded:
    what it has, or subscribes to, is then unknown, and not nothing.
    """

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    session_timeout_ms: int = -1
    subscribed: tuple[str, ...] = ()
    assigned: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    subscription: str = ""
    assignment: str = ""
    worker: Worker | None = None
    unreadable: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_work(self) -> bool:
        """Whether it has partitions, tasks or connectors; also where that cannot be read."""
        connectors = self.worker.connectors if self.worker is not None else ()
        return any(self.assigned.values()) or bool(connectors) or "assignment" in self.unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier:
    """How far the members are between two generations, in the order in which they came.

    ``leader`` is whom the join phase made the leader, once it is over. ``told`` were answered REBALANCE_IN_PROGRESS, ``joined`` have sent JoinGroup, ``synced`` SyncGroup. ``until_ms`` is when
    the coordinator stops waiting for the rest, ``reasons`` what members gave as theirs for joining (KIP-800).
    ``again`` have sent JoinGroup since the join phase was over: of ``joined`` they alone wait, should another one begin.
    """

    told: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    synced: tuple[str, ...] = ()
    until_ms: int | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    leader: str | None = None
    again: tuple[str, ...] = ()


OPEN: Final = Barrier()
"""Nobody waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicGroup:
    """``recorded`` is false for a simple group: offsets were committed, but no type 2 record was seen.

    ``phase`` is the state between two generations, known only where requests are, or where the coordinator described it. ``barrier`` is known where the
    coordinator's timers are, as in a simulated run; ``None``: nobody knows. Then ``joining`` are members that no record
    holds yet, ``gone`` those that are none any more (``LEFT``
    and so on), and ``withheld`` is what a cooperative leader keeps back for a round: member → topic → partitions.
    """

    recorded: bool = False
    protocol_type: str = ""
    generation: int = 0
    protocol_name: str | None = None
    leader: str | None = None
    state_timestamp_ms: int = -1
    members: Mapping[str, ClassicMember] = field(default_factory=dict)
    phase: str | None = None
    barrier: Barrier | None = None
    joining: Mapping[str, ClassicMember] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)
    withheld: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def known_generation(self) -> int | None:
        return None if self.generation == UNKNOWN_GENERATION else self.generation

    @property
    def has_unknown_past(self) -> bool:
        """Whether the record is of some generation before the first one that is known (inferred from log lines)."""
        return self.recorded and self.generation == UNKNOWN_GENERATION

    @property
    def shown(self) -> Mapping[str, ClassicMember]:
        """Members of the last generation that are still there, and those that are joining."""
        if not self.joining and not self.gone:
            return self.members
        both = {**self.members, **self.joining}
        return {member_id: member for member_id, member in both.items() if member_id not in self.gone}

    @property
    def state(self) -> str:
        """Kafka's name; ``PreparingRebalance`` and ``CompletingRebalance`` leave no record."""
        if self.phase is not None:
            return self.phase
        return "Stable" if self.members else "Empty"
