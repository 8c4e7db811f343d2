"""Every interleaving of small classic groups, upgrades and migrations is walked; the way that is unsafe is found by the shortest trace."""

from __future__ import annotations

import json
from collections.abc import Hashable
from copy import copy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from groups.history.entries import Entry
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from simulations import small_scenarios
from simulations.invariants import INVARIANTS
from simulations.invariants.classic_groups import CLASSIC_GROUP_INVARIANTS
from simulations.proof.exploration import Budgets, NotExplorable, explore
from simulations.proof.exploration.canonical import as_they_are
from simulations.proof.exploration.classic.world import ClassicWorlds
from simulations.proof.exploration.findings import Report
from simulations.proof.exploration.plan import Plan, has_classic_members
from simulations.proof.exploration.search import Search
from simulations.proof.exploration.trace import timeline
from simulations.protocol.assignors.interface import Assignor
from simulations.protocol.client.classic import embedding, joining, leading
from simulations.protocol.client.classic.state import Memory
from simulations.protocol.client.classic.untimed import WITHOUT_EFFECT
from simulations.protocol.messages.classic_requests import JoinAnswer
from simulations.world.engine import checked_run
from simulations.world.engine.checked_run import checker_of
from simulations.world.scenario import load
from tests.simulations.invariants_reference import CLASSIC, MIXED
from tests.simulations.mutations import explored
from tests.simulations.mutations.of_classic import CLASSIC_MUTATIONS

KAFKA = Semantics.KAFKA
CLASSIC_SCENARIOS = [
    name for name in small_scenarios.names() if has_classic_members(small_scenarios.load(name))
]
UNSAFE = "upgrade-one-bounce"
UNSAFE_STEPS = 35
"""Of the shortest trace: the second process of B joins, C joins, and begins with what B keeps."""


def walked(
    name: str, budgets: Budgets | None = None, *, reduced: bool = True, unhurried: bool = False
) -> tuple[Report, Search[ClassicWorlds]]:
    plan = Plan(small_scenarios.load(name), KAFKA)
    search = Search(ClassicWorlds(plan, budgets or Budgets(), reduced=reduced, unhurried=unhurried))
    return search.run(), search


def broken(report: Report) -> list[str]:
    return sorted(violated.invariant for violated in report.violations)


@pytest.mark.parametrize(
    ("name", "budgets", "unhurried", "states"),
    [
        ("classic-one-joins", Budgets(), False, (45, 63, 14)),
        ("classic-two-join", Budgets(), False, (2717, 6186, 35)),
        ("classic-two-join", Budgets(losses=1), True, (800, 1570, 40)),
        ("classic-cooperative", Budgets(), False, (1903, 4332, 42)),
        ("classic-cooperative", Budgets(fail_overs=1), True, (2041, 3914, 53)),
        ("classic-cooperative", Budgets(duplicates=1), True, (2132, 4377, 49)),
        ("classic-static-restart", Budgets(), False, (194, 367, 25)),
        ("classic-static-restart", Budgets(losses=1), True, (4509, 10357, 40)),
        ("classic-topic-grows", Budgets(fail_overs=1), True, (628, 1536, 29)),
        ("classic-two-join", Budgets(timers=1), True, (4005, 8306, 54)),
        ("upgrade-two-bounces", Budgets(), True, (2831, 5434, 104)),
        ("upgrade-streams", Budgets(), True, (2393, 4698, 103)),
        ("migration", Budgets(), True, (1527, 3867, 47)),
        ("migration", Budgets(losses=1), True, (9918, 27497, 48)),
        ("migration-cooperative", Budgets(), False, (2762, 9132, 30)),
        ("migration-back", Budgets(), True, (12450, 34067, 65)),
    ],
)
@pytest.mark.long
def test_every_world_is_seen_and_no_invariant_is_broken(
    name: str, budgets: Budgets, unhurried: bool, states: tuple[int, int, int]
) -> None:
    report, _ = explore(small_scenarios.load(name), KAFKA, budgets, unhurried=unhurried)
    assert report.complete
    assert report.violations == ()
    assert (report.states, report.transitions, report.depth) == states
    assert report.rests


def test_a_consumer_comes_to_a_classic_group_of_kip_and_goes_whatever_is_lost_and_fails_over() -> None:
    mixed, budgets = small_scenarios.load("mixed-one"), Budgets(losses=1, fail_overs=1)
    report, _ = explore(mixed, Semantics.KIP, budgets, unhurried=True)
    assert report.complete
    assert report.violations == ()
    assert (report.states, report.transitions, report.depth) == (2153, 5372, 33)
    assert report.rests


@pytest.fixture(scope="module")
def unsafe() -> tuple[Report, ClassicWorlds]:
    """The upgrade of Streams in one bounce, walked."""
    report, search = walked(UNSAFE)
    return report, search.worlds


def test_the_upgrade_in_one_bounce_is_unsafe_and_the_trace_is_a_shortest_one(
    unsafe: tuple[Report, ClassicWorlds],
) -> None:
    report, worlds = unsafe
    assert report.complete
    assert broken(report) == ["one_processor_of_a_generation"]
    (violated,) = report.violations
    assert violated.sentence.startswith("C and B~2 both process orders-1 in generation 5")
    assert len(violated.trace) == UNSAFE_STEPS
    # It can be taken step by step, and breaks the rule with the last one alone.
    world = worlds.first()
    for step in violated.trace[:-1]:
        world, wrong = worlds.take(world, step)
        assert wrong == ()
    _, wrong = worlds.take(world, violated.trace[-1])
    assert [invariant for invariant, _ in wrong] == ["one_processor_of_a_generation"]
    # No shorter way leads there: every world that fewer steps lead to was expanded.
    assert report.depth > UNSAFE_STEPS


def test_the_trace_is_a_timeline_in_which_the_checker_of_runs_finds_the_same(
    unsafe: tuple[Report, ClassicWorlds],
) -> None:
    report, worlds = unsafe
    (violated,) = report.violations
    entries = timeline(worlds, violated.trace, violated.invariant, violated.sentence)
    assert found_in(UNSAFE, entries) == {violated.invariant}
    state = initial_state(worlds.plan.scenario.group, KAFKA)
    for entry in entries:
        state = replay(state, Entry.from_json(entry.to_json()))
    assert state.anomalies == ()


def found_in(name: str, entries: list[Entry]) -> set[str]:
    """What the checker of runs finds in a timeline, but for the entry that tells the violation."""
    scenario = small_scenarios.load(name)
    checker = checker_of(scenario, KAFKA)
    state, found = initial_state(scenario.group, KAFKA), set()
    for entry in entries[:-1]:
        state = replay(state, entry)
        found |= {violation.invariant for violation in checker.see(entry, state)}
    return found


@pytest.mark.parametrize("name", CLASSIC_SCENARIOS)
def test_each_small_scenario_plays_as_a_run_and_breaks_nothing_but_the_unsafe_one(name: str) -> None:
    faults = [
        entry.payload["invariant"]
        for entry in checked_run.run(small_scenarios.load(name))
        if entry.payload.get("fault") == "invariant"
    ]
    assert set(faults) == ({"one_processor_of_a_generation"} if name == UNSAFE else set())


@pytest.mark.parametrize(
    ("name", "budgets"),
    [
        ("classic-one-joins", Budgets(losses=1, fail_overs=1)),
        ("classic-two-join", Budgets()),
        ("classic-cooperative", Budgets()),
    ],
)
def test_what_is_left_out_changes_no_state_of_the_group_that_is_reached(name: str, budgets: Budgets) -> None:
    whole_report, whole = walked(name, budgets, reduced=False, unhurried=True)
    report, reduced = walked(name, budgets, unhurried=True)
    assert report.states < whole_report.states
    assert groups(reduced) == groups(whole)
    assert broken(report) == broken(whole_report) == []


def groups(search: Search[ClassicWorlds]) -> set[Hashable]:
    return {part.key(as_they_are) for part in search.worlds.coordinators.parts}


def test_who_waits_for_rest_sees_a_part_of_what_may_happen() -> None:
    report, hurried = walked("classic-cooperative")
    calm_report, calm = walked("classic-cooperative", unhurried=True)
    assert calm_report.states < report.states
    assert groups(calm) < groups(hurried)


def test_every_invariant_of_classic_groups_is_judged_or_named_with_the_reason() -> None:
    every = {*CLASSIC, *CLASSIC_GROUP_INVARIANTS}
    _, search = walked("classic-one-joins")
    untold = {name for names in search.worlds.not_asked.values() for name in names}
    judged = {*CLASSIC_GROUP_INVARIANTS, "one_processor_of_a_generation", "callbacks_of_classic"}
    judged |= {"assigned_once", "joins_with_what_it_owns"}
    assert judged | untold == every
    assert not judged & untold
    _, mixed = walked("migration", unhurried=True)
    of_mixed = {name for names in mixed.worlds.not_asked.values() for name in names}
    assert of_mixed <= every | INVARIANTS | MIXED
    assert not of_mixed & MIXED


def test_only_times_and_names_for_people_are_left_out_of_what_tells_clients_apart() -> None:
    assert {field.name for field in fields(Memory)} >= WITHOUT_EFFECT


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("  - {at: 5s, delete_group: x}", "the script's delete_group is not explored"),
        ("  - {at: 5s, commit: A}", "the script's commit is not explored"),
    ],
)
def test_a_line_that_is_not_explored_is_refused(change: str, says: str) -> None:
    text = f"""
protocol: classic
topics: {{foo: {{partitions: 1}}}}
members: {{A: {{subscribe: [foo]}}}}
script:
  - {{at: 0s, join: A}}
{change}
"""
    with pytest.raises(NotExplorable, match=says):
        explore(load(text, "x"), KAFKA)


def test_members_that_commit_by_themselves_are_refused() -> None:
    scenario = small_scenarios.load("classic-one-joins")
    member = replace(scenario.members["A"], auto_commit=True)
    with pytest.raises(NotExplorable, match="leave out auto_commit and revoke_commits of A"):
        explore(replace(scenario, members={"A": member}), KAFKA)


def test_the_command_tells_the_unsafe_way_in_words_and_writes_its_timeline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="one_processor_of_a_generation: C and B~2 both process") as caught:
        call_command("explore", UNSAFE, "--unhurried", "--out", str(tmp_path))
    assert caught.value.returncode == 1
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    (violation,) = told["violations"]
    assert violation["trace"][0] == "bounce B"
    assert "the process that follows B starts" in violation["trace"]
    assert len(violation["trace"]) == UNSAFE_STEPS
    lines = (tmp_path / "one_processor_of_a_generation.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == list(range(1, len(lines) + 1))


def test_the_command_refuses_several_processes_for_classic_members() -> None:
    with pytest.raises(CommandError, match="classic members are walked by one process") as caught:
        call_command("explore", UNSAFE, "--processes", "2")
    assert caught.value.returncode == 2


def keeps_everything(m: Memory) -> None:
    """A mistake: an eager member that joins again gives nothing up."""
    joining.prepared(m)


def names_nothing(m: Memory, assignor: str) -> bytes:
    """A mistake: a cooperative member does not name what it keeps."""
    m = copy(m)
    m.owned = {}
    return SUBSCRIPTION(m, assignor)


def gives_all_to_all(m: Memory, answer: JoinAnswer, assignors: dict[str, Assignor]) -> Any:
    """A mistake: the leader gives every member the whole topic."""
    (told, withheld) = ASSIGN(m, answer, assignors)
    every = {topic: tuple(range(count.partitions)) for topic, count in m.metadata.items()}
    return tuple((who, embedding.assignment(every, 3)) for who, _ in told), withheld


SUBSCRIPTION = embedding.subscription
ASSIGN = leading.assign


@pytest.mark.parametrize(
    ("place", "name", "mistake", "scenario", "invariant"),
    [
        (joining, "prepare", keeps_everything, "classic-two-join", "one_processor_of_a_generation"),
        (embedding, "subscription", names_nothing, "classic-cooperative", "joins_with_what_it_owns"),
        (leading, "assign", gives_all_to_all, "classic-two-join", "assigned_once"),
    ],
)
def test_a_mistake_of_a_client_is_found_with_a_way_to_it(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, mistake: Any, scenario: str, invariant: str
) -> None:
    monkeypatch.setattr(place, name, mistake)
    report, search = walked(scenario, unhurried=True)
    assert invariant in broken(report)
    (violated,) = (each for each in report.violations if each.invariant == invariant)
    world = search.worlds.first()
    for step in violated.trace:
        world, wrong = search.worlds.take(world, step)
    assert invariant in {each for each, _ in wrong}


FOUND_LEAST = 8
"""Of the seeded mistakes; what a group without commits, limits and deletions can show."""


def test_exploring_finds_mistakes_in_the_coordinator_and_in_migration() -> None:
    """A sample each time; ``python -m tests.simulations.mutations.explored`` explores with all of them."""
    found = explored.known()
    by_name = {mutation.name: mutation for mutation in CLASSIC_MUTATIONS}
    assert found.keys() <= by_name.keys()
    assert len(found) >= FOUND_LEAST
    missed = [name for name in sorted(found)[::5] if explored.found_by(by_name[name], found[name]) is None]
    assert missed == [], "find them anew with python -m tests.simulations.mutations.explored"
