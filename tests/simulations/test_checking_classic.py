"""What the checkers of classic and of mixed groups tell of runs in which one thing is otherwise, sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from simulations.invariants import Bounds, Violation
from simulations.invariants.classic_clients import ClassicClientChecker
from simulations.invariants.classic_groups import ASSIGNED, BARRIER, GENERATIONS, WRITTEN, ClassicGroupChecker
from simulations.world.engine import run
from simulations.world.engine.checked_run import checker_of
from simulations.world.scenario import load
from tests.history.logs import Log, record
from tests.simulations.classic_drive import Drive
from tests.simulations.test_classic_operations import CLASSIC, MIGRATION, Tamper, answer, nth, starts, writes

Place = Callable[[Entry], bool]

STAYS = MIGRATION.replace("  - {at: 60s, leave: C}\n", "")
"""The group is a consumer group to its end; that of ``MIGRATION`` becomes a classic one again."""


def told(text: str, tamper: Tamper, *, converges: bool = False) -> list[Violation]:
    """What is told of the run where each entry is what ``tamper`` makes of it; ``converges``: and of its end."""
    scenario = load(text)
    checker = checker_of(scenario, Semantics.KAFKA)
    state = initial_state(scenario.group, Semantics.KAFKA)
    found: list[Violation] = []
    for entry in run(scenario, Semantics.KAFKA):
        other = tamper(entry)
        if other is None:
            continue
        if other.kind in (Kind.RECORD, Kind.NOTE):
            state = replay(state, other)
        found += checker.steady(other) if other.payload.get("steady") else checker.see(other, state)
    found += checker.end(scenario.start_ms + scenario.until_ms)
    return [*found, *(checker.demand_convergence() if converges else ())]


def says(found: Iterable[Violation], invariant: str) -> list[str]:
    return [violation.sentence for violation in found if violation.invariant == invariant]


def without(of: Place) -> Tamper:
    return lambda entry: None if of(entry) else entry


def with_body(**fields: Any) -> Tamper:
    return lambda entry: replace(
        entry, payload={**entry.payload, "body": {**entry.payload["body"], **fields}}
    )


def callback(who: str, name: str, phase: str) -> Place:
    return lambda entry: (
        entry.kind is Kind.CALLBACK
        and entry.actor == who
        and (entry.payload["callback"], entry.payload["phase"]) == (f"on_partitions_{name}", phase)
    )


GROWS = CLASSIC.replace(
    "  - {at: 40s, leave: C}", "  - {at: 30s, add_partitions: orders, to: 5}\n  - {at: 40s, leave: C}"
)


@pytest.mark.parametrize("text", [CLASSIC, MIGRATION], ids=["classic", "migration"])
def test_a_run_as_it_is_breaks_nothing_and_converges(text: str) -> None:
    assert told(text, lambda entry: entry, converges=True) == []


def test_a_group_that_has_not_heard_of_its_topic_s_growth_yet_has_not_converged_and_breaks_nothing() -> None:
    assert told(GROWS, lambda entry: entry) == []
    found = told(GROWS, lambda entry: entry, converges=True)
    assert says(found, "classic_converges") == ["Nobody is given orders-4"]


def after(at_ms: int, of: Place) -> Place:
    return lambda entry: entry.at_ms >= at_ms and of(entry)


def test_a_generation_that_goes_back_is_told_whatever_notes_came_since_the_last_one() -> None:
    found = told(GROWS, nth(0, after(40_000, answer("JoinGroup", 0)), with_body(generationId=1)))
    (sentence,) = says(found, "generations")
    assert " receives generation 1, after generation " in sentence


DELETED = """
protocol: classic
topics: {orders: {partitions: 2}}
config: {initial_rebalance_delay_ms: 0}
members: {A: {subscribe: [orders]}, B: {subscribe: [orders]}}
script:
  - {at: 0s, join: A}
  - {at: 5s, join: B}
  - {at: 20s, leave: A}
  - {at: 21s, leave: B}
  - {at: 30s, delete_group: scenario}
  - {at: 40s, join: A}
until: 60s
"""


def test_a_group_that_is_deleted_begins_its_generations_anew() -> None:
    assert told(DELETED, lambda entry: entry, converges=True) == []
    is_note = lambda entry: entry.kind is Kind.NOTE and entry.payload["note"] == "delete_group"  # noqa: E731
    found = told(
        DELETED,
        without(
            lambda entry: (
                is_note(entry) or (after(30_000, writes(2))(entry) and entry.payload["value"] is None)
            )
        ),
    )
    assert says(found, "generations") != [], "nothing says that it was deleted"


def test_a_leader_that_is_none_of_the_members_is_told() -> None:
    leads = lambda entry: answer("JoinGroup", 0)(entry) and bool(entry.payload["body"]["members"])  # noqa: E731
    found = told(CLASSIC, nth(0, leads, with_body(leader="nobody")))
    assert says(found, "generations") == ["nobody leads generation 1 and is none of its members"]


def test_two_that_took_part_in_a_generation_and_read_one_partition_are_told_once_they_both_do() -> None:
    def reads_more(entry: Entry) -> Entry:
        return replace(entry, payload={**entry.payload, "partitions": {"orders": [0, 1, 2, 3]}})

    found = told(CLASSIC, nth(0, callback("B", "assigned", "start"), reads_more))
    (sentence, *_) = says(found, "one_processor_of_a_generation")
    assert " both process orders-" in sentence
    assert "has not revoked" in sentence


@pytest.mark.parametrize(
    ("tamper", "says_so"),
    [
        (nth(1, callback("A", "assigned", "start"), lambda entry: entry), ""),
        (nth(0, callback("B", "revoked", "end"), lambda entry: None), "while on_partitions_revoked runs"),
        (nth(0, callback("B", "assigned", "start"), lambda entry: None), "which it does not own"),
        (nth(0, callback("B", "revoked", "start"), lambda entry: None), ""),
    ],
)
def test_callbacks_that_overlap_or_are_of_what_is_not_owned_are_told(tamper: Tamper, says_so: str) -> None:
    sentences = says(told(CLASSIC, tamper), "callbacks_of_classic")
    assert any(says_so in sentence for sentence in sentences) is bool(says_so), sentences


def test_who_is_assigned_what_it_owns_is_told() -> None:
    revoked = lambda entry: callback("B", "revoked", "start")(entry) or callback("B", "revoked", "end")(entry)  # noqa: E731
    assert any(
        "which it owns" in each for each in says(told(CLASSIC, without(revoked)), "callbacks_of_classic")
    )


def test_a_group_in_which_a_client_does_not_read_what_it_is_given_has_not_converged() -> None:
    last = after(
        50_000,
        lambda entry: entry.kind is Kind.CALLBACK and entry.payload["callback"] == "on_partitions_assigned",
    )
    found = told(CLASSIC, without(last), converges=True)
    (sentence,) = says(found, "classic_converges")
    assert " does not read what generation " in sentence


@pytest.mark.parametrize(
    ("text", "who", "from_ms", "sentence"),
    [
        (STAYS, "C", 21_000, "The client of C does not read what is assigned to it"),
        (MIGRATION, "A", 60_000, "A does not read what generation 4 gives it"),
    ],
)
def test_a_group_of_either_protocol_in_which_a_client_does_not_read_what_it_is_given_has_not_converged(
    text: str, who: str, from_ms: int, sentence: str
) -> None:
    begins = after(
        from_ms,
        lambda entry: (
            entry.kind is Kind.CALLBACK
            and entry.actor == who
            and entry.payload["callback"] == "on_partitions_assigned"
        ),
    )
    assert says(told(text, without(begins), converges=True), "classic_converges") == [sentence]


def test_a_request_that_is_never_answered_is_told_at_the_end() -> None:
    found = told(CLASSIC, without(after(50_000, answer("SyncGroup"))), converges=True)
    (sentence,) = says(found, "classic_converges")
    assert sentence.startswith("A SyncGroup of ")
    assert sentence.endswith(" waits for its answer for ever")


def test_a_group_that_becomes_classic_has_its_members_join_again() -> None:
    no_join_timer = without(
        after(60_000, lambda entry: starts("join")(entry) and entry.payload["member"] is None)
    )
    assert says(told(MIGRATION, no_join_timer), "conversion_carries_over") == [
        "The group has become a classic one, and nobody is waited for to join"
    ]


def test_what_a_member_still_reads_is_neither_taken_from_it_nor_given_to_another() -> None:
    found = told(MIGRATION, without(callback("B", "revoked", "end")))
    assert any(
        "is taken from B, which still reads it" in each for each in says(found, "given_up_before_taken")
    )
    assert any("while B still reads it" in each for each in says(found, "one_reader"))


def test_a_group_is_of_one_protocol_at_a_time() -> None:
    ends = lambda entry: writes(2)(entry) and entry.payload["value"] is None  # noqa: E731
    assert says(told(MIGRATION, without(ends)), "one_protocol") == [
        "Records have a classic group and a consumer group at once"
    ]


def test_an_answer_that_refuses_an_assignment_gives_none() -> None:
    found = told(CLASSIC, nth(1, answer("SyncGroup", 0), with_body(errorCode=27, assignment="")))
    assert "answered_by_the_rules" in {violation.invariant for violation in found}


def test_a_group_that_stays_converted_rests_where_everybody_reads_what_is_assigned() -> None:
    assert told(STAYS, lambda entry: entry, converges=True) == []


@pytest.mark.parametrize(("code", "at_ms"), [(25, 21_000), (25, 0), (0, 21_000)])
def test_a_group_that_has_members_is_not_forgotten_by_a_join_of_an_unknown_member(
    code: int, at_ms: int
) -> None:
    scenario, seen = load(MIGRATION), 0
    checker, state = checker_of(scenario, Semantics.KAFKA), initial_state(scenario.group, Semantics.KAFKA)
    for entry in run(scenario, Semantics.KAFKA):
        other = entry
        if after(at_ms, answer("JoinGroup"))(entry):
            other, seen = with_body(errorCode=code)(entry) or entry, seen + 1
        if other.kind in (Kind.RECORD, Kind.NOTE):
            state = replay(state, other)
        if other.payload.get("steady"):
            checker.steady(other)
        else:
            checker.see(other, state)
    assert seen
    assert checker.known_fault is None


def of_clients(log: Log) -> list[Violation]:
    """What is told of the clients alone, where nothing is asked of the coordinator."""
    checker = ClassicClientChecker(bounds=Bounds(settle_ms=1))
    state = initial_state("orders", Semantics.KAFKA)
    return [violation for entry in log.entries for violation in checker.see(entry, state)]


def test_clients_of_a_group_that_is_gone_take_part_in_no_generation() -> None:
    log = Log()
    log.write(record(2, {"group": "orders"}, None))
    for who in "AB":
        for phase in ("start", "end"):
            log.callback(who, "on_partitions_assigned", phase, [0])
    assert of_clients(log) == []


def asks(log: Log, who: str, api: str, code: int, **body: Any) -> None:
    """A request, and how it is refused."""
    request = log._add(Kind.REQUEST, who, {"api": api, "version": 9, "body": {"memberId": who, **body}})
    told = {"api": api, "version": 9, "to": who, "body": {"errorCode": code}}
    log._add(Kind.RESPONSE, "coordinator", told, cause=request)


@pytest.mark.parametrize(("code", "is_told"), [(25, False), (22, False), (27, True)])
def test_a_process_that_lost_its_id_goes_on_under_another_with_what_it_has_not_given_up(
    code: int, is_told: bool
) -> None:
    log = Log()
    for phase in ("start", "end"):
        log.callback("A", "on_partitions_assigned", phase, [0])
    asks(log, "A", "Heartbeat", code, generationId=1)
    log._add(
        Kind.REQUEST, "A~1", {"api": "JoinGroup", "version": 9, "body": {"memberId": "", "protocols": []}}
    )
    for phase in ("start", "end"):
        log.callback("A~1", "on_partitions_lost", phase, [0])
    strange = ["A~1 runs on_partitions_lost for foo-0, which it does not own"]
    assert says(of_clients(log), "callbacks_of_classic") == (strange if is_told else [])


def of_group(entries: Iterable[Entry]) -> list[Violation]:
    checker = ClassicGroupChecker()
    return [violation for entry in entries for violation in checker.see(entry)]


def records(entries: list[Entry]) -> list[int]:
    """Where a record tells what a leader assigned."""
    return [
        at
        for at, entry in enumerate(entries)
        if entry.kind is Kind.RECORD
        and entry.payload["value"]
        and any(member["assignment"] for member in entry.payload["value"]["members"])
        and entry.cause is not None
        and entries[entry.cause - 1].payload.get("api") == "SyncGroup"
    ]


def with_value(entry: Entry, **fields: Any) -> Entry:
    return replace(entry, payload={**entry.payload, "value": {**entry.payload["value"], **fields}})


def test_a_record_that_holds_something_else_than_the_leader_assigned_is_told_as_it_is_written() -> None:
    entries = Drive(3).play()
    at = records(entries)[0]
    (first, *others) = entries[at].payload["value"]["members"]
    changed = with_value(entries[at], members=[{**first, "assignment": "AAAA"}, *others])
    assert says(of_group([*entries[:at], changed]), ASSIGNED) == [
        f"What the leader assigned to {first['memberId']} is not what is written"
    ]


def test_a_record_that_no_assignment_brought_about_tells_of_no_later_generation_either() -> None:
    entries = Drive(3).play()
    at = records(entries)[0]
    generation = entries[at].payload["value"]["generation"]
    changed = replace(with_value(entries[at], generation=generation + 1), cause=None)
    assert says(of_group([*entries[:at], changed]), GENERATIONS) == [
        f"A record has generation {generation + 1}, members have {generation}"
    ]
    assert says(of_group([*entries[:at], replace(entries[at], cause=None)]), GENERATIONS) == []


@pytest.mark.parametrize("more", [-1, 1, 7])
def test_a_record_tells_of_no_other_generation_than_its_members_were_told_of(more: int) -> None:
    entries = next(entries for seed in range(20) if len(records(entries := Drive(seed).play())) > 1)
    at = records(entries)[1]
    generation = entries[at].payload["value"]["generation"]
    changed = with_value(entries[at], generation=generation + more)
    assert says(of_group([*entries[:at], changed]), GENERATIONS) == [
        f"A record has generation {generation + more}, members have {generation}"
    ]


@pytest.mark.parametrize(("instance", "is_told"), [(None, True), ("i", False)])
def test_who_is_listed_and_has_not_joined_is_told_once_the_generation_is_assigned_unless_it_is_static(
    instance: str | None, is_told: bool
) -> None:
    entries = Drive(3).play()
    written = records(entries)[0]
    at = max(
        at
        for at, entry in enumerate(entries[:written])
        if entry.kind is Kind.RESPONSE
        and entry.payload["body"].get("members")
        and entry.payload["api"] == "JoinGroup"
    )
    body = entries[at].payload["body"]
    ghost = {**body["members"][0], "memberId": "ghost", "groupInstanceId": instance}
    entries[at] = replace(
        entries[at], payload={**entries[at].payload, "body": {**body, "members": [*body["members"], ghost]}}
    )
    sync = next(
        at
        for at, entry in enumerate(entries)
        if at > written
        and entry.kind is Kind.RESPONSE
        and entry.payload["api"] == "SyncGroup"
        and not entry.payload["body"]["errorCode"]
    )
    sentences = says(of_group(entries[: sync + 1]), BARRIER)
    generation = body["generationId"]
    assert sentences == (
        [f"ghost is a member of generation {generation} and has not joined it"] if is_told else []
    )
    unwritten = [*entries[:written], *entries[written + 1 : sync + 1]]
    assert says(of_group(unwritten), BARRIER) == []
    assert says(of_group(unwritten), WRITTEN) != []
