"""A scenario as values, checked and complete; ``simulations.world.scenario.scenario_yaml`` makes them from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.state.group import Semantics
from simulations.protocol.client.consumer import ConsumerClient
from simulations.protocol.coordinator.settings import Settings
from simulations.world.scenario.access import Denial
from simulations.world.scenario.actions import Action, Event
from simulations.world.scenario.classic_members import Classic
from simulations.world.scenario.client_assignors import Streams
from simulations.world.scenario.environment import CALM, NetworkRates

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


OFFSET_MAX: Final = 2**63 - 1
"""Offsets are signed 64 bits wide."""

REGEX_MS: Final = 10
"""To match some expressions against a cluster's topics, in the background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioTopic:
    name: str
    partitions: int
    topic_id: str | None = None
    """Kafka's base64 form; ``None`` lets the run draw one from its seed."""
    racks: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Partition → racks of its replicas; empty where the brokers have no racks."""
    rate: int | None = None
    """Records a second that each partition gets; ``None``: nobody asks how far it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A consumer process: ``subscribe`` or ``regex``. ``callback_ms`` is how long each rebalance callback takes.

    With ``instance_id`` it is a static member (``group.instance.id``); two members may claim the same.
    """

    name: str
    subscribe: tuple[str, ...]
    client_id: str
    client_host: str
    regex: str | None = None
    instance_id: str | None = None
    rack_id: str | None = None
    assignor: str | None = None
    assignors: tuple[str, ...] = ()
    """Client-side assignors, the best first; only ``kip`` has them."""
    streams: Streams = field(default_factory=Streams)
    """The settings of its assignor ``streams``, if it brings that."""
    classic: Classic | None = None
    """What a consumer of the classic protocol is set to; ``None`` of one of the consumer protocol."""
    rebalance_timeout_ms: int = 300_000
    callback_ms: int = 20
    restart_after_ms: int | None = None
    """Its supervisor starts it again so long after its process was killed or ended by an error; ``None``: nobody does."""
    auto_commit: bool = False
    auto_commit_interval_ms: int = 5_000
    client: str = ConsumerClient.JAVA_4_3
    """What it is as a consumer of the consumer protocol; the release of one of the classic protocol is in ``classic``."""
    fetch_offsets: bool = False
    """Whether a consumer of the consumer protocol asks for the committed offsets of what it is given, by OffsetFetch."""
    assignor_calls: bool = False
    """Whether each call of the client's own assignors is an entry."""

    def expression(self, regex: str | None) -> str | None:
        """As its client sends it: librdkafka puts it in parentheses."""
        in_parentheses = regex is not None and self.client == ConsumerClient.LIBRDKAFKA
        return f"({regex})" if in_parentheses else regex


@dataclass(frozen=True, slots=True, kw_only=True)
class NarratedStep:
    """A row of a proposal's table: it ends at the first moment after the row before that shows ``event``."""

    event: Event
    who: str | None
    narration: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartMember:
    """A member at the start: its epoch and what it owns, which is its target, too, if none is given."""

    name: str
    epoch: int
    owned: Mapping[str, tuple[int, ...]]
    target: Mapping[str, tuple[int, ...]]
    heartbeat_ms: int | None = None
    """When its first heartbeat is due; ``None`` spreads the members over the interval."""
    revoking: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """What it still has and has to give up before it gets a higher epoch (Kafka's partitions pending revocation)."""
    previous_epoch: int | None = None
    """``None``: the same as ``epoch``."""

    @property
    def held(self) -> dict[str, tuple[int, ...]]:
        """What its client reads: what is assigned to it, and what it has not given up yet."""
        topics = dict.fromkeys((*self.owned, *self.revoking))
        return {topic: (*self.owned.get(topic, ()), *self.revoking.get(topic, ())) for topic in topics}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The state that a run begins from; all members are converged or on their way."""

    group_epoch: int
    assignment_epoch: int
    members: tuple[StartMember, ...]
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """Topic → partition → committed offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicStart:
    """A classic group that is there when a run begins: its members have just been given the assignment of ``generation``.

    ``owned``: member → topic → partitions, in the order of joining. ``offsets``: topic → partition → committed offset.
    """

    generation: int
    leader: str
    owned: Mapping[str, Mapping[str, tuple[int, ...]]]
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that a run needs but its seed and its semantics, which have defaults here. Times are milliseconds."""

    name: str
    title: str
    group: str
    topics: Mapping[str, ScenarioTopic]
    members: Mapping[str, Member]
    script: tuple[Action, ...]
    until_ms: int
    text: str
    proposal: str | None = None
    summary: str | None = None
    semantics: Semantics = Semantics.KAFKA
    settings: Settings = field(default_factory=Settings)
    start: Start | None = None
    classic_start: ClassicStart | None = None
    denied: tuple[Denial, ...] = ()
    """What members may not do from the beginning on."""
    world: str = CALM
    network: NetworkRates = field(default_factory=NetworkRates)
    replication_ms: int = 0
    """From when a batch is appended until its replicas have it, and the answers that wait for it leave."""
    metadata_delay_ms: int = 0
    """At most so long after a topic changes a broker knows of it."""
    regex_ms: int = REGEX_MS
    """From the heartbeat that starts it until the topics of regular expressions are resolved."""
    steps: tuple[NarratedStep, ...] = ()
    start_ms: int = 0
    seed: int = 1
