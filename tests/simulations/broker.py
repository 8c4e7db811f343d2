"""A coordinator with its memory, driven by hand: what a request leaves behind is folded, as the engine does."""

from __future__ import annotations

from typing import Any

from groups.history.consumer_state import ConsumerGroup, ConsumerMember
from groups.history.state import Semantics, initial_state
from simulations.coordinator.image import Image, ImageTopic
from simulations.coordinator.interface import COORDINATORS
from simulations.coordinator.messages import (
    CommitAnswer,
    CommittedOffset,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
)
from simulations.coordinator.outcome import Context, Outcome, Refresh
from simulations.coordinator.settings import Settings
from simulations.engine.log import Log

FOO, BAR = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
GROUP = "orders"


class Broker:
    """``types`` are the record types of the last operation; time stands still unless ``now_ms`` is moved."""

    def __init__(self, semantics: str = "kafka", *, foo: int = 3, bar: int = 2, **settings: Any) -> None:
        self.coordinator = COORDINATORS[Semantics(semantics)]
        self.log = Log(initial_state(GROUP, semantics), 0)
        self.image = Image(
            topics={
                "foo": ImageTopic(name="foo", topic_id=FOO, partitions=foo),
                "bar": ImageTopic(name="bar", topic_id=BAR, partitions=bar),
            }
        )
        self.settings = Settings(**settings)
        self.now_ms = 1_000_000
        self.refresh = Refresh()
        self.last: Outcome[Any] = Outcome(answer=None)

    @property
    def group(self) -> ConsumerGroup:
        return self.log.state.consumer

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
        outcome = self.coordinator.heartbeat(self._context(), request)
        self._apply(outcome)
        return outcome.answer

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
        outcome: Outcome[CommitAnswer] = self.coordinator.commit(self._context(), request)
        self._apply(outcome)
        return [int(code) for _, _, code in outcome.answer.error_codes]

    def expire(self, timer: str, member_id: str | None, bound_epoch: int | None = None) -> None:
        self._apply(self.coordinator.expired(self._context(), timer, member_id, bound_epoch))

    def grow(self, topic: str, partitions: int) -> None:
        self.image = self.image.with_partitions(topic, partitions)
        self._apply(self.coordinator.image_changed(self._context(), (topic,)))

    def _context(self) -> Context:
        return Context(
            state=self.log.state,
            image=self.image,
            settings=self.settings,
            now_ms=self.now_ms,
            refresh=self.refresh,
        )

    def _apply(self, outcome: Outcome[Any]) -> None:
        self.last = outcome
        if outcome.records:
            self.log.write_unit(outcome.records, self.now_ms)
        if outcome.refresh is not None:
            self.refresh = outcome.refresh
