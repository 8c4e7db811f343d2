"""What the lines of a script do to a world; their times only put them in order."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import Coordinator, CoordinatorStep, Wrongs
from simulations.proof.exploration.plan import OF_TOPICS
from simulations.proof.exploration.processes import Done, Process
from simulations.proof.exploration.state_layout import COORDINATOR, PROCESSES, SCRIPT, UNBORN, World
from simulations.protocol.client.consumer import Consumer, Effect
from simulations.protocol.coordinator.image import Image
from simulations.protocol.messages.groups import CommittedOffset
from simulations.world.scenario import Action, Verb

if TYPE_CHECKING:
    from simulations.proof.exploration.world import Worlds


class Script:
    """Takes the lines of a plan's script."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds
        self.taken: set[Hashable] = set()
        """Places (``place``) at which the next line was taken."""

    def place(self, world: World) -> Hashable:
        """What of a world decides what its next line does."""
        action = self._worlds.plan.script[world[SCRIPT]]
        if action.verb in OF_TOPICS:
            return "line", world[SCRIPT], world[COORDINATOR]
        if action.verb is Verb.FAIL_OVER:
            return "line", world[SCRIPT], world[COORDINATOR], world[PROCESSES:]
        slots = self._worlds.plan.slots_of[action.who]
        image = world[COORDINATOR] if action.verb is Verb.COMMIT else UNBORN
        return "line", world[SCRIPT], image, *(world[PROCESSES + slot] for slot in slots)

    def take(self, world: World) -> tuple[World, Wrongs]:
        """The next line, now."""
        self.taken.add(self.place(world))
        action = self._worlds.plan.script[world[SCRIPT]]
        world = (*world[:SCRIPT], world[SCRIPT] + 1, *world[SCRIPT + 1 :])
        if action.verb in OF_TOPICS:
            return self._metadata(world, action)
        if action.verb is Verb.FAIL_OVER:
            return self._worlds.fail_over(world)
        if action.verb is Verb.JOIN:
            return self._start(world, action.who)
        slot = self._newest(world, action.who)
        assert slot is not None, "the scenario was checked: nothing happens to who has not joined"
        process = self._worlds.processes.parts[world[PROCESSES + slot]]
        if action.verb is Verb.RESTART:
            return self._restart(world, slot, process, action.who)
        if not process.alive:
            return world, ()
        return self._done(world, slot, self._to_process(world, process, action))

    def answered(self, world: World, slot: int, done: Done) -> tuple[World, Wrongs]:
        """A process that is to be followed has been answered: it may be closed now, and the next one starts."""
        process = done.after
        if not process.consumer.closed or process.answers or process.requests:
            return self._done(world, slot, done)
        world, wrong = self._done(world, slot, replace(done, after=replace(process, follows=False)))
        started, more = self._start(world, self._worlds.plan.slots[slot][0])
        return started, wrong + more

    def _to_process(self, world: World, process: Process, action: Action) -> Done:
        acting = self._worlds.acting
        match action.verb:
            case Verb.KILL:
                return acting.killed(process)
            case Verb.PAUSE | Verb.RESUME:
                return Done(replace(process, paused=action.verb is Verb.PAUSE))
            case Verb.LEAVE:
                return acting.act(process, _leaves)
            case Verb.SUBSCRIBE:
                return acting.act(
                    process, lambda consumer: consumer.subscribe(action.topics, regex=action.regex)
                )
            case _:
                image = self._worlds.coordinators.parts[world[COORDINATOR]].shard.image
                return acting.act(
                    process, lambda consumer: consumer.commit(_offsets(consumer, image, action))
                )

    def _restart(self, world: World, slot: int, process: Process, name: str) -> tuple[World, Wrongs]:
        """A static member's process closes first; any other is killed."""
        acting, consumer = self._worlds.acting, process.consumer
        if process.runs and consumer.config.instance_id is not None and consumer.can_leave:
            return self._done(world, slot, acting.act(replace(process, follows=True), _leaves))
        if process.alive:
            world, _ = self._done(world, slot, acting.killed(process))
        return self._start(world, name)

    def _start(self, world: World, name: str) -> tuple[World, Wrongs]:
        """The member joins: with its newest process if that may, else with another one."""
        worlds, slots = self._worlds, self._worlds.plan.slots_of[name]
        slot = self._newest(world, name)
        process: Process | None = None
        if slot is not None:
            process = worlds.processes.parts[world[PROCESSES + slot]]
            if not process.alive or process.consumer.leaving or process.consumer.ended:
                process = None
        if process is None:
            slot = slots[0] if slot is None else slot + 1
            process = Process(consumer=worlds.plan.consumer(slot))
        assert slot in slots, "each join has a process of its own"
        member = worlds.plan.scenario.members[name]
        return self._done(
            world,
            slot,
            worlds.acting.act(
                process, lambda consumer: consumer.join(member.subscribe, NOW_MS, regex=member.regex)
            ),
        )

    def _metadata(self, world: World, action: Action) -> tuple[World, Wrongs]:
        worlds = self._worlds

        def changes(coordinator: Coordinator) -> CoordinatorStep:
            image = worlds.plan.image_after(coordinator.shard.image, action)
            worlds.names.update({topic.topic_id: topic.name for topic in image.topics.values()})
            return worlds.coordinating.metadata(coordinator, image, (action.who,))

        return worlds.coordinated(world, ("script", world[SCRIPT]), changes)

    def _newest(self, world: World, name: str) -> int | None:
        slots = self._worlds.plan.slots_of[name]
        born = [slot for slot in slots if world[PROCESSES + slot] != UNBORN]
        return born[-1] if born else None

    def _done(self, world: World, slot: int, done: Done) -> tuple[World, Wrongs]:
        at = PROCESSES + slot
        return (
            *world[:at],
            self._worlds.moves.settled(world, slot, done.after),
            *world[at + 1 :],
        ), done.wrong


def _leaves(consumer: Consumer) -> list[Effect]:
    return consumer.leave(NOW_MS)


def _offsets(consumer: Consumer, image: Image, action: Action) -> tuple[CommittedOffset, ...]:
    return tuple(
        CommittedOffset(
            topic=image.by_id[topic_id].name,
            topic_id=topic_id,
            partition=partition,
            offset=action.offset or 0,
        )
        for topic_id, partitions in consumer.owned.items()
        for partition in partitions
    )
