"""What a script makes happen: each verb done to the world at its time."""

from __future__ import annotations

from functools import partial
from typing import Final, Protocol

from groups.history.entries import Kind
from groups.history.state import Semantics
from simulations.clients import Consumer, ConsumerConfig
from simulations.coordinator.image import Image
from simulations.coordinator.messages import CommittedOffset, Heartbeat, OffsetCommit, Partitions
from simulations.coordinator.shard import Shard
from simulations.engine.beginning import topics_note
from simulations.engine.log import COORDINATOR, Log
from simulations.engine.narration import Seen
from simulations.engine.process import Process
from simulations.engine.queue import EventQueue
from simulations.scenario import Action, Event, Scenario, Verb

RECORDS_A_SECOND: Final = 10
"""What a consumer is taken to read from each partition, for commits that name no offset."""


class World(Protocol):
    """What an action may touch: time, the log, the coordinator, and the ways into and out of them."""

    scenario: Scenario
    semantics: Semantics
    queue: EventQueue
    log: Log
    shard: Shard

    def send(self, process: Process, request: Heartbeat | OffsetCommit, cause: int | None) -> None:
        """The network takes a request of a process."""

    def change_image(self, image: Image, names: tuple[str, ...], cause: int) -> None:
        """The topics are others from here on; ``names`` are those that changed, ``cause`` the entry that says so."""

    def settled(self, *told: Seen) -> None:
        """A moment of the run is over, and these events were part of it."""

    def by_name(self, partitions: Partitions) -> dict[str, list[int]]:
        """Partitions by topic name, as a reader wants them."""


class Acting:
    """Does the script's actions, and starts the members' processes."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.processes: dict[str, Process] = {}
        """The newest process of each member, by the scenario's name."""
        self._lives: dict[str, int] = {}

    def act(self, action: Action) -> None:
        """One line of the script, now."""
        now_ms = self._world.queue.now_ms
        if action.verb is Verb.ADD_PARTITIONS:
            self._add_partitions(action)
            return
        process = self.processes.get(action.who)
        if action.verb in (Verb.JOIN, Verb.RESTART):
            if action.verb is Verb.RESTART and process is not None and process.alive:
                if _closes_first(process):
                    process.follow(partial(self._start, action.who))
                    process.act(process.consumer.leave(now_ms), None)
                    return
                self._fault(Event.KILL, process)
                process.kill()
            self._start(action.who)
            return
        if action.verb is Verb.SLOW_REVOKE:
            assert action.length_ms is not None
            process = process or self.new_process(action.who)
            process.consumer.revoke_ms = action.length_ms
            return
        assert process is not None, "the scenario was checked: nothing happens to who has not joined"
        match action.verb:
            case Verb.LEAVE:
                process.follow(None)
                process.act(process.consumer.leave(now_ms), None)
            case Verb.HEARTBEAT:
                process.act(process.consumer.beat(now_ms), None)
            case Verb.SUBSCRIBE:
                process.act(process.consumer.subscribe(action.topics), None)
            case Verb.COMMIT:
                offsets = self._offsets(process.consumer.owned, action.offset)
                process.act(process.consumer.commit(offsets), None)
            case Verb.KILL:
                self._fault(Event.KILL, process)
                process.kill()
            case Verb.PAUSE:
                self._fault(Event.PAUSE, process)
                process.pause()
            case Verb.RESUME:
                self._fault(Event.RESUME, process)
                process.resume()

    def _start(self, name: str) -> None:
        """The member's process joins: its first one, one that left before, or a new one."""
        process = self.processes.get(name)
        # Who joins while its last process is still closing is a new process beside it.
        if process is None or not process.alive or process.consumer.leaving or process.consumer.ended:
            process = self.new_process(name)
        joined = process.consumer.join(self._world.scenario.members[name].subscribe, self._world.queue.now_ms)
        process.act(joined, None)

    def new_process(self, name: str) -> Process:
        """A process for the member; from its second life on its id tells which life it is."""
        world = self._world
        lives = self._lives[name] = self._lives.get(name, 0) + 1
        member = world.scenario.members[name]
        config = ConsumerConfig(
            group_id=world.scenario.group,
            member_id=name if lives == 1 else f"{name}~{lives}",
            client_id=member.client_id,
            client_host=member.client_host,
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            server_assignor=member.assignor,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            callback_ms=member.callback_ms,
            calls_for_nothing=world.semantics is Semantics.KAFKA,
        )
        process = Process(Consumer(config), world.queue, world.log, world.send, world.by_name)
        self.processes[name] = process
        return process

    def _fault(self, event: Event, process: Process) -> None:
        payload = {"fault": str(event), "member": process.member_id}
        self._world.log.write(Kind.FAULT, process.member_id, self._world.queue.now_ms, payload)
        self._world.settled((event, process.member_id))

    def _add_partitions(self, action: Action) -> None:
        assert action.partitions is not None
        world, names = self._world, (action.who,)
        image = world.shard.image.with_partitions(action.who, action.partitions)
        cause = world.log.write(Kind.NOTE, COORDINATOR, world.queue.now_ms, topics_note(image, names))
        world.change_image(image, names, cause)
        world.settled((Event.METADATA, action.who))

    def _offsets(self, owned: Partitions, offset: int | None) -> tuple[CommittedOffset, ...]:
        world = self._world
        seconds = (world.queue.now_ms - world.scenario.start_ms) / 1000
        position = int(seconds * RECORDS_A_SECOND) if offset is None else offset
        return tuple(
            CommittedOffset(
                topic=world.shard.image.by_id[topic_id].name,
                topic_id=topic_id,
                partition=partition,
                offset=position,
            )
            for topic_id, partitions in owned.items()
            for partition in partitions
        )


def _closes_first(process: Process) -> bool:
    """Whether a restart is a clean one: a static member's, whose instance is held until it says that it leaves."""
    consumer = process.consumer
    static = consumer.config.instance_id is not None
    return static and not process.paused and (consumer.can_leave or process.followed)
