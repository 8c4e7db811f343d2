"""Reads ``deny``: rights that a member's principal lacks, as a cluster's ACLs deny them. Whatever is not denied is allowed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from simulations.world.scenario.nodes import Node

DENIALS_MAX: Final = 10_000
"""As many as lines of a script: more is a program's output."""

KEYS: Final = ("member", "operation", "group", "topic")


class Operation(StrEnum):
    """Kafka's ``AclOperation``, of those that a consumer needs. To be denied one denies no other."""

    READ = "read"
    DESCRIBE = "describe"


class Resource(StrEnum):
    """Kafka's ``ResourceType``."""

    GROUP = "group"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Right:
    """To do ``operation`` with the group, or the topic, of this name."""

    operation: Operation
    resource: Resource
    name: str

    def __str__(self) -> str:
        return f"{self.operation} on the {self.resource} {self.name}"


Denial = tuple[str, Right]
"""A member, and what its principal may not do."""


def read_denials(
    node: Node, group: str, members: Collection[str], topics: Collection[str]
) -> tuple[Denial, ...]:
    """``[{member: A, operation: read, topic: orders}]``; ``member`` may be a list."""
    items = node.items()
    denials: dict[Denial, None] = {}
    for item in items:
        found = item.mapping(KEYS)
        for key in ("member", "operation"):
            if key not in found:
                raise item.wrong(
                    f"a denial needs {key}, such as {{member: A, operation: read, group: {group}}}"
                )
        if ("group" in found) == ("topic" in found):
            raise item.wrong("a denial names a group or a topic, and only one of them")
        operation = read_operation(found["operation"])
        if "group" in found:
            right = Right(operation, Resource.GROUP, found["group"].choice((group,), "group"))
        else:
            right = Right(operation, Resource.TOPIC, found["topic"].choice(tuple(topics), "topic"))
        for each in found["member"].each():
            member = each.choice(tuple(members), "member")
            if (member, right) in denials:
                raise each.wrong(f"{member} is denied {right} already")
            denials[member, right] = None
            if len(denials) > DENIALS_MAX:
                raise node.wrong(f"at most {DENIALS_MAX} denials")
    return tuple(denials)


def read_operation(node: Node) -> Operation:
    return Operation(node.choice(tuple(Operation), "operation"))
