"""Reads ``topics``: names as Kafka takes them, partitions, ids and the racks of replicas."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from simulations.protocol.client.expressions import fault
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.values import PARTITIONS_MAX, ScenarioTopic

TOPIC_KEYS: Final = ("partitions", "id", "racks", "rate")

NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka takes as a topic's name; members and groups here are held to the same."""

TOPIC_ID: Final = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")

REPLICAS_MAX: Final = 10
"""Racks of one partition: a topic of more replicas than this is no topic that anybody has."""

RATE_MAX: Final = 1_000_000
"""Records a second of one partition: no disk takes more."""

REGEX_MAX: Final = 1_000
"""Characters of an expression: time to match grows with it, and one of this length names every topic singly."""


def read_topics(node: Node) -> dict[str, ScenarioTopic]:
    """Topic by name; at least one."""
    topics: dict[str, ScenarioTopic] = {}
    total = 0
    for name, part in node.mapping().items():
        check_name(name, part, "a topic")
        found = part.mapping(TOPIC_KEYS, needs=("partitions",), what="a topic")
        partitions = found["partitions"].integer(1, PARTITIONS_MAX)
        total += partitions
        if total > PARTITIONS_MAX:
            raise part.wrong(f"all topics together have at most {PARTITIONS_MAX} partitions")
        topics[name] = ScenarioTopic(
            name=name,
            partitions=partitions,
            topic_id=found.read("id", read_topic_id, None),
            racks=read_racks(found["racks"], partitions) if "racks" in found else {},
            rate=found.read("rate", read_rate, None),
        )
    if not topics:
        raise node.wrong("a scenario needs at least one topic")
    return topics


def check_name(name: str, node: Node, what: str) -> None:
    """Refuse a name that Kafka would not take."""
    if not NAME.fullmatch(name):
        raise node.wrong(f"{what} is named with letters, digits, '.', '_' and '-', not {name[:80]!r}")


def read_name(node: Node, what: str) -> str:
    name = node.text()
    check_name(name, node, what)
    return name


def read_owned(
    node: Node, sizes: Mapping[str, int], name: str, taken: dict[tuple[str, int], str]
) -> dict[str, tuple[int, ...]]:
    """Topic → partitions, in document order; none beyond its topic's size, none that is ``taken`` by then: partition → owner."""
    owned: dict[str, tuple[int, ...]] = {}
    for topic, part in node.mapping(sizes).items():
        numbers: list[int] = []
        for item in part.items():
            number = item.integer(0, sizes[topic] - 1, f"{topic} has no other partitions")
            holder = taken.setdefault((topic, number), name)
            if holder != name or number in numbers:
                raise item.wrong(f"{topic}-{number} is given to {holder} already")
            numbers.append(number)
        owned[topic] = tuple(numbers)
    return owned


def read_topic_names(node: Node, topics: Collection[str]) -> tuple[str, ...]:
    """A list of topics that are in ``topics``; one may be there twice."""
    return tuple(item.choice(tuple(topics), "topic") for item in node.items())


def read_topic_id(node: Node) -> str:
    topic_id = node.text()
    if not TOPIC_ID.fullmatch(topic_id):
        raise node.wrong("a topic id is 22 characters of Kafka's base64")
    return topic_id


def read_rate(node: Node) -> int:
    """Records a second that each partition gets."""
    return node.integer(1, RATE_MAX)


def read_racks(node: Node, partitions: int = PARTITIONS_MAX) -> dict[int, tuple[str, ...]]:
    """Partition → racks of its replicas; partitions that are left out have none."""
    racks: dict[int, tuple[str, ...]] = {}
    for key, part in node.mapping().items():
        partition = read_partition(key, part, partitions)
        if partition in racks:
            raise part.wrong(f"partition {partition} stands twice")
        items = part.items()
        if len(items) > REPLICAS_MAX:
            raise part.wrong(f"at most {REPLICAS_MAX} replicas, these are {len(items)}")
        racks[partition] = tuple(read_name(item, "a rack") for item in items)
    return racks


def read_partition(key: str, node: Node, partitions: int) -> int:
    """The key of a mapping as a partition; ``node`` is what is under it."""
    if not key.isascii() or not key.isdecimal() or len(key) > 5 or int(key) >= partitions:
        raise node.wrong(f"expected a partition, 0 to {partitions - 1}, as the key, found {key!r}")
    return int(key)


def read_regex(node: Node) -> str:
    """The expression as it is written; whether it compiles is for the coordinator to say."""
    regex = node.text()
    if len(regex) > REGEX_MAX:
        raise node.wrong(f"an expression has at most {REGEX_MAX} characters, this has {len(regex)}")
    return regex


def compiles(node: Node) -> None:
    """``ScenarioError`` unless a classic consumer, which matches topics itself, could subscribe by this expression."""
    wrong = fault(node.text())
    if wrong is not None:
        raise node.wrong(
            f"a classic consumer subscribes by an expression that RE2 knows, without look-around or references back: {wrong}"
        )
