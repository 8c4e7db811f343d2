"""Groups of both protocols by the proposal's text: what is right there is no violation, and what is wrong is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from simulations.invariants import INVARIANT_FAULT
from simulations.output import frame_lines
from simulations.proof.fuzzing.batches import judged
from simulations.proof.fuzzing.generator import document_of, text_of
from simulations.proof.fuzzing.groups import Groups
from simulations.proof.fuzzing.verdict import verdict_on
from simulations.protocol.coordinator.consumer.proposal import KipCoordinator, migrating
from simulations.world.engine import run
from simulations.world.engine.checked_run import checker_of
from simulations.world.scenario import load

GROUP = """\
group: g
semantics: kip
topics: {{foo: {{partitions: 4}}}}
config: {config}
members:
  A: {{subscribe: [foo]}}
  B: {{subscribe: [foo], protocol: classic, assignors: [{assignor}]}}
  C: {{subscribe: [foo], protocol: classic, assignors: [{assignor}]}}
script: [{script}]
until: 120s
"""

TWO_OF_ONE_INSTANCE = (
    Path(__file__)
    .with_name("fixtures")
    .joinpath("found", "kip-mixed-two-classic-members-of-one-instance.yaml")
)
FENCED_INSTANCE_ID = 82

CONSUMER_FIRST = "{at: 0s, join: A}, {at: 20s, join: B}, {at: 40s, join: C}"
CLASSIC_FIRST = "{at: 0s, join: [B, C]}, {at: 20s, join: A}"


def log_of(script: str, assignor: str = "range", config: str = "{}") -> list[Entry]:
    return log_of_text(GROUP.format(script=script, assignor=assignor, config=config))


def log_of_text(text: str) -> list[Entry]:
    return list(run(load(text)))


def violations(log: list[Entry]) -> list[str]:
    faults = [each.payload for each in log if each.kind is Kind.FAULT]
    return [fault["invariant"] for fault in faults if fault["fault"] == INVARIANT_FAULT]


def syncs(log: list[Entry], who: str, since_ms: int) -> list[int]:
    return [
        each.payload["body"]["errorCode"]
        for each in log
        if each.kind is Kind.RESPONSE
        and each.payload["api"] == "SyncGroup"
        and each.payload["to"] == who
        and each.at_ms >= since_ms
    ]


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
@pytest.mark.parametrize("script", [CONSUMER_FIRST, CLASSIC_FIRST], ids=["consumer first", "classic first"])
def test_a_mixed_group_breaks_nothing_whoever_comes_first(script: str, assignor: str) -> None:
    assert violations(log_of(script, assignor)) == []


def test_a_cooperative_member_that_has_to_give_something_up_is_synced_with_the_rest() -> None:
    """JoinGroup Handling: it is answered with its current epoch, and keeps what its target leaves it."""
    log = log_of(CLASSIC_FIRST, "cooperative-sticky")
    assert syncs(log, "B", 20_000)[0] == 0
    assert violations(log) == []


def test_refusing_that_sync_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "_may_keep", lambda _context, member: migrating._held(member))
    text = GROUP.format(script=CLASSIC_FIRST, assignor="cooperative-sticky", config="{}")
    broken = verdict_on(load(text), Semantics.KIP).broken
    assert broken is not None
    assert (broken.invariant, broken.sentence) == (
        "classic_member_answered",
        "A SyncGroup of C is answered 27, not 0",
    )


def test_a_member_that_joined_after_the_last_target_is_not_sent_back_to_join() -> None:
    """It is at epoch 0 and has nothing to go to: it was answered REBALANCE_IN_PROGRESS again and again, in no time."""
    log = log_of("{at: 0s, join: A}, {at: 20s, join: B}", config="{assignor_time_ms: 3000}")
    assert violations(log) == []
    joins = [each for each in log if each.kind is Kind.REQUEST and each.payload["api"] == "JoinGroup"]
    assert len(joins) <= 4
    assert syncs(log, "B", 20_000)[0] == 0


def test_a_classic_member_whose_instance_was_taken_over_stops_at_its_next_commit_or_heartbeat() -> None:
    """KIP-345: both would otherwise take the instance from each other with every commit, without end."""
    log = list(run(load(TWO_OF_ONE_INSTANCE.read_text(encoding="utf-8"))))
    joins = [each.actor for each in log if each.kind is Kind.REQUEST and each.payload["api"] == "JoinGroup"]
    assert [actor for actor in joins if actor.startswith("C")] == ["C"]
    refused = [
        code["errorCode"]
        for each in log
        if each.kind is Kind.RESPONSE and each.payload["api"] == "OffsetCommit"
        for topic in each.payload["body"]["topics"]
        for code in topic["partitions"]
        if code["errorCode"]
    ]
    assert set(refused) == {FENCED_INSTANCE_ID}
    thrown = [each.payload["exception"] for each in log if each.payload.get("fault") == "poll_throws"]
    assert thrown == ["FencedInstanceIdException"]


@pytest.mark.parametrize("seed", [48, 89])
def test_in_kip_an_empty_consumer_group_is_not_forgotten(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release forgets it, and two groups are in the log at once: no excuse in the proposal."""
    assert judged(seed, "kip", groups=Groups.MIXED).broken is None
    monkeypatch.setattr(KipCoordinator, "forgets_empty", True)
    broken = judged(seed, "kip", groups=Groups.MIXED).broken
    assert broken is not None
    assert broken.invariant == "one_protocol"


@pytest.mark.parametrize("policy", ["upgrade", "disabled"])
def test_in_kip_no_policy_keeps_a_group_of_classic_members_from_being_converted_back(policy: str) -> None:
    """Supporting Online Consumer Group Upgrade: when the last consumer of the new protocol leaves."""
    log = log_of("{at: 0s, join: [A, B]}, {at: 20s, leave: A}", config=f"{{migration_policy: {policy}}}")
    written = [each.payload for each in log if each.kind is Kind.RECORD and each.payload["type"] == 2]
    assert written[-1]["value"]["members"] != []
    assert violations(log) == []


def brought(kind: Groups) -> list[int]:
    return [
        seed for seed in range(60) if document_of(seed, "kip", groups=kind)["assignor"].startswith("client:")
    ]


def test_seeds_of_kip_draw_client_side_assignors_and_members_compute() -> None:
    apis: set[Any] = set()
    for seed in brought(Groups.CONSUMER)[:5]:
        scenario = load(text_of(document_of(seed, "kip")))
        verdict = verdict_on(scenario, Semantics.KIP, lambda entry: apis.add(entry.payload.get("api")))
        assert verdict.broken is None
    assert {"ConsumerGroupPrepareAssignment", "ConsumerGroupInstallAssignment"} <= apis


def test_kafka_draws_none() -> None:
    assert not any(document_of(seed, "kafka")["assignor"].startswith("client:") for seed in range(60))


def test_a_member_that_no_longer_subscribes_to_what_it_has_is_synced_with_the_rest() -> None:
    """Its target, which somebody on a client computed before, still gives it all of that."""
    assert judged(910941, "kip", groups=Groups.MIXED).broken is None


def test_mixed_groups_of_thirty_seeds_break_no_rule_of_the_proposal() -> None:
    found = {seed: judged(seed, "kip", groups=Groups.MIXED).broken for seed in range(30)}
    assert {seed: broken for seed, broken in found.items() if broken is not None} == {}


def test_a_classic_group_whose_members_left_amid_a_rebalance_is_converted() -> None:
    assert judged(16224, "kip", groups=Groups.MIXED).broken is None


def test_what_a_downgrade_gives_away_is_known_before_its_records_are_replicated() -> None:
    """The answer to a SyncGroup comes from it, while the log still has a consumer group."""
    verdict = judged(29726, "kip", groups=Groups.MIXED)
    assert verdict.broken is None
    assert "a downgrade writes targets" in str(verdict.unknown)


def test_who_began_before_the_heartbeat_that_does_not_name_it_was_replicated_is_misread() -> None:
    """The coordinator takes it for given up at once; the log has that a replication later."""
    assert judged(39063, "kip", groups=Groups.MIXED).broken is None


def test_a_group_that_is_classic_again_waits_for_nobody_to_compute() -> None:
    """Converted anew, with the same member, it would wait for what it handed out in the group before."""
    assert judged(31797, "kip", groups=Groups.MIXED).broken is None


RETURNS = """\
group: g
semantics: kip
topics: {{foo: {{partitions: 4}}}}
members:
  A: {{subscribe: [foo], protocol: classic, assignors: [range], metadata_max_age_ms: 60000}}
  B: {{subscribe: [foo], protocol: classic, assignors: [range], instance_id: b, metadata_max_age_ms: 60000}}
script:
  - {{at: 0s, join: [A, B]}}
  - {{at: 20s, bounce: B, for: 2s, with: {{protocol: consumer}}}}
  - {{at: 21s, {meanwhile}}}
until: 120s
"""


@pytest.mark.parametrize(
    ("meanwhile", "epoch"), [("poll_late: A, for: 1s", 1), ("leave: A", 2), ("add_partitions: foo, to: 8", 2)]
)
def test_a_static_members_return_converts_the_group_and_asks_for_a_target_only_if_one_is_due(
    meanwhile: str, epoch: int
) -> None:
    """The case study keeps epoch 22; a rebalance that the conversion ended, or partitions nobody has, bring the next one."""
    log = log_of_text(RETURNS.format(meanwhile=meanwhile))
    epochs = [each.payload["value"]["epoch"] for each in log if each.payload.get("type") == 3]
    assert epochs == list(range(1, epoch + 1))
    assert violations(log) == []


def test_a_conversion_amid_a_rebalance_does_not_leave_a_member_with_topics_that_it_dropped() -> None:
    assert judged(44651, "kip", groups=Groups.MIXED).broken is None


LATE = """\
group: g
semantics: kip
topics: {foo: {partitions: 1}}
config: {initial_rebalance_delay_ms: 0, classic_min_session_timeout_ms: 3000}
replication_ms: 300
members:
  A: {subscribe: [foo], protocol: classic, client: '2.4', assignors: [cooperative-sticky], instance_id: a, rebalance_timeout_ms: 3500, session_timeout_ms: 3200, heartbeat_interval_ms: 1000}
  B: {subscribe: [foo], protocol: classic, assignors: [cooperative-sticky]}
script:
  - {at: 0s, join: A}
  - {at: 3s, join: B}
  - {at: 4200ms, poll_late: A, for: 5s}
until: 60s
"""


@pytest.mark.parametrize("semantics", Semantics)
def test_a_static_member_whose_poll_is_late_amid_a_join_reads_on_under_its_next_id(
    semantics: Semantics,
) -> None:
    """Client 2.4 loses nothing then (KAFKA-12983), and sends no LeaveGroup."""
    log = log_of_text(LATE.replace("kip", semantics))
    assert violations(log) == []
    *_, last = frame_lines(log, initial_state("g", semantics), "entry")
    clients = last["clients"]
    assert {who: client["owned"] for who, client in clients.items()} == {"A~2": {"foo": [0]}, "B": {}}


def test_a_mixed_group_converges_though_a_static_member_came_back_without_a_word() -> None:
    assert judged(63050, "kip", groups=Groups.MIXED).broken is None


@pytest.mark.parametrize("semantics", Semantics)
def test_an_assignment_of_a_deleted_group_is_not_given_to_the_next_one_of_its_generation(
    semantics: Semantics,
) -> None:
    """Kafka's follow-up has the group object of its own life."""
    log = log_of_text(f"""\
group: g
semantics: {semantics}
topics: {{foo: {{partitions: 1}}}}
config: {{initial_rebalance_delay_ms: 0}}
members: {{A: {{subscribe: [], protocol: classic}}}}
replication_ms: 1000
network: {{delay_ms: [0, 0]}}
script:
  - {{at: 0s, join: A}}
  - {{at: 400ms, leave: A}}
  - {{at: 401ms, delete_group: g}}
  - {{at: 404ms, join: A}}
until: 60s
""")
    assert violations(log) == []
    assert syncs(log, "A~2", 0) == [0]


def test_a_commit_of_a_topic_that_was_deleted_and_created_again_meanwhile_is_no_violation() -> None:
    log = log_of_text("""\
group: g
semantics: kip
topics: {bar: {partitions: 1, rate: 1}}
members: {C: {subscribe: [bar], protocol: classic}}
script:
  - {at: 0s, join: C}
  - {at: 8s, commit: C}
  - {at: 8s, delete_topic: bar}
  - {at: 8s, create_topic: bar, partitions: 1}
until: 60s
""")
    assert violations(log) == []


@pytest.mark.parametrize(("at_s", "is_accepted"), [(80, True), (82, False)])
def test_a_commit_of_a_topic_that_was_deleted_is_accepted_until_a_request_is_sent_again(
    at_s: int, is_accepted: bool
) -> None:
    """Its client had read 50 records of the former topic, and has read fewer of the present one."""
    scenario = load(f"""\
group: g
semantics: kip
topics: {{bar: {{partitions: 1, rate: 1}}}}
members: {{C: {{subscribe: [bar], protocol: classic}}}}
script:
  - {{at: 0s, join: C}}
  - {{at: 50s, delete_topic: bar}}
  - {{at: 50s, create_topic: bar, partitions: 1}}
  - {{at: {at_s}s, commit: C}}
until: 100s
""")
    checker, state = checker_of(scenario, Semantics.KIP), initial_state("g", Semantics.KIP)
    found: list[str] = []
    for entry in run(scenario):
        if entry.kind is Kind.REQUEST and entry.payload["api"] == "OffsetCommit":
            entry.payload["body"]["topics"][0]["partitions"][0]["committedOffset"] = 45
        state = replay(state, entry)
        found += [each.invariant for each in checker.see(entry, state)]
    assert ("read_after_written" not in found) is is_accepted
