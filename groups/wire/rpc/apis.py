"""The APIs whose requests and responses are read and written: all that concerns groups, their offsets and settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from groups.wire.codecs.schema import Message
from groups.wire.errors import UnknownVersionError
from groups.wire.rpc.declarations import declared_message

API_VERSIONS: Final = 18


class Direction(StrEnum):
    """Which way a message goes: to the broker, or back."""

    REQUEST = "request"
    RESPONSE = "response"


class Api(Protocol):
    """One API: the number that a request's header begins with, Kafka's name, and the two messages."""

    @property
    def key(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def request(self) -> Message: ...

    @property
    def response(self) -> Message: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedApi:
    """An API of released Kafka; its messages are made when they are first asked for."""

    key: int
    name: str

    @property
    def request(self) -> Message:
        return declared_message(self.key, self.name, Direction.REQUEST)

    @property
    def response(self) -> Message:
        return declared_message(self.key, self.name, Direction.RESPONSE)


APIS: Final[dict[int, ReleasedApi]] = {
    key: ReleasedApi(key=key, name=name)
    for key, name in (
        (8, "OffsetCommit"),
        (9, "OffsetFetch"),
        (10, "FindCoordinator"),
        (11, "JoinGroup"),
        (12, "Heartbeat"),
        (13, "LeaveGroup"),
        (14, "SyncGroup"),
        (15, "DescribeGroups"),
        (16, "ListGroups"),
        (API_VERSIONS, "ApiVersions"),
        (28, "TxnOffsetCommit"),
        (32, "DescribeConfigs"),
        (42, "DeleteGroups"),
        (44, "IncrementalAlterConfigs"),
        (47, "OffsetDelete"),
        (68, "ConsumerGroupHeartbeat"),
        (69, "ConsumerGroupDescribe"),
        (76, "ShareGroupHeartbeat"),
        (77, "ShareGroupDescribe"),
        (88, "StreamsGroupHeartbeat"),
        (89, "StreamsGroupDescribe"),
    )
}
"""By API key."""


CLUSTER_APIS: Final[dict[int, ReleasedApi]] = {
    key: ReleasedApi(key=key, name=name)
    for key, name in (
        (1, "Fetch"),
        (2, "ListOffsets"),
        (3, "Metadata"),
        (17, "SaslHandshake"),
        (36, "SaslAuthenticate"),
        (60, "DescribeCluster"),
    )
}
"""What a client asks of a cluster apart from its groups; by API key. ``groups.clusters`` reads clusters with them."""


def api_message(key: int, direction: Direction) -> Message:
    """The declaration for every version that ever was; ``UnknownVersionError`` for an API that is not in ``APIS``.

    ``codec(message, version)`` then reads and writes it in Kafka's JSON form, without its header.
    """
    if key not in APIS:
        raise UnknownVersionError(f"requests of API key {key} are not known here")
    return declared_message(key, APIS[key].name, direction)
