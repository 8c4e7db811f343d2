"""Values of the records that lines of logs make of a group."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from groups.texts.found import LogEvent
from groups.texts.one_axis import number
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription

Partitions = dict[str, list[int]]
Value = dict[str, object]

_PART: Final = re.compile(r"(?<![A-Za-z0-9._-])([A-Za-z0-9._-]+)-(\d{1,9})(?![\w-])")
CALLBACKS: Final = {
    "assigned_partitions": "gets",
    "revoked_partitions": "gives up",
    "lost_partitions": "loses",
}
"""What a client logs of its partitions. It is no callback entry: a client that went without a line would be thought to have them still."""

_BY_ID: Final = re.compile(r"(?<![\w.-])([\w.-]+)\([^)]{0,99}\)\[(\d{1,9})\]")
_GIVEN: Final = re.compile(r"(?<![^\s,{}=])([^\s,{}=]+)=Assignment\(partitions=\[([^\[\]]*)\]")

Facts = Mapping[str, str]
"""What a member's own request contains, by Kafka's field names; empty where only lines name it."""


def given_to_clients(events: Iterable[LogEvent]) -> dict[int, dict[str, Partitions]]:
    """Generation → member → what its client had, by its own lines. Those of cooperative groups add to what they have."""
    joined: dict[str, tuple[int, str]] = {}
    held: dict[str, Partitions] = {}
    found: dict[int, dict[str, Partitions]] = {}
    for event in events:
        generation, member = number(event.fields.get("generation")), event.fields.get("member")
        if event.what in ("joined_generation", "synced") and generation is not None and member:
            joined[event.source] = generation, member
        if event.what not in CALLBACKS or event.source not in joined:
            continue
        given, had = partitions(event.fields.get("partitions", "")), held.get(event.source, {})
        takes = event.what == "assigned_partitions"
        now: Partitions = {}
        for topic in {*had, *given}:
            before, change = set(had.get(topic, ())), set(given.get(topic, ()))
            if some := sorted(before | change if takes else before - change):
                now[topic] = some
        held[event.source] = now
        if takes:
            generation, member = joined[event.source]
            found.setdefault(generation, {}).setdefault(member, now)
    return found


def classic_group(
    generation: int,
    at_ms: int,
    members: Mapping[str, tuple[str, Partitions | None, Facts]],
    topics: Sequence[str],
    *,
    protocol: str = "",
    leader: str | None = None,
) -> Value:
    """A generation of a classic group. ``members``: client, partitions (null where no line has them), and facts."""
    fields = {"version": 0, "topics": list(topics), "userData": None}
    subscription = _bytes(encode_subscription(fields)) if topics else ""
    rows = [
        {
            "memberId": member,
            "groupInstanceId": facts.get("groupInstanceId"),
            "clientId": client,
            "clientHost": facts.get("clientHost", ""),
            "rebalanceTimeout": int(facts.get("rebalanceTimeoutMs", -1)),
            "sessionTimeout": int(facts.get("sessionTimeoutMs", -1)),
            "subscription": subscription,
            "assignment": "" if given is None else _assignment(given),
        }
        for member, (client, given, facts) in sorted(members.items())
    ]
    return {
        "protocolType": "consumer",
        "generation": generation,
        "protocol": protocol or None,
        "leader": leader,
        "currentStateTimestamp": at_ms,
        "members": rows,
    }


def rebalance_under_way(state: str, clients: Mapping[str, str]) -> Value:
    """An observation of a classic group between two generations. ``clients``: of its members, as far as lines name them."""
    return {
        "observation": "described",
        "state": state,
        "type": "classic",
        "members": [
            {"memberId": member, "groupInstanceId": None, "clientId": client, "clientHost": ""}
            for member, client in sorted(clients.items())
        ],
        "polled_before_ms": None,
    }


def member_metadata(client: str, topics: Sequence[str], facts: Facts) -> Value:
    """A member of a consumer group as far as lines have it."""
    return {
        "instanceId": facts.get("instanceId"),
        "rackId": facts.get("rackId"),
        "clientId": client,
        "clientHost": facts.get("clientHost", ""),
        "subscribedTopicNames": list(topics),
        "subscribedTopicRegex": None,
        "rebalanceTimeoutMs": int(facts.get("rebalanceTimeoutMs", -1)),
        "serverAssignor": None,
        "classicMemberMetadata": None,
    }


def current_assignment(epoch: int, before: int, rows: list[Value]) -> Value:
    """What a member of a consumer group has."""
    return {
        "memberEpoch": epoch,
        "previousMemberEpoch": before,
        "state": 0,
        "assignedPartitions": rows,
        "partitionsPendingRevocation": [],
    }


def partitions(text: str) -> Partitions:
    """Partitions as clients print them.

    >>> partitions("orders-0, orders-1, a-b-7")
    {'orders': [0, 1], 'a-b': [7]}
    """
    found: Partitions = {}
    for topic, index in _PART.findall(text):
        found.setdefault(topic, []).append(int(index))
    return found


def partitions_by_id(text: str) -> Partitions:
    """Partitions as librdkafka prints them: name, id and number."""
    found: Partitions = {}
    for topic, index in _BY_ID.findall(text):
        found.setdefault(topic, []).append(int(index))
    return found


def given_by_leader(text: str) -> dict[str, Partitions]:
    """Member → partitions, as a Java leader prints what it assigns."""
    return {found[1]: partitions(found[2]) for found in _GIVEN.finditer(text)}


def _assignment(given: Partitions) -> str:
    rows = [{"topic": topic, "partitions": sorted(some)} for topic, some in sorted(given.items())]
    return _bytes(encode_assignment({"version": 0, "assignedPartitions": rows, "userData": None}))


def _bytes(data: bytes) -> str:
    return base64.b64encode(data).decode()


_REFUSALS: Final = (
    (22, "generation id is not valid"),
    (25, "not aware of this member"),
    (25, "unknown member"),
    (27, "rebalanc"),
    (82, "group.instance.id"),
    (82, "static consumer fenced"),
    (110, "epoch is fenced"),
    (110, "fenced by group coordinator"),
    (113, "epoch is stale"),
    (113, "stale member epoch"),
)
"""Kafka's errors by words of the sentences with which Java's client and librdkafka name them."""

_AT: Final = re.compile(r"([\w.-]{1,249})(?:\(\S{0,99}?\))?\[(\d{1,9})\]@(\d{1,19})")


def refused_commits(fields: Mapping[str, str]) -> tuple[int, list[tuple[str, int, int]]] | None:
    """The error, and the commits by topic, partition and offset; null where the refusal is of another kind: a broker, a right, a time."""
    why = fields["why"].lower()
    code = next((code for code, words in _REFUSALS if words in why), None)
    if code is None:
        return None
    if "partition" in fields:
        return code, [(fields["topic"], int(fields["partition"]), int(fields["offset"]))]
    offsets = [
        (topic, int(number), int(offset)) for topic, number, offset in _AT.findall(fields["partitions"])
    ]
    return (code, offsets) if offsets else None
