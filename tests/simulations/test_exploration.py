"""Every interleaving of a small scenario is walked, and what leaves some of them out misses nothing."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from groups.history.entries import Entry
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from simulations import small_scenarios
from simulations.invariants import INVARIANTS, Checker
from simulations.jobs.explorations import explore_shared
from simulations.proof.exploration import Budgets, NotExplorable, explore
from simulations.proof.exploration.canonical import ranks, unjudged
from simulations.proof.exploration.consumer.world import ConsumerWorlds
from simulations.proof.exploration.coordinators import MEMORY
from simulations.proof.exploration.findings import Report
from simulations.proof.exploration.plan import Plan
from simulations.proof.exploration.processes import Processes
from simulations.proof.exploration.search import Search
from simulations.proof.exploration.trace import timeline
from simulations.protocol.assignors.scripted import ScriptedAssignor
from simulations.protocol.client.consumer import membership
from simulations.protocol.client.consumer.state import ClientState as ClientMemory
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, VolatileState
from simulations.protocol.coordinator.consumer.reconciliation import Reconciliation
from simulations.protocol.coordinator.consumer.released import advancing, heartbeat
from simulations.protocol.coordinator.consumer.released.coordinator import KafkaCoordinator
from simulations.world.scenario import Action, Verb, load

KAFKA, KIP = Semantics.KAFKA, Semantics.KIP


def walked(
    name: str, semantics: Semantics, budgets: Budgets, *, reduced: bool = True, ranked: bool = True
) -> tuple[Report, Search]:
    plan = Plan(small_scenarios.load(name), semantics)
    search = Search(ConsumerWorlds(plan, budgets, reduced=reduced, ranked=ranked))
    return search.run(), search


def coordinators(search: Search) -> set[Hashable]:
    """Every state of the coordinator that was reached, whatever the numbers of its epochs."""
    pool = search.worlds.coordinators
    return {part.key(ranks(mask)) for part, mask in zip(pool.parts, pool.masks, strict=True)}


def at_rest(search: Search) -> set[Hashable]:
    """Every state of the coordinator in which all has come to rest."""
    worlds = search.worlds
    seen, waiting, found = {worlds.form(worlds.first())}, [worlds.first()], set()
    while waiting:
        world = waiting.pop()
        if worlds.converged(world):
            pool = worlds.coordinators
            found.add(pool.parts[world[0]].key(ranks(pool.masks[world[0]])))
        for _, after, wrong in worlds.following(world):
            if not wrong and (form := worlds.form(after)) not in seen:
                seen.add(form)
                waiting.append(after)
    return found


def broken(report: Report) -> list[str]:
    return sorted(violated.invariant for violated in report.violations)


@pytest.mark.parametrize(
    ("name", "semantics", "budgets", "states"),
    [
        ("one-joins", KAFKA, Budgets(), ONE := (47, 86, 9)),
        ("one-joins", KIP, Budgets(), (59, 118, 13)),
        ("one-joins", KAFKA, Budgets(losses=2, timers=1, fail_overs=1), (1424, 4370, 16)),
        ("member-dies", KAFKA, Budgets(), (1003, 3256, 23)),
        ("topic-grows", KAFKA, Budgets(), (2002, 5658, 21)),
        ("client-side-one", KIP, Budgets(losses=1, fail_overs=1), (927, 2699, 20)),
    ],
)
def test_every_world_is_seen_and_no_invariant_is_broken(
    name: str, semantics: Semantics, budgets: Budgets, states: tuple[int, int, int]
) -> None:
    report, _ = explore(small_scenarios.load(name), semantics, budgets)
    assert report.complete
    assert report.violations == ()
    assert (report.states, report.transitions, report.depth) == states


@pytest.mark.parametrize(
    ("name", "semantics", "budgets"),
    [
        ("one-joins", KAFKA, Budgets(losses=1, timers=1, fail_overs=1)),
        ("one-joins", KIP, Budgets(losses=1, fail_overs=1)),
        ("client-side-one", KIP, Budgets(losses=1)),
        ("one-joins", KAFKA, Budgets(duplicates=1, losses=1)),
        ("member-dies", KAFKA, Budgets()),
    ],
)
def test_what_is_left_out_changes_no_state_of_the_coordinator_that_is_reached(
    name: str, semantics: Semantics, budgets: Budgets
) -> None:
    whole_report, whole = walked(name, semantics, budgets, reduced=False)
    report, reduced = walked(name, semantics, budgets)
    assert report.states < whole_report.states
    assert coordinators(reduced) == coordinators(whole)
    assert at_rest(reduced) == at_rest(whole)
    assert broken(report) == broken(whole_report) == []


@pytest.mark.parametrize("name", ["two-join", "client-side"])
def test_two_first_heartbeats_without_an_id_are_of_two_members(name: str) -> None:
    scenario = small_scenarios.load(name)
    report, _ = explore(replace(scenario, script=scenario.script[:2]), KIP)
    assert (report.complete, report.violations) == (True, ())


@pytest.mark.parametrize("semantics", [KAFKA, KIP])
def test_worlds_that_differ_by_the_numbers_of_epochs_alone_have_the_same_future(semantics: Semantics) -> None:
    budgets = Budgets(losses=1)
    plain_report, plain = walked("one-joins", semantics, budgets, ranked=False)
    report, ranked = walked("one-joins", semantics, budgets)
    assert report.states < plain_report.states
    assert coordinators(ranked) == coordinators(plain)
    # Every world that was seen with its epochs as they are has a form that was seen with them as ranks.
    again = Search(ConsumerWorlds(plain.worlds.plan, budgets))
    again.run()
    forms = {again.worlds.form(again.worlds.first())}
    waiting = [again.worlds.first()]
    raw = {waiting[0]}
    while waiting:
        for _, after, _ in again.worlds.following(waiting.pop()):
            forms.add(again.worlds.form(after))
            if after not in raw:
                raw.add(after)
                waiting.append(after)
    assert len(raw) == plain_report.states
    assert forms == set(again.numbers)


@pytest.mark.parametrize(
    ("name", "semantics", "budgets"),
    [
        ("one-joins", KAFKA, Budgets(losses=1, timers=1, fail_overs=1)),
        ("one-joins", KIP, Budgets(losses=2, timers=1, fail_overs=1)),
        ("member-dies", KAFKA, Budgets()),
        ("static-replacement", KAFKA, Budgets()),
        ("two-join", KAFKA, Budgets(losses=1)),
        ("two-join", KAFKA, Budgets(fail_overs=1)),
    ],
)
@pytest.mark.long
def test_two_processes_find_what_one_does(name: str, semantics: Semantics, budgets: Budgets) -> None:
    scenario = small_scenarios.load(name)
    alone, _ = explore(scenario, semantics, budgets)
    shared, _ = explore_shared(scenario, semantics, budgets, processes=2)
    assert shared == alone


def gives_what_others_hold(self: Reconciliation, member: Any) -> tuple[dict[str, dict[int, int]], bool]:
    """A mistake: nobody is waited for."""
    free: dict[str, dict[int, int]] = {}
    for topic_id in self.target:
        held = member.assigned.get(topic_id, {})
        numbers = [partition for partition in self._wanted(topic_id) if partition not in held]
        free[topic_id] = dict.fromkeys(numbers, self.target_epoch)
    return {topic_id: epochs for topic_id, epochs in free.items() if epochs}, False


def mistaken_gift(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reconciliation, "_free_and_held", gives_what_others_hold)


def mistaken_refusal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(heartbeat, "repeats_lost", lambda *_: False)


def mistaken_patience(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(advancing, "_target_is_due", lambda *_: False)


ENOUGH = 2_500
"""Worlds within which each of the mistakes shows."""


@pytest.mark.parametrize(
    ("mistake", "name", "budgets", "invariant"),
    [
        (mistaken_gift, "two-join", Budgets(), "one_holder"),
        (mistaken_refusal, "two-join", Budgets(losses=1), "lost_answer"),
        (mistaken_patience, "member-dies", Budgets(), "group_converges"),
    ],
)
def test_a_mistake_is_found_with_a_shortest_way_to_it(
    monkeypatch: pytest.MonkeyPatch, mistake: Any, name: str, budgets: Budgets, invariant: str
) -> None:
    mistake(monkeypatch)
    worlds = ConsumerWorlds(Plan(small_scenarios.load(name), KAFKA), budgets)
    report = Search(worlds, ENOUGH).run()
    found = {violated.invariant: violated for violated in report.violations}
    entries = timeline(worlds, found[invariant].trace, invariant, found[invariant].sentence)
    assert entries[-1].payload["invariant"] == invariant
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    state = initial_state("g", KAFKA)
    for entry in entries:
        assert entry.cause is None or entry.cause < entry.sequence
        state = replay(state, entry)


def test_what_is_left_out_hides_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    mistaken_gift(monkeypatch)
    whole, _ = walked("member-dies", KAFKA, Budgets(), reduced=False)
    report, _ = walked("member-dies", KAFKA, Budgets())
    assert broken(report) == broken(whole) != []
    shared, _ = explore_shared(small_scenarios.load("member-dies"), KAFKA, Budgets(), processes=2)
    assert shared == report


@pytest.mark.parametrize(
    ("member", "script", "states"),
    [
        ("regex: 'fo.*'", "{at: 1s, create_topic: fox, partitions: 1}, {at: 2s, delete_topic: foo}", 205),
        ("subscribe: [foo]", "{at: 1s, leave: A}, {at: 2s, join: A}", 300),
    ],
)
def test_expressions_are_resolved_and_topics_and_members_come_and_go(
    member: str, script: str, states: int
) -> None:
    text = f"topics: {{foo: {{partitions: 1}}}}\nmembers: {{A: {{{member}}}}}\nuntil: 20s\n"
    report, _ = explore(load(f"{text}script: [{{at: 0s, join: A}}, {script}]\n", "x"))
    assert report.complete
    assert report.violations == ()
    assert report.states == states


TAKEN_BACK = """
topics: {foo: {partitions: 2}}
start: {group_epoch: 5, assignment_epoch: 5, members: {A: {epoch: 5, owned: {foo: [0, 1]}}}}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}}
script: [{at: 0s, join: B}, {at: 1s, subscribe: B, regex: 'x.*'}]
until: 20s
"""
"""B is told of foo-1 while its first callback runs; after a loss it owns nothing, and does not want foo-1 any more."""


def taken_back() -> tuple[Report, Search]:
    search = Search(ConsumerWorlds(Plan(load(TAKEN_BACK, "taken back"), KAFKA), Budgets(losses=2)))
    return search.run(), search


def test_a_client_may_begin_with_what_was_taken_back_before_until_it_has_heard_of_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert broken(taken_back()[0]) == []

    def keeps_what_it_has(memory: ClientMemory, partitions: Any) -> None:
        if partitions or not memory.target.partitions:
            take_target(memory, partitions)

    take_target = membership.take_target
    monkeypatch.setattr(membership, "take_target", keeps_what_it_has)
    assert broken(taken_back()[0]) == ["group_converges", "one_processor", "owned_is_held"]


def test_a_run_is_judged_as_an_exploration_where_a_client_begins_with_what_was_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Processes, "may_begin", lambda *_: 0)
    report, search = taken_back()
    assert broken(report) == ["one_processor", "owned_is_held"]
    worlds = search.worlds
    for violated in report.violations:
        state, checker = initial_state(worlds.plan.scenario.group, KAFKA), Checker(KAFKA)
        for entry in timeline(worlds, violated.trace, violated.invariant, violated.sentence):
            state = replay(state, entry)
            assert checker.see(entry, state) == []


def test_no_field_of_a_world_is_left_unjudged() -> None:
    assert unjudged() == []
    assert MEMORY.keys() == {field.name for field in fields(VolatileState)}


def test_it_stops_at_its_bound_and_says_so() -> None:
    report, _ = explore(small_scenarios.load("two-join"), states_max=100)
    assert not report.complete
    assert report.states <= 100 + 20


def test_what_cannot_be_walked_is_named() -> None:
    scenario = small_scenarios.load("one-joins")
    jumps = Action(at_ms=5_000, verb=Verb.CLOCK_JUMP, who="A", length_ms=1_000)
    with pytest.raises(NotExplorable, match="clock_jump is not explored"):
        explore(replace(scenario, script=(*scenario.script, jumps)))
    scripted = replace(scenario.settings, scripted=ScriptedAssignor(targets={}))
    with pytest.raises(NotExplorable, match="scripted assignor"):
        explore(replace(scenario, settings=scripted))


def test_the_command_reports_and_writes_a_timeline_of_each_violation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("explore", "one-joins")
    report = json.loads(capsys.readouterr().out)
    unasked = {name for each in report.pop("not_judged") for name in each["invariants"]}
    assert unasked < set(INVARIANTS), "what no state was held to is named"
    assert unasked >= {"timer_length", "application_is_heeded"}
    assert report == {
        "states": ONE[0],
        "transitions": ONE[1],
        "depth": ONE[2],
        "complete": True,
        "violations": [],
    }
    mistaken_gift(monkeypatch)
    with pytest.raises(CommandError, match="one_holder") as raised:
        call_command("explore", "two-join", "--out", str(tmp_path))
    assert raised.value.returncode == 1
    told = json.loads(capsys.readouterr().out)
    trace = {each["invariant"]: each["trace"] for each in told["violations"]}["one_holder"]
    assert trace[0] == "join A"
    lines = (tmp_path / "one_holder.jsonl").read_text("utf-8").splitlines()
    assert Entry.from_json(json.loads(lines[-1])).payload["invariant"] == "one_holder"


@pytest.mark.django_db
def test_a_trace_opens_on_the_board_and_tells_what_breaks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], client: Client
) -> None:
    mistaken_gift(monkeypatch)
    with pytest.raises(CommandError):
        call_command(
            "explore", "two-join", "--duplicates", "1", "--max-states", "2500", "--out", str(tmp_path)
        )
    capsys.readouterr()
    call_command("timeline", "add", str(tmp_path / "one_holder.jsonl"))
    stored = json.loads(capsys.readouterr().out)
    assert (stored["title"], stored["group"]) == ("one_holder", "two-join")
    call_command("timeline", "show", stored["id"], "--format", "frames")
    frames = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(frames) == stored["entries"]
    assert client.get(f"/t/{stored['id']}").status_code == 200


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["two-join", "--losses", "x"], "--max-connection-losses x: expected a whole number from 0 to 9"),
        (["nothing"], "neither a file nor a bundled scenario"),
        (["two-join", "--semantics", "raft"], "there are kip, kafka"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says) as raised:
        call_command("explore", *arguments)
    assert raised.value.returncode == 2


def test_the_budgets_are_the_options() -> None:
    assert {field.name for field in fields(Budgets)} == {"losses", "duplicates", "timers", "fail_overs"}


def test_an_exploration_finds_a_coordinator_that_never_looks_at_new_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It comes to rest, and everybody has what the target gives: but a partition is in nobody's target."""

    def overlooks(self: KafkaCoordinator, context: Context, names: tuple[str, ...]) -> Outcome[None]:
        return Outcome(answer=None)

    scenario = small_scenarios.load("topic-grows")
    report, _ = explore(scenario, KAFKA)
    assert report.violations == ()
    monkeypatch.setattr(KafkaCoordinator, "image_changed", overlooks)
    report, _ = explore(scenario, KAFKA)
    assert "group_converges" in {violated.invariant for violated in report.violations}


def test_a_static_member_that_restarts_closes_in_any_order_and_its_next_process_follows() -> None:
    text = (
        "topics: {foo: {partitions: 1}}\nmembers: {A: {subscribe: [foo], instance_id: a}}\n"
        "script:\n  - {at: 0s, join: A}\n  - {at: 1s, restart: A}\nuntil: 60s\n"
    )
    search = Search(ConsumerWorlds(Plan(load(text), KAFKA), Budgets()))
    report = search.run()
    assert (report.complete, report.violations) == (True, ())
    assert (report.states, report.transitions, report.depth) == (92, 163, 11)
    members = {frozenset(part.shard.state.consumer.members) for part in search.worlds.coordinators.parts}
    assert members == {frozenset(), frozenset({"A"}), frozenset({"A~2"})}
