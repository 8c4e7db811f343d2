"""One scripted group of the classic protocol: what its members and its admin client request, each with a default for every field."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription

from ..acting import HEARTBEAT_FIELDS
from .conversation import Conversation
from .transcript import Sent

APPENDED_S = 0.5
COMMITTED_S = 0.05
"""Some answers leave before their records are committed, which alone a description shows."""

SESSION_MS, REBALANCE_MS = 45_000, 60_000

Assigned = Mapping[str, Sequence[int]]


class Classic(Conversation):
    """Sends requests of one group."""

    # The classic protocol.

    def join(
        self,
        who: str,
        *,
        member_id: str | None = None,
        instance: str | None = None,
        protocols: Mapping[str, bytes | None] | None = None,
        topics: Sequence[str] = ("foo",),
        owned: Assigned | None = None,
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        protocol_type: str = "consumer",
        version: int = 9,
        group: str | None = None,
    ) -> Sent:
        """One JoinGroup. Protocols are names with bytes, or ``None`` for a subscription to the topics."""
        if instance is not None:
            self._instances[who] = instance
        offered = {"range": None} if protocols is None else protocols
        own = self.subscription(topics, owned, self.generations.get(who, -1) if owned is not None else -1)
        body: dict[str, Any] = {
            "groupId": self.name if group is None else group,
            "sessionTimeoutMs": session_ms,
            "rebalanceTimeoutMs": rebalance_ms,
            "memberId": self.ids.get(who, "") if member_id is None else member_id,
            "protocolType": protocol_type,
            "protocols": [
                {"name": name, "metadata": _text(own if data is None else data)}
                for name, data in offered.items()
            ],
        }
        if version >= 5:
            body["groupInstanceId"] = self._instances.get(who)
        if version >= 8:
            body["reason"] = None
        return self.ask("JoinGroup", version, body, who)

    def enter(self, who: str, **fields: Any) -> Sent:
        """JoinGroup, and again with the id if one is required."""
        sent = self.join(who, **fields)
        if sent.answer is not None and sent.answer["errorCode"] == 79:
            sent = self.join(who, **fields)
        return sent

    def sync(
        self,
        who: str,
        assign: Mapping[str, Assigned] | None = None,
        *,
        generation: int | None = None,
        member_id: str | None = None,
        protocol_type: str | None = "consumer",
        protocol: str | None = "range",
        instance: str | None = None,
        raw: Mapping[str, bytes] | None = None,
        version: int = 5,
    ) -> Sent:
        """One SyncGroup; ``assign`` by short names, ``raw`` by member ids."""
        given = {self.ids[name]: self.assignment(topics) for name, topics in (assign or {}).items()}
        given |= raw or {}
        body: dict[str, Any] = {
            "groupId": self.name,
            "generationId": self.generations.get(who, 0) if generation is None else generation,
            "memberId": self.ids.get(who, "") if member_id is None else member_id,
            "assignments": [{"memberId": name, "assignment": _text(data)} for name, data in given.items()],
        }
        if version >= 3:
            body["groupInstanceId"] = self._instances.get(who) if instance is None else instance
        if version >= 5:
            body |= {"protocolType": protocol_type, "protocolName": protocol}
        sent = self.ask("SyncGroup", version, body, who)
        if who == self.leader and sent.answer is None:
            # It waits for nobody, but for the log, which may be slow.
            self.pause(APPENDED_S)
        return sent

    def beat(
        self,
        who: str,
        *,
        generation: int | None = None,
        member_id: str | None = None,
        instance: str | None = None,
        version: int = 4,
    ) -> Sent:
        body: dict[str, Any] = {
            "groupId": self.name,
            "generationId": self.generations.get(who, 0) if generation is None else generation,
            "memberId": self.ids.get(who, "") if member_id is None else member_id,
        }
        if version >= 3:
            body["groupInstanceId"] = self._instances.get(who) if instance is None else instance
        return self.ask("Heartbeat", version, body, who)

    def leave(self, *who: str, version: int = 5) -> Sent:
        if version < 3:
            (only,) = who
            return self.ask("LeaveGroup", version, {"groupId": self.name, "memberId": self.ids[only]}, only)
        return self.leave_entries(*((self.ids.get(name, name), None) for name in who), version=version)

    def leave_entries(self, *entries: tuple[str, str | None], version: int = 5) -> Sent:
        """LeaveGroup with member ids and instance ids as they are."""
        members: list[dict[str, Any]] = [
            {"memberId": member_id, "groupInstanceId": instance} for member_id, instance in entries
        ]
        if version >= 5:
            members = [{**each, "reason": None} for each in members]
        return self.ask("LeaveGroup", version, {"groupId": self.name, "members": members})

    def form(self, *who: str, assign: Mapping[str, Assigned] | None = None, **fields: Any) -> None:
        """All join, the leader assigns (all of ``foo`` by turns, if nothing is said), and the group is stable."""
        for name in who:
            self.enter(name, **fields)
        self.settle()
        self.assign(*who, assign=assign)

    def assign(self, *who: str, assign: Mapping[str, Assigned] | None = None, **fields: Any) -> None:
        """Everybody asks for its assignment, the leader last."""
        given = assign
        if given is None:
            _, count = self.transcript.topics["foo"]
            given = {name: {"foo": list(range(count))[at :: len(who)]} for at, name in enumerate(who)}
        for name in who:
            if name != self.leader:
                self.sync(name, **fields)
        if self.leader in who:
            self.sync(self.leader, given, **fields)
        self.settle()

    # Offsets, and what else can be asked.

    def commit(
        self,
        who: str,
        offsets: Mapping[int, int],
        *,
        generation: int | None = None,
        member_id: str | None = None,
        instance: str | None = None,
        topic: str = "foo",
        metadata: str = "",
        version: int = 9,
    ) -> Sent:
        topic_id = self.transcript.topics.get(topic, ("A" * 22, 0))[0]
        partitions = [
            {
                "partitionIndex": number,
                "committedOffset": offset,
                **({"committedLeaderEpoch": -1} if version >= 6 else {}),
                "committedMetadata": metadata,
            }
            for number, offset in offsets.items()
        ]
        named = {"topicId": topic_id} if version >= 10 else {"name": topic}
        body: dict[str, Any] = {
            "groupId": self.name,
            "generationIdOrMemberEpoch": self.generations.get(who, -1) if generation is None else generation,
            "memberId": self.ids.get(who, "") if member_id is None else member_id,
            "topics": [{**named, "partitions": partitions}],
        }
        if version >= 7:
            body["groupInstanceId"] = self._instances.get(who) if instance is None else instance
        if version <= 4:
            body["retentionTimeMs"] = -1
        return self.ask("OffsetCommit", version, body, who)

    def describe(self, version: int = 6) -> Sent:
        self.pause(COMMITTED_S)
        return self.ask(
            "DescribeGroups", version, {"groups": [self.name], "includeAuthorizedOperations": False}
        )

    # The consumer protocol, beside it.

    def consume(self, who: str, epoch: int | None = None, **fields: Any) -> Sent:
        """A heartbeat of the consumer protocol; the member's id is its short name."""
        body = {
            "groupId": self.name,
            "memberId": who,
            "memberEpoch": self.epochs.get(who, 0) if epoch is None else epoch,
            **HEARTBEAT_FIELDS,
            **fields,
        }
        return self.ask("ConsumerGroupHeartbeat", 1, body, who)

    def consume_join(self, who: str, topics: Sequence[str] = ("foo",), **fields: Any) -> Sent:
        told = {
            "rebalanceTimeoutMs": REBALANCE_MS,
            "topicPartitions": [],
            "subscribedTopicNames": list(topics),
        }
        return self.consume(who, 0, **{**told, **fields})

    def consume_ack(self, who: str, **fields: Any) -> Sent:
        """Reports all that the member was last told to have."""
        return self.consume(who, topicPartitions=self.owned.get(who, []), **fields)

    def describe_consumers(self) -> Sent:
        sent = self.ask(
            "ConsumerGroupDescribe", 1, {"groupIds": [self.name], "includeAuthorizedOperations": False}
        )
        assert sent.answer is not None
        sent.answer = sent.answer["groups"][0]
        return sent

    @staticmethod
    def subscription(
        topics: Sequence[str], owned: Assigned | None = None, generation: int = -1, version: int = 3
    ) -> bytes:
        told: dict[str, Any] = {"version": version, "topics": sorted(topics), "userData": None}
        if version >= 1:
            told["ownedPartitions"] = [
                {"topic": topic, "partitions": list(numbers)} for topic, numbers in (owned or {}).items()
            ]
        if version >= 2:
            told["generationId"] = generation
        if version >= 3:
            told["rackId"] = None
        return encode_subscription(told)

    @staticmethod
    def assignment(topics: Assigned, version: int = 3, user_data: str | None = None) -> bytes:
        assigned = [{"topic": topic, "partitions": list(numbers)} for topic, numbers in topics.items()]
        return encode_assignment({"version": version, "assignedPartitions": assigned, "userData": user_data})

    def lists(self) -> Sent:
        """ListGroups; the group's own row alone is kept."""
        self.pause(COMMITTED_S)
        sent = self.ask("ListGroups", 5, {"statesFilter": [], "typesFilter": []})
        assert sent.answer is not None
        own = [row for row in sent.answer["groups"] if row["groupId"] == self.name]
        sent.answer = {"groups": own}
        return sent

    def delete(self) -> Sent:
        sent = self.ask("DeleteGroups", 2, {"groupsNames": [self.name]})
        assert sent.answer is not None
        sent.answer = sent.answer["results"][0]
        return sent

    def fetch(self, who: str | None = None, epoch: int = -1) -> Sent:
        member_id = None if who is None else self.ids.get(who, who)
        group = {"groupId": self.name, "memberId": member_id, "memberEpoch": epoch, "topics": None}
        sent = self.ask("OffsetFetch", 9, {"groups": [group], "requireStable": False})
        assert sent.answer is not None
        sent.answer = sent.answer["groups"][0]
        sent.body = {**group, "requireStable": False}
        return sent

    def delete_offsets(self, topic: str, partitions: Sequence[int]) -> Sent:
        named = {"name": topic, "partitions": [{"partitionIndex": number} for number in partitions]}
        return self.ask("OffsetDelete", 0, {"groupId": self.name, "topics": [named]})


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def closed(groups: Mapping[str, Classic]) -> None:
    for group in groups.values():
        with contextlib.suppress(OSError):
            group.close()
