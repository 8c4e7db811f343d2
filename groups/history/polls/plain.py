"""A description as JSON."""

from __future__ import annotations

from typing import Any

from groups.history.polls.description import GroupDescription, MemberDescription, StreamsFacts


def plain(group: GroupDescription) -> dict[str, Any]:
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


def _member(member: MemberDescription) -> dict[str, Any]:
    out: dict[str, Any] = {
        "member_id": member.member_id,
        "client_id": member.client_id,
        "host": member.host,
        "instance_id": member.instance_id,
        "rack_id": member.rack_id,
        "epoch": member.epoch,
        "subscribed": list(member.subscribed),
        "regex": member.regex,
        "assignment": {topic: list(each) for topic, each in member.assignment.items()},
        "target": None
        if member.target is None
        else {topic: list(each) for topic, each in member.target.items()},
        "protocol": {0: "classic", 1: "consumer"}.get(member.member_type),
    }
    return out if member.streams is None else out | {"streams": _streams(member.streams)}


def _streams(facts: StreamsFacts) -> dict[str, Any]:
    return {
        "process_id": facts.process_id,
        "topology_epoch": facts.topology_epoch,
        "standby": {name: list(each) for name, each in facts.tasks.standby.items()},
        "warmup": {name: list(each) for name, each in facts.tasks.warmup.items()},
    }
