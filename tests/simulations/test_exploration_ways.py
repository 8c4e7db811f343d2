"""Ways through numbered worlds: shortest traces, and the first world from which nothing comes to rest any more."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.state.group import Semantics
from simulations import small_scenarios
from simulations.jobs.explorations import explore_shared
from simulations.proof.exploration import AnyWorlds, Budgets, Plan, Report, explore
from simulations.proof.exploration.actions import unpacked
from simulations.proof.exploration.canonical import as_they_are
from simulations.proof.exploration.classic.world import ClassicWorlds
from simulations.proof.exploration.consumer.world import ConsumerWorlds
from simulations.proof.exploration.findings import Findings
from simulations.proof.exploration.processes import Processes
from simulations.proof.exploration.search import Search
from simulations.proof.exploration.state_layout import SCRIPT
from simulations.world.scenario import Scenario, load
from tests.simulations.test_exploration import at_rest, coordinators, taken_back

KAFKA = Semantics.KAFKA


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]], list[int]]:
    """Of each world but the first its parent; ways that need no chance; worlds in which all rests."""
    count = draw(st.integers(1, 12))
    parents = [draw(st.integers(0, number - 1)) for number in range(1, count)]
    worlds = st.integers(0, count - 1)
    ways = draw(st.lists(st.tuples(worlds, worlds), max_size=30))
    return parents, ways, draw(st.lists(worlds, unique=True, max_size=4))


@given(graphs())
def test_the_first_world_from_which_nothing_comes_to_rest_is_found_with_the_way_to_it(
    graph: tuple[list[int], list[tuple[int, int]], list[int]],
) -> None:
    parents, ways, rests = graph
    count = len(parents) + 1
    found = Findings(
        parents=array("I", [0, *parents]),
        steps=array("H", [0, *(100 + number for number in range(1, count))]),
        sources=array("I", [source for source, _ in ways]),
        targets=array("I", [target for _, target in ways]),
        rests=rests,
    )
    good = set(rests)
    while more := {source for source, target in ways if target in good} - good:
        good |= more
    stuck = [number for number in range(count) if number not in good]
    report = found.report(transitions=7, depth=3, complete=True, loop_of=no_loop)
    assert (report.states, report.rests, report.transitions, report.depth) == (count, len(rests), 7, 3)
    if not stuck:
        assert report.violations == ()
    else:
        (violated,) = report.violations
        trace, number = [], stuck[0]
        while number:
            trace.append(100 + number)
            number = [0, *parents][number]
        assert (violated.invariant, violated.trace) == ("group_converges", tuple(reversed(trace)))
    unseen = found.report(transitions=7, depth=3, complete=False, loop_of=no_loop)
    assert unseen.violations == (), "not all was seen"


def no_loop(_stem: Sequence[int], _most: int) -> tuple[int, ...]:
    return ()


@given(graphs(), st.data())
def test_a_rest_from_which_a_step_leads_to_a_higher_epoch_is_none(
    graph: tuple[list[int], list[tuple[int, int]], list[int]], data: st.DataObject
) -> None:
    parents, ways, rests = graph
    count = len(parents) + 1
    raises = data.draw(st.lists(st.integers(0, count - 1), max_size=2))
    found = Findings(
        parents=array("I", [0, *parents]),
        steps=array("H", [0] * count),
        sources=array("I", [source for source, _ in ways]),
        targets=array("I", [target for _, target in ways]),
        raises=array("I", raises),
        rests=rests,
    )
    leaves = set(raises)
    while more := {source for source, target in ways if target in leaves} - leaves:
        leaves |= more
    lasting = set(rests) - leaves
    report = found.report(transitions=0, depth=0, complete=True, loop_of=no_loop)
    assert report.rests == len(lasting)
    while more := {source for source, target in ways if target in lasting} - lasting:
        lasting |= more
    assert bool(report.violations) == (lasting != set(range(count)))


TWO = """
semantics: kafka
brokers: {release}
topics: {{foo: {{partitions: 2}}}}
members: {{A: {{subscribe: [foo], assignor: {a}}}, B: {{subscribe: [foo], assignor: {b}}}}}
script: [{{at: 0s, join: A}}, {{at: 1s, join: B}}]
until: 20s
"""


def two_members(release: str, a: str, b: str) -> Scenario:
    return load(TWO.format(release=release, a=a, b=b), "two")


def test_a_tie_of_assignors_is_found_as_a_loop_that_raises_the_epoch_and_leads_back() -> None:
    report, worlds = explore(two_members("4.4.0", "range", "uniform"))
    assert report.complete
    assert report.rests == 0
    (violated,) = report.violations
    assert violated.invariant == "group_converges"
    stem, loop = violated.trace[: -violated.loop], violated.trace[-violated.loop :]
    world = worlds.first()
    for step in stem:
        world, wrong = worlds.take(world, step)
        assert not wrong
    assert worlds.converged(world)
    for _ in range(3):
        form, epoch = worlds.form(world), worlds.coordinators.parts[world[0]].epoch
        for step in loop:
            world, wrong = worlds.take(world, step)
            assert not wrong
        assert worlds.form(world) == form
        assert worlds.coordinators.parts[world[0]].epoch == epoch + 1
    names = {worlds.plan.member_id(unpacked(step)[1]) for step in loop}
    assert names == {"A", "B"}


@pytest.mark.parametrize(
    ("release", "a", "b"),
    [("4.3.1", "range", "uniform"), ("4.4.0", "range", "range"), ("4.4.0", "uniform", "uniform")],
)
def test_without_a_tie_or_before_it_mattered_the_group_rests_for_good(release: str, a: str, b: str) -> None:
    report, _ = explore(two_members(release, a, b))
    assert report.complete
    assert report.violations == ()
    assert report.rests


def test_processes_that_share_the_worlds_find_the_same_loop() -> None:
    scenario = two_members("4.4.0", "range", "uniform")
    alone, _ = explore(scenario)
    shared, _ = explore_shared(scenario, processes=2)
    assert shared == alone


def test_a_third_vote_ends_the_tie() -> None:
    text = TWO.format(release="4.4.0", a="range", b="uniform")
    text = text.replace("members: {", "members: {C: {subscribe: [foo], assignor: uniform}, ")
    report, _ = explore(
        load(text.replace("join: A", "join: C", 1).replace("{at: 1s", "{at: 1s, join: A}, {at: 2s"), "three"),
        unhurried=True,
    )
    assert report.complete
    assert report.violations == ()


SCRIPTS = {
    "commit": "{at: 1s, commit: A, offset: 5}, {at: 2s, leave: A}",
    "fail over": "{at: 1s, fail_over: coordinator}, {at: 2s, commit: A, offset: 5}",
    "pause": "{at: 1s, pause: A}, {at: 2s, resume: A}",
    "kill": "{at: 1s, kill: A}, {at: 2s, join: A}",
    "grow": "{at: 1s, add_partitions: foo, to: 2}, {at: 2s, subscribe: A, topics: []}",
}


def scripted(name: str) -> str:
    return (
        "topics: {foo: {partitions: 1}}\nmembers: {A: {subscribe: [foo]}}\nuntil: 20s\n"
        f"script: [{{at: 0s, join: A}}, {SCRIPTS[name]}]\n"
    )


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_line_of_a_script_may_come_at_any_time_and_what_is_left_out_hides_nothing(name: str) -> None:
    scenario = load(scripted(name), "x")
    reduced = Search(ConsumerWorlds(Plan(scenario, KAFKA), Budgets()))
    whole = Search(ConsumerWorlds(Plan(scenario, KAFKA), Budgets(), reduced=False))
    report, whole_report = reduced.run(), whole.run()
    assert report.complete
    assert report.violations == whole_report.violations == ()
    assert report.rests
    assert report.states <= whole_report.states
    assert coordinators(reduced) == coordinators(whole)
    assert at_rest(reduced) == at_rest(whole)


@pytest.mark.parametrize("name", ["commit", "fail over"])
def test_a_scripted_exploration_that_is_shared_out_finds_what_one_walk_does(name: str) -> None:
    scenario = load(scripted(name), "x")
    alone, _ = explore(scenario, KAFKA, Budgets(losses=1))
    shared, _ = explore_shared(scenario, KAFKA, Budgets(losses=1), processes=2)
    assert shared == alone


def test_who_waits_for_rest_sees_a_part_of_what_may_happen() -> None:
    scenario = load(scripted("kill"), "x")
    hurried, _ = explore(scenario, KAFKA)
    calm, _ = explore(scenario, KAFKA, unhurried=True)
    assert calm.complete
    assert calm.violations == ()
    assert calm.states < hurried.states


def test_progress_is_told_of_what_was_seen_so_far() -> None:
    told: list[tuple[int, int, int]] = []
    explore(load(scripted("commit"), "x"), KAFKA, progress=lambda *so_far: told.append(so_far))
    assert told[0][2] == 0, "at the first world, before any step leads deeper"


def test_nobody_is_said_to_begin_with_what_it_has_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Processes, "may_begin", lambda *_: 0)
    (says,) = (each.sentence for each in taken_back()[0].violations if each.invariant == "one_processor")
    assert says in {f"{who} begins with foo-1 while {other} still has it" for who, other in ("AB", "BA")}


ENOUGH = 3_000
"""Worlds within which processes that are alike come up often."""


@pytest.mark.parametrize(
    ("name", "semantics", "budgets"),
    [
        ("one-joins", Semantics.KIP, Budgets(losses=2, timers=1, fail_overs=1)),
        ("two-join", KAFKA, Budgets(losses=1)),
        ("static-replacement", KAFKA, Budgets()),
        ("classic-two-join", KAFKA, Budgets(losses=1)),
        ("migration", KAFKA, Budgets(losses=1)),
    ],
)
def test_processes_that_count_as_one_go_on_alike(
    monkeypatch: pytest.MonkeyPatch, name: str, semantics: Semantics, budgets: Budgets
) -> None:
    """Which of them was found first, and is kept, decides nothing."""
    plan = Plan(small_scenarios.load(name), semantics)
    worlds: AnyWorlds = (ClassicWorlds if plan.has_classic else ConsumerWorlds)(plan, budgets, unhurried=True)
    add, kept, compared = worlds.processes.add, {}, 0

    def is_alike(process: Any) -> int:
        nonlocal compared
        number = add(process)
        first = kept.setdefault(number, process)
        if process.alive and first is not process:
            compared += 1
            assert futures(worlds, process) == futures(worlds, first)
        return number

    monkeypatch.setattr(worlds.processes, "add", is_alike)
    Search(worlds, ENOUGH).run()
    assert compared


def futures(worlds: AnyWorlds, process: Any) -> list[Hashable]:
    """What each step of its own makes of a process."""
    acting: Any = worlds.acting
    steps = [acting.beat, acting.disconnected, acting.moved]
    steps += [acting.answered] if process.answers else []
    steps += [acting.returned] if process.calling is not None else []
    done = [step(process) for step in steps]
    return [(each.after.key(as_they_are), each.wrong, each.gained) for each in done]


def left(how: str) -> tuple[Report, set[tuple[int, ...]]]:
    """A static member leaves in a way; the epochs of the members of each group at rest."""
    text = (
        "topics: {foo: {partitions: 1}}\nmembers: {A: {subscribe: [foo], instance_id: a}}\n"
        f"script: [{{at: 0s, join: A}}, {{at: 1s, leave: A, how: {how}}}]\nuntil: 20s\n"
    )
    search = Search(ConsumerWorlds(Plan(load(text, "x"), KAFKA), Budgets(), unhurried=True))
    report = search.run()
    groups = [part.shard.state.consumer.members.values() for part in search.worlds.coordinators.parts]
    return report, {tuple(member.epoch for member in members) for members in groups}


def test_a_static_member_leaves_for_now_or_for_good_as_the_line_says() -> None:
    (for_now, kept), (for_good, gone) = left("default"), left("leave")
    assert for_now.violations == for_good.violations == ()
    assert (-2,) in kept
    assert (-2,) not in gone


def test_the_next_line_about_a_member_waits_until_its_next_process_has_started() -> None:
    text = (
        "topics: {foo: {partitions: 1}}\nmembers: {A: {subscribe: [foo], instance_id: a}}\n"
        "script: [{at: 0s, join: A}, {at: 1s, restart: A}, {at: 2s, kill: A}]\nuntil: 60s\n"
    )
    worlds = ConsumerWorlds(Plan(load(text, "x"), KAFKA), Budgets())
    seen, waiting = {worlds.first()}, [worlds.first()]
    while waiting:
        world = waiting.pop()
        for _, after, wrong in worlds.following(world):
            assert wrong == ()
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    killed = [worlds.born(world) for world in seen if world[SCRIPT] == len(worlds.plan.script)]
    assert killed
    assert all(second is not None and not second.alive for _, second in killed)
