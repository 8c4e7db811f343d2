"""Where all ways begin: an empty group, or one whose members have just been given their partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.proof.exploration.classic.processes import ClassicProcess
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.state_layout import (
    UNBORN,
    World,
)
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.coordinator.shard import Shard
from simulations.world.engine.classic_start import adopted, begun_group, records_of
from simulations.world.engine.initial_state import topics_note

if TYPE_CHECKING:
    from simulations.proof.exploration.classic.world import ClassicWorlds


def begin(worlds: ClassicWorlds) -> World:
    """The first world: nobody is there, or the group of the scenario's start."""
    plan, budgets = worlds.plan, worlds.budgets
    scenario, start = plan.scenario, plan.scenario.classic_start
    shard = Shard(scenario.group, plan.semantics, plan.settings, plan.image)
    topics = topics_note(plan.image, tuple(scenario.topics), {})["topics"]
    left = (budgets.losses, budgets.duplicates, budgets.timers, budgets.fail_overs)
    plan.script_now = 0
    unborn = [UNBORN] * len(plan.slots)
    if start is None:
        step = worlds.coordinating.first(shard, topics)
        return (worlds.coordinators.add(step.after), 0, *left, *unborn)
    clients: dict[str, ClassicConsumer] = {}
    for name in start.owned:
        client = plan.client(plan.slots_of[name][0], 0)
        assert isinstance(client, ClassicConsumer)
        clients[name] = client
    group = begun_group(scenario, start, clients, NOW_MS)
    records = tuple(records_of(scenario, start, group, plan.image))
    step = worlds.coordinating.first(shard, topics, records, group)
    worlds.first_entries, worlds.first_calls = step.entries, []
    world: World = (worlds.coordinators.add(step.after), 0, *left, *unborn)
    for name, client in clients.items():
        process = ClassicProcess(consumer=client, asked=True, generation=group.generation)
        consumer = client.copy()
        begun = worlds.acting.after(process, consumer, adopted(start, group, name, consumer, NOW_MS))
        slot = plan.slots_of[name][0]
        worlds.first_calls += [(slot, call) for call in begun.called]
        world, _ = worlds.done(world, slot, begun)
    return world
