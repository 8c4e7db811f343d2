"""One scripted group: requests with chosen ids and epochs, sent to the broker one after the other.

A script says what it expects where that is what it is about (an error code); what exactly is answered and written is
compared elsewhere, with the simulated coordinator.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from .node import Node, wait_for_coordinator
from .rpc import Connection

HEARTBEAT_FIELDS: Mapping[str, Any] = {
    "instanceId": None,
    "rackId": None,
    "rebalanceTimeoutMs": -1,
    "subscribedTopicNames": None,
    "subscribedTopicRegex": None,
    "serverAssignor": None,
    "topicPartitions": None,
}

HEARD_S = 1.0
"""Until the coordinator has heard of what the broker knows: milliseconds, but half a second on a busy machine."""

KNOWN_LIMIT_S = 90

SETTLE_LIMIT_S = 90


class Group:
    """Sends requests of one group; ``epochs`` and ``owned`` are what each member was last told."""

    def __init__(self, node: Node, name: str) -> None:
        self.node = node
        self.name = name
        self.epochs: dict[str, int] = {}
        self.owned: dict[str, dict[str, list[int]]] = {}
        self.ids: dict[str, str] = {}
        self.instances: dict[str, str] = {}
        self._connections: dict[str, Connection] = {}
        wait_for_coordinator(node, name)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections = {}

    def reconnect(self, node: Node) -> None:
        self.close()
        self.node = node
        wait_for_coordinator(node, self.name)

    def connection(self, client: str = "script") -> Connection:
        if client not in self._connections:
            self._connections[client] = self.node.connect(client)
        return self._connections[client]

    # The world around the group.

    def topic(self, name: str, partitions: int) -> str:
        """Makes a topic, named after the group so that groups do not meddle with each other."""
        full = self.full(name)
        self.ids[name] = self.connection().create_topic(full, partitions)
        self._until_known(full, partitions)
        return full

    def full(self, name: str) -> str:
        return f"{self.name}.{name}"

    def grow(self, name: str, partitions: int) -> None:
        self.connection().grow_topic(self.full(name), partitions)
        self._until_known(self.full(name), partitions)

    def remove_topic(self, name: str) -> None:
        self.connection().delete_topic(self.full(name))
        self._until_known(self.full(name), 0)

    def configure(self, *, error: int = 0, **settings: object | None) -> None:
        """Group settings by their names, an underscore for each dot and without ``consumer.``."""
        named = {f"consumer.{name.replace('_', '.')}": value for name, value in settings.items()}
        assert self.connection().configure_group(self.name, named) == error
        wanted = {name: str(value) for name, value in named.items() if value is not None and not error}
        deadline = time.monotonic() + KNOWN_LIMIT_S
        while not wanted.items() <= self.connection().group_settings(self.name).items():
            assert time.monotonic() < deadline, f"{self.name} has not {wanted} after {KNOWN_LIMIT_S} s"
            time.sleep(0.05)
        time.sleep(HEARD_S)

    def at_once(self) -> None:
        """Lets each new group epoch have its target at once, as it has where there is no interval."""
        if self.node.follows("target_has_time"):
            self.configure(assignment_interval_ms=0)

    # Heartbeats.

    def beat(
        self,
        member: str,
        epoch: int | None = None,
        *,
        error: int = 0,
        version: int = 1,
        client: str | None = None,
        group: str | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """One heartbeat; the epoch is the last that was told, if none is given. ``own`` reports partitions by topic."""
        if "own" in fields:
            own = fields.pop("own")
            fields["topicPartitions"] = None if own is None else self._partitions(own)
        body = {
            "groupId": self.name if group is None else group,
            "memberId": member,
            "memberEpoch": self.epochs.get(member, 0) if epoch is None else epoch,
            **HEARTBEAT_FIELDS,
            **fields,
        }
        if version == 0:
            del body["subscribedTopicRegex"]
        answer = self.connection(client or f"client-{member or 'x'}").ask(
            "ConsumerGroupHeartbeat", version, body
        )
        assert answer["errorCode"] == error, (self.name, body, answer)
        if not error:
            self.epochs[member] = answer["memberEpoch"]
            if answer["assignment"] is not None:
                told = answer["assignment"]["topicPartitions"]
                self.owned[member] = {each["topicId"]: each["partitions"] for each in told}
        return answer

    def join(self, member: str, names: Sequence[str] | None = None, **fields: Any) -> dict[str, Any]:
        """Epoch 0 with all that a first heartbeat needs; topics by their short names."""
        told: dict[str, Any] = {"rebalanceTimeoutMs": 60_000, "topicPartitions": []}
        told["subscribedTopicNames"] = None if names is None else [self.full(name) for name in names]
        return self.beat(member, 0, **{**told, **fields})

    def ack(self, member: str, **fields: Any) -> dict[str, Any]:
        """Reports all that the member was last told to have."""
        owned = [{"topicId": t, "partitions": p} for t, p in self.owned.get(member, {}).items()]
        return self.beat(member, **{"topicPartitions": owned, **fields})

    def leave(self, member: str, **fields: Any) -> dict[str, Any]:
        return self.beat(member, -1, **fields)

    def settle(self, *members: str) -> None:
        """Beats in turn until nobody is told anything new."""
        deadline = time.monotonic() + SETTLE_LIMIT_S
        quiet = 0
        while quiet < 2:
            before = dict(self.epochs), dict(self.owned)
            for member in members:
                self.ack(member, instanceId=self.instances.get(member))
            described = self.connection().describe_consumer_group(self.name)
            same = (self.epochs, self.owned) == before and described["groupState"] == "Stable"
            quiet = quiet + 1 if same else 0
            assert time.monotonic() < deadline, (self.name, described)
            time.sleep(0.1)

    def settle_tied(self, *members: str) -> None:
        """As ``settle``; three rounds where the release lets a group with two assignors asked for alike never come to rest."""
        if not self.node.follows("assignor_change_bumps"):
            return self.settle(*members)
        for member in members * 3:
            self.ack(member)
        return None

    def settle_static(self, *named: str | None) -> None:
        """As ``settle``, of pairs of member and instance."""
        for member, instance in zip(named[::2], named[1::2], strict=True):
            assert member is not None
            if instance is not None:
                self.instances[member] = instance
        self.settle(*(member for member in named[::2] if member is not None))

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def alive(self, seconds: float, *members: str) -> None:
        """Lets time pass while these members go on with bare heartbeats."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for member in members:
                self.beat(member)
            time.sleep(0.3)

    # Offsets, and what else can be asked.

    def commit(
        self,
        member: str,
        epoch: int | None,
        topic: str,
        offsets: Mapping[int, int],
        *,
        codes: Sequence[int] | None = None,
        metadata: str | None = "",
        version: int | None = None,
        topic_id: str | None = None,
    ) -> None:
        version = self._newest_of_offsets if version is None else version
        named = {"topicId": topic_id or self.ids[topic]} if version >= 10 else {"name": self.full(topic)}
        partitions = [
            {
                "partitionIndex": number,
                "committedOffset": offset,
                "committedLeaderEpoch": -1,
                "committedMetadata": metadata,
            }
            for number, offset in offsets.items()
        ]
        body: dict[str, Any] = {
            "groupId": self.name,
            "generationIdOrMemberEpoch": self.epochs.get(member, 0) if epoch is None else epoch,
            "memberId": member,
            "topics": [{**named, "partitions": partitions}],
        }
        if version >= 7:
            body["groupInstanceId"] = None
        answer = self.connection().ask("OffsetCommit", version, body)
        told = [each["errorCode"] for each in answer["topics"][0]["partitions"]]
        assert told == list(codes if codes is not None else [0] * len(offsets)), (self.name, body, answer)

    def fetch(
        self,
        member: str | None,
        epoch: int,
        topics: Mapping[str, Sequence[int]] | None,
        *,
        error: int = 0,
        version: int | None = None,
        stable: bool = False,
        topic_id: str | None = None,
    ) -> dict[str, Any]:
        version = self._newest_of_offsets if version is None else version
        asked = None
        if topics is not None:
            asked = [
                {
                    **(
                        {"topicId": topic_id or self.ids[name]}
                        if version >= 10
                        else {"name": self.full(name)}
                    ),
                    "partitionIndexes": list(numbers),
                }
                for name, numbers in topics.items()
            ]
        group: dict[str, Any] = {"groupId": self.name, "topics": asked}
        if version >= 9:
            group |= {"memberId": member, "memberEpoch": epoch}
        answer = self.connection().ask("OffsetFetch", version, {"groups": [group], "requireStable": stable})
        (told,) = answer["groups"]
        assert told["errorCode"] == error, (self.name, answer)
        return dict(told)

    @property
    def _newest_of_offsets(self) -> int:
        """Of OffsetCommit and OffsetFetch, as the broker offers them."""
        return 10 if self.node.follows("commit_by_topic_id") else 9

    def delete_offsets(self, topic: str, partitions: Sequence[int], *, error: int = 0) -> dict[str, Any]:
        named = {"name": self.full(topic), "partitions": [{"partitionIndex": n} for n in partitions]}
        answer = self.connection().ask("OffsetDelete", 0, {"groupId": self.name, "topics": [named]})
        assert answer["errorCode"] == error, (self.name, answer)
        return answer

    def delete(self, *, error: int = 0) -> None:
        version = 3 if self.node.follows("transactions_have_topic_ids") else 2
        answer = self.connection().ask("DeleteGroups", version, {"groupsNames": [self.name]})
        assert answer["results"][0]["errorCode"] == error, (self.name, answer)

    def describe(self, *, error: int = 0, version: int = 1) -> dict[str, Any]:
        body = {"groupIds": [self.name], "includeAuthorizedOperations": False}
        (told,) = self.connection().ask("ConsumerGroupDescribe", version, body)["groups"]
        assert told["errorCode"] == error, (self.name, told)
        return dict(told)

    def _until_known(self, topic: str, partitions: int) -> None:
        """Waits until the broker's own metadata say so, and then for its coordinator."""
        deadline = time.monotonic() + KNOWN_LIMIT_S
        while self.connection().leaders_of(topic) != partitions:
            assert time.monotonic() < deadline, (
                f"{topic} has not {partitions} partitions after {KNOWN_LIMIT_S} s"
            )
            time.sleep(0.05)
        time.sleep(HEARD_S)

    def _partitions(self, own: Mapping[str, Sequence[int]]) -> list[dict[str, Any]]:
        return [{"topicId": self.ids[name], "partitions": list(numbers)} for name, numbers in own.items()]
