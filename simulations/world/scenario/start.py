"""Reads ``start``: the epochs, members and assignments that a run begins from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulations.protocol.coordinator.settings import MAX_INT
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.topics import read_owned, read_partition
from simulations.world.scenario.values import (
    OFFSET_MAX,
    UNTIL_MAX_MS,
    ClassicStart,
    Member,
    ScenarioTopic,
    Start,
    StartMember,
)

NEEDED: Final = ("group_epoch", "assignment_epoch", "members")
KEYS: Final = (*NEEDED, "offsets")
CLASSIC_KEYS: Final = ("generation", "leader", "members", "offsets")
"""Of a classic group's start."""

MEMBER_KEYS: Final = ("epoch", "owned", "target", "heartbeat_at", "revoking", "previous_epoch")


def read_start(
    node: Node, topics: Mapping[str, ScenarioTopic], members: Mapping[str, Member]
) -> Start | None:
    """The state, or ``None`` for an empty mapping: a group that is not there yet."""
    if not node.mapping():
        return None
    keys = node.mapping(KEYS, needs=NEEDED, what="a start")
    group_epoch = keys["group_epoch"].integer(1, MAX_INT)
    assignment_epoch = keys["assignment_epoch"].integer(1, group_epoch, "no target is ahead of its group")
    sizes = _sizes(topics)
    owned: dict[tuple[str, int], str] = {}
    targeted: dict[tuple[str, int], str] = {}
    started: list[StartMember] = []
    instances: dict[str, str] = {}
    for name, part in keys["members"].mapping(members).items():
        instance_id = members[name].instance_id
        holder = instances.setdefault(instance_id, name) if instance_id is not None else name
        if holder != name:
            raise part.wrong(f"instance {instance_id} is held by {holder} already; only one can have it")
        found = part.mapping(MEMBER_KEYS, needs=("epoch",), what="a member at the start")
        owns = read_owned(found["owned"], sizes, name, owned) if "owned" in found else {}
        revoking = read_owned(found["revoking"], sizes, name, owned) if "revoking" in found else {}
        target = read_owned(found["target"], sizes, name, targeted) if "target" in found else owns
        epoch = found["epoch"].integer(0, assignment_epoch, "no member is ahead of the target")
        started.append(
            StartMember(
                name=name,
                epoch=epoch,
                owned=owns,
                target=target,
                heartbeat_ms=found.read("heartbeat_at", lambda at: at.duration_ms(UNTIL_MAX_MS), None),
                revoking=revoking,
                previous_epoch=(
                    found["previous_epoch"].integer(-1, epoch, "it had this epoch before")
                    if "previous_epoch" in found
                    else None
                ),
            )
        )
    return Start(
        group_epoch=group_epoch,
        assignment_epoch=assignment_epoch,
        members=tuple(started),
        offsets=_offsets(keys["offsets"], topics) if "offsets" in keys else {},
    )


def read_classic_start(
    node: Node, topics: Mapping[str, ScenarioTopic], members: Mapping[str, Member]
) -> ClassicStart:
    """A classic group that is there already: its generation, its leader, and what each member was given."""
    keys = node.mapping(CLASSIC_KEYS, needs=("generation", "members"), what="a start of a classic group")
    sizes = _sizes(topics)
    taken: dict[tuple[str, int], str] = {}
    instances: dict[str, str] = {}
    owned: dict[str, Mapping[str, tuple[int, ...]]] = {}
    for name, part in keys["members"].mapping(members).items():
        if members[name].classic is None:
            raise part.wrong(f"{name} is of the consumer protocol: it joins in the script")
        instance_id = members[name].instance_id
        holder = instances.setdefault(instance_id, name) if instance_id is not None else name
        if holder != name:
            raise part.wrong(f"instance {instance_id} is held by {holder} already; only one can have it")
        found = part.mapping(("owned",))
        owned[name] = read_owned(found["owned"], sizes, name, taken) if "owned" in found else {}
    if not owned:
        raise keys["members"].wrong("a classic group that is there has at least one member")
    common = set.intersection(*(set(_assignors(members[name])) for name in owned))
    if not common:
        raise keys["members"].wrong(
            "no assignor is listed by all members of the start; there is no such group"
        )
    return ClassicStart(
        generation=keys["generation"].integer(1, MAX_INT - 1),
        leader=keys["leader"].choice(tuple(owned), "member of the start")
        if "leader" in keys
        else next(iter(owned)),
        owned=owned,
        offsets=_offsets(keys["offsets"], topics) if "offsets" in keys else {},
    )


def _sizes(topics: Mapping[str, ScenarioTopic]) -> dict[str, int]:
    return {name: topic.partitions for name, topic in topics.items()}


def _assignors(member: Member) -> tuple[str, ...]:
    assert member.classic is not None
    return member.classic.assignors


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
