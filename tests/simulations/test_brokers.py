"""Brokers in a run: ``group.version`` is lowered and raised, and brokers are rolled to another release and back."""

from __future__ import annotations

from collections.abc import Iterable

import orjson
import pytest

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import Recorder
from groups.history.passes.summaries import Summary
from groups.history.replay.fold import replay
from groups.history.state.group import Protocol, Semantics, State, initial_state
from groups.releases import Release
from simulations.invariants import ServedChecker
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import CommittedOffset, Heartbeat, OffsetCommit
from simulations.world.engine import run
from simulations.world.engine.brokers import Broker
from simulations.world.engine.checked_run import checker_of
from simulations.world.scenario import load
from tests.simulations.classic_runs import answers, requests, violations

BASE = """
group: orders
topics: {foo: {partitions: 6}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo], auto_commit: true}
  B: {subscribe: [foo], auto_commit: true}
  C: {subscribe: [foo], protocol: classic}
  D: {subscribe: [foo], protocol: classic}
script:
  - {at: 0s, join: [A, B]}
"""

LOWERED = "{at: 20s, downgrade_feature: {group.version: 0}}"


def text_of(script: str, until: str = "120s", base: str = BASE) -> str:
    lines = "\n".join(f"  - {line}" for line in script.split("; ") if line)
    return f"{base}{lines}\nuntil: {until}\n"


def entries_of(
    script: str, until: str = "120s", base: str = BASE, semantics: str | None = None
) -> list[Entry]:
    return list(run(load(text_of(script, until, base), "orders"), semantics))


def codes(log: Iterable[Entry], who: str) -> list[tuple[int, int]]:
    """When each heartbeat of a member was answered with an error, and with which."""
    told = answers(log, "ConsumerGroupHeartbeat", who)
    return [(each.at_ms, each.payload["body"]["errorCode"]) for each in told]


def thrown(log: Iterable[Entry]) -> set[tuple[str, str]]:
    return {
        (entry.actor, str(entry.payload["exception"]))
        for entry in log
        if entry.payload.get("fault") == "poll_throws"
    }


def broken(log: Iterable[Entry]) -> set[str]:
    """The invariants that a run broke."""
    return {str(entry.payload["invariant"]) for entry in log if entry.payload.get("fault") == "invariant"}


def states(log: Iterable[Entry], group: str = "orders") -> list[State]:
    state = initial_state(group)
    found = []
    for entry in log:
        state = replay(state, entry)
        found.append(state)
    return found


def told(log: Iterable[Entry]) -> str:
    recorder = Recorder(group="orders")
    for entry in log:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return "\n".join(moment["says"] for moment in orjson.loads(batch.moments))


def test_members_of_the_consumer_protocol_end_at_their_next_heartbeat_once_the_feature_is_lowered() -> None:
    log = entries_of(LOWERED)
    for who in "AB":
        refused = [(at_ms, code) for at_ms, code in codes(log, who) if code]
        assert [code for _, code in refused] == [35]
        assert 20_000 < refused[0][0] < 25_100, "a steady heartbeat, too, is refused"
    assert thrown(log) == {(who, "UnsupportedVersionException") for who in "AB"}
    assert violations(log) == []


def test_the_group_stays_until_the_sessions_of_its_members_end() -> None:
    log = entries_of(LOWERED)
    fired = [
        entry.at_ms
        for entry in log
        if entry.payload.get("timer") == "session" and entry.payload["event"] == "fired"
    ]
    assert len(fired) == 2
    assert all(60_000 <= at_ms <= 70_000 for at_ms in fired)
    last = states(log)[-1]
    assert last.protocol is Protocol.CONSUMER
    assert not last.deleted
    assert last.consumer.members == {}
    assert last.offsets["foo"], "what was committed stays"


def test_a_classic_client_still_joins_the_group_and_it_is_classic_when_the_others_are_gone() -> None:
    log = entries_of(LOWERED + "; {at: 30s, join: C}")
    last = states(log)[-1]
    assert last.protocol is Protocol.CLASSIC
    (member,) = last.classic.members.values()
    assert sum(map(len, member.assigned.values())) == 6
    assert violations(log) == []


def test_a_client_that_joins_again_is_served_once_the_feature_is_raised() -> None:
    log = entries_of(
        LOWERED + "; {at: 30s, upgrade_feature: {group.version: 1}}; {at: 32s, restart: A}", until="100s"
    )
    assert codes(log, "A~2")
    assert {code for _, code in codes(log, "A~2")} == {0}
    assert states(log)[-1].consumer.members.keys() == {"A~2"}
    assert violations(log) == []


def test_the_proposal_loses_the_group_at_once_and_keeps_its_offsets() -> None:
    log = entries_of(LOWERED, semantics="kip")
    after = [state for entry, state in zip(log, states(log), strict=True) if entry.at_ms > 20_000]
    assert all(state.deleted for state in after)
    assert after[-1].offsets["foo"]
    assert thrown(log) == {(who, "UnsupportedVersionException") for who in "AB"}


def test_the_proposal_loses_a_group_also_where_its_coordinator_was_loading() -> None:
    script = "{at: 19s, fail_over: coordinator, how: move, loading: 3s}; " + LOWERED
    log = entries_of(script, semantics="kip")
    gone = [
        entry.at_ms
        for entry, state in zip(log, states(log), strict=True)
        if entry.at_ms > 19_000 and state.deleted
    ]
    assert gone
    assert gone[0] == 22_000


def test_every_broker_refuses_before_it_says_that_it_is_not_the_coordinator_or_loads() -> None:
    script = LOWERED + "; {at: 20s, fail_over: coordinator, how: move, loading: 20s}"
    log = entries_of(script)
    assert {code for at_ms, code in codes(log, "A") + codes(log, "B") if at_ms > 20_000} == {35}
    assert violations(log) == []


def test_a_coordinator_that_loads_has_no_timers_yet_when_a_heartbeat_is_refused_by_its_broker() -> None:
    script = "{at: 12s, fail_over: coordinator, how: move, loading: 20s}; " + LOWERED
    log = entries_of(script)
    assert 35 in {code for at_ms, code in codes(log, "A") if 20_000 < at_ms < 32_000}
    assert violations(log) == []


def test_a_roll_moves_the_coordinator_from_each_broker_that_has_it_and_nobody_loses_anything() -> None:
    log = entries_of("{at: 20s, roll: brokers, for: 3s}")
    moved = [
        (entry.at_ms, entry.payload["coordinator"])
        for entry in log
        if entry.payload.get("fault") == "fail_over"
    ]
    assert moved == [(20_000, "broker-2"), (26_000, "broker-3"), (32_000, "broker-1")]
    notes = [
        (entry.at_ms, entry.payload["broker"], entry.payload["event"])
        for entry in log
        if entry.payload.get("note") == "broker"
    ]
    assert notes == [
        (20_000, "broker-1", "stops"),
        (23_000, "broker-1", "starts"),
        (26_000, "broker-2", "stops"),
        (29_000, "broker-2", "starts"),
        (32_000, "broker-3", "stops"),
        (35_000, "broker-3", "starts"),
    ]
    assert thrown(log) == set()
    assert {code for _, code in codes(log, "A")} <= {0, 14, 16}
    assert states(log)[-1].consumer.members.keys() == {"A", "B"}
    assert violations(log) == []


BACK = (
    LOWERED + "; {at: 30s, join: C}; {at: 40s, roll: brokers, release: '3.9', for: 2s, loading: 500ms}; "
    "{at: 80s, roll: brokers, release: '4.3', for: 2s, loading: 500ms}"
)


def test_a_broker_of_3_9_does_not_know_the_consumer_group_and_begins_a_classic_one_of_that_name() -> None:
    log = entries_of(BACK)
    (old,) = [
        entry
        for entry in log
        if entry.payload.get("fault") == "fail_over" and entry.payload.get("release") == "3.9"
    ][:1]
    assert old.payload["skipped"] > 10
    fenced = [
        entry
        for entry in answers(log, "Heartbeat", "C")
        if entry.payload["body"]["errorCode"] == 25 and entry.at_ms > old.at_ms
    ]
    assert fenced, "C was a member of the group that it does not know"
    generations = [
        entry.payload["value"]["generation"]
        for entry in log
        if entry.kind is Kind.RECORD and entry.payload["type"] == 2 and entry.payload["value"]
    ]
    assert generations[-1] == 1, "a new group"
    assert states(log)[-1].protocol is Protocol.CLASSIC
    assert [each.actor for each in requests(log, "JoinGroup", "C~2")]
    assert violations(log) == []


def test_a_member_that_commits_to_a_broker_of_3_9_is_unknown_where_offsets_are_all_that_it_loaded() -> None:
    topic = ImageTopic(name="foo", topic_id="AAAAAAAAAAAAAAAAAAAAAQ", partitions=2, racks=())
    image = Image(topics={"foo": topic})
    new = Shard("orders", Semantics.KAFKA, Settings(), image)
    joined = new.heartbeat(
        Heartbeat(
            group_id="orders",
            member_id="a",
            member_epoch=0,
            subscribed_topic_names=("foo",),
            rebalance_timeout_ms=1_000,
            owned={},
        ),
        0,
    )
    request = OffsetCommit(
        group_id="orders",
        member_id="a",
        member_epoch=joined.answer.member_epoch,
        offsets=(CommittedOffset(topic="foo", topic_id=topic.topic_id, partition=0, offset=3),),
        version=9,
    )
    committed = new.commit(request, 5)
    assert [code for *_, code in committed.answer.error_codes] == [0]
    for records, expected in (((*joined.records, *committed.records), 25), (joined.records, 22)):
        old = Shard("orders", Semantics.KAFKA, Settings(release=Release.V3_9), image)
        old.load(records)
        assert [code for *_, code in old.commit(request, 6).answer.error_codes] == [expected]


def test_committed_offsets_outlive_the_way_back_to_3_9() -> None:
    log = entries_of(BACK)
    before = next(state for entry, state in zip(log, states(log), strict=True) if entry.at_ms > 20_100)
    assert before.offsets["foo"]
    assert states(log)[-1].offsets["foo"].keys() == before.offsets["foo"].keys()


def test_a_classic_group_is_rolled_from_3_9_to_4_3_and_converted_when_the_feature_is_raised() -> None:
    base = BASE.replace("{at: 0s, join: [A, B]}", "{at: 0s, join: [C, D]}")
    log = entries_of(
        "{at: 20s, roll: brokers, release: '4.3', for: 2s}; {at: 50s, upgrade_feature: {group.version: 1}}; "
        "{at: 55s, bounce: C, with: {protocol: consumer}, for: 2s}; "
        "{at: 75s, bounce: D, with: {protocol: consumer}, for: 2s}",
        base="brokers: '3.9'\n" + base,
    )
    last = states(log)[-1]
    assert last.protocol is Protocol.CONSUMER
    assert last.consumer.members.keys() == {"C~2", "D~2"}
    assert violations(log) == []
    assert not any("skips" in line for line in told(log).splitlines())


def test_a_client_that_is_bounced_before_the_feature_is_raised_is_refused() -> None:
    base = BASE.replace("{at: 0s, join: [A, B]}", "{at: 0s, join: [C, D]}")
    script = "{at: 10s, bounce: C, with: {protocol: consumer}, for: 2s}"
    log = entries_of(script, base="brokers: '3.9'\n" + base)
    assert [code for _, code in codes(log, "C~2")] == [35]
    assert states(log)[-1].protocol is Protocol.CLASSIC
    assert violations(log) == []


def test_what_happens_to_brokers_is_told() -> None:
    says = told(entries_of(BACK))
    assert (
        "group.version is downgraded from 1 to 0: from now on brokers do not serve the consumer protocol"
        in says
    )
    assert "is refused: the broker does not serve the consumer protocol (UNSUPPORTED_VERSION)" in says
    assert "broker-1 (4.4.0) is stopped, to be rolled" in says
    assert "broker-1 is back, with 3.9 in place of 4.4.0" in says
    assert "broker-1 (3.9), which loads the log for 0.5\u202fs and skips" in says


def test_findings_and_verdict_tell_what_brokers_served_and_who_was_refused() -> None:
    recorder = Recorder(group="orders")
    for entry in entries_of(BACK):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    summary = batch.summary
    found = {one["kind"]: one for one in summary["findings"]}
    assert found["feature"]["says"] == (
        "group.version was downgraded from 1 to 0: from then on brokers did not serve the consumer protocol, "
        "and A and B were refused"
    )
    assert "UNSUPPORTED_VERSION" in found["refused"]["says"]
    rolled = [one["says"] for one in summary["findings"] if one["kind"] == "rolled"]
    assert rolled == [
        "broker-1, broker-2 and broker-3 were rolled from 4.4.0 to 3.9",
        "broker-1, broker-2 and broker-3 were rolled from 3.9 to 4.3.1",
    ]
    assert "group.version was downgraded from 1 to 0" in summary["verdict"]["text"]


def summary_of(log: Iterable[Entry]) -> Summary:
    recorder = Recorder(group="orders")
    for entry in log:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return batch.summary


def test_who_was_refused_and_removed_later_is_told_with_its_cause_and_not_as_a_member_that_vanished() -> None:
    summary = summary_of(entries_of(LOWERED))
    assert {one["says"] for one in summary["findings"] if one["kind"] == "removed"} == {
        f"{who} was removed when its session expired (session timeout 45.0\u202fs)" for who in "AB"
    }
    assert "session_expiry" not in {one["kind"] for one in summary["findings"]}
    assert summary["verdict"]["text"].count("xpir") == 1


def test_a_member_that_vanishes_beside_one_that_was_refused_is_told_as_before() -> None:
    summary = summary_of(entries_of("{at: 12s, kill: A}; " + LOWERED))
    (found,) = [one for one in summary["findings"] if one["kind"] == "session_expiry"]
    assert found["says"] == "Session expiry: A, session timeout 45.0\u202fs"


def test_the_same_run_is_the_same_entry_for_entry() -> None:
    assert entries_of(BACK) == entries_of(BACK)


def test_a_broker_that_serves_who_it_should_refuse_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broker, "refusal", lambda *_: ErrorCode.NONE)
    assert broken(entries_of(LOWERED)) == {"served"}


def test_a_broker_that_refuses_who_it_should_serve_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broker, "refusal", lambda *_: ErrorCode.UNSUPPORTED_VERSION)
    log = entries_of("{at: 60s, downgrade_feature: {group.version: 0}}")
    assert broken(log) == {"served"}


def test_only_runs_in_which_brokers_change_are_asked_who_is_served() -> None:
    scenario = load(text_of(LOWERED), "orders")
    assert isinstance(checker_of(scenario, scenario.semantics), ServedChecker)
    plain = load(text_of(""), "orders")
    assert not isinstance(checker_of(plain, plain.semantics), ServedChecker)
