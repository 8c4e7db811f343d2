"""Reads ``targets``: what an assignor that follows a script answers, by epoch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from simulations.protocol.assignors.scripted import SCRIPTED, ScriptedAssignor, ScriptedTarget
from simulations.protocol.coordinator.settings import MAX_INT, Settings
from simulations.world.scenario.errors import ScenarioError
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.values import PARTITIONS_MAX

FAILS: Final = "fails"
"""In place of a target: the assignor throws."""

DIGITS: Final = len(str(MAX_INT))


def read_targets(
    node: Node | None, settings: Settings, members: Collection[str], topics: Collection[str], line: int
) -> ScriptedAssignor | None:
    """The assignor, if it is asked for; ``line`` is that of ``assignor``."""
    asked = settings.assignors[0] == SCRIPTED
    if node is None:
        if asked:
            raise ScenarioError(line, "targets", "assignor: scripted needs targets, by epoch")
        return None
    if not asked:
        raise node.wrong("targets are for assignor: scripted")
    targets: dict[int, ScriptedTarget | None] = {}
    for key, part in node.mapping().items():
        if not key.isascii() or not key.isdecimal() or len(key) > DIGITS or not 1 <= int(key) <= MAX_INT:
            raise part.wrong(f"targets stand under an epoch, 1 or more, not {key!r}")
        if int(key) in targets:
            raise part.wrong(f"epoch {int(key)} stands twice")
        targets[int(key)] = None if part.kind == "text" else _target(part, members, topics)
        if part.kind == "text":
            part.choice((FAILS,), "target")
    return ScriptedAssignor(targets=targets)


def _target(node: Node, members: Collection[str], topics: Collection[str]) -> ScriptedTarget:
    """Member → topic → partitions; a restarted member is named as such, ``A~2``. No partition is given twice."""
    taken: dict[tuple[str, int], str] = {}
    target: dict[str, Mapping[str, tuple[int, ...]]] = {}
    for member, part in node.mapping().items():
        if member.partition("~")[0] not in members:
            raise part.wrong(f"unknown member {member}; there are {', '.join(members)}")
        owned: dict[str, tuple[int, ...]] = {}
        for topic, listed in part.mapping(tuple(topics)).items():
            numbers = tuple(item.integer(0, PARTITIONS_MAX - 1) for item in listed.items())
            for number in numbers:
                holder = taken.setdefault((topic, number), member)
                if holder != member or numbers.count(number) > 1:
                    raise listed.wrong(f"{topic}-{number} is given to {holder} already")
            owned[topic] = numbers
        target[member] = owned
    return target
