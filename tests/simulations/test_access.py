"""ACLs in a run: who is denied something is told so by every broker, throws, and the group goes on without it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import Recorder
from simulations.invariants import AuthorizedChecker, Violation
from simulations.invariants.classic_clients import RunChecker
from simulations.world.engine import run
from simulations.world.engine.access import Access
from simulations.world.engine.checked_run import checker_of
from simulations.world.scenario import ScenarioError, load
from tests.simulations.classic_runs import answers, requests, violations

PROTOCOLS = ("consumer", "classic")

SCENARIO = """
protocol: {protocol}
topics: {{foo: {{partitions: 4}}, bar: {{partitions: 2}}}}
config: {{initial_rebalance_delay_ms: 0}}
deny: {deny}
members:
  A: {{subscribe: [foo, bar], auto_commit: true}}
  B: {{subscribe: [foo], auto_commit: true}}
script:
  - {{at: 0s, join: A}}
  - {{at: 5s, join: B}}
{script}
until: {until}
"""


def text_of(protocol: str, deny: str = "[]", script: str = "", until: str = "60s") -> str:
    lines = "\n".join(f"  - {line}" for line in script.split("; ") if line)
    return SCENARIO.format(protocol=protocol, deny=deny, script=lines, until=until)


def entries_of(protocol: str, deny: str = "[]", script: str = "", until: str = "60s") -> list[Entry]:
    return list(run(load(text_of(protocol, deny, script, until), "orders")))


def owned(log: Iterable[Entry]) -> dict[str, set[tuple[str, int]]]:
    """What each member of the scenario reads in the end."""
    found: dict[str, set[tuple[str, int]]] = {}
    for entry in log:
        if entry.kind is not Kind.CALLBACK:
            continue
        keys = {(topic, p) for topic, numbers in entry.payload["partitions"].items() for p in numbers}
        mine = found.setdefault(entry.actor.partition("~")[0], set())
        if entry.payload["callback"] == "on_partitions_assigned":
            mine |= keys
        elif entry.payload["phase"] == "end":
            mine -= keys
    return found


def thrown(log: Iterable[Entry]) -> list[tuple[str, str]]:
    return [
        (entry.actor, str(entry.payload["exception"]))
        for entry in log
        if entry.payload.get("fault") == "poll_throws"
    ]


def codes(entry: Entry) -> list[int]:
    body = entry.payload["body"]
    return [each["errorCode"] for topic in body["topics"] for each in topic["partitions"]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_may_not_read_the_group_never_joins_it_and_the_others_have_all(protocol: str) -> None:
    log = entries_of(protocol, "[{member: B, operation: read, group: orders}]")
    api = "JoinGroup" if protocol == "classic" else "ConsumerGroupHeartbeat"
    refused = answers(log, api, "B")
    assert refused
    assert {entry.payload["body"]["errorCode"] for entry in refused} == {30}
    assert set(thrown(log)) == {("B", "GroupAuthorizationException")}
    assert owned(log)["A"] == {("foo", p) for p in range(4)} | {("bar", 0), ("bar", 1)}
    assert violations(log) == []
    # A consumer of the new protocol never asks again; a classic one does at each poll.
    assert (len(refused) == 1) == (protocol == "consumer")


def test_a_member_of_the_consumer_protocol_that_loses_the_right_ends_and_is_removed_when_its_session_is_over() -> (
    None
):
    log = entries_of("consumer", script="{at: 20s, deny: B, operation: read, group: orders}", until="100s")
    assert thrown(log) == [("B", "GroupAuthorizationException")]
    (lost,) = [
        entry
        for entry in log
        if entry.payload.get("callback") == "on_partitions_lost" and entry.payload["phase"] == "end"
    ]
    (threw,) = [entry for entry in log if entry.payload.get("fault") == "poll_throws"]
    assert threw.cause == lost.sequence
    assert owned(log)["B"] == set()
    assert len(owned(log)["A"]) == 6
    fired = [
        entry
        for entry in log
        if entry.payload.get("timer") == "session" and entry.payload["event"] == "fired"
    ]
    assert [entry.payload["member"] for entry in fired] == ["B"]
    assert violations(log) == []


def test_a_classic_member_that_loses_the_right_does_not_hear_that_it_was_removed_and_joins_when_it_may() -> (
    None
):
    """Its heartbeats fail like lost ones: the thread tries again, and the application reads on (``HeartbeatThread``)."""
    script = "{at: 20s, deny: B, operation: read, group: orders}; {at: 90s, allow: B, operation: read, group: orders}"
    log = entries_of("classic", script=script, until="160s")
    beats = [entry.payload["body"]["errorCode"] for entry in answers(log, "Heartbeat", "B")]
    assert beats.count(30) > 10
    assert 25 in beats, "what it hears once it is let through"
    assert not [entry for entry in requests(log, "JoinGroup", "B") if 20_000 < entry.at_ms < 90_000]
    assert len(owned(log)["A"]) + len(owned(log)["B"]) == 6
    assert owned(log)["B"]
    assert violations(log) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_of_a_commit_the_partitions_of_a_denied_topic_are_refused_and_the_others_written(
    protocol: str,
) -> None:
    log = entries_of(protocol, "[{member: A, operation: read, topic: bar}]")
    told = [codes(entry) for entry in answers(log, "OffsetCommit", "A")]
    assert any(set(each) == {0, 29} for each in told)
    assert all(each == sorted(each, reverse=True) for each in told), "what the broker refuses comes first"
    written = {
        entry.payload["key"]["topic"]
        for entry in log
        if entry.kind is Kind.RECORD and entry.payload["type"] == 1
    }
    assert written == {"foo"}
    assert violations(log) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_commit_of_denied_topics_alone_asks_nobody(protocol: str) -> None:
    log = entries_of(protocol, "[{member: B, operation: read, topic: foo}]")
    told = [codes(entry) for entry in answers(log, "OffsetCommit", "B")]
    assert told
    assert all(set(each) == {29} for each in told)
    assert violations(log) == []


@pytest.mark.parametrize("how", ["move", "crash"])
def test_of_a_commit_to_a_coordinator_that_loads_the_broker_still_refuses_the_denied_part_itself(
    how: str,
) -> None:
    script = f"{{at: 20s, fail_over: coordinator, how: {how}, loading: 12s}}"
    log = entries_of("classic", "[{member: A, operation: read, topic: bar}]", script)
    assert [each for each in map(codes, answers(log, "OffsetCommit", "A")) if set(each) == {29, 14}]
    assert violations(log) == []


def test_a_heartbeat_that_names_a_hidden_topic_is_refused_until_the_right_is_given() -> None:
    script = "{at: 12s, allow: B, operation: describe, topic: foo}"
    log = entries_of("consumer", "[{member: B, operation: describe, topic: foo}]", script)
    told = [
        (entry.at_ms, entry.payload["body"]["errorCode"])
        for entry in answers(log, "ConsumerGroupHeartbeat", "B")
    ]
    assert {code for at_ms, code in told if at_ms < 12_000} == {29}
    assert ("B", "TopicAuthorizationException") in thrown(log)
    assert owned(log)["B"], "it had only to be let in: it tried again all the time"
    assert violations(log) == []


def test_a_regular_expression_does_not_find_what_its_member_may_not_see() -> None:
    text = text_of("consumer", "[{member: B, operation: describe, topic: bar}]").replace(
        "B: {subscribe: [foo]", "B: {regex: '.*'"
    )
    log = list(run(load(text.replace("  - {at: 0s, join: A}\n", ""), "orders")))
    assert owned(log)["B"] == {("foo", p) for p in range(4)}
    assert violations(log) == []


def test_a_classic_leader_assigns_nothing_of_a_topic_that_it_may_not_see() -> None:
    log = entries_of("classic", "[{member: A, operation: describe, topic: bar}]")
    assert ("A", "TopicAuthorizationException") in thrown(log)
    everything = set().union(*owned(log).values())
    assert everything == {("foo", p) for p in range(4)}


def test_every_broker_refuses_before_it_says_that_it_is_not_the_coordinator() -> None:
    script = "{at: 20s, fail_over: coordinator, how: move, loading: 5s}; {at: 21s, deny: B, operation: read, group: orders}"
    log = entries_of("classic", script=script)
    after = [
        entry.payload["body"]["errorCode"] for entry in answers(log, "Heartbeat", "B") if entry.at_ms > 21_100
    ]
    assert after
    assert set(after) == {30}
    assert violations(log) == []


@pytest.mark.parametrize(
    ("deny", "script", "says"),
    [
        ("[{member: A}]", "", "needs operation"),
        ("[{member: A, operation: read}]", "", "a group or a topic"),
        ("[{member: A, operation: read, group: orders, topic: foo}]", "", "a group or a topic"),
        ("[{member: A, operation: write, topic: foo}]", "", "operation"),
        ("[{member: Z, operation: read, topic: foo}]", "", "member"),
        ("[{member: A, operation: read, topic: baz}]", "", "topic"),
        ("[{member: A, operation: read, group: other}]", "", "group"),
        ("[{member: [A, A], operation: read, topic: foo}]", "", "denied read on the topic foo already"),
        ("[]", "{at: 9s, deny: A, operation: read}", "needs group or topic"),
        ("[]", "{at: 9s, deny: A, topic: foo}", "needs operation"),
        ("[]", "{at: 9s, allow: A, operation: read, topic: foo}", "is not denied at 9 s"),
        ("[{member: A, operation: read, topic: foo}]", "{at: 9s, deny: A, operation: read, topic: foo}", "is denied already at 9 s"),
    ],
)  # fmt: skip
def test_a_denial_that_makes_no_sense_is_refused_with_its_line(deny: str, script: str, says: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        load(text_of("consumer", deny, script))
    assert says in str(refused.value)
    assert "line" in str(refused.value)


def checked(log: Iterable[Entry], text: str) -> list[Violation]:
    from groups.history.replay.fold import replay
    from groups.history.state.group import initial_state

    scenario = load(text, "orders")
    checker: RunChecker = checker_of(scenario, scenario.semantics)
    assert isinstance(checker, AuthorizedChecker)
    state, found = initial_state("orders"), []
    for entry in log:
        state = replay(state, entry)
        found += checker.see(entry, state)
    return [each for each in found if each.invariant == "authorized"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mistake", ["lets everybody in", "forgets the topics", "refuses everybody"])
def test_a_broker_that_does_not_keep_the_acls_is_found(
    monkeypatch: pytest.MonkeyPatch, protocol: str, mistake: str
) -> None:
    from simulations.protocol.messages.errors import ErrorCode

    deny = "[{member: B, operation: read, group: orders}, {member: A, operation: read, topic: bar}]"
    text = text_of(protocol, deny)
    assert checked(run(load(text, "orders")), text) == []
    if mistake == "lets everybody in":
        monkeypatch.setattr(Access, "refusal", lambda *_: ErrorCode.NONE)
    elif mistake == "forgets the topics":
        monkeypatch.setattr(Access, "may", lambda *_: True)
    else:
        monkeypatch.setattr(Access, "refusal", lambda *_: ErrorCode.GROUP_AUTHORIZATION_FAILED)
    assert checked(run(load(text, "orders")), text)


def test_the_events_tell_who_is_denied_what() -> None:
    recorder = Recorder(group="orders", digests=False)
    for entry in entries_of(
        "consumer",
        "[{member: B, operation: describe, topic: foo}]",
        "{at: 12s, allow: B, operation: describe, topic: foo}",
    ):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    told = batch.moments.decode()
    assert "B is denied DESCRIBE on the topic foo (ACL)" in told
    assert "B is allowed DESCRIBE on the topic foo again" in told
