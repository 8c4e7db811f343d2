"""Topics with a rate: how far a group falls behind, what it reads twice, and what its members commit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import Recorder
from groups.history.passes.summaries import Summary
from groups.history.replay.fold import replay
from groups.history.state.consumption import end_of
from groups.history.state.group import Semantics, State, initial_state
from simulations.proof.fuzzing.verdict import broken_by
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.engine.checked_run import checker_of
from simulations.world.engine.process import Process
from simulations.world.scenario import ScenarioError, load
from tests.house import ROOT

TWO = """
protocol: {protocol}
topics: {{orders: {{partitions: 2, rate: 100}}}}
config: {{initial_rebalance_delay_ms: 0}}
members:
  A: {{subscribe: [orders], auto_commit: true{more}}}
  B: {{subscribe: [orders], auto_commit: true{more}}}
script:
  - {{at: 0s, join: A}}
{script}
until: {until}
"""


def entries_of(
    script: str, *, protocol: str = "consumer", until: str = "120s", more: str = ""
) -> list[Entry]:
    lines = "\n".join(f"  - {line}" for line in script.split("; "))
    return list(run(load(TWO.format(protocol=protocol, script=lines, until=until, more=more), "orders")))


def summary_of(entries: Iterable[Entry], group: str = "orders") -> Summary:
    recorder = Recorder(group=group, digests=False)
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return batch.summary


def states_of(entries: Iterable[Entry]) -> Iterable[tuple[Entry, State, State]]:
    """Each entry with the state before and after it."""
    state = initial_state("orders")
    for entry in entries:
        before, state = state, replay(state, entry)
        yield entry, before, state


def test_on_the_same_events_eager_falls_behind_and_cooperative_reads_twice() -> None:
    """KIP-429's comparison: what nobody reads waits; what was read while members wait at the barrier was not committed."""
    cost = {
        name: summary_of(run(studies.load(f"kip429-{name}")), f"kip429-{name}")["consumption"]
        for name in ("eager", "cooperative", "consumer")
    }
    assert cost["eager"]["lag_max"] > 1.5 * cost["cooperative"]["lag_max"]
    # B polls 12 s late, in each of them, and has three partitions of 100 records a second.
    assert cost["cooperative"]["lag_max"] == cost["consumer"]["lag_max"] == 3 * 12 * 100
    assert (cost["eager"]["read_twice"], cost["consumer"]["read_twice"]) == (0, 0)
    # A read for the 9 s, and B what had come in the 12 s, of a partition that each gave up after it had committed.
    assert 2_000 < cost["cooperative"]["read_twice"] < 2_200
    late_ms = 3 * 12_000
    assert cost["eager"]["unread_ms"] - late_ms > 1.5 * (cost["cooperative"]["unread_ms"] - late_ms) > 0


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
def test_who_is_killed_leaves_to_others_what_it_read_and_did_not_commit(protocol: str) -> None:
    entries = entries_of("{at: 10s, join: B}; {at: 30s, kill: B}", protocol=protocol)
    *_, last = states_of(entries)
    found = last[2].consumption
    assert found is not None
    (killed,) = [entry.at_ms for entry in entries if entry.payload.get("fault") == "kill"]
    commits = [
        (entry.at_ms, topic)
        for entry in entries
        if entry.kind is Kind.REQUEST and entry.payload["api"] == "OffsetCommit" and entry.actor == "B"
        for topic in entry.payload["body"]["topics"]
    ]
    ((number, offset),) = [
        (each["partitionIndex"], each["committedOffset"]) for each in commits[-1][1]["partitions"]
    ]
    partition = found.topics["orders"].partitions[number]
    assert partition.read_twice == killed // 10 - offset > 0
    assert partition.unread_ms > 40_000, "until the session timeout of 45 s"
    assert found.sums.skipped == 0


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
def test_what_a_paused_process_goes_on_to_read_another_reads_too(protocol: str) -> None:
    script = "{at: 10s, join: B}; {at: 30s, pause: B}; {at: 95s, resume: B}"
    entries = entries_of(script, protocol=protocol, until="150s")
    cost = summary_of(entries)["consumption"]
    # It stands where it was for the 65 s, and reads all of that before it hears that it is no member; A has read it, too.
    assert cost["read_twice"] > 65 * 100
    assert cost["lag_max"] > 40 * 100, "until the session timeout of 45 s"
    assert cost["lag"] == 0


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
@pytest.mark.parametrize(
    "stops", ["{at: 31s, pause: B}; {at: 36s, resume: B}", "{at: 31s, cut: B}; {at: 36s, heal: B}"]
)
def test_a_process_that_stands_still_for_a_while_goes_on_where_it_was(protocol: str, stops: str) -> None:
    cost = summary_of(entries_of("{at: 10s, join: B}; " + stops, protocol=protocol, until="60s"))[
        "consumption"
    ]
    before = summary_of(entries_of("{at: 10s, join: B}", protocol=protocol, until="60s"))["consumption"]
    assert (cost["read_twice"], cost["unread_ms"]) == (before["read_twice"], before["unread_ms"] + 5_000)
    assert cost["lag_max"] == 5 * 100


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
def test_who_reads_a_topic_that_is_deleted_and_made_again_reads_the_new_one(protocol: str) -> None:
    """A classic consumer knows topics by their names: nothing of its membership changes."""
    script = "{at: 10s, join: B}; {at: 20s, delete_topic: orders}; {at: 21s, create_topic: orders, partitions: 2, rate: 50}"
    entries = entries_of(script, protocol=protocol, until="60s")
    *_, (_, _, last) = states_of(entries)
    found = last.consumption
    assert found is not None
    assert sorted(len(has["orders"]) for has in found.members.values()) == [1, 1]
    assert all(partition.is_fetched for partition in found.topics["orders"].partitions.values())
    assert not [entry for entry in entries if entry.payload.get("fault") == "invariant"]


def test_a_run_that_forgets_who_reads_a_topic_that_was_made_again_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Members of the consumer protocol are assigned the new topic, and tell so; classic ones have the same name as before."""
    script = "  - {at: 10s, join: B}\n  - {at: 20s, delete_topic: orders}\n  - {at: 21s, create_topic: orders, partitions: 2, rate: 50}"
    scenario = load(TWO.format(protocol="classic", script=script, until="400s", more=""), "orders")
    assert broken_by(scenario, "kafka") is None
    monkeypatch.setattr(Process, "_forgotten", lambda *_: False)
    broken = broken_by(scenario, "kafka")
    assert broken is not None
    assert broken.invariant == "reads_what_it_has"


def test_who_hears_of_an_added_partition_before_the_coordinator_reads_it_from_when_that_one_hears() -> None:
    path = (
        ROOT
        / "tests/simulations/fixtures/found/kafka-classic-reads-a-partition-before-the-coordinator-knows-it.yaml"
    )
    found = [
        (entry.at_ms, partition)
        for entry, _, state in states_of(run(load(path.read_text(encoding="utf-8"), "orders")))
        if state.consumption is not None
        and (partition := state.consumption.topics["foo"].partitions.get(1)) is not None
    ]
    assert [(at_ms, set(partition.readers)) for at_ms, partition in found[:2]] == [
        (3_112, set()),
        (3_112, {"A~2"}),
    ]
    assert found[-1][1].unread_ms == 50, "until its owner is back"


def test_without_a_commit_the_next_reader_leaves_out_what_came_meanwhile() -> None:
    """``auto.offset.reset=latest``, and nobody commits."""
    entries = entries_of("{at: 30s, kill: A}; {at: 31s, join: B}", more="")
    text = TWO.format(
        protocol="consumer", script="  - {at: 30s, kill: A}\n  - {at: 31s, join: B}", until="120s", more=""
    )
    quiet = list(run(load(text.replace(", auto_commit: true", ""), "orders")))
    assert summary_of(entries)["consumption"]["skipped"] == 0
    cost = summary_of(quiet)["consumption"]
    assert (cost["read_twice"], cost["skipped"] > 2 * 40 * 100) == (0, True)


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
@pytest.mark.parametrize(
    "script",
    [
        "{at: 10s, join: B}; {at: 20s, poll_late: A, for: 7s}; {at: 40s, leave: B}",
        "{at: 10s, join: B}; {at: 20s, cut: A}; {at: 40s, heal: A}; {at: 50s, slow_revoke: A, for: 3s}; {at: 51s, leave: B}",
        "{at: 10s, join: B}; {at: 15s, add_partitions: orders, to: 5}; {at: 30s, restart: A}",
        "{at: 5s, delete_topic: orders}; {at: 9s, create_topic: orders, partitions: 3, rate: 50}; {at: 12s, join: B}",
    ],
)
def test_nobody_commits_what_it_has_not_read_and_the_log_never_shrinks(protocol: str, script: str) -> None:
    ends: dict[int, int] = {}
    topic_id = None
    for entry, before, state in states_of(entries_of(script, protocol=protocol)):
        assert not state.anomalies
        found = state.consumption
        assert found is not None
        if state.topic_id("orders") != topic_id:
            topic_id, ends = state.topic_id("orders"), {}
        topic = found.topics.get("orders")
        for number, partition in topic.partitions.items() if topic is not None else ():
            assert end_of(partition, topic.rate, entry.at_ms) >= ends.get(number, 0)
            ends[number] = end_of(partition, topic.rate, entry.at_ms)
        if entry.kind is Kind.RECORD and entry.payload["type"] == 1 and entry.payload["value"] is not None:
            key = entry.payload["key"]
            known = before.consumption
            assert known is not None
            assert entry.payload["value"]["offset"] <= ends[key["partition"]]
    assert sum(len(has) for has in found.members.values()) > 0, "somebody reads in the end"


def test_where_no_topic_has_a_rate_a_run_is_what_it_was() -> None:
    text = TWO.format(protocol="consumer", script="  - {at: 5s, join: B}", until="20s", more="")
    entries = list(run(load(text.replace(", rate: 100", ""), "orders")))
    assert not any(entry.payload.get("note") == "reads" for entry in entries)
    assert "consumption" not in summary_of(entries)


@pytest.mark.parametrize(
    ("rate", "says"),
    [
        ("0", "1 to 1000000"),
        ("-5", "1 to 1000000"),
        ("1.5", "whole number"),
        ("fast", "whole number"),
        ("2000000", "1 to 1000000"),
    ],
)
def test_a_rate_that_is_none_is_refused_in_one_line(rate: str, says: str) -> None:
    text = TWO.format(protocol="consumer", script="", until="9s", more="").replace(
        "rate: 100", f"rate: {rate}"
    )
    with pytest.raises(ScenarioError) as refused:
        load(text)
    assert says in str(refused.value)
    assert "rate" in str(refused.value)


def test_the_command_tells_the_cost_on_standard_error_and_the_summary_holds_it(tmp_path: Path) -> None:
    err = StringIO()
    call_command(
        "simulate", "kip429-eager", "--format", "summary", "--out", str(tmp_path / "told"), stderr=err
    )
    told = json.loads((tmp_path / "told").read_text())
    assert told["consumption"]["read_twice"] == 0
    (line,) = err.getvalue().splitlines()
    assert line.startswith(f"Lag at most {told['consumption']['lag_max']:,} records, ")
    assert "0 records read twice; " in line
    assert "partition-seconds not read, " in line


def test_a_client_that_does_not_poll_is_told_of_and_so_is_that_it_polls_again() -> None:
    recorder = Recorder(group="orders", digests=False)
    for entry in entries_of("{at: 20s, poll_late: A, for: 7s}", until="40s"):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    says = [(moment["at_ms"], moment["says"]) for moment in json.loads(batch.moments)]
    assert (20_000, "A works on its records and does not poll") in says
    assert (27_000, "A polls again") in says


def test_what_two_partitions_are_told_wrongly_is_seen_at_the_end_though_their_sum_is_right() -> None:
    lines = "  - {at: 5s, join: B}"
    scenario = load(TWO.format(protocol="consumer", script=lines, until="20s", more=""), "orders")
    checker, state = checker_of(scenario, Semantics.KAFKA), initial_state("orders", Semantics.KAFKA)
    *before, last = run(scenario, Semantics.KAFKA)
    for entry in before:
        state = replay(state, entry)
        assert checker.see(entry, state) == []
    state = replay(state, last)
    assert state.consumption is not None
    orders = state.consumption.topics["orders"]
    more = {n: replace(each, skipped=each.skipped + 1 - 2 * n) for n, each in orders.partitions.items()}
    topics = {"orders": replace(orders, partitions=more)}
    wrong = replace(state, consumption=replace(state.consumption, topics=topics))
    found = [*checker.see(last, wrong), *checker.end(20_000)]
    assert [each.sentence for each in found] == [
        "Of orders-0 what is skipped is reported as 1, and counted it is 0",
        "Of orders-1 what is skipped is reported as -1, and counted it is 0",
    ]
