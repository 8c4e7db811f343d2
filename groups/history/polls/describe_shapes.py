"""The four describe requests' answers in Kafka's JSON form, as far as ``described_groups`` reads them.

Source: Kafka's schemas of the answers, whose codecs (``groups.wire``) refuse bytes of another shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict


class DescribedTopic(TypedDict):
    topicId: str
    topicName: str
    """Empty of a topic that was deleted."""
    partitions: Sequence[int]


class DescribedAssignment(TypedDict):
    topicPartitions: Sequence[DescribedTopic]


class _Group(TypedDict):
    errorCode: int
    errorMessage: NotRequired[str | None]
    """DescribeGroups has it from version 6 on."""
    groupId: str
    groupState: str


class _Member(TypedDict):
    memberId: str
    clientId: str
    clientHost: str


class ModernDescribedMember(_Member):
    """Of a consumer or a share group; what is not required a share group's member does not have."""

    instanceId: NotRequired[str | None]
    rackId: NotRequired[str | None]
    memberEpoch: int
    subscribedTopicNames: Sequence[str]
    subscribedTopicRegex: NotRequired[str | None]
    assignment: DescribedAssignment
    targetAssignment: NotRequired[DescribedAssignment]
    memberType: NotRequired[int]
    """From version 1 on."""


class ModernDescribedGroup(_Group):
    groupEpoch: int
    assignmentEpoch: int
    assignorName: str
    members: Sequence[ModernDescribedMember]


class DescribedTasks(TypedDict):
    subtopologyId: str
    partitions: Sequence[int]


class DescribedTaskSets(TypedDict):
    activeTasks: Sequence[DescribedTasks]
    standbyTasks: Sequence[DescribedTasks]
    warmupTasks: Sequence[DescribedTasks]


class DescribedEndpoint(TypedDict):
    host: str
    port: int


class DescribedTag(TypedDict):
    key: str
    value: str


class StreamsDescribedMember(_Member):
    instanceId: NotRequired[str | None]
    rackId: NotRequired[str | None]
    memberEpoch: int
    topologyEpoch: int
    processId: str
    userEndpoint: NotRequired[DescribedEndpoint | None]
    clientTags: Sequence[DescribedTag]
    assignment: DescribedTaskSets
    targetAssignment: DescribedTaskSets


class DescribedTopology(TypedDict):
    """``subtopologies``: as the answer has them; records take their fields over as they are."""

    epoch: int
    subtopologies: NotRequired[Sequence[dict[str, object]] | None]


class StreamsDescribedGroup(_Group):
    groupEpoch: int
    assignmentEpoch: int
    topology: NotRequired[DescribedTopology | None]
    members: Sequence[StreamsDescribedMember]


class ClassicDescribedMember(_Member):
    """``memberMetadata`` and ``memberAssignment``: bytes in base64."""

    groupInstanceId: NotRequired[str | None]
    memberMetadata: str | None
    memberAssignment: str | None


class ClassicDescribedGroup(_Group):
    protocolType: str
    protocolData: str
    members: Sequence[ClassicDescribedMember]


class ModernAnswer(TypedDict):
    """Of ConsumerGroupDescribe and ShareGroupDescribe."""

    groups: Sequence[ModernDescribedGroup]


class StreamsAnswer(TypedDict):
    groups: Sequence[StreamsDescribedGroup]


class ClassicAnswer(TypedDict):
    groups: Sequence[ClassicDescribedGroup]
