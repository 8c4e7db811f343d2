"""Reads ``start``: the epochs, members and assignments that a run begins from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulations.protocol.coordinator.settings import MAX_INT
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.topics import read_partition
from simulations.world.scenario.values import (
    OFFSET_MAX,
    UNTIL_MAX_MS,
    Member,
    ScenarioTopic,
    Start,
    StartMember,
)

NEEDED: Final = ("group_epoch", "assignment_epoch", "members")
KEYS: Final = (*NEEDED, "offsets")
MEMBER_KEYS: Final = ("epoch", "owned", "target", "heartbeat_at")


def read_start(
    node: Node, topics: Mapping[str, ScenarioTopic], members: Mapping[str, Member]
) -> Start | None:
    """The state, or ``None`` for an empty mapping: a group that is not there yet."""
    keys = node.mapping(KEYS)
    if not keys:
        return None
    for key in NEEDED:
        if key not in keys:
            raise node.wrong(f"a start needs {key}")
    group_epoch = keys["group_epoch"].integer(1, MAX_INT)
    assignment_epoch = keys["assignment_epoch"].integer(1, group_epoch, "no target is ahead of its group")
    owned: dict[tuple[str, int], str] = {}
    targeted: dict[tuple[str, int], str] = {}
    started: list[StartMember] = []
    instances: dict[str, str] = {}
    for name, part in keys["members"].mapping(members).items():
        instance_id = members[name].instance_id
        holder = instances.setdefault(instance_id, name) if instance_id is not None else name
        if holder != name:
            raise part.wrong(f"instance {instance_id} is held by {holder} already; only one can have it")
        found = part.mapping(MEMBER_KEYS)
        if "epoch" not in found:
            raise part.wrong("a member at the start needs epoch")
        owns = _partitions(found["owned"], topics, name, owned) if "owned" in found else {}
        target = _partitions(found["target"], topics, name, targeted) if "target" in found else owns
        started.append(
            StartMember(
                name=name,
                epoch=found["epoch"].integer(0, assignment_epoch, "no member is ahead of the target"),
                owned=owns,
                target=target,
                heartbeat_ms=(
                    found["heartbeat_at"].duration_ms(UNTIL_MAX_MS) if "heartbeat_at" in found else None
                ),
            )
        )
    return Start(
        group_epoch=group_epoch,
        assignment_epoch=assignment_epoch,
        members=tuple(started),
        offsets=_offsets(keys["offsets"], topics) if "offsets" in keys else {},
    )


def _offsets(node: Node, topics: Mapping[str, ScenarioTopic]) -> dict[str, dict[int, int]]:
    """Topic → partition → committed offset."""
    offsets: dict[str, dict[int, int]] = {}
    for topic, part in node.mapping(topics).items():
        offsets[topic] = {}
        for key, value in part.mapping().items():
            partition = read_partition(key, value, topics[topic].partitions)
            if partition in offsets[topic]:
                raise value.wrong(f"partition {partition} stands twice")
            offsets[topic][partition] = value.integer(0, OFFSET_MAX)
    return offsets


def _partitions(
    node: Node, topics: Mapping[str, ScenarioTopic], name: str, taken: dict[tuple[str, int], str]
) -> dict[str, tuple[int, ...]]:
    """Topic → partitions, in document order; none beyond its topic, none with two owners."""
    result: dict[str, tuple[int, ...]] = {}
    for topic, part in node.mapping(topics).items():
        numbers: list[int] = []
        for item in part.items():
            number = item.integer(0, topics[topic].partitions - 1, f"{topic} has no other partitions")
            holder = taken.setdefault((topic, number), name)
            if holder != name or number in numbers:
                raise item.wrong(f"{topic}-{number} is given to {holder} already")
            numbers.append(number)
        result[topic] = tuple(numbers)
    return result
