"""State of a group of the classic protocol, as its type 2 records hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PREPARING_REBALANCE = "PreparingRebalance"
COMPLETING_REBALANCE = "CompletingRebalance"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicMember:
    """A member of a generation. ``subscription`` and ``assignment`` are the embedded bytes in base64.

    ``assigned`` is what the leader gave it, topic name → partitions; ``subscribed`` comes from its own bytes.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicGroup:
    """``recorded`` is false for a simple group: offsets were committed, but no type 2 record was seen.

    ``phase`` is the state between two generations, known only where requests are.
    """

    recorded: bool = False
    protocol_type: str = ""
    generation: int = 0
    protocol_name: str | None = None
    leader: str | None = None
    state_timestamp_ms: int = -1
    members: Mapping[str, ClassicMember] = field(default_factory=dict)
    phase: str | None = None

    @property
    def state(self) -> str:
        """Kafka's name; ``PreparingRebalance`` and ``CompletingRebalance`` leave no record."""
        if self.phase is not None:
            return self.phase
        return "Stable" if self.members else "Empty"
