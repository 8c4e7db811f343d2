"""What the lines of a script do to a world; their times only put them in order."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Generic

from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import C, CoordinatorStep, Wrongs
from simulations.proof.exploration.plan import OF_TOPICS
from simulations.proof.exploration.processes import Client, Done, P
from simulations.proof.exploration.state_layout import COORDINATOR, PROCESSES, SCRIPT, UNBORN, World
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Effect
from simulations.protocol.client.consumer.config import CloseOption
from simulations.protocol.coordinator.image import Image
from simulations.protocol.messages.groups import CommittedOffset
from simulations.world.scenario import Action, How, Verb

if TYPE_CHECKING:
    from simulations.proof.exploration.world import Worlds

CLOSES: Final = {
    How.DEFAULT: CloseOption.DEFAULT,
    How.LEAVE: CloseOption.LEAVE_GROUP,
    How.REMAIN: CloseOption.REMAIN_IN_GROUP,
}

AGAIN: Final = frozenset({Verb.RESTART, Verb.BOUNCE})
"""Verbs that end one process of a member and start another."""


class Script(Generic[C, P]):
    """Takes the lines of a plan's script."""

    def __init__(self, worlds: Worlds[C, P]) -> None:
        self._worlds = worlds
        self._follows = any(action.verb in AGAIN for action in worlds.plan.script)
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

    def is_due(self, world: World) -> bool:
        """Whether the next line may happen: not while its member is between two processes."""
        plan = self._worlds.plan
        if world[SCRIPT] >= len(plan.script):
            return False
        if not self._follows:
            return True
        slots = plan.slots_of.get(plan.script[world[SCRIPT]].who, ())
        numbers = [number for slot in slots if (number := world[PROCESSES + slot]) != UNBORN]
        return not any(self._worlds.processes.parts[number].follows for number in numbers)

    def take(self, world: World) -> tuple[World, Wrongs]:
        """The next line, now."""
        worlds = self._worlds
        self.taken.add(self.place(world))
        action = worlds.plan.script[world[SCRIPT]]
        world = (*world[:SCRIPT], world[SCRIPT] + 1, *world[SCRIPT + 1 :])
        if action.verb in OF_TOPICS:
            return self._metadata(world, action)
        if action.verb is Verb.FAIL_OVER:
            return worlds.fail_over(world)
        if action.verb is Verb.JOIN:
            return self.start(world, action.who)
        slot, process = self._newest(world, action.who)
        if action.verb in AGAIN:
            return self._again(world, slot, process, action)
        if slot is None or process is None or not process.alive:
            return world, ()
        return worlds.done(world, slot, self._to_process(world, process, action))

    def start(self, world: World, name: str, *, restart: bool = False) -> tuple[World, Wrongs]:
        """The member joins: with its newest process if that may, unless ``restart``, else with another one."""
        worlds, plan = self._worlds, self._worlds.plan
        slot, process = self._newest(world, name)
        gone = process is None or not process.alive or process.consumer.leaving or process.consumer.ended
        if gone or restart or process is None:
            slot = plan.slots_of[name][0] if slot is None else slot + 1
            process = worlds.acting.fresh(plan.client(slot, world[SCRIPT]))
        assert slot is not None
        assert slot in plan.slots_of[name], "each start has a process of its own"
        member = plan.member(name, world[SCRIPT])
        plan.script_now = world[SCRIPT]
        joined = worlds.acting.act(
            process, lambda client: client.join(member.subscribe, NOW_MS, regex=member.regex)
        )
        return worlds.done(world, slot, joined)

    def _newest(self, world: World, name: str) -> tuple[int | None, P | None]:
        """The last process of a member that has started."""
        born = [slot for slot in self._worlds.plan.slots_of[name] if world[PROCESSES + slot] != UNBORN]
        return (born[-1], self._worlds.processes.parts[world[PROCESSES + born[-1]]]) if born else (None, None)

    def _again(
        self, world: World, slot: int | None, process: P | None, action: Action
    ) -> tuple[World, Wrongs]:
        """A bounce closes first, and so does a restart of a static member; a process that cannot is killed."""
        worlds, acting = self._worlds, self._worlds.acting
        if slot is None or process is None or not process.alive:
            return self.start(world, action.who, restart=slot is not None)
        static = process.consumer.config.instance_id is not None
        if process.runs and process.consumer.can_leave and (static or action.verb is Verb.BOUNCE):
            leaves = _leaves if action.verb is Verb.RESTART else _closes(How.DEFAULT)
            return worlds.done(world, slot, acting.act(replace(process, follows=True), leaves))
        world, _ = worlds.done(world, slot, acting.killed(process))
        return self.start(world, action.who, restart=True)

    def _to_process(self, world: World, process: P, action: Action) -> Done[P]:
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
            case Verb.SUBSCRIBE:
                return acting.act(process, lambda client: _subscribes(client, action))
            case _:
                image = self._worlds.coordinators.parts[world[COORDINATOR]].shard.image
                return acting.act(process, lambda client: _commits(client, image, action))

    def _metadata(self, world: World, action: Action) -> tuple[World, Wrongs]:
        worlds = self._worlds

        def changes(coordinator: C) -> CoordinatorStep[C]:
            image = worlds.plan.image_after(coordinator.shard.image, action)
            worlds.names.update({topic.topic_id: topic.name for topic in image.topics.values()})
            return worlds.coordinating.metadata(coordinator, image, (action.who,))

        return worlds.coordinated(world, ("script", world[SCRIPT]), changes)


def _leaves(client: Client) -> list[Effect]:
    return client.leave(NOW_MS)


def _closes(how: How) -> Callable[[Client], list[Effect]]:
    return lambda client: client.close(NOW_MS, CLOSES[how])


def _enforces(client: Client) -> list[Effect]:
    return client.enforce_rebalance(None, NOW_MS) if isinstance(client, ClassicConsumer) else []


def _subscribes(client: Client, action: Action) -> list[Effect]:
    if isinstance(client, ClassicConsumer):
        return client.subscribe(action.topics, regex=action.regex, now_ms=NOW_MS)
    return client.subscribe(action.topics, regex=action.regex)


def _commits(client: Client, image: Image, action: Action) -> list[Effect]:
    """What it owns is committed; a plan has no commits of classic members."""
    if isinstance(client, ClassicConsumer):
        return []
    offsets = tuple(
        CommittedOffset(
            topic=image.by_id[topic_id].name,
            topic_id=topic_id,
            partition=partition,
            offset=action.offset or 0,
        )
        for topic_id, partitions in client.owned.items()
        for partition in partitions
    )
    return client.commit(offsets)
