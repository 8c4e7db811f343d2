"""What checkers read of a request or an answer whichever API it is of: what an API does not have is absent."""

from __future__ import annotations

from typing import TypedDict

from groups.history.payloads.consumer import AssignmentBody, CommitAnswerTopic
from groups.history.payloads.records import TopicPartitions


class AnyRequest(TypedDict, total=False):
    """Of ConsumerGroupHeartbeat and OffsetCommit."""

    memberEpoch: int
    instanceId: str | None
    rebalanceTimeoutMs: int
    subscribedTopicNames: list[str] | None
    subscribedTopicRegex: str | None
    topicPartitions: list[TopicPartitions] | None
    generationIdOrMemberEpoch: int


class AnyAnswer(TypedDict, total=False):
    """An error of the whole request, or one for each partition (OffsetCommit)."""

    errorCode: int
    memberEpoch: int
    assignment: AssignmentBody | None
    topics: list[CommitAnswerTopic] | None
