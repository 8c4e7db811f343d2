"""What the verbs make happen that no case study shows: settings, deletion, retention, racks, callbacks, cuts, clocks."""

from __future__ import annotations

from base64 import b64decode
from itertools import pairwise

import pytest

from groups.history.entries import Entry, Kind
from groups.wire.embedded.consumer_protocol import decode_subscription
from simulations.invariants import INVARIANT_FAULT
from simulations.world.engine import run
from simulations.world.scenario import load

GROUP = """\
group: g
topics: {foo: {partitions: 4}}
config: {session_timeout_ms: 45000, heartbeat_interval_ms: 5000}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}, S: {subscribe: [foo], instance_id: s}}
"""


def told(script: str, until: str = "120s", semantics: str = "kafka", text: str = GROUP) -> list[Entry]:
    entries = list(run(load(f"{text}script: [{script}]\nuntil: {until}\n"), semantics))
    broken = [e.payload for e in entries if e.kind is Kind.FAULT and e.payload["fault"] == INVARIANT_FAULT]
    assert broken == []
    return entries


def fired(entries: list[Entry]) -> list[tuple[int, str]]:
    return [
        (entry.at_ms, entry.payload["timer"])
        for entry in entries
        if entry.kind is Kind.TIMER and entry.payload["event"] == "fired"
    ]


def notes(entries: list[Entry], note: str) -> list[dict[str, object]]:
    return [dict(e.payload) for e in entries if e.kind is Kind.NOTE and e.payload["note"] == note]


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_a_groups_own_settings_hold_from_the_next_heartbeat_on(semantics: str) -> None:
    entries = told(
        "{at: 0s, join: A}, {at: 11s, set_config: {session_timeout_ms: 60000, heartbeat_interval_ms: 15000}},"
        "{at: 40s, kill: A}",
        semantics=semantics,
    )
    assert [config["config"] for config in notes(entries, "config")] == [
        {"session_timeout_ms": 60_000, "heartbeat_interval_ms": 15_000}
    ]
    beats = [e.at_ms for e in entries if e.kind is Kind.REQUEST and e.actor == "A" and e.at_ms > 11_000]
    assert all(after - before >= 15_000 for before, after in pairwise(beats))
    session = [at_ms for at_ms, timer in fired(entries) if timer == "session"]
    assert session == [beats[-1] + 60_000]


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_to_enforce_a_rebalance_in_the_consumer_protocol_is_a_warning_and_no_request(semantics: str) -> None:
    """KIP-848, "KafkaConsumer": "will be a no-op [...]. A warning will be logged"."""
    entries = told("{at: 0s, join: A}, {at: 21s, enforce_rebalance: A}", semantics=semantics, until="60s")
    (warning,) = [e for e in entries if e.kind is Kind.NOTE and e.payload["note"] == "log_line"]
    assert (warning.actor, warning.at_ms) == ("A", 21_000)
    assert "no effect in the consumer protocol" in str(warning.payload["says"])
    without = told("{at: 0s, join: A}", semantics=semantics, until="60s")
    assert [e.payload for e in without if e.kind is Kind.REQUEST] == [
        e.payload for e in entries if e.kind is Kind.REQUEST
    ]


DELETED = """\
group: g
protocol: classic
assignor: cooperative-sticky
topics: {foo: {partitions: 2}, bar: {partitions: 2}}
members: {A: {subscribe: [foo, bar], metadata_max_age_ms: 4000}, B: {subscribe: [foo, bar]}}
"""


def test_partitions_of_a_topic_that_the_leader_does_not_know_are_in_no_assignment() -> None:
    """KIP-429 would give them back to the members that claim them; Kafka's assignors, which run in both semantics, do not."""
    script = "{at: 0s, join: A}, {at: 5s, join: B}, {at: 30s, delete_topic: bar}"
    entries = told(script, "60s", "kip", DELETED)
    joins = [
        e for e in entries if e.kind is Kind.REQUEST and e.payload["api"] == "JoinGroup" and e.at_ms > 30_000
    ]
    subscriptions = [b64decode(e.payload["body"]["protocols"][0]["metadata"]) for e in joins]
    owned = [
        {each["topic"] for each in decode_subscription(data)["ownedPartitions"]} for data in subscriptions
    ]
    assert owned == [{"foo", "bar"}, {"foo", "bar"}, {"foo"}, {"foo"}], (
        "both claim it, and join again without it"
    )
    revoked = [
        (e.actor, dict(e.payload["partitions"]))
        for e in entries
        if e.kind is Kind.CALLBACK
        and (e.payload["callback"], e.payload["phase"]) == ("on_partitions_revoked", "start")
        and e.at_ms > 30_000
    ]
    assert sorted(revoked) == [("A", {"bar": [0]}), ("B", {"bar": [1]})]


def test_a_group_is_deleted_only_without_members() -> None:
    entries = told(
        "{at: 0s, join: A}, {at: 10s, commit: A, offset: 5}, {at: 11s, delete_group: g},"
        "{at: 20s, leave: A}, {at: 30s, delete_group: g}, {at: 31s, delete_group: g}"
    )
    assert [note["error"] for note in notes(entries, "delete_group")] == [68, 0, 69]
    last = [e.payload for e in entries if e.kind is Kind.RECORD][-1]
    assert (last["type"], last["value"]) == (3, None)


def test_offsets_past_their_retention_go_when_the_broker_looks() -> None:
    text = GROUP.replace("config: {", "config: {offsets_retention_minutes: 1, ")
    entries = told(
        "{at: 0s, join: A}, {at: 5s, commit: A, offset: 5}, {at: 6s, leave: A},"
        "{at: 30s, expire_offsets: g}, {at: 70s, expire_offsets: g}",
        text=text,
    )
    gone = [
        e.at_ms
        for e in entries
        if e.kind is Kind.RECORD and e.payload["value"] is None and e.payload["type"] == 1
    ]
    assert gone == [70_000] * 4


def test_a_callback_that_raises_is_told_and_the_member_tries_again() -> None:
    entries = told("{at: 0s, join: A}, {at: 10s, fail_callback: A}, {at: 11s, join: B}")
    raised = [e for e in entries if e.kind is Kind.CALLBACK and e.payload.get("raised")]
    assert [(e.actor, e.payload["callback"]) for e in raised] == [("A", "on_partitions_revoked")]
    again = [
        e for e in entries if e.kind is Kind.CALLBACK and e.actor == "A" and e.sequence > raised[0].sequence
    ]
    assert again[0].payload["callback"] == "on_partitions_revoked"


@pytest.mark.parametrize(("how", "epoch"), [("default", -2), ("remain", -2), ("leave", -1)])
def test_a_static_member_closes_as_it_is_told_to(how: str, epoch: int) -> None:
    entries = told(f"{{at: 0s, join: S}}, {{at: 10s, leave: S, how: {how}}}, {{at: 20s, join: S}}")
    requests = [e for e in entries if e.kind is Kind.REQUEST]
    assert [
        e.payload["body"]["memberEpoch"] for e in requests if e.payload["body"].get("memberEpoch", 0) < 0
    ] == [epoch]
    assert {e.actor for e in requests if e.at_ms > 20_000} == {"S~2"}


def test_who_is_cut_off_is_removed_and_comes_back_when_it_is_mended() -> None:
    entries = told("{at: 0s, join: [A, B]}, {at: 20s, cut: A}, {at: 90s, heal: A}", until="160s")
    assert [timer for _, timer in fired(entries)] == ["session"]
    joins = [
        e.at_ms
        for e in entries
        if e.kind is Kind.REQUEST and e.actor == "A" and e.payload["body"].get("memberEpoch") == 0
    ]
    assert joins[-1] > 90_000


def test_a_cut_from_one_broker_is_over_when_another_is_the_coordinator() -> None:
    entries = told(
        "{at: 0s, join: [A, B]}, {at: 20s, cut: [A, coordinator]}, {at: 30s, fail_over: coordinator, how: move}"
    )
    assert fired(entries) == []
    assert [e for e in entries if e.kind is Kind.REQUEST and e.actor == "A" and e.at_ms > 30_000]


def test_a_coordinators_clock_that_jumps_stands_in_its_records() -> None:
    entries = told(
        "{at: 0s, join: A}, {at: 5s, clock_jump: coordinator, by: 1h}, {at: 10s, commit: A, offset: 1}"
    )
    commits = [e for e in entries if e.kind is Kind.RECORD and e.payload["type"] == 1]
    assert {e.payload["value"]["commitTimestamp"] - e.at_ms for e in commits} == {3_600_000}


def test_a_topic_that_is_made_again_has_another_id_and_no_offsets() -> None:
    entries = told(
        "{at: 0s, join: A}, {at: 10s, commit: A, offset: 5}, {at: 20s, delete_topic: foo},"
        "{at: 40s, create_topic: foo, partitions: 2, racks: {0: [r1]}}"
    )
    ids = [note["topics"]["foo"] and note["topics"]["foo"]["id"] for note in notes(entries, "topics")]  # type: ignore[index]
    assert ids[1] is None
    assert ids[0] != ids[2]
    last = [e.payload["value"] for e in entries if e.kind is Kind.RECORD and e.payload["type"] == 8][-1]
    assert [(t["topicId"], t["partitions"]) for t in last["assignedPartitions"]] == [(ids[2], [0, 1])]


def test_auto_commit_writes_what_was_consumed() -> None:
    text = GROUP.replace("A: {", "A: {auto_commit: true, auto_commit_interval_ms: 3000, ")
    entries = told("{at: 0s, join: A}", until="20s", text=text)
    offsets = [
        e.payload["value"]["offset"] for e in entries if e.kind is Kind.RECORD and e.payload["type"] == 1
    ]
    assert len(offsets) >= 4 * 5
    assert offsets == sorted(offsets)


def test_members_bring_an_assignor_and_one_of_them_computes_the_target() -> None:
    text = GROUP + "assignor: client:sticky\n"
    script = "{at: 0s, join: A}, {at: 15s, join: B}"
    entries = told(script, semantics="kip", text=text)
    apis = [e.payload["api"] for e in entries if e.kind is Kind.REQUEST]
    assert {"ConsumerGroupPrepareAssignment", "ConsumerGroupInstallAssignment"} <= set(apis)
    targets = [e.payload for e in entries if e.kind is Kind.RECORD and e.payload["type"] == 7]
    given = {
        t["key"]["memberId"]: t["value"]["topicPartitions"][0]["partitions"] for t in targets if t["value"]
    }
    assert sorted(map(len, given.values())) == [2, 2]
    released = told(script, semantics="kafka", text=text)
    assert not [e for e in released if e.kind is Kind.REQUEST and "Assignment" in e.payload["api"]]


@pytest.mark.parametrize("meanwhile", ["bounce: A, for: 1s", "restart: A"])
@pytest.mark.parametrize("at", ["20s", "21s"], ids=["while it closes", "while it is down"])
def test_who_is_started_otherwise_while_its_bounce_has_it_down_runs_once(at: str, meanwhile: str) -> None:
    """Whoever starts it first: the later start of the first bounce is off, not a second process beside."""
    entries = told(f"{{at: 0s, join: A}}, {{at: 20s, bounce: A, for: 5s}}, {{at: {at}, {meanwhile}}}")
    asking = {e.actor for e in entries if e.kind is Kind.REQUEST and e.at_ms > 60_000}
    assert len(asking) == 1, asking
