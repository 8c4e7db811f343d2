"""The answers of the four describe requests, in Kafka's JSON form, as descriptions."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Final

from groups.history.polls.describe_shapes import (
    ClassicAnswer,
    ClassicDescribedGroup,
    ClassicDescribedMember,
    DescribedAssignment,
    DescribedTasks,
    DescribedTaskSets,
    ModernAnswer,
    ModernDescribedGroup,
    StreamsAnswer,
    StreamsDescribedGroup,
    StreamsDescribedMember,
)
from groups.history.polls.description import (
    GROUP_ID_NOT_FOUND,
    DescribedGroup,
    GroupDescription,
    GroupKind,
    MemberDescription,
    Partitions,
    StreamsFacts,
    StreamsTasks,
    Undescribed,
)
from groups.history.state.classic_group import CONSUMER_PROTOCOL_TYPE
from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription

NO_ID: Final = "A" * 22


def consumer_groups(body: ModernAnswer) -> list[DescribedGroup]:
    """ConsumerGroupDescribe's answer."""
    return [_modern(group, GroupKind.CONSUMER) for group in body["groups"]]


def share_groups(body: ModernAnswer) -> list[DescribedGroup]:
    """ShareGroupDescribe's answer, which reports no target."""
    return [_modern(group, GroupKind.SHARE) for group in body["groups"]]


def streams_groups(body: StreamsAnswer) -> list[DescribedGroup]:
    """StreamsGroupDescribe's answer."""
    return [_streams(group) for group in body["groups"]]


def classic_groups(body: ClassicAnswer) -> list[DescribedGroup]:
    """DescribeGroups' answer. Before version 6 a group that is not there is Dead without an error."""
    return [_classic(group) for group in body["groups"]]


def _refused(
    group: ModernDescribedGroup | StreamsDescribedGroup | ClassicDescribedGroup,
) -> Undescribed | None:
    if not group["errorCode"]:
        return None
    return Undescribed(
        group=group["groupId"], code=group["errorCode"], message=group.get("errorMessage") or ""
    )


def _modern(group: ModernDescribedGroup, kind: GroupKind) -> DescribedGroup:
    if (refused := _refused(group)) is not None:
        return refused
    ids: dict[str, str] = {}
    members = tuple(
        MemberDescription(
            member_id=member["memberId"],
            client_id=member["clientId"],
            host=member["clientHost"],
            instance_id=member.get("instanceId"),
            rack_id=member.get("rackId"),
            epoch=member["memberEpoch"],
            subscribed=tuple(member["subscribedTopicNames"]),
            regex=member.get("subscribedTopicRegex") or None,
            assignment=_named(member["assignment"], ids),
            target=_named(member["targetAssignment"], ids) if "targetAssignment" in member else None,
            member_type=member.get("memberType", -1),
        )
        for member in group["members"]
    )
    return GroupDescription(
        group=group["groupId"],
        kind=kind,
        state=group["groupState"],
        group_epoch=group["groupEpoch"],
        assignment_epoch=group["assignmentEpoch"],
        assignor=group["assignorName"],
        members=members,
        topic_ids=ids,
    )


def _named(assignment: DescribedAssignment, ids: dict[str, str]) -> Partitions:
    """The partitions by topic name; ``ids`` is filled. A deleted topic has only an id, which is then its key."""
    found: dict[str, tuple[int, ...]] = {}
    for topic in assignment["topicPartitions"]:
        name = topic["topicName"] or topic["topicId"]
        found[name] = tuple(sorted(topic["partitions"]))
        if topic["topicId"] != NO_ID:
            ids[name] = topic["topicId"]
    return found


def _streams(group: StreamsDescribedGroup) -> DescribedGroup:
    if (refused := _refused(group)) is not None:
        return refused
    return GroupDescription(
        group=group["groupId"],
        kind=GroupKind.STREAMS,
        state=group["groupState"],
        group_epoch=group["groupEpoch"],
        assignment_epoch=group["assignmentEpoch"],
        members=tuple(map(_streams_member, group["members"])),
        topology=group.get("topology"),
    )


def _streams_member(member: StreamsDescribedMember) -> MemberDescription:
    endpoint = member.get("userEndpoint")
    facts = StreamsFacts(
        topology_epoch=member["topologyEpoch"],
        process_id=member["processId"],
        endpoint=(endpoint["host"], endpoint["port"]) if endpoint else None,
        tags=tuple((tag["key"], tag["value"]) for tag in member["clientTags"]),
        tasks=_tasks(member["assignment"]),
        target=_tasks(member["targetAssignment"]),
    )
    return MemberDescription(
        member_id=member["memberId"],
        client_id=member["clientId"],
        host=member["clientHost"],
        instance_id=member.get("instanceId"),
        rack_id=member.get("rackId"),
        epoch=member["memberEpoch"],
        assignment=facts.tasks.active,
        target=facts.target.active,
        streams=facts,
    )


def _tasks(known: DescribedTaskSets) -> StreamsTasks:
    def of(tasks: Iterable[DescribedTasks]) -> Partitions:
        return {task["subtopologyId"]: tuple(sorted(task["partitions"])) for task in tasks}

    return StreamsTasks(
        active=of(known["activeTasks"]), standby=of(known["standbyTasks"]), warmup=of(known["warmupTasks"])
    )


def _classic(group: ClassicDescribedGroup) -> DescribedGroup:
    if (refused := _refused(group)) is not None:
        return refused
    if group["groupState"] == "Dead":
        return Undescribed(group=group["groupId"], code=GROUP_ID_NOT_FOUND)
    embedded = group["protocolType"] == CONSUMER_PROTOCOL_TYPE
    return GroupDescription(
        group=group["groupId"],
        kind=GroupKind.CLASSIC,
        state=group["groupState"],
        assignor=group["protocolData"],
        protocol_type=group["protocolType"],
        members=tuple(_classic_member(member, embedded=embedded) for member in group["members"]),
    )


def _classic_member(member: ClassicDescribedMember, *, embedded: bool) -> MemberDescription:
    metadata, assigned = member["memberMetadata"] or "", member["memberAssignment"] or ""
    subscribed: tuple[str, ...] = ()
    rack_id = None
    assignment: Partitions = {}
    unreadable: dict[str, str] = {}
    # Bytes that cannot be read stay bytes: one broken client must not hide its group.
    if embedded and metadata:
        try:
            subscription = decode_subscription(base64.b64decode(metadata))
            subscribed, rack_id = tuple(subscription["topics"]), subscription.get("rackId") or None
        except ValueError as error:
            unreadable["subscription"] = str(error)
    if embedded and assigned:
        try:
            topics = decode_assignment(base64.b64decode(assigned))["assignedPartitions"]
            assignment = {topic["topic"]: tuple(sorted(topic["partitions"])) for topic in topics}
        except ValueError as error:
            unreadable["assignment"] = str(error)
    return MemberDescription(
        member_id=member["memberId"],
        client_id=member["clientId"],
        host=member["clientHost"],
        instance_id=member.get("groupInstanceId"),
        rack_id=rack_id,
        subscribed=subscribed,
        assignment=assignment,
        subscription=metadata,
        assigned=assigned,
        unreadable=unreadable,
    )
