"""One scripted group of the classic protocol: requests that may wait for each other, and everything noted down.

Requests go out one at a time, each on a connection that waits for nothing else; one that is not answered soon is taken
to be parked, and its answer is noted whenever it comes.
"""

from __future__ import annotations

import base64
import contextlib
import select
import time
from collections.abc import Mapping, Sequence
from typing import Any

from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription

from ..acting import HEARTBEAT_FIELDS
from ..node import Node, wait_for_coordinator
from .line import ANSWER_LIMIT_S, Line, now_ms
from .transcript import Restarted, Sent, Transcript

PARKED_S = 0.12
"""A request that is not answered by then waits for something; the broker takes a few milliseconds for the others."""

APPENDED_S = 0.5
COMMITTED_S = 0.05
"""Some answers leave before their records are committed, which alone a description shows."""

SESSION_MS, REBALANCE_MS = 45_000, 60_000

PARKED_APIS = ("JoinGroup", "SyncGroup")

Assigned = Mapping[str, Sequence[int]]


class Classic:
    """Sends requests of one group. ``ids`` and ``generations`` are what each member was last told, by its short name."""

    def __init__(self, node: Node, group: str, transcript: Transcript) -> None:
        self.node = node
        self.name = group
        self.transcript = transcript
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.epochs: dict[str, int] = {}
        self.owned: dict[str, list[dict[str, Any]]] = {}
        self.leader = ""
        self._instances: dict[str, str] = {}
        self._who: dict[int, str] = {}
        self._lines: list[Line] = []
        self._stopped_ms = 0
        wait_for_coordinator(node, group)

    def close(self) -> None:
        self.transcript.end_ms = now_ms()
        self._hang_up()

    def reconnect(self, node: Node) -> None:
        """After the broker was stopped and started: what was parked is lost."""
        self.node = node
        wait_for_coordinator(node, self.name)
        self.transcript.events.append(Restarted(at_ms=now_ms(), stopped_ms=self._stopped_ms))

    def hang_up(self) -> None:
        """Before the broker is stopped: what it says to parked requests while it stops is not waited for."""
        self._stopped_ms = now_ms()
        self._hang_up()

    def _hang_up(self) -> None:
        for line in self._lines:
            line.socket.close()
        self._lines = []

    # Sending.

    def ask(self, api: str, version: int, body: Mapping[str, Any], who: str = "x") -> Sent:
        """Sends a request and waits for its answer, or as long as shows that it is parked."""
        sent = Sent(
            ticket=len(self.transcript.events) + 1,
            at_ms=now_ms(),
            api=api,
            version=version,
            client=f"c-{who}",
            body=dict(body),
        )
        self.transcript.events.append(sent)
        self._who[sent.ticket] = who
        line = next((line for line in self._lines if line.sent is None), None)
        if line is None:
            line = Line(self.node.port)
            self._lines.append(line)
        line.send(sent)
        limit_s = PARKED_S if api in PARKED_APIS else ANSWER_LIMIT_S
        deadline = time.monotonic() + limit_s
        while sent.answer is None and time.monotonic() < deadline:
            self._listen(deadline - time.monotonic())
        assert sent.answer is not None or api in PARKED_APIS, f"{api} was not answered in {limit_s} s"
        return sent

    def pause(self, seconds: float) -> None:
        """Lets time pass, and notes what is answered meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._listen(left)

    def settle(self, limit_s: float = ANSWER_LIMIT_S) -> None:
        """Waits until nothing is parked any more."""
        deadline = time.monotonic() + limit_s
        while waiting := [
            line.sent for line in self._lines if line.sent is not None and not self._superseded(line.sent)
        ]:
            assert time.monotonic() < deadline, f"{self.name}: {waiting} not answered in {limit_s} s"
            self._listen(0.5)

    def _superseded(self, sent: Sent) -> bool:
        """Whether the member has sent another request of this kind since, so that this one is never answered."""
        return any(
            isinstance(each, Sent)
            and each.api == sent.api
            and each.ticket > sent.ticket
            and each.body["memberId"] == sent.body["memberId"] != ""
            for each in self.transcript.events
        )

    def _listen(self, seconds: float) -> None:
        sockets = {line.socket: line for line in self._lines if line.sent is not None}
        if not sockets:
            time.sleep(max(0.0, seconds))
            return
        ready, _, _ = select.select(list(sockets), [], [], max(0.0, seconds))
        for each in ready:
            line = sockets[each]
            sent = line.sent
            if line.read() and sent is not None:
                self._heard(sent)

    def _heard(self, sent: Sent) -> None:
        who, answer = self._who[sent.ticket], sent.answer
        assert answer is not None
        if sent.api == "JoinGroup":
            if answer["memberId"] and answer["errorCode"] in (0, 79):
                self.ids[who] = answer["memberId"]
            if not answer["errorCode"]:
                self.generations[who] = answer["generationId"]
                if answer["leader"] and answer["leader"] == answer["memberId"]:
                    self.leader = who
        elif sent.api == "ConsumerGroupHeartbeat" and not answer["errorCode"]:
            self.epochs[who] = answer["memberEpoch"]
            if answer["assignment"] is not None:
                self.owned[who] = answer["assignment"]["topicPartitions"]

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
