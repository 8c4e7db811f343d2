"""The parts of a drawn scenario, in the form of a scenario file."""

from __future__ import annotations

from typing import NotRequired, TypedDict

Line = dict[str, object]
"""A line of a script: its time under ``at``, its verb with who, and what the verb needs. Only a scenario's reader takes it apart."""


class TopicDocument(TypedDict):
    """``racks``: of each partition's replicas."""

    partitions: int
    racks: NotRequired[dict[str, list[str]]]
    rate: NotRequired[int]


class MemberDocument(TypedDict, total=False):
    """A member, or what a bounce sets otherwise."""

    subscribe: list[str]
    regex: str
    rebalance_timeout_ms: int
    callback_ms: int
    instance_id: str
    rack_id: str
    auto_commit: bool
    auto_commit_interval_ms: int
    assignor: str
    protocol: str
    client: str
    """This and what follows: of the classic protocol alone."""
    assignors: list[str]
    session_timeout_ms: int
    heartbeat_interval_ms: int
    metadata_max_age_ms: int
    revoke_commits: bool


class Document(TypedDict):
    """A whole scenario."""

    title: str
    group: str
    semantics: str
    brokers: NotRequired[str]
    assignor: str
    topics: dict[str, TopicDocument]
    config: dict[str, int | str]
    members: dict[str, MemberDocument]
    network: dict[str, list[int] | float]
    replication_ms: int
    metadata_delay_ms: int
    script: list[Line]
    deny: NotRequired[list[dict[str, str]]]
    seed: int
    until: NotRequired[str]
