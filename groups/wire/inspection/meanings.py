"""What each field means, in a few words: a note at the side of a listing.

``BY_FIELD`` is asked first (message and field, numbers of elements left out), then ``BY_NAME``. A meaning is words,
or a function of the node and of the fields next to and around it. Trivial ones are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.inspection.framing import COMPRESSION_BITS, CONTROL_BIT, RECORDS
from groups.wire.inspection.kinds import kinds
from groups.wire.inspection.nodes import REST, TAG_COUNT, UNKNOWN_TAG, Node
from groups.wire.inspection.words import (
    counted,
    duration_in_words,
    member_id_in_words,
    number,
    text,
    time_in_words,
)
from groups.wire.kip import kip_error_name
from groups.wire.logs.compression import Compression
from groups.wire.rpc import APIS

Meaning = str | Callable[[Node, Sequence[Sequence[Node]]], str]


def add_meanings(fields: list[Node]) -> None:
    """Gives each node under ``fields`` its meaning, where there is something to say."""
    _add([fields], "")


def _add(around: list[list[Node]], path: str) -> None:
    for node in around[0]:
        here = path if node.name.isdigit() else f"{path}.{node.name}" if path else node.name
        if not node.meaning:
            node.meaning = _meaning(node, here, around)
        if node.fields:
            _add([node.fields, *around], "" if node.begins_paths else here)


def _meaning(node: Node, path: str, around: Sequence[Sequence[Node]]) -> str:
    if node.problem is not None and not node.fields:
        return "cannot be read"
    if node.name[0].isdigit():
        # An element means what its list means.
        return ""
    if node.kind is not None:
        what = kinds()[node.kind].title
        place = counted(node.length - node.prefix, "byte")
        opened = (
            f"looks like {_lower(what)}, {place}"
            if node.guessed
            else f"opened in place: {_lower(what)}, {place}"
        )
        return f"{opened}; cannot be read to the end" if node.problem is not None else opened
    for meaning in (BY_FIELD.get((node.message, path)), BY_NAME.get(node.name)):
        if meaning is not None:
            return meaning if isinstance(meaning, str) else meaning(node, around)
    if node.name.startswith(UNKNOWN_TAG):
        return "a field of a newer version, not known here"
    return _by_ending(node)


def _by_ending(node: Node) -> str:
    value = number(node)
    if value is None:
        return ""
    if node.name.endswith(("Timestamp", "TimestampMs")):
        return time_in_words(value)
    if node.name.endswith("Ms"):
        return duration_in_words(value) if value >= 0 else "not given"
    return ""


def _lower(title: str) -> str:
    return title if title[1].isupper() else title[0].lower() + title[1:]


def _by_number(words: Callable[[int], str]) -> Meaning:
    def say(node: Node, _: Sequence[Sequence[Node]]) -> str:
        value = number(node)
        return "" if value is None else words(value)

    return say


def _words(names: dict[int, str], other: str) -> Meaning:
    return _by_number(lambda value: names.get(value, other))


def _unless_negative(words: str, negative: str) -> Meaning:
    return _by_number(lambda value: negative if value < 0 else words)


def _duration(what: str) -> Meaning:
    return _by_number(lambda ms: f"{duration_in_words(ms)} {what}" if ms >= 0 else "not given")


def _member_id(node: Node, _: Sequence[Sequence[Node]]) -> str:
    return member_id_in_words(text(node)) if node.value else WITHOUT_MEMBER_ID.get(node.message, "none")


WITHOUT_MEMBER_ID: Final = {
    "JoinGroupRequest": "none yet: the coordinator will draw one",
    # From version 1 on the member draws it itself (KIP-1082).
    "ConsumerGroupHeartbeatRequest": "none yet: in version 0 the coordinator draws one",
    "LeaveGroupRequest": "none: named by the instance id alone",
    "OffsetCommitRequest": "none: not of a member",
    "TxnOffsetCommitRequest": "none: not of a member",
    "OffsetFetchRequest": "none: not of a member",
}
"""The meaning of a member id that is null or empty, by message."""


def _leader(node: Node, around: Sequence[Sequence[Node]]) -> str:
    members = next((each for each in around[0] if each.name == "members"), None)
    for index, member in enumerate((members.fields if members else None) or ()):
        if text(member.child("memberId"), "-") == node.value:
            return f"computed the assignment: member {index} below"
    return "none" if node.value in (None, "") else "the member that computes the assignment"


def _instance_id(node: Node, _: Sequence[Sequence[Node]]) -> str:
    return "dynamic: no instance id" if node.value is None else "static member (group.instance.id)"


def _rack(node: Node, _: Sequence[Sequence[Node]]) -> str:
    if node.value is None and node.message.endswith(HEARTBEAT):
        return UNCHANGED
    return "where the client runs (client.rack)" if node.value else "no rack"


def _member_epoch(node: Node, _: Sequence[Sequence[Node]]) -> str:
    value = number(node)
    if value is None:
        return ""
    if value > 0:
        return "the epoch that the member has reached"
    if node.message.endswith("HeartbeatRequest"):
        return {0: "joins", -1: "leaves", -2: "static: leaves to come back"}.get(value, "")
    if node.message == "OffsetFetchRequest":
        return "not of a member"
    return "static: away, to come back" if value == -2 else ""


def _user_data(node: Node, _: Sequence[Sequence[Node]]) -> str:
    if node.value is None:
        return "none"
    return "empty" if node.value == "" else "belongs to the assignor"


def _attributes(node: Node, _: Sequence[Sequence[Node]]) -> str:
    bits = number(node) or 0
    compression = bits & COMPRESSION_BITS
    said = [
        Compression(compression).name.lower() if compression in set(Compression) else "unknown compression"
    ]
    said[0] = "not compressed" if compression == 0 else said[0]
    return ", ".join(said + [words for bit, words in ATTRIBUTES.items() if bits & bit])


ATTRIBUTES: Final = {
    0x08: "times of the broker (log append time)",
    0x10: "transactional",
    CONTROL_BIT: "control records",
    0x40: "with a delete horizon",
}


def _regex(node: Node, _: Sequence[Sequence[Node]]) -> str:
    if node.value is None and node.message.endswith(HEARTBEAT):
        return UNCHANGED
    return "none: topics by name" if not node.value else "topics by pattern (RE2J)"


def _assignor(node: Node, _: Sequence[Sequence[Node]]) -> str:
    if node.value is None and node.message.endswith(HEARTBEAT):
        return UNCHANGED
    return (
        "no wish: what others ask for, or the broker's default"
        if node.value is None
        else "asked for by the member"
    )


def _unless_given(node: Node, _: Sequence[Sequence[Node]]) -> str:
    return UNCHANGED if node.value is None and node.message.endswith(HEARTBEAT) else ""


HEARTBEAT: Final = ("GroupHeartbeatRequest", "GroupHeartbeatResponse")
"""The newer protocols' heartbeats leave out what they said before; the classic one leaves out nothing."""

UNCHANGED: Final = "none, or as told before"

CONSUMER_STATES: Final = {
    0: "STABLE: it owns what its epoch gives it",
    1: "UNREVOKED_PARTITIONS: it must give some up first",
    2: "UNRELEASED_PARTITIONS: it waits for some of others",
}
STREAMS_STATES: Final = {
    1: "STABLE: it has the tasks that its epoch gives it",
    2: "UNREVOKED_TASKS: it must give some up first",
    3: "UNRELEASED_TASKS: it waits for some of others",
}
"""The streams protocol counts its states from 1, the consumer protocol from 0."""

RECORD_MEANINGS: Final[dict[str, Meaning]] = {
    "length": "of the record, without this",
    "timestampDelta": "ms after the batch's base timestamp",
    "offsetDelta": "behind the batch's base offset",
    "value": lambda node, _: "a tombstone: what the key names is gone" if node.value is None else "",
}

API_NAME: Final = _by_number(lambda value: APIS[value].name if value in APIS else "")

BY_FIELD: Final[dict[tuple[str, str], Meaning]] = {
    ("ConsumerProtocolSubscription", "version"): "the newest layout that its writer knows",
    ("ConsumerProtocolSubscription", "topics"): "subscribed to; clients write them in order of name",
    ("ConsumerProtocolSubscription", "ownedPartitions"): "owned when it asked to join",
    ("ConsumerProtocolSubscription", "generationId"): _unless_negative("in which it owned them", "absent"),
    ("ConsumerProtocolAssignment", "version"): "the same layout in versions 0 to 3",
    ("ConsumerProtocolAssignment", "assignedPartitions"): "what the leader gives it",
    ("ConnectWorkerState", "configOffset"): "how far it has read the config topic",
    ("ConnectWorkerState", "allocation"): "what it runs as it joins",
    ("ConnectAssignment", "error"): _words({0: "none", 1: "CONFIG_MISMATCH: read the config topic and join again"}, "not known here"),
    ("ConnectAssignment", "assignment"): "from version 1 on what is new, besides what it runs",
    ("ConnectAssignment", "assignment.tasks"): "-1 is the connector itself",
    ("ConnectAssignment", "revoked"): "what it has to stop",
    ("ConnectAssignment", "revoked.tasks"): "-1 is the connector itself",
    ("ConnectAssignment", "delay"): _duration("until it joins again by itself"),
    ("StickyUserData", "previousAssignment"): "what it was given last",
    ("StickyUserData", "generation"): "in which it was given them",
    ("CooperativeStickyUserData", "generation"): "of the last assignment; asked for where the subscription has none",
    ("GroupMetadataValue", "generation"): "number of the last rebalance",
    ("GroupMetadataValue", "protocol"): "the assignor that all members share",
    ("GroupMetadataValue", "protocolType"): "“consumer” for consumers, “connect” for Kafka Connect",
    ("GroupMetadataValue", "leader"): _leader,
    ("GroupMetadataValue", "members.rebalanceTimeout"): _duration("to revoke and join again"),
    ("GroupMetadataValue", "members.sessionTimeout"): _duration("without a heartbeat"),
    ("JoinGroupResponse", "leader"): _leader,
    ("OffsetCommitValue", "offset"): "the next record to read",
    ("OffsetCommitValue", "leaderEpoch"): _unless_negative("of the record before the offset", "not told"),
    ("OffsetCommitValue", "metadata"): "free text of the client",
    ("OffsetCommitValue", "expireTimestamp"): _by_number(lambda ms: "by the broker's retention" if ms < 0 else time_in_words(ms)),
    ("LegacyOffsetCommitValue", "offset"): "the next record to read",
    ("ConsumerGroupMetadataValue", "epoch"): "raised with each change of members or topics",
    ("ShareGroupMetadataValue", "epoch"): "raised with each change of members or topics",
    ("StreamsGroupMetadataValue", "epoch"): "raised with each change of members, topics or topology",
    ("ConsumerGroupMemberMetadataValue", "assignors.version"): "of the assignor's metadata",
    ("ConsumerGroupMemberMetadataValue", "classicMemberMetadata"): "a member of the classic protocol, being migrated",
    ("ConsumerGroupCurrentMemberAssignmentValue", "state"): _words(CONSUMER_STATES, "a state that is not known here"),
    ("ConsumerGroupCurrentMemberAssignmentValue", "assignedPartitions"): "what it may own now",
    ("ConsumerGroupCurrentMemberAssignmentValue", "partitionsPendingRevocation"): "what it still has to give up",
    ("ShareGroupCurrentMemberAssignmentValue", "state"): _words({0: "STABLE"}, "a state that is not known here"),
    ("StreamsGroupCurrentMemberAssignmentValue", "state"): _words(STREAMS_STATES, "a state that is not known here"),
    ("ConsumerGroupTargetAssignmentMemberValue", "topicPartitions"): "what it should own at the assignment's epoch",
    ("ConsumerGroupRegularExpressionValue", "topics"): "the topics that match",
    ("ConsumerGroupRegularExpressionValue", "version"): "of the topics' metadata that was searched",
    ("ConsumerGroupRegularExpressionValue", "timestamp"): _by_number(time_in_words),
    ("RecordBatch", "attributes"): _attributes,
    ("ControlRecordBatch", "attributes"): _attributes,
    ("RequestHeader", "requestApiKey"): API_NAME,
    ("RequestHeader", "requestApiVersion"): "of the request, and of its answer",
    ("ApiVersionsResponse", "apiKeys.apiKey"): API_NAME,
    ("Request", "length"): "bytes that follow",
    ("RequestHeader", "correlationId"): "the response carries the same number",
    ("ResponseHeader", "correlationId"): "that of the request",
    ("FindCoordinatorRequest", "keyType"): _words({0: "group ids", 1: "transactional ids", 2: "share groups' partitions"}, ""),
    ("ConsumerGroupDescribeResponse", "groups.members.memberType"): _words({-1: "not told", 0: "of the classic protocol", 1: "of the consumer protocol"}, ""),
    **{(message, path + name): meaning for message, path in RECORDS for name, meaning in RECORD_MEANINGS.items()},
    ("SubscriptionInfoData", "taskOffsetSums.offsetSum"): _words({-2: "it runs the task", -3: "not known"}, "records that its state has taken in"),
}  # fmt: skip

BY_NAME: Final[dict[str, Meaning]] = {
    "batchLength": "bytes that follow",
    "crc": "CRC-32C of all from the attributes on",
    "producerId": _words({-1: "none"}, "of an idempotent or transactional producer"),
    "producerEpoch": _words({-1: "none"}, ""),
    "baseSequence": _words({-1: "none"}, ""),
    "magic": "the format; Kafka writes 2 since 0.11",
    TAG_COUNT: _by_number(
        lambda count: f"{counted(count, 'tagged field')} here" if count else "no tagged fields"
    ),
    REST: "not read: behind the last field that is known",
    "type": _by_number(
        lambda value: RECORD_TYPES[value].name if value in RECORD_TYPES else "a type that is not known here"
    ),
    "version": "of this value",
    "valueVersion": "of this value",
    "memberId": _member_id,
    "groupInstanceId": _instance_id,
    "instanceId": _instance_id,
    "rackId": _rack,
    "clientHost": "as the broker saw it",
    "clientId": "set by the client (client.id)",
    "userData": _user_data,
    "generationId": _unless_negative("the rebalance that it was in", "absent"),
    "generationIdOrMemberEpoch": _words(
        {-1: "not of a member"}, "classic: the generation; else the member's epoch"
    ),
    "committedOffset": _words({-1: "nothing committed"}, "the next record to read"),
    "authorizedOperations": _words({-(2**31): "not asked for"}, "a bit for each operation"),
    "rebalanceTimeoutMs": _duration("to give up what it must"),
    "sessionTimeoutMs": _duration("without a heartbeat"),
    "heartbeatIntervalMs": _duration("between heartbeats"),
    "throttleTimeMs": _by_number(lambda ms: f"wait {duration_in_words(ms)}" if ms else "not throttled"),
    "errorCode": _by_number(
        lambda code: kip_error_name(code) or "an error of a later release" if code else "no error"
    ),
    "memberEpoch": _member_epoch,
    "previousMemberEpoch": "the epoch before, which a lost answer may leave it at",
    "metadataHash": _by_number(
        lambda value: "hash of the subscribed topics, their partitions and racks" if value else "no topics"
    ),
    "assignmentEpoch": "the group epoch that the target was computed for",
    "assignmentEpochs": "since which epoch it has each partition; runs parallel to them",
    "topicId": "its name stands in __cluster_metadata",
    "subscribedTopicRegex": _regex,
    "subscribedTopicNames": _unless_given,
    "topicPartitions": _unless_given,
    "assignment": _unless_given,
    "activeTasks": _unless_given,
    "standbyTasks": _unless_given,
    "warmupTasks": _unless_given,
    "serverAssignor": _assignor,
    "topologyEpoch": "which topology the instance runs",
    "processId": "of the instance; its threads share it",
}
