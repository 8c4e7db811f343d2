"""What the lines of a script do to a world with classic members; their times only put them in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from simulations.proof.exploration.classic.coordinators import ClassicCoordinator, ClassicStep
from simulations.proof.exploration.classic.processes import NOBODY, ClassicProcess, Client, Done
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import Wrongs
from simulations.proof.exploration.plan import OF_TOPICS
from simulations.proof.exploration.state_layout import PROCESSES, SCRIPT, UNBORN, World
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Effect
from simulations.protocol.client.consumer.config import CloseOption
from simulations.world.scenario import Action, How, Verb

if TYPE_CHECKING:
    from simulations.proof.exploration.classic.world import ClassicWorlds

CLOSES = {
    How.DEFAULT: CloseOption.DEFAULT,
    How.LEAVE: CloseOption.LEAVE_GROUP,
    How.REMAIN: CloseOption.REMAIN_IN_GROUP,
}


class ClassicScript:
    """Takes the lines of a plan's script."""

    def __init__(self, worlds: ClassicWorlds) -> None:
        self._worlds = worlds

    def is_due(self, world: World) -> bool:
        """Whether the next line may happen: not while its member is between two processes."""
        script = self._worlds.plan.script
        if world[SCRIPT] >= len(script):
            return False
        slots = self._worlds.plan.slots_of.get(script[world[SCRIPT]].who, ())
        parts = self._worlds.processes.parts
        numbers = [number for slot in slots if (number := world[PROCESSES + slot]) != UNBORN]
        return all(parts[number].follows == NOBODY for number in numbers)

    def take(self, world: World) -> tuple[World, Wrongs]:
        """The next line, now."""
        line = world[SCRIPT]
        action = self._worlds.plan.script[line]
        world = (*world[:SCRIPT], line + 1, *world[SCRIPT + 1 :])
        if action.verb in OF_TOPICS:
            return self._metadata(world, action)
        if action.verb is Verb.FAIL_OVER:
            return self._worlds.fail_over(world)
        if action.verb is Verb.JOIN:
            return self.start(world, action.who)
        slot = self.newest(world, action.who)
        process = self._worlds.processes.parts[world[PROCESSES + slot]] if slot is not None else None
        if action.verb in (Verb.RESTART, Verb.BOUNCE):
            return self._again(world, slot, process, action, line)
        if slot is None or process is None or not process.alive:
            return world, ()
        return self._worlds.done(world, slot, self._to_process(process, action))

    def start(self, world: World, name: str, *, anew: bool = False) -> tuple[World, Wrongs]:
        """The member joins: with its newest process if that may, unless ``anew``, else with another one."""
        plan = self._worlds.plan
        slot = self.newest(world, name)
        process = self._worlds.processes.parts[world[PROCESSES + slot]] if slot is not None else None
        gone = process is None or not process.alive or process.consumer.leaving or process.consumer.ended
        if gone or anew or process is None:
            slot = plan.slots_of[name][0] if slot is None else slot + 1
            process = ClassicProcess(consumer=plan.client(slot, world[SCRIPT]))
        assert slot is not None
        assert slot in plan.slots_of[name], "each start has a process of its own"
        member = plan.member(name, world[SCRIPT])
        plan.script_now = world[SCRIPT]
        joined = self._worlds.acting.act(
            process, lambda client: client.join(member.subscribe, NOW_MS, regex=member.regex)
        )
        return self._worlds.done(world, slot, joined)

    def follow(self, world: World, slot: int, process: ClassicProcess) -> tuple[World, Wrongs]:
        """The process has closed, and the one that is to follow it starts."""
        plan = self._worlds.plan
        world, _ = self._worlds.done(world, slot, self._worlds.acting.killed(process))
        return self.start(world, plan.slots[slot][0], anew=True)

    def newest(self, world: World, name: str) -> int | None:
        born = [slot for slot in self._worlds.plan.slots_of[name] if world[PROCESSES + slot] != UNBORN]
        return born[-1] if born else None

    def _again(
        self, world: World, slot: int | None, process: ClassicProcess | None, action: Action, line: int
    ) -> tuple[World, Wrongs]:
        """A bounce closes first, and so does a restart of a static member; whoever cannot is killed."""
        acting = self._worlds.acting
        if slot is None or process is None or not process.alive:
            return self.start(world, action.who, anew=slot is not None)
        static = process.consumer.config.instance_id is not None
        if process.runs and process.consumer.can_leave and (static or action.verb is Verb.BOUNCE):
            leaves = _leaves if action.verb is Verb.RESTART else _closes(None)
            return self._worlds.done(world, slot, acting.act(replace(process, follows=line), leaves))
        world, _ = self._worlds.done(world, slot, acting.killed(process))
        return self.start(world, action.who, anew=True)

    def _to_process(self, process: ClassicProcess, action: Action) -> Done:
        acting = self._worlds.acting
        match action.verb:
            case Verb.KILL:
                return acting.killed(process)
            case Verb.PAUSE | Verb.RESUME:
                return Done(replace(process, paused=action.verb is Verb.PAUSE))
            case Verb.LEAVE:
                return acting.act(process, _leaves if action.how is None else _closes(action.how))
            case Verb.ENFORCE_REBALANCE:
                return acting.act(process, _enforces)
            case _:
                return acting.act(process, lambda client: _subscribes(client, action))

    def _metadata(self, world: World, action: Action) -> tuple[World, Wrongs]:
        worlds = self._worlds

        def changes(coordinator: ClassicCoordinator) -> ClassicStep:
            image = worlds.plan.image_after(coordinator.shard.image, action)
            worlds.names.update({topic.topic_id: topic.name for topic in image.topics.values()})
            return worlds.coordinating.metadata(coordinator, image, (action.who,))

        return worlds.coordinated(world, ("script", world[SCRIPT]), changes)


def _leaves(client: Client) -> list[Effect]:
    return client.leave(NOW_MS)


def _closes(how: How | None) -> Callable[[Client], list[Effect]]:
    option = CLOSES[how or How.DEFAULT]
    return lambda client: client.close(NOW_MS, option)


def _enforces(client: Client) -> list[Effect]:
    return client.enforce_rebalance(None, NOW_MS) if isinstance(client, ClassicConsumer) else []


def _subscribes(client: Client, action: Action) -> list[Effect]:
    if isinstance(client, ClassicConsumer):
        return client.subscribe(action.topics, regex=action.regex, now_ms=NOW_MS)
    return client.subscribe(action.topics, regex=action.regex)
