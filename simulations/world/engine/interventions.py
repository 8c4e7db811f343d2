"""What a script does to the world around the members: topics, the coordinator, the network, the group's settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final

from groups.history.entries import Kind
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.shard import Shard
from simulations.world.engine.access import acl_note
from simulations.world.engine.initial_state import draw_topic_id, racks_of
from simulations.world.engine.log import COORDINATOR
from simulations.world.engine.process import Process
from simulations.world.engine.queue import Priority
from simulations.world.scenario import Action, Event, How, Scenario, Verb
from simulations.world.scenario.actions import EVERYTHING

if TYPE_CHECKING:
    from simulations.world.engine.simulation import Simulation

FIRST_PRODUCER: Final = 4_001
"""The id of the first member's producer."""

MARKER_RETRY_MS: Final = 100
"""How long after a coordinator that is loading was asked to write the end of a transaction it is asked again."""


def producer_of(scenario: Scenario, member: str) -> int:
    """The id of the producer in whose transactions a member's application commits."""
    return FIRST_PRODUCER + list(scenario.members).index(member)


class Interventions:
    """``processes`` are the members' newest, by the scenario's name."""

    def __init__(self, world: Simulation, processes: Mapping[str, Process]) -> None:
        self._world = world
        self._processes = processes
        self._ids = Random(f"ids of topics created in {world.seed}")
        self._cuts: dict[tuple[str, str | None], str] = {}

    def does(self, action: Action) -> bool:
        """Does the action, if it is one of these."""
        intervention = _VERBS.get(action.verb)
        if intervention is None:
            return False
        intervention(self, action)
        return True

    def _add_partitions(self, action: Action) -> None:
        partitions = action.partitions
        assert partitions is not None
        self._change(action, lambda image: image.with_partitions(action.who, partitions), Event.METADATA)

    def _create_topic(self, action: Action) -> None:
        assert action.partitions is not None
        if action.rate is not None:
            self._world.rates[action.who] = action.rate
        topic = ImageTopic(
            name=action.who,
            topic_id=action.topic_id or draw_topic_id(self._ids),
            partitions=action.partitions,
            racks=racks_of(action.racks, action.partitions),
        )
        self._change(action, lambda image: image.with_topic(topic), Event.CREATED)

    def _delete_topic(self, action: Action) -> None:
        self._change(action, lambda image: image.without_topic(action.who), Event.DELETED)

    def _change(self, action: Action, change: Callable[[Image], Image], event: Event) -> None:
        self._world.change_topics(change, (action.who,), (event, action.who))

    def _fail_over(self, action: Action) -> None:
        moves = action.how is How.MOVE
        self._world.fail_over(
            crash=not moves,
            lost=0 if moves else action.lost,
            loading_ms=action.loading_ms,
            compacted=action.compacted,
        )

    def _roll(self, action: Action) -> None:
        down_ms = action.length_ms
        assert down_ms is not None
        self._world.roll(action.who, action.release, down_ms=down_ms, loading_ms=action.loading_ms)

    def _feature(self, action: Action) -> None:
        self._world.change_feature(action.level)

    def _cut(self, action: Action) -> None:
        if (action.who, action.peer) in self._cuts:
            return
        end = self._cuts[action.who, action.peer] = self._end(action.who)
        self._world.cut(end, action.peer)
        self._world.settled((Event.CUT, action.who))

    def _heal(self, action: Action) -> None:
        if action.who == EVERYTHING:
            self._cuts.clear()
            self._world.heal()
        elif (action.who, action.peer) in self._cuts:
            self._world.heal(self._cuts.pop((action.who, action.peer)), action.peer)
        else:
            # A preset may have mended everything before.
            return
        self._world.settled((Event.HEAL, action.who))

    def _end(self, who: str) -> str:
        """A member's process has the cable; one that starts later has another."""
        process = self._processes.get(who)
        return process.host if process is not None else who

    def _network(self, action: Action) -> None:
        self._world.change_network(replace(self._world.network.rates, **action.rates))

    def _clock_jump(self, action: Action) -> None:
        assert action.length_ms is not None
        process = None if action.who == COORDINATOR else self._processes.get(action.who)
        if process is not None or action.who == COORDINATOR:
            self._world.jump_clock(process, action.length_ms)
            self._world.settled((Event.CLOCK_JUMP, action.who))

    def _set_config(self, action: Action) -> None:
        shard = self._world.shard
        shard.configure({**shard.group_config, **action.config})
        self._note({"note": "config", "config": dict(action.config)})
        self._world.settled((Event.CONFIG, None))

    def _delete_group(self, action: Action) -> None:
        def delete(shard: Shard, now_ms: int) -> Outcome[object]:
            outcome = shard.delete_group(now_ms)
            self._note({"note": "delete_group", "error": int(outcome.answer.error_code)})
            return outcome

        self._world.operate(delete, None)

    def _deny(self, action: Action) -> None:
        self._world.access.deny(action.who, action.right)
        self._note_right(action, allowed=False)

    def _allow(self, action: Action) -> None:
        self._world.access.allow(action.who, action.right)
        self._note_right(action, allowed=True)

    def _note_right(self, action: Action, *, allowed: bool) -> None:
        self._note(acl_note(action.who, action.right, allowed=allowed))
        process = self._processes.get(action.who)
        if process is not None:
            process.note_reading(None)

    def _expire_offsets(self, action: Action) -> None:
        cause = self._note({"note": "expire_offsets"})
        self._world.operate(lambda shard, now_ms: shard.expire_offsets(now_ms), cause)

    def _end_transaction(self, action: Action) -> None:
        """The coordinator of transactions writes the end into the group's partition, again until it has it."""
        if self._world.loading:
            queue = self._world.queue
            queue.plan(queue.now_ms + MARKER_RETRY_MS, Priority.SCRIPT, lambda: self._end_transaction(action))
            return
        producer, committed = producer_of(self._world.scenario, action.who), action.how is not How.ABORT
        cause = self._note({"note": "transaction_ended", "producer": producer, "committed": committed})
        self._world.operate(lambda shard, _now_ms: shard.transaction_ended(producer, committed), cause)

    def _note(self, payload: Mapping[str, object]) -> int:
        return self._world.log.write(Kind.NOTE, COORDINATOR, self._world.queue.now_ms, payload)


_VERBS: Final[Mapping[Verb, Callable[[Interventions, Action], None]]] = {
    Verb.ADD_PARTITIONS: Interventions._add_partitions,
    Verb.CREATE_TOPIC: Interventions._create_topic,
    Verb.DELETE_TOPIC: Interventions._delete_topic,
    Verb.FAIL_OVER: Interventions._fail_over,
    Verb.CUT: Interventions._cut,
    Verb.HEAL: Interventions._heal,
    Verb.NETWORK: Interventions._network,
    Verb.CLOCK_JUMP: Interventions._clock_jump,
    Verb.SET_CONFIG: Interventions._set_config,
    Verb.DELETE_GROUP: Interventions._delete_group,
    Verb.EXPIRE_OFFSETS: Interventions._expire_offsets,
    Verb.END_TRANSACTION: Interventions._end_transaction,
    Verb.DENY: Interventions._deny,
    Verb.ALLOW: Interventions._allow,
    Verb.UPGRADE_FEATURE: Interventions._feature,
    Verb.DOWNGRADE_FEATURE: Interventions._feature,
    Verb.ROLL: Interventions._roll,
}
