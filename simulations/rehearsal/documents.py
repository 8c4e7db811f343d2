"""A group's description as ``reading.question_of`` takes it, written: by a moment of a timeline, and by a question itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from simulations.fork.group_of_frame import StartDocument


class MemberDocument(TypedDict):
    """A member; what is not given has its usual value. ``assignors`` of members of the classic protocol alone, ``remote_assignor`` of the others."""

    subscribe: list[str]
    protocol: str
    client: str
    assignors: NotRequired[list[str]]
    remote_assignor: NotRequired[str]
    instance_id: NotRequired[str]
    session_timeout_ms: NotRequired[int]
    rebalance_timeout_ms: NotRequired[int]


class GroupDocument(TypedDict):
    """``topics``: how many partitions each has; ``assumed``: sentences on what was not given."""

    group: str
    topics: Mapping[str, int]
    members: dict[str, MemberDocument]
    start: NotRequired[StartDocument]
    assumed: NotRequired[list[str]]


class QuestionDocument(GroupDocument):
    """With what is wished; ``timeline`` and ``at`` name the moment that the group was taken from."""

    to: str
    brokers: str
    new_brokers: NotRequired[str]
    new_client: str
    migration_policy: str
    at_once: int
    away_ms: int
    turn_after: NotRequired[int]
    server_assignor: NotRequired[str]
    timeline: NotRequired[str]
    at: NotRequired[int]
