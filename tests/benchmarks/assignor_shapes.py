"""Groups to assign, of the shapes and events of Kafka's own benchmarks (``jmh-benchmarks``, assignors).

Topics and members are numbered; all topics have the same number of partitions. Members of unequal subscriptions fall into
five buckets, as do the topics, and read their bucket's. Racks are three, two of them with a replica of each partition: with
all three Kafka's assignors would find that racks make no difference, and leave them out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from groups.wire.embedded.user_data import encode_sticky
from simulations.protocol.assignors import ASSIGNORS
from simulations.protocol.assignors.spec_document import read_spec

BUCKETS: Final = 5
RACKS: Final = ("rack0", "rack1", "rack2")
COPIES: Final = 2
GENERATION: Final = 1

EVENTS: Final = ("full", "stable", "join one", "leave one")
GOAL_SHAPES: Final = ((1_000, 1_000, 100_000), (10_000, 100, 100_000))
SMALL_SHAPES: Final = ((100, 100, 1_000), (1_000, 100, 10_000))
LARGEST: Final = (1_000, 1_000, 1_000_000)

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the table: an assignor, a group and what happens to it."""

    protocol: str
    assignor: str
    members: int
    topics: int
    partitions: int
    event: str
    equal: bool = True
    racks: bool = False

    @property
    def name(self) -> str:
        return f"{self.protocol} {self.assignor}{', racks' if self.racks else ''}"

    @property
    def shape(self) -> str:
        return f"{self.members:,} × {self.topics:,} × {self.partitions:,}"

    @property
    def subscriptions(self) -> str:
        return "equal" if self.equal else "unequal"

    def document(self) -> Document:
        """The assignment spec: what is owned is what the assignor itself answered before the event."""
        if self.event == "full":
            return self._fresh(self.members)
        before = self.members + {"stable": 0, "join one": -1, "leave one": 1}[self.event]
        document = self._fresh(before)
        spec = read_spec(document)
        answered = ASSIGNORS[self.protocol][self.assignor]().assign(spec.group)
        settled = answered.members if answered.intended is None else answered.intended
        for member_id, member in document["members"].items():
            self._own(member, {topic: list(told) for topic, told in settled.get(member_id, {}).items()})
        if self.event == "leave one":
            del document["members"][f"member-{before // 2}"]
        if self.event == "join one":
            document["members"]["new-member"] = self._member(before - 1, before)
        return document

    def _fresh(self, members: int) -> Document:
        return {
            "protocol": self.protocol,
            "assignor": self.assignor,
            "topics": {f"topic-{i}": self._topic(i) for i in range(self.topics)},
            "members": {f"member-{i}": self._member(i, members) for i in range(members)},
        }

    def _topic(self, number: int) -> Document:
        partitions = self.partitions // self.topics + (number < self.partitions % self.topics)
        if not self.racks:
            return {"partitions": partitions}
        racks = {
            str(p): [RACKS[(p + copy) % len(RACKS)] for copy in range(COPIES)] for p in range(partitions)
        }
        return {"partitions": partitions, "racks": racks}

    def _member(self, number: int, members: int) -> Document:
        first, last = 0, self.topics
        if not self.equal:
            width = -(-self.topics // BUCKETS)
            first = width * (number // -(-members // BUCKETS))
            last = min(first + width, self.topics)
        member: Document = {"subscribed_topics": [f"topic-{i}" for i in range(first, last)]}
        if self.racks:
            member["rack_id"] = RACKS[number % len(RACKS)]
        return member

    def _own(self, member: Document, owned: dict[str, list[int]]) -> None:
        if self.protocol == "classic":
            member["generation"] = GENERATION
        if self.assignor != "sticky":
            member["owned"] = owned
            return
        # An eager client owns nothing when it joins again: what it had stands in the assignor's user data.
        previous = [{"topic": topic, "partitions": told} for topic, told in owned.items()]
        data = encode_sticky({"version": 1, "previousAssignment": previous, "generation": GENERATION})
        member["user_data"] = data.hex()


def cells(*, everything: bool) -> list[Cell]:
    """The usual cells, which take a few minutes; or all of them, of which some take Java a minute for one call."""
    chosen: list[Cell] = []
    for shape in (*SMALL_SHAPES, *GOAL_SHAPES, LARGEST) if everything else GOAL_SHAPES:
        for protocol, assignor in WAYS:
            if everything or shape == GOAL_SHAPES[0] or assignor == "uniform":
                chosen += _of(protocol, assignor, shape, everything=everything)
    return [cell for cell in chosen if cell.assignor in ASSIGNORS.get(cell.protocol, {})]


WAYS: Final = (
    ("consumer", "uniform"),
    ("consumer", "range"),
    ("classic", "range"),
    ("classic", "roundrobin"),
    ("classic", "sticky"),
    ("classic", "cooperative-sticky"),
)
LOOKS_AT_OWNED: Final = ("uniform", "sticky", "cooperative-sticky")
USES_RACKS: Final = ("range", "sticky", "cooperative-sticky")
QUADRATIC_IN_JAVA: Final = ("sticky", "cooperative-sticky")
"""With unequal subscriptions; most of a minute for a call at the goals' size."""


def _of(protocol: str, assignor: str, shape: tuple[int, int, int], *, everything: bool) -> Iterator[Cell]:
    events: tuple[str, ...] = EVENTS if everything else ("full", "join one")
    with_racks = (False, True) if protocol == "classic" and assignor in USES_RACKS else (False,)
    for equal, racks in product((True, False), with_racks):
        members, topics, partitions = shape
        if not everything and not equal and assignor in QUADRATIC_IN_JAVA:
            members, topics, partitions = SMALL_SHAPES[1]
        for event in events if assignor in LOOKS_AT_OWNED else EVENTS[:1]:
            if racks and not everything and (event != "full" or not equal):
                continue
            yield Cell(
                protocol=protocol,
                assignor=assignor,
                members=members,
                topics=topics,
                partitions=partitions,
                event=event,
                equal=equal,
                racks=racks,
            )
