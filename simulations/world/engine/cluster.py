"""The cluster: its brokers with what each knows of the topics, and which of them is the group's coordinator.

Kafka: the replicas of one partition of ``__consumer_offsets``, whose leader is the coordinator; the metadata that
every broker replays at its own pace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final

from groups.history.entries import Kind
from groups.history.state.group import Semantics
from groups.releases import EARLIER, Release
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.transactions import TRANSACTION_END, is_commit, plain
from simulations.world.engine.brokers import Broker
from simulations.world.engine.in_flight import InFlightRequest
from simulations.world.engine.initial_state import topics_note
from simulations.world.engine.log import COORDINATOR
from simulations.world.engine.partition_log import PartitionLog
from simulations.world.engine.queue import Priority
from simulations.world.engine.runtime import CoordinatorRuntime
from simulations.world.engine.step_events import Seen
from simulations.world.scenario import Scenario
from simulations.world.scenario.brokers import BROKERS

if TYPE_CHECKING:
    from simulations.world.engine.simulation import Simulation

CLEAN_AT: Final = 50_000
"""Records after which the cleaner goes over the log: a long run would else hold all that it ever wrote."""

Key = tuple[int, tuple[tuple[str, object], ...]]


def key_of(record: Record) -> Key:
    """What a later record of the same group replaces."""
    return record["type"], tuple(sorted(record["key"].items()))


def compacted(records: Sequence[Record], *, tombstones: bool = True) -> list[Record]:
    """The newest record of each key, where it is; ``tombstones`` as long as the cleaner keeps them.

    Nothing is cleaned from the first record of a transaction on that has not ended.
    """
    ended, dirty = without_transactions(records)
    newest: dict[Key, Record] = {}
    for record in ended:
        key = key_of(record)
        newest.pop(key, None)
        newest[key] = record
    return [record for record in newest.values() if tombstones or record["value"] is not None] + dirty


def without_transactions(records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """The records up to the first of an open transaction, those of ended ones as they count; and the rest as it is."""
    open_from: dict[int, int] = {}
    for place, record in enumerate(records):
        producer = record.get("producer")
        if producer is not None and record["type"] == TRANSACTION_END:
            open_from.pop(producer, None)
        elif producer is not None:
            open_from.setdefault(producer, place)
    first = min(open_from.values(), default=len(records))
    ended: list[Record] = []
    committed: dict[int, bool] = {}
    for place, record in reversed(list(enumerate(records))):
        producer = record.get("producer")
        if producer is not None and record["type"] == TRANSACTION_END:
            committed[producer] = is_commit(record)
        elif place < first and (producer is None or committed[producer]):
            ended.append(plain(record))
    return ended[::-1], list(records[first:])


class CommittedLog:
    """What any broker can load."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._clean_at = CLEAN_AT

    def append(self, records: Sequence[Record]) -> None:
        self._records += records
        if len(self._records) >= self._clean_at:
            self._records = compacted(self._records)
            self._clean_at = 2 * len(self._records) + CLEAN_AT

    def read(self, *, clean: bool = False) -> list[Record]:
        """``clean``: as the cleaner would leave it, and when its tombstones have had their time."""
        return compacted(self._records, tombstones=False) if clean else list(self._records)


RESTARTS_AFTER_MS: Final = 10_000
"""A crashed broker is back, as a replica, after this long."""

LOST_BATCH, FAIL_OVER = "lost_batch", "fail_over"


class Cluster:
    """``coordinating`` is the coordinator at work; ``image`` the newest metadata, which brokers learn after a while."""

    def __init__(
        self, world: Simulation, scenario: Scenario, semantics: Semantics, image: Image, seed: int
    ) -> None:
        self.image = image
        self._noted_image = image
        release, others = scenario.settings.release, dict(scenario.settings.other_releases)
        self.brokers = [
            Broker(name, number, image, others.get(name, release))
            for number, name in enumerate(BROKERS, start=1)
        ]
        self._by_name = {broker.name: broker for broker in self.brokers}
        self.names = {topic.topic_id: topic.name for topic in image.topics.values()}
        """Of every topic that ever was."""
        self.rates = {name: topic.rate for name, topic in scenario.topics.items() if topic.rate is not None}
        """By topic name: records a second that each partition gets."""
        self.epoch = 0
        self.group_version = scenario.settings.group_version
        """The level of the feature, which all brokers know at once."""
        self.committed = CommittedLog()
        self._world = world
        self._scenario = scenario
        self._semantics = semantics
        self._leader = self.brokers[0]
        self._delays = {broker.name: Random(f"metadata of {seed}: {broker.name}") for broker in self.brokers}
        self.coordinating = self._new_coordinator(self._new_shard())

    @property
    def coordinator(self) -> Broker:
        return self._leader

    def broker(self, name: str) -> Broker:
        return self._by_name[name]

    def jump_clock(self, by_ms: int) -> None:
        """The coordinator's broker has another time of day from here on."""
        self._leader.clock_ms += by_ms
        self.coordinating.clock_ms = self._leader.clock_ms

    # The metadata.

    def change_topics(
        self, change: Callable[[Image], Image], names: tuple[str, ...], events: tuple[Seen, ...] = ()
    ) -> None:
        """Topics are created, changed or deleted; each broker learns it in its time, in order."""
        image = self.image = change(self.image)
        self.names |= {topic.topic_id: topic.name for topic in image.topics.values()}
        queue, longest_ms = self._world.queue, self._scenario.metadata_delay_ms
        for broker in self.brokers:
            delay_ms = self._delays[broker.name].randint(0, longest_ms) if longest_ms else 0
            # What it was to learn at this very moment comes first.
            waits = longest_ms > 0 and broker.knows_ms >= queue.now_ms
            broker.knows_ms = max(broker.knows_ms, queue.now_ms + delay_ms)

            def learn(broker: Broker = broker) -> None:
                self._learns(broker, image, names, events)

            if broker.knows_ms == queue.now_ms and not waits:
                learn()
            else:
                queue.plan(broker.knows_ms, Priority.SCRIPT, learn)

    def _learns(self, broker: Broker, image: Image, names: tuple[str, ...], events: tuple[Seen, ...]) -> None:
        before, broker.image = broker.image, image
        if broker is not self._leader:
            return
        coordinating = self.coordinating
        if coordinating.loading:
            # It looks at the image that it has when the log is read.
            coordinating.shard.image = image
            self._note(image, names)
            return
        coordinating.operate(
            lambda shard, now_ms: shard.image_changed(image, names, now_ms),
            None,
            *events,
            begins=lambda: self._note(image, names),
        )
        gone = image.deleted_since(before)
        if gone:
            coordinating.operate(lambda shard, now_ms: shard.topics_deleted(gone, now_ms), None)

    def _note(self, image: Image, names: tuple[str, ...]) -> int:
        """Lists the topics as the coordinator has them, in the order in which its operations take effect."""
        self._noted_image = image
        world = self._world
        note = topics_note(image, names, self.rates)
        sequence = world.log.write(Kind.NOTE, COORDINATOR, world.queue.now_ms, note)
        world.note_topics(sequence)
        return sequence

    # The coordinator.

    def fail_over(
        self, *, crash: bool, lost: int | None, loading_ms: int, compacted: bool = False
    ) -> tuple[Broker, list[InFlightRequest]]:
        """Another broker becomes the coordinator; the old one, which is given back, crashes or is led away from.

        With it come the requests that it has not answered.

        The last ``lost`` batches that the replicas did not have yet are lost (``None``: all of those). The new one
        reads the log, or what its cleaner left of it, for ``loading_ms``.
        """
        world, old, last = self._world, self._leader, self.coordinating
        unanswered = last.end()
        for batch, operations in last.partition.close(lost):
            lost_records: list[Record] = [record for each in operations for record in each.records]
            types = sorted({record["type"] for record in lost_records} - {TRANSACTION_END})
            payload: dict[str, object] = {"fault": LOST_BATCH, "member": None}
            payload |= {"records": batch.records, "types": types}
            world.log.write(Kind.FAULT, COORDINATOR, world.queue.now_ms, payload)
        if crash:
            old.alive = False
            world.queue.plan(world.queue.now_ms + RESTARTS_AFTER_MS, Priority.SCRIPT, lambda: _revive(old))
        self._leader = self._next_leader()
        self.epoch += 1
        payload = {"fault": FAIL_OVER, "member": None, "coordinator": self._leader.name}
        payload |= {"epoch": self.epoch, "loading_ms": loading_ms}
        records = self.committed.read(clean=compacted)
        if self._semantics is Semantics.KAFKA or not self._leader.release.rules.consumer_protocol:
            payload |= _read_by(self._leader.release, records)
        cause = world.log.write(Kind.FAULT, COORDINATOR, world.queue.now_ms, payload)
        self._note_image()
        shard = self._new_shard()
        shard.load(records)
        shard.group_config = last.shard.group_config
        self.coordinating = coordinating = self._new_coordinator(shard)
        coordinating.loading = True

        def loaded() -> None:
            if self.coordinating is not coordinating:
                return
            coordinating.loaded(cause)
            if not self.group_version:
                coordinating.operate(lambda shard, now_ms: shard.no_longer_served(now_ms), cause)

        if loading_ms:
            world.queue.plan(world.queue.now_ms + loading_ms, Priority.SCRIPT, loaded)
        else:
            loaded()
        return old, unanswered

    def _next_leader(self) -> Broker:
        """The next broker that lives; if none does, the next that is not being rolled was just quick to come back."""
        at = self.brokers.index(self._leader)
        others = [each for each in (*self.brokers[at + 1 :], *self.brokers[:at]) if not each.rolls]
        leader = next((broker for broker in others if broker.alive), others[0])
        leader.alive = True
        return leader

    def _note_image(self) -> None:
        """A broker that learns of topics earlier or later than the last one knows them otherwise."""
        before, image = self._noted_image, self._leader.image
        if image is before:
            return
        names = dict.fromkeys((*before.topics, *image.topics))
        changed = tuple(name for name in names if before.topics.get(name) != image.topics.get(name))
        if changed:
            self._note(image, changed)

    def _new_shard(self) -> Shard:
        scenario, leader = self._scenario, self._leader
        settings = replace(scenario.settings, release=leader.release)
        return Shard(scenario.group, self._semantics, settings, leader.image)

    def _new_coordinator(self, shard: Shard) -> CoordinatorRuntime:
        scenario, world = self._scenario, self._world
        partition = PartitionLog(
            world.queue,
            replication_ms=scenario.replication_ms,
            linger_ms=scenario.settings.append_linger_ms,
        )
        return CoordinatorRuntime(
            world, shard, partition, regex_ms=scenario.regex_ms, clock_ms=self._leader.clock_ms
        )


def _revive(broker: Broker) -> None:
    """A broker that crashed is back, unless it is rolled by then."""
    broker.alive = broker.alive or not broker.rolls


def _read_by(release: Release, records: Sequence[Record]) -> dict[str, object]:
    """What another release than ``EARLIER`` makes of the log: how many records an older one skips."""
    if release is EARLIER:
        return {}
    skipped = sum(1 for record in records if not release.knows(record["type"]))
    return {"release": str(release)} | ({} if release.rules.consumer_protocol else {"skipped": skipped})
