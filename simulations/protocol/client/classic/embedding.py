"""What members and their leader say to each other inside JoinGroup and SyncGroup (``ConsumerProtocol``)."""

from __future__ import annotations

from base64 import b64encode
from typing import TypedDict

from groups.wire.codecs.java_strings import java_order
from groups.wire.codecs.primitives import from_base64
from groups.wire.embedded.consumer_protocol import (
    as_the_client_writes,
    encode_assignment,
    encode_subscription,
    read_blob,
)
from groups.wire.embedded.user_data import (
    COOPERATIVE_STICKY,
    STICKY,
    encode_cooperative_sticky,
    encode_sticky,
)
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION
from simulations.protocol.assignors.interface import MemberSpec, Owned
from simulations.protocol.client.classic.state import Memory
from simulations.protocol.messages.classic_requests import NO_GENERATION
from simulations.protocol.messages.groups import Partitions

OWNED_VERSION, GENERATION_VERSION, RACK_VERSION = 1, 2, 3
"""From which version of the subscription on it contains each of these."""


def subscription(m: Memory, assignor: str) -> bytes:
    """The metadata of one assignor in a JoinGroup, in the version that the client writes."""
    release = m.config.release
    version = release.subscription_version
    subscription_fields: dict[str, object] = {"version": version, "topics": list(m.names), "userData": None}
    data = user_data(m, assignor)
    if data is not None:
        subscription_fields["userData"] = b64encode(data).decode()
    if version >= OWNED_VERSION:
        # Members that rebalance eagerly have given everything up by now.
        subscription_fields["ownedPartitions"] = _listed(m.owned)
    if version >= GENERATION_VERSION:
        claims = m.owned or not release.librdkafka
        subscription_fields["generationId"] = m.generation if claims else NO_GENERATION
    if version >= RACK_VERSION:
        subscription_fields["rackId"] = m.config.rack_id or ("" if release.librdkafka else None)
    return encode_subscription(as_the_client_writes(subscription_fields))


def user_data(m: Memory, assignor: str) -> bytes | None:
    """``subscriptionUserData``: what ``sticky`` had last, whichever member has it now; the generation of ``cooperative-sticky``."""
    release = m.config.release
    if assignor == STICKY and m.remembered:
        fields: dict[str, object] = {
            "version": release.sticky_version,
            "previousAssignment": _listed(m.remembered),
        }
        if release.sticky_version:
            fields["generation"] = m.remembered_generation
        return encode_sticky(fields)
    if assignor == COOPERATIVE_STICKY and release.cooperative_user_data:
        return encode_cooperative_sticky({"generation": m.remembered_generation})
    if release.librdkafka:
        if assignor != COOPERATIVE_STICKY or not m.owned:
            return b""
        fields = {"version": 1, "previousAssignment": _listed(m.owned), "generation": m.generation}
        return encode_sticky(fields)
    return None


def member_spec(metadata: bytes, newest_known: int, instance_id: str | None) -> MemberSpec:
    """A member as a leader reads its subscription that knows versions up to ``newest_known``."""
    fields, _ = read_blob(SUBSCRIPTION, metadata, newest_known)
    generation = fields.get("generationId", -1)
    data = fields.get("userData")
    return MemberSpec(
        topics=tuple(fields["topics"]),
        owned={topic["topic"]: tuple(topic["partitions"]) for topic in fields.get("ownedPartitions", ())},
        instance_id=instance_id,
        rack_id=fields.get("rackId") or None,
        generation=generation if generation >= 0 else None,
        user_data=None if data is None else from_base64(data),
    )


def assignment(partitions: Owned, version: int, data: bytes | None = None) -> bytes:
    """A member's part of the leader's SyncGroup; ``data`` is a custom assignor's, and Kafka's own write none."""
    encoded = None if data is None else b64encode(data).decode()
    return encode_assignment(
        {"version": version, "assignedPartitions": _listed(partitions), "userData": encoded}
    )


def assigned(data: bytes) -> Partitions:
    """Topic → partitions, ascending, of the bytes that SyncGroup gave."""
    fields, _ = read_blob(ASSIGNMENT, data)
    return {
        topic["topic"]: tuple(sorted(topic["partitions"]))
        for topic in fields["assignedPartitions"]
        if topic["partitions"]
    }


class _Listed(TypedDict):
    topic: str
    partitions: list[int]


def _listed(partitions: Owned) -> list[_Listed]:
    return [
        {"topic": topic, "partitions": list(partitions[topic])}
        for topic in sorted(partitions, key=java_order)
        if partitions[topic]
    ]
