"""A coordinator with its memory, driven by hand: what a request leaves behind is folded, as the engine does."""

from __future__ import annotations

from typing import Any

from groups.history.state.consumer import ConsumerGroup, ConsumerMember
from groups.history.state.group import Semantics
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.consumer.regexes import resolve
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.groups import CommittedOffset, Heartbeat, HeartbeatAnswer, OffsetCommit

FOO, BAR = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
GROUP = "orders"


class Broker:
    """``types`` are the record types of the last operation; time stands still unless ``now_ms`` is moved."""

    def __init__(self, semantics: str = "kafka", *, foo: int = 3, bar: int = 2, **settings: Any) -> None:
        image = Image(
            topics={
                "foo": ImageTopic(name="foo", topic_id=FOO, partitions=foo),
                "bar": ImageTopic(name="bar", topic_id=BAR, partitions=bar),
            }
        )
        self.shard = Shard(GROUP, Semantics(semantics), Settings(**settings), image)
        self.now_ms = 1_000_000
        self.last: Outcome[Any] = Outcome(answer=None)

    @property
    def group(self) -> ConsumerGroup:
        return self.shard.state.consumer

    @property
    def types(self) -> list[int]:
        return [record["type"] for record in self.last.records]

    def member(self, member_id: str) -> ConsumerMember:
        return self.group.members[member_id]

    def join(self, member_id: str, *names: str, **fields: Any) -> HeartbeatAnswer:
        told = {"subscribed_topic_names": names or ("foo",), "rebalance_timeout_ms": 300_000, "owned": {}}
        return self.heartbeat(member_id, 0, **{**told, **fields})

    def heartbeat(
        self, member: str, epoch: int, owned: dict[str, tuple[int, ...]] | None = None, /, **fields: Any
    ) -> HeartbeatAnswer:
        request = Heartbeat(
            **{
                "group_id": GROUP,
                "member_id": member,
                "member_epoch": epoch,
                "owned": owned,
                "client_id": member,
                **fields,
            }
        )
        self.last = self.shard.heartbeat(request, self.now_ms)
        answer: HeartbeatAnswer = self.last.answer
        return answer

    def commit(self, member_id: str, epoch: int, *partitions: int, metadata: str = "") -> list[int]:
        request = OffsetCommit(
            group_id=GROUP,
            member_id=member_id,
            member_epoch=epoch,
            offsets=tuple(
                CommittedOffset(topic="foo", topic_id=FOO, partition=number, offset=5, metadata=metadata)
                for number in partitions
            ),
        )
        outcome = self.last = self.shard.commit(request, self.now_ms)
        return [int(code) for _, _, code in outcome.answer.error_codes]

    def expire(self, timer: str, member_id: str | None, bound_epoch: int | None = None) -> None:
        self.last = self.shard.expired(timer, member_id, bound_epoch, self.now_ms)

    def resolve(self, *, started_ms: int | None = None) -> None:
        """The task that the last operation started, begun at once and ended now."""
        (task,) = self.last.tasks
        resolution = resolve(task, self.shard.image, self.now_ms if started_ms is None else started_ms)
        self.last = self.shard.regexes_resolved(resolution, self.now_ms)

    def create(self, name: str, topic_id: str, partitions: int = 1) -> None:
        topic = ImageTopic(name=name, topic_id=topic_id, partitions=partitions)
        self.last = self.shard.image_changed(self.shard.image.with_topic(topic), (name,), self.now_ms)

    def delete(self, name: str) -> None:
        """The topic goes from the image, then its offsets go."""
        before = self.shard.image
        self.shard.image_changed(before.without_topic(name), (name,), self.now_ms)
        self.last = self.shard.topics_deleted(self.shard.image.deleted_since(before), self.now_ms)

    def grow(self, topic: str, partitions: int) -> None:
        image = self.shard.image.with_partitions(topic, partitions)
        self.last = self.shard.image_changed(image, (topic,), self.now_ms)
