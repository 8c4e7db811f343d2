"""A run: the script happens, requests travel, the coordinator answers, and everything is in one log.

The same scenario, semantics and seed give the same entries, byte for byte: time is the queue's, chance is the
seed's, and nothing is walked in an order that the interpreter draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics, initial_state
from groups.releases import Release
from simulations.protocol.assignors.java_orders import offsets_partition
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Consumer, Request
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import SESSION, TimerStart
from simulations.protocol.messages.groups import Partitions
from simulations.world.engine.access import Access, acl_note
from simulations.world.engine.actions import Acting
from simulations.world.engine.brokers import BrokerNote, FeatureNote, broker_note, feature_note
from simulations.world.engine.classic_start import adopted, begun_group, records_of
from simulations.world.engine.cluster import Cluster
from simulations.world.engine.fault_injector import FaultInjector
from simulations.world.engine.in_flight import InFlightRequest
from simulations.world.engine.initial_state import by_id, first_image, first_note, start_records
from simulations.world.engine.log import COORDINATOR, Log
from simulations.world.engine.messaging import Messaging
from simulations.world.engine.narration import Narration
from simulations.world.engine.network import Network, longest_ms
from simulations.world.engine.process import Process
from simulations.world.engine.queue import EventQueue, Priority
from simulations.world.engine.raw_sending import ScriptedSender
from simulations.world.engine.requests import Answer
from simulations.world.engine.step_events import Seen
from simulations.world.scenario import ENTRIES_MAX, Event, Scenario
from simulations.world.scenario.environment import NetworkRates
from simulations.world.scenario.values import ClassicStart

OFFSETS_PARTITIONS: Final = 50
"""``offsets.topic.num.partitions`` at its default: where the group's records would lie."""


class RunTooLong(Exception):
    """The run made more entries than a timeline may have."""


class Simulation:
    """One run; ``entries`` may be walked once."""

    def __init__(self, scenario: Scenario, semantics: Semantics, seed: int) -> None:
        self.scenario = scenario
        self.semantics = semantics
        self.seed = seed
        self.queue = EventQueue(scenario.start_ms)
        self.log = Log(
            initial_state(scenario.group, semantics), offsets_partition(scenario.group, OFFSETS_PARTITIONS)
        )
        self.narration = Narration(scenario.steps, self.log)
        self.network = Network(self.queue, self.log, scenario.network, seed)
        self.access = Access(scenario.group, scenario.denied)
        self.cluster = Cluster(self, scenario, semantics, first_image(scenario.topics, seed), seed)
        self.messaging = Messaging(self.queue, self.network, self.cluster, self.access)
        self.acting = Acting(self)

    @property
    def shard(self) -> Shard:
        """The memory of the coordinator at work."""
        return self.cluster.coordinating.shard

    @property
    def image(self) -> Image:
        """The topics as they are; brokers may not know it yet."""
        return self.cluster.image

    def entries(self) -> Iterator[Entry]:
        self._begin()
        yield from self._taken()
        until_ms, queue, log = self.scenario.start_ms + self.scenario.until_ms, self.queue, self.log
        while (happen := queue.next_until(until_ms)) is not None:
            happen()
            if log.fresh:
                yield from self._taken()
                if log.last >= ENTRIES_MAX:
                    raise RunTooLong(
                        f"the run stopped at {ENTRIES_MAX} entries, {self.queue.now_ms} ms in; "
                        "shorten until, or let fewer members heartbeat less often"
                    )

    def _taken(self) -> list[Entry]:
        fresh, self.log.fresh = self.log.fresh, []
        return fresh

    def _begin(self) -> None:
        scenario, now_ms = self.scenario, self.queue.now_ms
        topics, release = tuple(scenario.topics), self.cluster.coordinator.release
        note = first_note(self.image, topics, self.cluster.rates, self.semantics, release)
        self.log.write(Kind.NOTE, COORDINATOR, now_ms, note)
        self._note_brokers()
        for denied, right in scenario.denied:
            self.log.write(Kind.NOTE, COORDINATOR, now_ms, acl_note(denied, right, allowed=False))
        for action in scenario.script:
            self.queue.plan(
                scenario.start_ms + action.at_ms, Priority.SCRIPT, partial(self.acting.act, action)
            )
        FaultInjector(scenario, self.acting, self.queue, self.seed).begin()
        if scenario.classic_start is not None:
            self._begin_classic(scenario.classic_start)
        if scenario.start is None:
            return
        records = start_records(scenario, scenario.start, self.image, self.semantics)
        self.shard.load(records)
        last = self.log.write_unit(records, now_ms)
        self.appended(records)
        interval_ms, session_ms = (
            scenario.settings.heartbeat_interval_ms,
            scenario.settings.session_timeout_ms,
        )
        timers = self.cluster.coordinating.timers
        for number, member in enumerate(scenario.start.members, start=1):
            start = TimerStart(timer=SESSION, member_id=member.name, length_ms=session_ms)
            notice = timers.apply(start)
            assert notice is not None
            timers.record(notice, last)
            first_ms = member.heartbeat_ms
            if first_ms is None:
                first_ms = interval_ms * number // (len(scenario.start.members) + 1)
            process = self.acting.new_process(member.name)
            assert isinstance(process.consumer, Consumer)
            described = scenario.members[member.name]
            adopted = process.consumer.adopt(
                epoch=member.epoch,
                owned=by_id(self.image, member.held),
                names=described.subscribe,
                regex=described.expression(described.regex),
                interval_ms=interval_ms,
                first_beat_ms=now_ms + first_ms,
            )
            process.act(adopted, None)
        self.narration.begin()

    def _begin_classic(self, start: ClassicStart) -> None:
        """The group is in the log, its sessions run, and its members take what they were given."""
        now_ms, processes, clients = self.queue.now_ms, {}, {}
        for name in start.owned:
            process = processes[name] = self.acting.new_process(name)
            assert isinstance(process.consumer, ClassicConsumer)
            clients[name] = process.consumer
        group = begun_group(self.scenario, start, clients, now_ms)
        records = records_of(self.scenario, start, group, self.image)
        self.shard.load(records)
        last = self.log.write_unit(records, now_ms)
        self.appended(records)
        self.shard.adopt(group)
        self.cluster.coordinating.loaded(last)
        for name, process in processes.items():
            process.act(adopted(start, group, name, clients[name], now_ms), last)
        self.narration.begin()

    # What the script's actions, and the machines, make happen.

    def send(self, process: Process, request: Request, cause: int | None) -> None:
        self.messaging.send(process, request, cause)

    def send_scripted(self, sender: ScriptedSender, request: Request) -> None:
        self.messaging.send(sender, request, None, scripted=True)

    def reply(self, exchange: InFlightRequest, answer: Answer, cause: int | None) -> None:
        self.messaging.reply(exchange, answer, cause)

    def waits(self, exchange: InFlightRequest) -> None:
        """The answer has to wait for the log."""
        self.messaging.waits(exchange)

    def appended(self, records: Sequence[Record]) -> None:
        """Records were committed."""
        self.cluster.committed.append(records)

    def note_topics(self, cause: int) -> None:
        """Readers of a topic of this name report so again, if another topic has the name now, or has partitions that they read already."""
        if self.rates:
            self.acting.note_reading(cause)

    @property
    def loading(self) -> bool:
        """Whether the coordinator still reads the log."""
        return self.cluster.coordinating.loading

    def operate(
        self, handle: Callable[[Shard, int], Outcome[object]], cause: int | None, *events: Seen
    ) -> None:
        """An operation of the coordinator that no client asks for; nothing while it is loading."""
        if not self.loading:
            self.cluster.coordinating.operate(handle, cause, *events)

    def change_topics(self, change: Callable[[Image], Image], names: tuple[str, ...], *events: Seen) -> None:
        """The topics are others from here on; ``names`` are those that change. ``events`` are recorded when the coordinator knows."""
        self.cluster.change_topics(change, names, events)

    def fail_over(
        self, *, crash: bool, lost: int | None = None, loading_ms: int = 0, compacted: bool = False
    ) -> None:
        """The coordinator crashes, or is led away from; see ``Cluster.fail_over``. Its clients lose it."""
        self.messaging.abandon(
            *self.cluster.fail_over(crash=crash, lost=lost, loading_ms=loading_ms, compacted=compacted)
        )

    def roll(self, name: str, release: Release | None, *, down_ms: int, loading_ms: int) -> None:
        """The broker goes down in order, its group is moved from it, and it comes back with the release."""
        broker, queue = self.cluster.broker(name), self.queue
        self._note(broker_note(broker, "stops"), Event.BROKER_STOPS)
        if broker is self.cluster.coordinator:
            self.fail_over(crash=False, lost=0, loading_ms=loading_ms)
        broker.alive, broker.rolls = False, True

        def back() -> None:
            before = broker.release
            broker.alive, broker.rolls, broker.release = True, False, release or before
            self._note(broker_note(broker, "starts", before), Event.BROKER_STARTS)

        queue.plan(queue.now_ms + down_ms, Priority.SCRIPT, back)

    def change_feature(self, level: int) -> None:
        """The feature ``group.version`` is raised or lowered, for every broker at once."""
        before, self.cluster.group_version = self.cluster.group_version, level
        cause = self._note(feature_note(level, before), Event.FEATURE)
        if level < before:
            self.operate(lambda shard, now_ms: shard.no_longer_served(now_ms), cause)

    def cut(self, who: str, peer: str | None = None) -> None:
        """Nothing passes any more between ``who``, a member or ``coordinator``, and its peer, or anybody."""
        cause = self._fault("cut", who, peer)
        ends = self._ends(who, peer)
        self.network.cut(*ends)
        if self.cluster.coordinator.name in ends and len(ends) == 1:
            self.cluster.coordinating.partition.stall()
        self.acting.note_reading(cause)

    def heal(self, who: str | None = None, peer: str | None = None) -> None:
        """Mends a cut; without ``who`` every one, and the network is calm from here on."""
        cause = self._fault("heal", who, peer)
        if who is None:
            self.network.calm()
        else:
            self.network.mend(*self._ends(who, peer))
        if not self.network.is_cut(self.cluster.coordinator.name, self.cluster.coordinator.name):
            self.cluster.coordinating.partition.go_on()
        self.acting.note_reading(cause)

    def change_network(self, rates: NetworkRates) -> None:
        """Delays and chances of whatever is sent from here on."""
        self.network.rates = rates
        if self.log.checker is not None:
            self.log.checker.travels(longest_ms(rates))

    def jump_clock(self, process: Process | None, by_ms: int) -> None:
        """A process's clock is set forward or back; ``None`` is the coordinator's broker."""
        member = process.member_id if process is not None else None
        payload = {"fault": "clock_jump", "member": member, "by_ms": by_ms}
        self.log.write(Kind.FAULT, member or COORDINATOR, self.queue.now_ms, payload)
        if process is not None:
            process.jump_clock(by_ms)
        else:
            self.cluster.jump_clock(by_ms)

    def settled(self, *events: Seen) -> None:
        """A moment of the run is over, and these events were part of it."""
        if self.scenario.steps:
            self.narration.settled(self.queue.now_ms, events)

    def by_name(self, partitions: Partitions) -> dict[str, list[int]]:
        """Partitions by topic name, as a reader wants them."""
        names = self.cluster.names
        return {names[topic_id]: list(numbers) for topic_id, numbers in partitions.items()}

    def reaches_brokers(self, host: str) -> bool:
        """Whether some broker can be reached: the partitions that a client reads have their leaders anywhere."""
        return any(not self.network.is_cut(host, broker.name) for broker in self.cluster.brokers)

    @property
    def rates(self) -> dict[str, int]:
        """By topic name: records a second that each partition gets."""
        return self.cluster.rates

    def _note(self, note: BrokerNote | FeatureNote, event: Event) -> int:
        sequence = self.log.write(Kind.NOTE, COORDINATOR, self.queue.now_ms, note)
        self.settled((event, None))
        return sequence

    def _note_brokers(self) -> None:
        """What brokers run, where that is not the same, or none of them serves the consumer protocol."""
        usual, settings = Settings(), self.scenario.settings
        releases = {broker.release for broker in self.cluster.brokers}
        if len(releases) > 1 or not settings.release.rules.consumer_protocol:
            for broker in self.cluster.brokers:
                self.log.write(Kind.NOTE, COORDINATOR, self.queue.now_ms, broker_note(broker, "runs"))
        if settings.group_version != usual.group_version:
            note = feature_note(settings.group_version, None)
            self.log.write(Kind.NOTE, COORDINATOR, self.queue.now_ms, note)

    def _fault(self, fault: str, who: str | None, peer: str | None) -> int:
        member = None if who is None or who == COORDINATOR else who
        payload = {"fault": fault, "member": member}
        if peer is not None:
            payload["peer"] = peer
        return self.log.write(Kind.FAULT, member or COORDINATOR, self.queue.now_ms, payload)

    def _ends(self, who: str, peer: str | None) -> tuple[str, ...]:
        leader = self.cluster.coordinator.name
        return tuple(leader if end == COORDINATOR else end for end in (who, peer) if end is not None)
