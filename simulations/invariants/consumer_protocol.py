"""What the bytes that clients of the classic protocol hand on say, as checks want it (``ConsumerProtocolSubscription``, ``-Assignment``)."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable

from groups.history.payloads.records import MemberMetadata
from groups.wire.embedded.consumer_protocol import (
    Subscription,
    TopicPartition,
    decode_assignment,
    decode_subscription,
)
from groups.wire.errors import RecordError
from simulations.invariants.violations import Partition


def subscription_of(data: str) -> Subscription | None:
    """What the bytes of a subscription, in base64, report; ``None`` where they cannot be read."""
    try:
        return decode_subscription(b64decode(data))
    except RecordError:
        return None


def is_given_more(member: MemberMetadata) -> bool:
    """Whether a member of a group's record is given what it does not subscribe to."""
    subscription, assigned = subscription_of(member["subscription"]), assigned_by(member["assignment"])
    return (
        any(name not in subscription["topics"] for name, _ in assigned or ())
        if subscription is not None
        else False
    )


def assigned_by(data: str) -> frozenset[Partition] | None:
    """What the bytes of an assignment, in base64, give; ``None`` where they cannot be read."""
    if not data:
        return frozenset()
    try:
        return partitions_of(decode_assignment(b64decode(data))["assignedPartitions"])
    except RecordError:
        return None


def partitions_of(topics: Iterable[TopicPartition]) -> frozenset[Partition]:
    """By name and number."""
    return frozenset((str(topic["topic"]), int(number)) for topic in topics for number in topic["partitions"])
