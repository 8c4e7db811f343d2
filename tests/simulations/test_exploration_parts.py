"""Single steps of explored worlds: what a timeline tells of them, and who is held to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics
from groups.releases import Release
from simulations.invariants.mixed import ONE_READER
from simulations.jobs.explorations import explore_shared
from simulations.proof.exploration import AnyWorlds, Budgets, NotExplorable, Plan, explore
from simulations.proof.exploration.actions import ActionKind, Step, packed, unpacked
from simulations.proof.exploration.classic.timeouts import OF_GROUP
from simulations.proof.exploration.classic.world import ClassicWorlds
from simulations.proof.exploration.consumer.world import ConsumerWorlds
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.processes import _beats
from simulations.proof.exploration.state_layout import TIMERS, World
from simulations.proof.exploration.trace import STEP_MS, sentence, timeline
from simulations.protocol.client.consumer import Send
from simulations.protocol.messages.groups import Heartbeat
from simulations.world.scenario import load
from tests.simulations.application import Application

KAFKA = Semantics.KAFKA
SEND = packed(ActionKind.SEND)
JOINS = "topics: {foo: {partitions: 1}}\nmembers: {A: {subscribe: [foo]}}\nscript: [{at: 0s, join: A}]\nuntil: 10s\n"
CLASSIC = f"protocol: classic\nassignor: range\n{JOINS}"


def in_words(entry: Entry) -> str:
    payload = entry.payload
    match entry.kind:
        case Kind.REQUEST:
            return f"{entry.actor} asks {payload['api']}"
        case Kind.RESPONSE:
            return f"{payload['to']} is answered {payload['api']} {payload['body']['errorCode']}"
        case Kind.RECORD:
            return f"record {payload['type']}"
        case Kind.TIMER:
            return f"{payload['timer']} {payload['event']} {payload['member'] or 'of the group'}"
        case Kind.CALLBACK:
            return f"{entry.actor} {payload['callback']} {payload['phase']} {payload['partitions']}"
        case Kind.NOTE:
            return str(payload["note"])
        case _:
            return str(payload["fault"])


def told(worlds: AnyWorlds, steps: Sequence[Step]) -> list[tuple[int, str]]:
    """The timeline of these steps: which of them each entry tells of, and the entry in words."""
    entries = timeline(worlds, steps, "one_holder", "why")
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    first_ms = entries[0].at_ms
    return [((entry.at_ms - first_ms) // STEP_MS, in_words(entry)) for entry in entries]


def test_a_timeline_tells_each_step_by_its_requests_records_answers_and_callbacks() -> None:
    a = ActionKind
    worlds = ConsumerWorlds(Plan(load(JOINS, "x"), KAFKA), Budgets())
    steps = [packed(kind) for kind in (a.SCRIPT, a.ARRIVE, a.ANSWER, a.BEAT, a.RETURN)]
    assert told(worlds, steps) == [
        (0, "topics"),
        (2, "A asks ConsumerGroupHeartbeat"),
        *((2, f"record {number}") for number in (5, 3, 7, 6, 8)),
        (2, "session started A"),
        (2, "A is answered ConsumerGroupHeartbeat 0"),
        (3, "A on_partitions_assigned start {'foo': [0]}"),
        (4, "A asks ConsumerGroupHeartbeat"),
        (4, "session started A"),
        (4, "A is answered ConsumerGroupHeartbeat 0"),
        (5, "A on_partitions_assigned end {'foo': [0]}"),
        (5, "invariant"),
    ]


def test_a_timeline_of_a_classic_group_tells_answers_as_they_are_given_and_callbacks_of_no_length() -> None:
    a = ActionKind
    worlds = ClassicWorlds(Plan(load(CLASSIC, "x"), KAFKA), Budgets())
    joins = [packed(kind) for kind in (a.SCRIPT, a.ARRIVE, a.ANSWER, a.ARRIVE)]
    assigns = [packed(kind) for kind in (a.ANSWER, a.ARRIVE, a.APPEND, a.ANSWER)]
    assert told(worlds, [*joins, packed(a.JOIN_PHASE, OF_GROUP), *assigns]) == [
        (0, "topics"),
        (2, "A asks JoinGroup"),
        (2, "A is answered JoinGroup 79"),
        (2, "record 2"),
        (2, "session started A"),
        (4, "A asks JoinGroup"),
        (4, "session started A"),
        (4, "join started of the group"),
        (5, "join fired of the group"),
        (5, "A is answered JoinGroup 0"),
        (5, "session started A"),
        (5, "sync started of the group"),
        (7, "A asks SyncGroup"),
        (7, "record 2"),
        (7, "sync cancelled of the group"),
        (8, "A is answered SyncGroup 0"),
        (8, "session started A"),
        (9, "A on_partitions_assigned start {'foo': [0]}"),
        (9, "A on_partitions_assigned end {'foo': [0]}"),
        (9, "invariant"),
    ]


MIXED = """
topics: {foo: {partitions: 2}}
members: {A: {subscribe: [foo]}, B: {protocol: classic, assignors: [range], subscribe: [foo]}}
script: [{at: 0s, join: A}, {at: 1s, join: B}]
until: 20s
"""


def goes_on(worlds: AnyWorlds, world: World, slots: Sequence[int]) -> World:
    """The world in which nothing new comes of these processes and of the coordinator, without a fault; nothing is broken."""
    seen = {world}
    while True:
        for step, after, wrong in list(worlds.following(world)):
            kind, slot = unpacked(step)
            of_them = slot in slots or kind in (ActionKind.ASSIGNMENT, ActionKind.APPEND)
            if of_them and after[TIMERS] == world[TIMERS] and after not in seen:
                assert wrong == ()
                seen.add(after)
                world = after
                break
        else:
            return world


def test_a_client_that_was_removed_and_does_not_know_reads_on_while_another_begins_with_what_it_had() -> None:
    worlds = ClassicWorlds(Plan(load(MIXED, "x"), KAFKA), Budgets(timers=1), unhurried=True)
    world = goes_on(worlds, worlds.first(), (0, 1))
    assert worlds.converged(world)
    ours, theirs = (process.owned for process in worlds.born(world) if process is not None)
    assert ours
    assert theirs
    (broken,) = worlds.gains(world, 0, theirs)
    assert broken[0] == ONE_READER
    removed, wrong = worlds.take(world, packed(ActionKind.SESSION, 1))
    assert wrong == ()
    assert (world[TIMERS], removed[TIMERS]) == (1, 0), "it lives, so that this was chance"
    world = goes_on(worlds, removed, (0,))
    assert [process.owned for process in worlds.born(world) if process is not None] == [ours | theirs, theirs]


def test_a_restart_that_is_shared_out_is_walked_as_by_one() -> None:
    text = (
        "topics: {foo: {partitions: 1}}\nmembers: {A: {subscribe: [foo], instance_id: a}}\n"
        "script: [{at: 0s, join: A}, {at: 1s, restart: A}]\nuntil: 60s\n"
    )
    alone, _ = explore(load(text, "x"), KAFKA)
    shared, _ = explore_shared(load(text, "x"), KAFKA, processes=2)
    assert shared == alone
    assert (alone.complete, alone.violations) == (True, ())


def choices(worlds: AnyWorlds, steps: Sequence[Step]) -> list[str]:
    """What can happen next after these steps, in words."""
    world = worlds.first()
    for step in steps:
        world, _ = worlds.take(world, step)
    return [sentence(worlds, world, step) for step, _, _ in worlds.following(world)]


TAKES_PART = """
topics: {foo: {partitions: 2}}
start: {group_epoch: 5, assignment_epoch: 5, members: {A: {epoch: 5, owned: {foo: [0, 1]}}}}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}}
script: [{at: 0s, join: B}]
until: 20s
"""


def test_each_timer_that_runs_out_is_called_by_its_name() -> None:
    a = ActionKind
    worlds = ConsumerWorlds(Plan(load(TAKES_PART, "x"), KAFKA), Budgets(timers=1))
    joins_and_gives_up = [packed(a.SCRIPT), packed(a.ARRIVE, 1), packed(a.BEAT, 0)]
    sessions = ["the session of A expires", "the session of B expires"]
    assert choices(worlds, joins_and_gives_up) == [
        *("A gets an answer", "B gets an answer"),
        *sessions,
        "the rebalance timeout of A expires",
    ]
    assert choices(worlds, joins_and_gives_up[:-1])[2:] == sessions, "nobody has to give anything up yet"
    classic = ClassicWorlds(Plan(load(CLASSIC, "x"), KAFKA), Budgets(timers=1))
    joins = [packed(kind) for kind in (a.SCRIPT, a.ARRIVE, a.ANSWER, a.ARRIVE)]
    assert choices(classic, joins) == ["the join phase ends", "the session of A expires"]
    assert choices(classic, [*joins, packed(a.JOIN_PHASE, OF_GROUP)]) == [
        *("A gets an answer", "the session of A expires"),
        "the time to ask for an assignment is over",
    ]


@pytest.mark.parametrize("older", [{"group_version": 0}, {"release": Release.V3_9}])
def test_brokers_that_do_not_serve_the_consumer_protocol_are_not_explored(older: Any) -> None:
    scenario = load(JOINS, "x")
    with pytest.raises(NotExplorable, match="only brokers that serve the consumer protocol"):
        Plan(replace(scenario, settings=replace(scenario.settings, **older)), KAFKA)


def test_a_group_that_has_not_heard_of_new_partitions_does_not_rest() -> None:
    text = TAKES_PART.replace("{at: 0s, join: B}", "{at: 0s, add_partitions: foo, to: 3}")
    worlds = ConsumerWorlds(Plan(load(text, "x"), KAFKA), Budgets(), unhurried=True)
    grown, _ = worlds.take(worlds.first(), packed(ActionKind.SCRIPT))
    assert not worlds.converged(grown)
    world = goes_on(worlds, grown, (0,))
    assert worlds.converged(world)
    (process,) = worlds.born(world)
    assert process is not None
    assert process.owned.bit_count() == 3


def next_steps(worlds: AnyWorlds, world: World) -> set[Step]:
    return {step for step, _, _ in worlds.following(world)}


def everything(worlds: AnyWorlds) -> set[World]:
    seen, waiting = {worlds.first()}, [worlds.first()]
    while waiting:
        for _, after, _ in list(worlds.following(waiting.pop())):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def test_a_member_whose_heartbeat_is_on_its_way_does_not_rest() -> None:
    worlds = ClassicWorlds(Plan(load(CLASSIC, "x"), KAFKA), Budgets(), reduced=False)
    at_rest = [world for world in everything(worlds) if worlds.converged(world)]
    assert any(SEND in next_steps(worlds, world) for world in at_rest)
    for world in (each for each in at_rest if SEND in next_steps(worlds, each)):
        sent, _ = worlds.take(world, SEND)
        assert not worlds.converged(sent)
        assert worlds.converged(goes_on(worlds, sent, (0,)))


def test_a_heartbeat_is_sent_at_once_also_where_the_coordinator_has_to_be_found_first() -> None:
    app = Application()
    app.now_ms = NOW_MS
    app.stable_with(0)
    app.does(app.consumer.beat(NOW_MS))
    app.now_ms = NOW_MS
    app.fails()
    assert app.consumer.copy().beat(NOW_MS) == []
    beats = [each.request for each in _beats(app.consumer) if isinstance(each, Send)]
    assert [type(each) for each in beats] == [Heartbeat]
    assert _beats(app.consumer) == [], "that one is under way"
