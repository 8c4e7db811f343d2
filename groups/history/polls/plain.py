"""A description as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from groups.history.polls.description import GroupDescription, MemberDescription, StreamsFacts


class PlainStreams(TypedDict):
    process_id: str
    topology_epoch: int
    standby: Mapping[str, list[int]]
    warmup: Mapping[str, list[int]]


class PlainMember(TypedDict):
    """``protocol``: of a consumer group's member, ``classic`` or ``consumer``.

    ``subscribed`` and ``assignment`` are null where their bytes cannot be decoded; ``unreadable`` has the reasons.
    """

    member_id: str
    client_id: str
    host: str
    instance_id: str | None
    rack_id: str | None
    epoch: int | None
    subscribed: list[str] | None
    regex: str | None
    assignment: Mapping[str, list[int]] | None
    target: Mapping[str, list[int]] | None
    protocol: str | None
    streams: NotRequired[PlainStreams]
    unreadable: NotRequired[Mapping[str, str]]


class PlainGroup(TypedDict):
    group: str
    type: str
    state: str
    group_epoch: int | None
    assignment_epoch: int | None
    assignor: str | None
    protocol_type: str | None
    members: list[PlainMember]


def plain(group: GroupDescription) -> PlainGroup:
    """The public form: partitions as lists, what a kind does not have as null."""
    return {
        "group": group.group,
        "type": group.kind.value,
        "state": group.state,
        "group_epoch": group.group_epoch,
        "assignment_epoch": group.assignment_epoch,
        "assignor": group.assignor or None,
        "protocol_type": group.protocol_type or None,
        "members": [_member(member) for member in group.members],
    }


def _member(member: MemberDescription) -> PlainMember:
    out: PlainMember = {
        "member_id": member.member_id,
        "client_id": member.client_id,
        "host": member.host,
        "instance_id": member.instance_id,
        "rack_id": member.rack_id,
        "epoch": member.epoch,
        "subscribed": None if "subscription" in member.unreadable else list(member.subscribed),
        "regex": member.regex,
        "assignment": None
        if "assignment" in member.unreadable
        else {topic: list(each) for topic, each in member.assignment.items()},
        "target": None
        if member.target is None
        else {topic: list(each) for topic, each in member.target.items()},
        "protocol": {0: "classic", 1: "consumer"}.get(member.member_type),
    }
    if member.streams is not None:
        out["streams"] = _streams(member.streams)
    if member.unreadable:
        out["unreadable"] = member.unreadable
    return out


def _streams(facts: StreamsFacts) -> PlainStreams:
    return {
        "process_id": facts.process_id,
        "topology_epoch": facts.topology_epoch,
        "standby": {name: list(each) for name, each in facts.tasks.standby.items()},
        "warmup": {name: list(each) for name, each in facts.tasks.warmup.items()},
    }
