"""The shapes of frames: one declaration for the fold, the API and the browser (``static/js/shapes.d.ts`` is made of it).

What is unknown is ``None``. A key that is not required is there for some protocols alone, or only while something is so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NotRequired, TypedDict

Partitions = Mapping[str, list[int]]
"""Partition numbers by topic name, ascending; tasks of a streams group by the id of their subtopology."""


class WorkerFrame(TypedDict):
    """What only a worker of Kafka Connect has, in addition to its tasks."""

    url: str
    config_offset: int | None
    """How far it had read the config topic when it joined."""
    connectors: list[str]
    """Connectors that it runs."""
    delay_ms: int
    """After which it joins again by itself, so that tasks of a worker that is gone wait for it; 0 for not at all."""
    failed: bool
    """Whether its leader could not assign, since its own config was behind (CONFIG_MISMATCH)."""


class MemberFrame(TypedDict):
    """A member, of any protocol; what a protocol does not have is left out."""

    protocol: str
    epoch: NotRequired[int | None]
    previous_epoch: NotRequired[int | None]
    state: NotRequired[str | None]
    """Kafka's name of the member's state."""
    rebalance_state: NotRequired[str | None]
    """Of a classic member in a consumer group (KIP-848): ``PreparingRebalance`` until it joins again, ``CompletingRebalance`` until
    it is synced, ``Stable``. ``None`` where unknown: SyncGroup leaves no record."""
    client_id: str | None
    host: str | None
    instance_id: NotRequired[str | None]
    rack_id: str | None
    subscribed: NotRequired[list[str]]
    subscribed_regex: NotRequired[str]
    assigned: Partitions | None
    """Of a streams group's member: its active tasks, as ``pending_…`` are; the copies stand apart. Of a worker of Kafka Connect: its
    tasks by connector. ``None`` where a classic member's bytes cannot be read: unknown, and not nothing."""
    unreadable: NotRequired[Mapping[str, str]]
    """Why ``subscription`` or ``assignment`` of a classic member cannot be read; absent where they can."""
    worker: NotRequired[WorkerFrame]
    pending_revocation: NotRequired[Partitions]
    pending_assignment: NotRequired[Partitions]
    session_timeout_ms: NotRequired[int | None]
    rebalance_timeout_ms: NotRequired[int | None]
    standby: NotRequired[Partitions]
    standby_pending_revocation: NotRequired[Partitions]
    warmup: NotRequired[Partitions]
    warmup_pending_revocation: NotRequired[Partitions]
    process_id: NotRequired[str]
    endpoint: NotRequired[str | None]
    tags: NotRequired[Mapping[str, str]]
    topology_epoch: NotRequired[int]


class ClientFrame(TypedDict):
    """What a client knows and does, if a simulation or its log reports it; flags are there only while they are true."""

    owned: Partitions
    calling: str | None
    """The callback that it is in."""
    revoking: Partitions
    heartbeat_ms: int | None
    cut: NotRequired[list[str]]
    killed: NotRequired[bool]
    paused: NotRequired[bool]
    fenced: NotRequired[str]
    clock_ms: NotRequired[int]
    computing: NotRequired[bool]


class TopicFrame(TypedDict):
    id: str | None
    partitions: int | None
    was: NotRequired[str]
    """The name that a topic with this id had before another topic took it."""


class BarrierFrame(TypedDict):
    """How far a classic group's members are between two generations (JoinGroup and SyncGroup wait for each other)."""

    told: list[str]
    joined: list[str]
    synced: list[str]
    until_ms: int | None
    reasons: Mapping[str, str]
    leader: str | None


class CoordinatorFrame(TypedDict):
    name: str | None
    epoch: int | None
    loading_until_ms: int | None
    cut: list[str]


class TimerFrame(TypedDict):
    """When a member's timers end."""

    session: int | None
    rebalance: int | None


class SubtopologyFrame(TypedDict):
    source_topics: list[str]
    source_topic_regex: list[str]
    repartition_source_topics: list[str]
    repartition_sink_topics: list[str]
    state_changelog_topics: list[str]


class TopologyFrame(TypedDict):
    """What a streams application does: each subtopology with the topics that it reads, writes and keeps."""

    epoch: int
    subtopologies: Mapping[str, SubtopologyFrame]


class ReaderFrame(TypedDict):
    """Where a client is at a partition; one that ``fetches`` goes on with the end of the log."""

    position: int
    fetches: bool


class PartitionConsumptionFrame(TypedDict):
    """How far a partition is read. ``read``: the offset up to which anybody has, ``None`` before; the log ends at
    ``begin_offset`` plus what its topic's rate makes since ``begin_ms``."""

    begin_ms: int
    begin_offset: int
    read: int | None
    readers: Mapping[str, ReaderFrame]
    read_twice: int
    skipped: int
    lag_max: int
    unread_since_ms: int | None
    unread_ms: int


class ConsumptionFrame(TypedDict):
    """How far records are read, where topics have a rate (records a second of each partition).

    The group's lag at any time until the next frame: ``(waiting + waiting_rate * at_ms) / 1000`` records. Its partition-milliseconds
    not read (nobody fetches): ``unread_ms + unread_count * at_ms - unread_since_ms``.
    """

    rates: Mapping[str, int]
    partitions: Mapping[str, Mapping[str, PartitionConsumptionFrame]]
    lag_max: int
    lag_max_at_ms: int
    unread_max_ms: int
    waiting_rate: int
    waiting: int
    unread_count: int
    unread_since_ms: int
    unread_ms: int
    read_twice: int
    skipped: int


class ConsumptionSummary(TypedDict):
    """What a run cost its records: ``lag`` at the end and at most, records read twice and skipped, time not read
    (``unread_ms`` summed over partitions, ``unread_max_ms`` of one)."""

    lag: int
    lag_max: int
    lag_max_at_ms: int
    read_twice: int
    skipped: int
    unread_ms: int
    unread_max_ms: int


class Frame(TypedDict):
    """The state of a group after an entry."""

    sequence: int
    at_ms: int
    group: str
    protocol: str | None
    state: str | None
    members: Mapping[str, MemberFrame]
    topics: Mapping[str, TopicFrame]
    clients: Mapping[str, ClientFrame] | None
    """``None`` where the source has no information about clients, as records alone do."""
    timers: Mapping[str, TimerFrame] | None
    coordinator: NotRequired[CoordinatorFrame]
    group_epoch: NotRequired[int | None]
    """This, the assignment's epoch and the target: of groups with epochs."""
    assignment_epoch: NotRequired[int | None]
    target: NotRequired[Mapping[str, Partitions]]
    regexes: NotRequired[Mapping[str, list[str]]]
    """What each expression was resolved to, if records report it."""
    generation: NotRequired[int | None]
    """This, the leader and what follows: of classic groups."""
    leader: NotRequired[str | None]
    protocol_name: NotRequired[str | None]
    protocol_type: NotRequired[str | None]
    """``consumer``, ``connect`` of Kafka Connect, or that of another user of the classic protocol; ``None`` where unknown."""
    barrier: NotRequired[BarrierFrame]
    """Absent if unknown: records do not report the joining phase."""
    withheld: NotRequired[Mapping[str, Partitions]]
    """What a cooperative leader keeps back for a round, by whom it is for."""
    consumption: NotRequired[ConsumptionFrame]
    """Absent where no source reports at what rate records are written."""
    initializing: NotRequired[Partitions]
    """This and the next two: of share groups."""
    initialized: NotRequired[Partitions]
    deleting: NotRequired[list[str]]
    target_standby: NotRequired[Mapping[str, Partitions]]
    """This and what follows: of streams groups."""
    target_warmup: NotRequired[Mapping[str, Partitions]]
    topology: NotRequired[TopologyFrame | None]
    validated_topology_epoch: NotRequired[int]


NO_FRAME: Final[Frame] = {
    "sequence": 0,
    "at_ms": 0,
    "group": "",
    "protocol": None,
    "state": None,
    "members": {},
    "topics": {},
    "clients": None,
    "timers": None,
}
"""Of a group of which nothing is known."""
