"""Requests for a group's offsets and for its end, as values, in addition to ``messages``. Field names are those of Kafka's schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groups.history.payloads.consumer import (
    FetchAnswerBody,
    FetchAnswerPartition,
    FetchAnswerTopic,
    FetchGroup,
    FetchTopic,
    OffsetFetchBody,
)
from simulations.protocol.messages.groups import TOPIC_ID_VERSION, Named, Partitions, named_topic

PROPOSED_VERSION: Final = 9
"""KIP-848's of OffsetFetch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedTopic:
    """A topic of an OffsetFetch request; version 10 has the id alone, older ones the name alone."""

    topic: str = ""
    topic_id: str = ""
    partitions: tuple[int, ...] = ()
    given: Named | None = None
    """How the request names it, where it may do either (KIP-848); else its version decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetch:
    """OffsetFetch request of one group. ``topics`` is ``None`` for all that the group has.

    ``member_id`` is ``None`` and the epoch below 0 for a sender that is no member (tools, and clients before KIP-848).
    """

    group_id: str
    member_id: str | None = None
    member_epoch: int = -1
    topics: tuple[FetchedTopic, ...] | None = None
    require_stable: bool = False
    version: int = 10
    proposed: bool = False
    """Whether it is of KIP-848's version 9, in which the member is the whole request's."""

    def named(self, topic: FetchedTopic) -> Named:
        """How it names one of its topics."""
        return topic.given or (Named.ID if self.version >= TOPIC_ID_VERSION else Named.NAME)

    @property
    def ids(self) -> frozenset[str]:
        """The topics that it names by id."""
        return frozenset(topic.topic_id for topic in self.topics or () if self.named(topic) is Named.ID)

    def body(self) -> OffsetFetchBody:
        topics: list[FetchTopic] | None = None
        if self.topics is not None:
            topics = [
                {
                    **named_topic(self.named(topic), topic.topic, topic.topic_id),
                    "partitionIndexes": list(topic.partitions),
                }
                for topic in self.topics
            ]
        if self.proposed:
            return {
                "generationIdOrMemberEpoch": self.member_epoch,
                "memberId": self.member_id or "",
                "groups": [{"groupId": self.group_id, "topics": topics}],
                "requireStable": self.require_stable,
            }
        group: FetchGroup = {
            "groupId": self.group_id,
            "memberId": self.member_id,
            "memberEpoch": self.member_epoch,
            "topics": topics,
        }
        return {"groups": [group], "requireStable": self.require_stable}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedOffset:
    """One partition of an OffsetFetch response; offset and leader epoch are -1 where there is none."""

    topic: str
    topic_id: str
    partition: int
    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""
    error_code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAnswer:
    """OffsetFetch response of one group; with an error of the group it has no partitions."""

    group_id: str
    error_code: int = 0
    offsets: tuple[FetchedOffset, ...] = ()
    version: int = 10
    ids: frozenset[str] = frozenset()
    """Topics that the request named by id; from version 10 on all are."""

    def body(self) -> FetchAnswerBody:
        topics: dict[tuple[bool, str], list[FetchAnswerPartition]] = {}
        for offset in self.offsets:
            by_id = self.version >= TOPIC_ID_VERSION or offset.topic_id in self.ids
            topics.setdefault((by_id, offset.topic_id if by_id else offset.topic), []).append(
                {
                    "partitionIndex": offset.partition,
                    "committedOffset": offset.offset,
                    "committedLeaderEpoch": offset.leader_epoch,
                    "metadata": offset.metadata,
                    "errorCode": int(offset.error_code),
                }
            )
        known: list[FetchAnswerTopic] = [
            {"topicId": topic, "partitions": partitions}
            if by_id
            else {"name": topic, "partitions": partitions}
            for (by_id, topic), partitions in topics.items()
        ]
        return {"groups": [{"groupId": self.group_id, "topics": known, "errorCode": int(self.error_code)}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDelete:
    """OffsetDelete request: topic name → partitions."""

    group_id: str
    topics: Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDeleteAnswer:
    """OffsetDelete response: an error of the group, or a code for each ``(topic, partition)``."""

    error_code: int = 0
    error_codes: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteAnswer:
    """DeleteGroups response of one group."""

    error_code: int = 0
