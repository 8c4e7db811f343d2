"""A scenario as values, checked and complete; ``simulations.scenario.reading`` makes them from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from groups.history.state import Semantics
from simulations.coordinator.settings import Settings

MEMBERS_MAX: Final = 1_000
"""A board of more lanes is not readable, and a target of more members takes seconds to compute in Python."""

PARTITIONS_MAX: Final = 10_000
"""Of all topics together: the largest group that the board's frames are measured for."""

SCRIPT_MAX: Final = 10_000
"""Lines of a script: more is a program's output, and every line may become many entries."""

STEPS_MAX: Final = 500
"""Narrated rows: each is a place to rest on, and a reader follows no more."""

UNTIL_MAX_MS: Final = 24 * 60 * 60 * 1000
"""A simulated day: a thousand members that heartbeat every second stay below a hundred million events only so."""

ENTRIES_MAX: Final = 1_000_000
"""Entries of one run; about 400 MB as stored text, beyond which a timeline is not a thing to look at."""


class Verb(StrEnum):
    """What a script can make happen."""

    JOIN = "join"
    LEAVE = "leave"
    KILL = "kill"
    PAUSE = "pause"
    RESUME = "resume"
    RESTART = "restart"
    HEARTBEAT = "heartbeat"
    COMMIT = "commit"
    SLOW_REVOKE = "slow_revoke"
    SUBSCRIBE = "subscribe"
    ADD_PARTITIONS = "add_partitions"


class Event(StrEnum):
    """What a narrated step can stand after; each is something that one settled moment showed.

    ``join``: the member is in the group. ``target``: a target assignment was computed. ``advances``: the member's
    epoch rose. ``revokes``: the member was told to give partitions up. ``acknowledges``: it has given them up.
    ``gains``: it was assigned more. ``heartbeat``: the coordinator handled a heartbeat of it. ``leaves``: it said
    that it leaves. ``removed``: it is not in the group any more. ``commits``: an offset of it was written.
    ``kill``, ``pause``, ``resume``: the fault. ``metadata``: the topic's partition count changed.
    """

    JOIN = "join"
    TARGET = "target"
    ADVANCES = "advances"
    REVOKES = "revokes"
    ACKNOWLEDGES = "acknowledges"
    GAINS = "gains"
    HEARTBEAT = "heartbeat"
    LEAVES = "leaves"
    REMOVED = "removed"
    COMMITS = "commits"
    KILL = "kill"
    PAUSE = "pause"
    RESUME = "resume"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    name: str
    partitions: int
    topic_id: str | None = None
    """Kafka's base64 form; ``None`` lets the run draw one from its seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A consumer process. ``callback_ms`` is how long each of its rebalance callbacks takes.

    With ``instance_id`` it is a static member (``group.instance.id``); two members may claim the same.
    """

    name: str
    subscribe: tuple[str, ...]
    client_id: str
    client_host: str
    instance_id: str | None = None
    rack_id: str | None = None
    assignor: str | None = None
    rebalance_timeout_ms: int = 300_000
    callback_ms: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One line of the script. ``who`` is a member, or a topic for ``add_partitions``."""

    at_ms: int
    verb: Verb
    who: str
    length_ms: int | None = None
    topics: tuple[str, ...] = ()
    offset: int | None = None
    partitions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A row of a proposal's table: it ends at the first moment after the row before that shows ``event``."""

    event: Event
    who: str | None
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartMember:
    """A member at the start: its epoch and what it owns, which is its target, too, where none is told."""

    name: str
    epoch: int
    owned: Mapping[str, tuple[int, ...]]
    target: Mapping[str, tuple[int, ...]]
    heartbeat_ms: int | None = None
    """When its first heartbeat is due; ``None`` spreads the members over the interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The state that a run begins from; all members are converged or on their way."""

    group_epoch: int
    assignment_epoch: int
    members: tuple[StartMember, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """One way of a message takes between the two, evenly spread."""

    delay_ms: tuple[int, int] = (1, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that a run needs but its seed and its semantics, which have defaults here. Times are milliseconds."""

    name: str
    title: str
    group: str
    topics: Mapping[str, Topic]
    members: Mapping[str, Member]
    script: tuple[Action, ...]
    until_ms: int
    text: str
    proposal: str | None = None
    summary: str | None = None
    semantics: Semantics = Semantics.KAFKA
    settings: Settings = field(default_factory=Settings)
    start: Start | None = None
    network: Network = field(default_factory=Network)
    steps: tuple[Step, ...] = ()
    start_ms: int = 0
    seed: int = 1
