"""State: what is known of a group after an entry. Immutable; unchanged parts stay the same objects.

Durable parts (``consumer``, ``classic``, ``share``, ``streams``, ``offsets``) change by record entries alone. Volatile parts (``clients``,
``timers``, a classic group's ``phase``) change by request, response, callback, timer and fault entries, and are
``None`` where no such entry was seen: unknown, which is not the same as empty. A simulated coordinator keeps this
very object as its memory.

Dictionaries in here are never changed in place; they are typed as mappings, and their order is the order in which
things were inserted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from groups.history.state.classic_group import ClassicGroup
from groups.history.state.consumer import ConsumerGroup, fresh_consumer_group
from groups.history.state.consumption import Consumption
from groups.history.state.copying import replace
from groups.history.state.epochs import ModernGroup
from groups.history.state.share import ShareGroup
from groups.history.state.streams import StreamsGroup
from groups.history.words import CONNECT_TASKS, PARTITIONS, TASKS, Wording
from groups.releases import EARLIER, Release
from groups.wire.embedded.connect_protocol import CONNECT_PROTOCOL_TYPE

PARTITIONS_A_TOPIC_MAX: Final = 100_000
"""Partitions of one topic that are believed. A whole Kafka cluster holds some 200,000 replicas of all topics together; a broken
or a malicious record may say 2^31 - 1, and drawing a column for each would never end."""

PARTITIONS_A_GROUP_MAX: Final = 200_000
"""Partitions of all its topics together: thousands of topics of 100,000 each would be hundreds of millions of rows."""

NAMED_A_GROUP_MAX: Final = 4 * PARTITIONS_A_GROUP_MAX
"""Partitions that target and assignments of a group name together: each is in both, and in both twice while a part of the members
has its new record. Compressed, 150 members of 100,000 partitions are half a megabyte; folded, they would fill a machine."""

TOPICS_A_GROUP_MAX: Final = 10_000
"""Topics of a group that are believed, of ids and of names: its pages list each."""

ANOMALIES_AN_ENTRY_MAX: Final = 8
"""One broken record can contradict thousands of partitions at once; the first few say all there is to say."""


UNREADABLE: Final = "unreadable"
"""The anomaly of an entry whose payload has another shape than it should."""

EPOCH_JUMP: Final = "epoch_jump"
"""The anomaly of a group epoch that is not the next one: changes are missing."""

UNKNOWN_MEMBER: Final = "unknown_member"
"""The anomaly of a tombstone for a member that no record before it contains."""

TWO_OWNERS: Final = "two_owners"
"""The anomaly of a partition that is taken while somebody holds it at the same epoch or a later one."""

PARTITION_COUNT: Final = "partition_count"
"""The anomaly of more partitions, or more topics, than are believed."""


class Semantics(StrEnum):
    """Whose rules a timeline follows: Kafka as released (``State.release`` is the release), or KIP-848 as written."""

    KAFKA = "kafka"
    KIP = "kip"


class Protocol(StrEnum):
    CONSUMER = "consumer"
    CLASSIC = "classic"
    SHARE = "share"
    STREAMS = "streams"


# An enum's member by its class's name costs ten times a global's look-up, and ``modern`` is asked some times an entry.
_SHARE: Final = Protocol.SHARE
_STREAMS: Final = Protocol.STREAMS


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic as the log or the cluster's metadata names it; ``None`` if the source does not report it."""

    name: str
    topic_id: str | None = None
    partitions: int | None = None


class Offset(NamedTuple):
    """The last committed offset of a partition; one is kept for each partition, so the number is bounded."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    topic_id: str | None = None
    expire_timestamp_ms: int | None = None
    """Until when its client asked to keep it (records of version 1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A consumer process as its own requests and callbacks show it; partitions by topic name, ascending.

    ``revoking`` is what it was asked to give up and what the coordinator still counts as its own.
    """

    owned: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    revoking: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    calling: str | None = None
    heartbeat_ms: int | None = None
    killed: bool = False
    """Its process is gone, and the coordinator still counts it among the members."""
    paused: bool = False
    cut: tuple[str, ...] = ()
    """Whom nothing passes to any more: brokers, or ``ANYBODY``."""
    fenced: str | None = None
    """The error that made it give everything up, until it joins again."""
    clock_ms: int = 0
    """How far its clock has jumped ahead."""
    computing: bool = False
    """Whether it was asked to run its assignor for the group (KIP-848's client-side assignors)."""
    rejoined: str | None = None
    """Of the classic protocol: the last of ``JoinGroup`` and ``SyncGroup`` that was answered without an error.

    In a consumer group a ``JoinGroup`` counts as soon as the coordinator has it (KIP-848, "Member States").
    """


ANYBODY: Final = "anybody"
"""In ``cut``: everybody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinator:
    """What is known of the broker that is the group's coordinator, since the first reported fail-over or cut."""

    name: str | None = None
    epoch: int | None = None
    loading_until_ms: int | None = None
    """Until when it reads the log and answers nobody."""
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timers:
    """Deadlines of one member on the coordinator's clock; ``session_timeout_ms`` is the length that was started."""

    session: int | None = None
    rebalance: int | None = None
    session_timeout_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """A rule that an entry broke, in words; ``kind`` is a stable identifier."""

    kind: str
    says: str
    member: str | None = None


@dataclass(frozen=True, kw_only=True)
class State:
    """The group after entry ``sequence``; see the module's docstring.

    ``protocol`` is ``None`` before the first record of the group. ``topics`` is by name, ``names`` by the newest id
    of each name: of two ids of one name, the older is nameless. ``seen_topic_ids`` and ``seen_topic_names`` hold
    what records spoke of, in order. ``anomalies`` are those of the last entry only.
    """

    group: str
    semantics: Semantics
    sequence: int = 0
    at_ms: int = 0
    protocol: Protocol | None = None
    release: Release = EARLIER
    """That of the broker that is the coordinator, as notes and fail-overs state it."""
    deleted: bool = False
    consumer: ConsumerGroup
    classic: ClassicGroup = field(default_factory=ClassicGroup)
    share: ShareGroup = field(default_factory=ShareGroup)
    streams: StreamsGroup = field(default_factory=StreamsGroup)
    topics: Mapping[str, Topic] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    former: Mapping[str, str] = field(default_factory=dict)
    """Id → the name that a topic had before it was deleted or made again."""
    partitions_by_id: Mapping[str, int] = field(default_factory=dict)
    seen_topic_ids: Mapping[str, None] = field(default_factory=dict)
    seen_topic_names: Mapping[str, None] = field(default_factory=dict)
    offsets: Mapping[str, Mapping[int, Offset]] = field(default_factory=dict)
    clients: Mapping[str, Client] | None = None
    timers: Mapping[str, Timers] | None = None
    coordinator: Coordinator | None = None
    consumption: Consumption | None = None
    """How far records are read; ``None`` where no source reports at what rate they are written."""
    partial: bool = False
    """Whether the group has a past that the log does not hold: what no record reported is then unknown, and not as in a new group."""
    anomalies: tuple[Anomaly, ...] = ()

    @property
    def modern(self) -> ModernGroup:
        """The group of the protocol that it follows; a consumer group where that is not known yet, or classic."""
        protocol = self.protocol
        if protocol is _SHARE:
            return self.share
        return self.streams if protocol is _STREAMS else self.consumer

    @property
    def wording(self) -> Wording:
        return wording(self.protocol, self.classic.protocol_type)

    def topic_name(self, topic_id: str) -> str:
        """The name of a topic id, or the id itself if the source does not report it."""
        return self.names.get(topic_id, topic_id)

    def topic_words(self, topic: str) -> str:
        """What sentences call a topic: ``old foo`` if it was deleted, or another one has its name now."""
        name = self.topic_name(topic)
        return f"old {self.former[name]}" if name in self.former else name

    def topic_id(self, name: str) -> str | None:
        topic = self.topics.get(name)
        return topic.topic_id if topic else None

    def with_simple_group(self) -> State:
        """The state after a commit: of a group that is absent it makes a simple classic one, as in Kafka."""
        if self.protocol is not None and not self.deleted:
            return self
        return replace(self, protocol=Protocol.CLASSIC, deleted=False)

    def note(self, kind: str, text: str, *, member: str | None = None) -> State:
        """The state with one more anomaly of this entry; beyond the bound it is dropped."""
        if len(self.anomalies) >= ANOMALIES_AN_ENTRY_MAX:
            return self
        return replace(self, anomalies=(*self.anomalies, Anomaly(kind=kind, says=text, member=member)))


def wording(protocol: str | None, protocol_type: str | None) -> Wording:
    """What members of a group have, in words; ``protocol_type`` is a classic group's."""
    if protocol == Protocol.CLASSIC and protocol_type == CONNECT_PROTOCOL_TYPE:
        return CONNECT_TASKS
    return TASKS if protocol == Protocol.STREAMS else PARTITIONS


def with_modern(state: State, group: ModernGroup) -> State:
    """The state with another group in place of ``state.modern``."""
    if isinstance(group, ConsumerGroup):
        return replace(state, consumer=group)
    if isinstance(group, ShareGroup):
        return replace(state, share=group)
    assert isinstance(group, StreamsGroup)
    return replace(state, streams=group)


def initial_state(
    group: str,
    semantics: Semantics | str = Semantics.KAFKA,
    protocol: Protocol | str | None = None,
    release: Release = EARLIER,
) -> State:
    """The state before the first entry. ``protocol`` may be given if it is known (a scenario contains it).

    ``release`` is for a coordinator's memory; a timeline's log contains it.
    """
    semantics = Semantics(semantics)
    return State(
        group=group,
        semantics=semantics,
        protocol=Protocol(protocol) if protocol is not None else None,
        release=release,
        consumer=fresh_consumer_group(kip=semantics is Semantics.KIP),
    )


def seen_ids(state: State, topic_ids: Iterable[str]) -> State:
    """The state that remembers which topic ids records spoke of, for the frame's topics."""
    new = [topic_id for topic_id in topic_ids if topic_id not in state.seen_topic_ids]
    if not new:
        return state
    state, new = _with_topics(state, len(state.seen_topic_ids), new)
    return replace(state, seen_topic_ids={**state.seen_topic_ids, **dict.fromkeys(new)})


def seen_names(state: State, names: Iterable[str]) -> State:
    """The same for topic names."""
    new = [name for name in names if name not in state.seen_topic_names]
    if not new:
        return state
    state, new = _with_topics(state, len(state.seen_topic_names), new)
    return replace(state, seen_topic_names={**state.seen_topic_names, **dict.fromkeys(new)})


def _with_topics(state: State, known: int, new: list[str]) -> tuple[State, list[str]]:
    """Those of ``new`` for which there is room, given how many are known, and an anomaly if not for all."""
    if known + len(new) <= TOPICS_A_GROUP_MAX:
        return state, new
    text = f"With {new[-1]} the group would have {known + len(new):,} topics; at most {TOPICS_A_GROUP_MAX:,} are believed."
    return state.note(PARTITION_COUNT, text), new[: TOPICS_A_GROUP_MAX - known]


def with_topic(
    state: State, name: str, *, topic_id: str | None = None, partitions: int | None = None
) -> State:
    """The state after a source reported a topic. ``None`` changes nothing; a new id makes a new topic."""
    old = state.topics.get(name)
    if old is None:
        state, room = _with_topics(state, len(state.topics), [name])
        if not room:
            return state
    state, partitions = _believed(state, name, partitions)
    if old is not None:
        same = topic_id is None or old.topic_id is None or old.topic_id == topic_id
        topic_id = topic_id or old.topic_id
        if partitions is None and same:
            partitions = old.partitions
    if partitions is None and topic_id is not None:
        partitions = state.partitions_by_id.get(topic_id)
    if partitions is not None and (old is None or partitions != old.partitions):
        state, partitions = _with_room(state, name, topic_id, partitions)
    new = Topic(name=name, topic_id=topic_id, partitions=partitions)
    if new == old:
        return state
    names, former = state.names, state.former
    if topic_id is not None and names.get(topic_id) != name:
        stale = old.topic_id if old is not None else None
        names = {known: of for known, of in names.items() if known != stale}
        names[topic_id] = name
        if stale is not None:
            former = {**former, stale: name}
    return replace(state, topics={**state.topics, name: new}, names=names, former=former)


def with_counted(state: State, topic_id: str, partitions: int) -> State:
    """The state after a source said how many partitions a topic has that it does not name."""
    if topic_id not in state.partitions_by_id:
        state, room = _with_topics(state, len(state.partitions_by_id), [topic_id])
        if not room:
            return state
    state, believed = _believed(state, topic_id, partitions)
    if believed is not None:
        state, believed = _with_room(state, None, topic_id, believed)
    if believed is None:
        return state
    return replace(state, partitions_by_id={**state.partitions_by_id, topic_id: believed})


def _believed(state: State, topic: str, partitions: int | None) -> tuple[State, int | None]:
    """A count of partitions, or ``None`` and an anomaly for one that no topic has."""
    if partitions is None or 0 <= partitions <= PARTITIONS_A_TOPIC_MAX:
        return state, partitions
    text = (
        f"{topic} is said to have {partitions:,} partitions; at most {PARTITIONS_A_TOPIC_MAX:,} are believed."
    )
    return state.note(PARTITION_COUNT, text), None


def _with_room(
    state: State, name: str | None, topic_id: str | None, partitions: int
) -> tuple[State, int | None]:
    """A topic's count of partitions, or ``None`` and an anomaly where all topics together would have more than is believed."""
    others = sum(topic.partitions or 0 for other, topic in state.topics.items() if other != name)
    counted = state.partitions_by_id.items()
    others += sum(count for each, count in counted if each != topic_id and each not in state.names)
    if others + partitions <= PARTITIONS_A_GROUP_MAX:
        return state, partitions
    text = (
        f"With the {partitions:,} partitions of {name or topic_id} the group's topics would have {others + partitions:,}; "
        f"at most {PARTITIONS_A_GROUP_MAX:,} are believed."
    )
    return state.note(PARTITION_COUNT, text), None


def without_topic(state: State, name: str) -> State:
    """The state after a topic was deleted: its id, where still held, has no name."""
    gone = state.topics.get(name)
    if gone is None:
        return state
    return replace(
        state,
        topics={other: topic for other, topic in state.topics.items() if other != name},
        names={known: of for known, of in state.names.items() if known != gone.topic_id},
        former={**state.former, gone.topic_id: name} if gone.topic_id is not None else state.former,
    )
