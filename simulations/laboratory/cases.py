"""A case: the members and topics of a group, how it stood before, and what happens then."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MEMBERS_MOST: Final = 1_000
"""Before and after the event together: the six answers take a second, which a page may ask for."""

TOPICS_MOST: Final = 200
"""As many as Kafka's own benchmark has at most in one group, twice over; more heads have no place over a board."""

PARTITIONS_MOST: Final = 10_000
"""Of all topics together, after the event: the simulator's bound, so that what is compared can be played."""

SEED_MOST: Final = 2**53 - 1
"""The largest whole number that JavaScript keeps exactly, since a seed travels in links."""

NAME_MOST: Final = 249
"""Kafka's longest name of a topic; members here are held to the same."""

RACKS: Final = "abc"
"""The racks of a group that has any: replicas stand in two of the three, in turn."""

REPLICAS: Final = 2

NOBODY: Final = -1

TOPIC_NAMES: Final = (
    *("orders", "payments", "refunds", "shipments", "invoices", "customers"),
    *("stock", "prices", "carts", "clicks", "alerts", "audits"),
)
"""What the first topics are called where nobody names them; those behind are numbered."""


class Event(StrEnum):
    """What happens to the group."""

    FULL = "full"
    STABLE = "stable"
    JOIN = "join"
    LEAVE = "leave"
    GROW = "grow"


class Before(StrEnum):
    """How the group stood: all as the classic ``range`` left it, each as the assignor itself did, or as given."""

    RANGE = "range"
    OWN = "own"
    GIVEN = "given"


class CaseError(ValueError):
    """The case makes no sense or is beyond a bound: one line; ``field`` is where."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field

    def __reduce__(self) -> tuple[type[CaseError], tuple[str, str]]:
        return CaseError, (str(self), self.field)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """``topics`` are places in the case's list, ascending. Without a ``name`` it is called by its place.

    ``member_id`` is what assignors see where that is not the name.
    """

    topics: tuple[int, ...]
    rack: str | None = None
    name: str | None = None
    member_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTopic:
    """``partitions`` before the event."""

    partitions: int
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question to the six assignors.

    ``joining`` are the newcomers of the event ``join``, ``leaving`` the places of those who go at ``leave``, ``grown``
    the place of a topic and how many partitions it gets at ``grow``. ``given`` has the place of each partition's
    owner, topic by topic, or ``NOBODY``. ``seed`` counts where each assignor left the group itself.
    """

    members: tuple[Member, ...]
    topics: tuple[CaseTopic, ...]
    event: Event = Event.STABLE
    joining: tuple[Member, ...] = ()
    leaving: tuple[int, ...] = ()
    grown: tuple[int, int] | None = None
    before: Before = Before.RANGE
    given: tuple[tuple[int, ...], ...] | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        _check(self)

    @property
    def everybody(self) -> tuple[Member, ...]:
        """The lanes: who was there, then who joins."""
        return self.members + self.joining

    @property
    def names(self) -> tuple[str, ...]:
        """What everybody is called."""
        everybody = self.everybody
        usual = member_names(len(everybody))
        return tuple(member.name or name for member, name in zip(everybody, usual, strict=True))

    @property
    def ids(self) -> tuple[str, ...]:
        """What assignors see of everybody."""
        named = zip(self.everybody, self.names, strict=True)
        return tuple(member.member_id or name for member, name in named)

    @property
    def topic_names(self) -> tuple[str, ...]:
        return tuple(topic.name or topic_name(place) for place, topic in enumerate(self.topics))

    @property
    def present(self) -> tuple[int, ...]:
        """The places in ``everybody`` of those who are there after the event."""
        gone = set(self.leaving)
        return tuple(place for place in range(len(self.everybody)) if place not in gone)

    @property
    def sizes_before(self) -> tuple[int, ...]:
        return tuple(topic.partitions for topic in self.topics)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Partitions of each topic after the event."""
        sizes = list(self.sizes_before)
        if self.grown is not None:
            sizes[self.grown[0]] += self.grown[1]
        return tuple(sizes)

    @property
    def has_racks(self) -> bool:
        return any(member.rack for member in self.everybody)


def member_names(count: int) -> tuple[str, ...]:
    """What members are called that nobody named, sorted: letters as long as they reach."""
    if count <= len(string.ascii_uppercase):
        return tuple(string.ascii_uppercase[:count])
    return tuple(f"m{place + 1:0{len(str(count))}}" for place in range(count))


def topic_name(place: int) -> str:
    return TOPIC_NAMES[place] if place < len(TOPIC_NAMES) else f"topic-{place + 1:03}"


def check_size(members: int, partitions: Sequence[int]) -> None:
    """``CaseError`` for more members, topics or partitions (those of each topic) than the laboratory takes."""
    if members > MEMBERS_MOST:
        raise CaseError(f"{members:,} members are more than the laboratory's {MEMBERS_MOST:,}", "members")
    if len(partitions) > TOPICS_MOST:
        raise CaseError(f"{len(partitions):,} topics are more than the laboratory's {TOPICS_MOST}", "topics")
    total = sum(partitions)
    if total > PARTITIONS_MOST:
        raise CaseError(f"{total:,} partitions are more than the laboratory's {PARTITIONS_MOST:,}", "topics")


def _check(case: Case) -> None:
    everybody, topics = case.everybody, case.topics
    if not case.members:
        raise CaseError("a group needs at least one member", "members")
    if not topics:
        raise CaseError("a group needs at least one topic", "topics")
    check_size(len(everybody), case.sizes)
    for topic, name in zip(topics, case.topic_names, strict=True):
        if topic.partitions < 1:
            raise CaseError(f"{name} needs at least one partition", "topics")
    _check_names("topics", case.topic_names)
    _check_names("members", case.names)
    _check_names("members", case.ids)
    for member, name in zip(everybody, case.names, strict=True):
        if member.rack is not None and (len(member.rack) != 1 or member.rack not in RACKS):
            raise CaseError(f"{name} is in the rack {member.rack[:20]!r}; there are a, b and c", "members")
        if any(not 0 <= place < len(topics) for place in member.topics):
            raise CaseError(f"{name} subscribes to a topic that is not there", "members")
        if list(member.topics) != sorted(set(member.topics)):
            raise CaseError(f"the topics of {name} must be ascending, each once", "members")
    _check_event(case)
    _check_given(case)
    if not 0 <= case.seed <= SEED_MOST:
        raise CaseError(f"the seed must be from 0 to {SEED_MOST}", "seed")


def _check_names(field: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name or len(name) > NAME_MOST or not name.isprintable() or "," in name:
            raise CaseError(
                f"{name[:60]!r} is no name: 1 to {NAME_MOST} letters that can be printed, no comma", field
            )
        if name in seen:
            raise CaseError(f"two {field} are called {name}", field)
        seen.add(name)


def _check_event(case: Case) -> None:
    event = case.event
    if (event is Event.JOIN) != bool(case.joining):
        problem = (
            "join needs newcomers" if event is Event.JOIN else f"newcomers belong to join, not to {event}"
        )
        raise CaseError(problem, "event")
    if (event is Event.LEAVE) != bool(case.leaving):
        problem = "leave needs members who go" if event is Event.LEAVE else f"nobody goes at {event}"
        raise CaseError(problem, "event")
    if list(case.leaving) != sorted(set(case.leaving)) or any(
        not 0 <= place < len(case.members) for place in case.leaving
    ):
        raise CaseError(f"those who leave are places from 0 to {len(case.members) - 1}, each once", "event")
    if len(case.leaving) == len(case.members):
        raise CaseError("one member has to stay", "event")
    if (event is Event.GROW) != (case.grown is not None):
        problem = "grow needs a topic" if event is Event.GROW else f"no topic grows at {event}"
        raise CaseError(problem, "event")
    if case.grown is not None and not (0 <= case.grown[0] < len(case.topics) and case.grown[1] >= 1):
        raise CaseError("grow needs the place of a topic, and at least one partition more", "event")


def _check_given(case: Case) -> None:
    if (case.before is Before.GIVEN) != (case.given is not None):
        raise CaseError("how the group stood is given, or worked out, not both", "before")
    if case.given is None:
        return
    if [len(owners) for owners in case.given] != list(case.sizes_before):
        raise CaseError("how the group stood must name an owner for each partition of each topic", "before")
    for owners in case.given:
        if any(not NOBODY <= owner < len(case.members) for owner in owners):
            raise CaseError("a partition's owner before the event is no member of the group", "before")
