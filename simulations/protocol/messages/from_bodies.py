"""Requests from the JSON form of Kafka's schemas: the other way of each request's ``body``.

Fields that a version does not have may be absent. ``KeyError``, ``TypeError`` or ``ValueError`` where one that it has is missing
or of another kind. Topics of a commit are completed from ``topics``, as a broker does it before its coordinator is asked.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol

from groups.wire.codecs.values import Value
from simulations.protocol.assignors.client_side import ClientAnswer, MemberAnswer, Metadata, Offer
from simulations.protocol.messages.classic_requests import (
    BATCH_LEAVE_VERSION,
    CLASSIC_HEARTBEAT_API,
    JOIN_API,
    LEAVE_API,
    SYNC_API,
    ClassicHeartbeat,
    JoinGroup,
    LeaveGroup,
    LeavingMember,
    SyncGroup,
)
from simulations.protocol.messages.client_mode import (
    INSTALL_API,
    PREPARE_API,
    InstallAssignment,
    PrepareAssignment,
)
from simulations.protocol.messages.groups import (
    COMMIT_API,
    FETCH_API,
    HEARTBEAT_API,
    TRANSACTIONAL_COMMIT_API,
    CommittedOffset,
    Heartbeat,
    Named,
    OffsetCommit,
    Partitions,
    TransactionalCommit,
)
from simulations.protocol.messages.offsets import FetchedTopic, OffsetFetch

Fields = Mapping[str, Value]

NO_ID: Final = "A" * 22
"""The zero id: none is given."""


class NamedTopic(Protocol):
    """A topic with both of its names."""

    @property
    def name(self) -> str: ...

    @property
    def topic_id(self) -> str: ...


class Topics(Protocol):
    """The topics that a broker knows."""

    @property
    def topics(self) -> Mapping[str, NamedTopic]: ...

    @property
    def by_id(self) -> Mapping[str, NamedTopic]: ...


class Sender(NamedTuple):
    """What a broker notes of a connection."""

    client: str
    host: str


def heartbeat_of(fields: Fields, version: int, sender: Sender, *_: object) -> Heartbeat:
    names, offers = fields.get("subscribedTopicNames"), fields.get("clientAssignors")
    owned = fields.get("topicPartitions")
    return Heartbeat(
        group_id=fields["groupId"],
        member_id=fields["memberId"],
        member_epoch=fields["memberEpoch"],
        instance_id=fields.get("instanceId"),
        rack_id=fields.get("rackId"),
        rebalance_timeout_ms=fields["rebalanceTimeoutMs"],
        subscribed_topic_names=None if names is None else tuple(names),
        subscribed_topic_regex=fields.get("subscribedTopicRegex"),
        server_assignor=fields.get("serverAssignor"),
        client_assignors=None if offers is None else tuple(map(_offer, offers)),
        owned=None if owned is None else _partitions(owned),
        client_id=sender.client,
        client_host=sender.host,
        version=version,
    )


def join_of(fields: Fields, version: int, sender: Sender, *_: object) -> JoinGroup:
    return JoinGroup(
        group_id=fields["groupId"],
        session_timeout_ms=fields["sessionTimeoutMs"],
        rebalance_timeout_ms=fields.get("rebalanceTimeoutMs", fields["sessionTimeoutMs"]),
        member_id=fields["memberId"],
        instance_id=fields.get("groupInstanceId"),
        protocol_type=fields["protocolType"],
        protocols=tuple((each["name"], b64decode(each["metadata"])) for each in fields["protocols"]),
        reason=fields.get("reason"),
        client_id=sender.client,
        client_host=sender.host,
        version=version,
    )


def sync_of(fields: Fields, version: int, *_: object) -> SyncGroup:
    return SyncGroup(
        group_id=fields["groupId"],
        generation=fields["generationId"],
        member_id=fields["memberId"],
        instance_id=fields.get("groupInstanceId"),
        protocol_type=fields.get("protocolType"),
        protocol_name=fields.get("protocolName"),
        assignments=tuple(
            (each["memberId"], b64decode(each["assignment"])) for each in fields["assignments"]
        ),
        version=version,
    )


def classic_heartbeat_of(fields: Fields, version: int, *_: object) -> ClassicHeartbeat:
    return ClassicHeartbeat(
        group_id=fields["groupId"],
        generation=fields["generationId"],
        member_id=fields["memberId"],
        instance_id=fields.get("groupInstanceId"),
        version=version,
    )


def leave_of(fields: Fields, version: int, *_: object) -> LeaveGroup:
    if version < BATCH_LEAVE_VERSION:
        members: tuple[LeavingMember, ...] = (LeavingMember(member_id=fields["memberId"]),)
    else:
        members = tuple(
            LeavingMember(
                member_id=each["memberId"],
                instance_id=each.get("groupInstanceId"),
                reason=each.get("reason"),
            )
            for each in fields["members"]
        )
    return LeaveGroup(group_id=fields["groupId"], members=members, version=version)


def commit_of(fields: Fields, version: int, _sender: Sender, topics: Topics) -> OffsetCommit:
    """Up to Kafka 4.3 the epoch of a commit is called ``generationId``, and old versions have none."""
    return OffsetCommit(
        group_id=fields["groupId"],
        member_id=fields["memberId"],
        member_epoch=_epoch_of(fields),
        offsets=_committed(fields, topics),
        version=version,
        retention_ms=fields.get("retentionTimeMs", -1),
        instance_id=fields.get("groupInstanceId"),
    )


def transactional_commit_of(
    fields: Fields, version: int, _sender: Sender, topics: Topics
) -> TransactionalCommit:
    return TransactionalCommit(
        group_id=fields["groupId"],
        member_id=fields["memberId"],
        member_epoch=_epoch_of(fields),
        offsets=_committed(fields, topics),
        version=version,
        instance_id=fields.get("groupInstanceId"),
        transactional_id=fields["transactionalId"],
        producer_id=fields["producerId"],
        producer_epoch=fields["producerEpoch"],
    )


def fetch_of(fields: Fields, version: int, *_: object) -> OffsetFetch:
    """Of the first of the request's groups; in KIP-848 the member is the whole request's, or empty."""
    known = {**fields, **fields.get("groups", (fields,))[0]}
    topics = known.get("topics")
    proposed = "generationIdOrMemberEpoch" in fields
    member_id = known.get("memberId")
    return OffsetFetch(
        group_id=known["groupId"],
        member_id=None if proposed and not member_id else member_id,
        member_epoch=known.get("memberEpoch", known.get("generationIdOrMemberEpoch", -1)),
        topics=None if topics is None else tuple(map(_fetched, topics)),
        require_stable=bool(fields.get("requireStable")),
        version=version,
        proposed=proposed,
    )


def prepare_of(fields: Fields, *_: object) -> PrepareAssignment:
    return PrepareAssignment(
        group_id=fields["groupId"], member_id=fields["memberId"], member_epoch=fields["memberEpoch"]
    )


def install_of(fields: Fields, *_: object) -> InstallAssignment:
    return InstallAssignment(
        group_id=fields["groupId"],
        member_id=fields["memberId"],
        member_epoch=fields["memberEpoch"],
        group_epoch=fields["groupEpoch"],
        answer=ClientAnswer(
            members={
                each["memberId"]: MemberAnswer(
                    partitions=_partitions(each["partitions"]), metadata=_metadata(each)
                )
                for each in fields["members"]
            },
            error=fields["error"],
        ),
    )


READERS: Final[Mapping[str, Callable[..., Value]]] = {
    HEARTBEAT_API: heartbeat_of,
    COMMIT_API: commit_of,
    TRANSACTIONAL_COMMIT_API: transactional_commit_of,
    FETCH_API: fetch_of,
    JOIN_API: join_of,
    SYNC_API: sync_of,
    CLASSIC_HEARTBEAT_API: classic_heartbeat_of,
    LEAVE_API: leave_of,
    PREPARE_API: prepare_of,
    INSTALL_API: install_of,
}
"""What reads a request, by the name of its API: its fields, its version, who sent it, and for commits the broker's topics."""


def _epoch_of(fields: Fields) -> int:
    epoch = fields.get("generationIdOrMemberEpoch", fields.get("generationId", -1))
    assert isinstance(epoch, int)
    return epoch


def _committed(fields: Fields, topics: Topics) -> tuple[CommittedOffset, ...]:
    offsets: list[CommittedOffset] = []
    for topic in fields["topics"]:
        name, topic_id, named = _names(topic)
        found = topics.topics.get(name) if name else topics.by_id.get(topic_id)
        for partition in topic["partitions"]:
            offsets.append(
                CommittedOffset(
                    topic=found.name if found else name,
                    topic_id=found.topic_id if found else topic_id,
                    partition=partition["partitionIndex"],
                    offset=partition["committedOffset"],
                    leader_epoch=partition.get("committedLeaderEpoch", -1),
                    metadata=partition.get("committedMetadata") or "",
                    named=named,
                )
            )
    return tuple(offsets)


def _fetched(topic: Fields) -> FetchedTopic:
    name, topic_id, given = _names(topic)
    return FetchedTopic(
        topic=name, topic_id=topic_id, partitions=tuple(topic["partitionIndexes"]), given=given
    )


def _names(topic: Fields) -> tuple[str, str, Named | None]:
    """Name and id, and how the topic is named where a version has a field for each (KIP-848's)."""
    if not ("name" in topic and "topicId" in topic):
        return topic.get("name", ""), topic.get("topicId", ""), None
    name, topic_id = topic["name"] or "", "" if topic["topicId"] == NO_ID else topic["topicId"]
    return name, topic_id, Named.of(name, topic_id)


def _offer(row: Fields) -> Offer:
    return Offer(
        name=row["name"],
        minimum_version=row["minimumVersion"],
        maximum_version=row["maximumVersion"],
        reason=row["reason"],
        metadata=_metadata(row),
    )


def _metadata(row: Fields) -> Metadata:
    return Metadata(row["metadataVersion"], b64decode(row["metadataBytes"]))


def _partitions(rows: Value) -> Partitions:
    return {each["topicId"]: tuple(each["partitions"]) for each in rows}
