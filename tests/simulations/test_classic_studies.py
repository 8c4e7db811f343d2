"""The case studies of KIP-341, KIP-429 and KIP-792: what each claims happens in its run, and in its counterpart does not."""

from __future__ import annotations

import pytest

from groups.history.entries import Entry, Kind
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.classic_runs import (
    answers,
    assert_sound,
    callbacks,
    generations,
    owned_at_the_end,
    reasons,
    requests,
    subscriptions,
    violations,
)
from tests.simulations.consumer_studies import CONSUMER_STUDIES

CLASSIC = [name for name in studies.names() if name not in CONSUMER_STUDIES]


def log_of(name: str) -> list[Entry]:
    return list(run(studies.load(name)))


@pytest.mark.parametrize("name", CLASSIC)
def test_every_row_of_a_study_is_told(name: str) -> None:
    told = [entry.payload["step"] for entry in log_of(name) if entry.payload.get("note") == "step"]
    assert told == list(range(1, len(studies.load(name).steps) + 1))


@pytest.mark.parametrize("name", CLASSIC)
def test_the_changes_of_a_study_lead_from_frame_to_frame_and_nothing_in_it_is_odd(name: str) -> None:
    assert_sound(log_of(name), initial_state(name, studies.load(name).semantics))


BROKEN = {"kip341-two-owners", "kip341-old-leader", "kip429-one-bounce", "kip792-stale-owner"}
"""The wrong ways: two members of one generation process one partition."""

UNREAD_AT_THE_END = {"kip792-leader-throws", "incident-absent-static-member"}
"""Whose group never gets its assignment, and where one owner's process is gone."""


@pytest.mark.parametrize("name", CLASSIC)
def test_two_owners_are_reported_of_the_wrong_ways_and_of_no_other(name: str) -> None:
    broken = violations(log_of(name))
    assert bool(broken) == (name in BROKEN), broken
    assert all("both process" in says for says in broken)


@pytest.mark.parametrize("name", sorted(set(CLASSIC) - BROKEN - UNREAD_AT_THE_END))
def test_every_other_study_ends_with_each_partition_read_by_one_member(name: str) -> None:
    owned = owned_at_the_end(log_of(name))
    assert sorted(p for ps in owned.values() for p in ps) == list(range(6))


def test_eager_members_give_up_all_and_cooperative_ones_only_what_moves() -> None:
    """Processing time lost is the time in which nobody owned a partition, from C's JoinGroup on."""
    lost = {name: lost_ms(log_of(f"kip429-{name}"), 20_000) for name in ("eager", "cooperative")}
    assert sum(lost["eager"].values()) > 4 * sum(lost["cooperative"].values())
    assert set(lost["eager"]) == set(range(6))
    assert set(lost["cooperative"]) == {2, 5}, "the two that C gets"


def lost_ms(log: list[Entry], from_ms: int) -> dict[int, int]:
    """Partition → how long nobody processed it."""
    owners: dict[int, set[str]] = {p: set() for p in range(6)}
    since: dict[int, int] = {}
    lost: dict[int, int] = {}
    for entry in log:
        if entry.kind is not Kind.CALLBACK:
            continue
        gained = entry.payload["callback"] == "on_partitions_assigned" and entry.payload["phase"] == "start"
        gone = entry.payload["callback"] != "on_partitions_assigned" and entry.payload["phase"] == "start"
        for p in (p for ps in entry.payload["partitions"].values() for p in ps):
            if gained:
                owners[p].add(entry.actor)
                if p in since:
                    lost[p] = lost.get(p, 0) + entry.at_ms - since.pop(p)
            elif gone:
                owners[p].discard(entry.actor)
                if not owners[p] and entry.at_ms >= from_ms:
                    since[p] = entry.at_ms
    return lost


def test_the_two_bounces_are_eager_until_the_last_range_is_gone() -> None:
    log = log_of("kip429-upgrade")
    chosen = [name for _, name, _ in generations(log)]
    assert chosen == sorted(chosen, reverse=True), "range, and from some generation on cooperative-sticky"
    assert {"range", "cooperative-sticky"} == set(chosen)
    assert any(name == "revoked" for name, _ in callbacks(log, "A~2")), "eager, though it knows better"
    assert "need to revoke partitions and re-join" in reasons(log, "A~3")


def test_one_bounce_with_named_assignors_is_refused_and_not_unsafe() -> None:
    """Who lists cooperative-sticky alone cannot join members that list range alone (A.6)."""
    text = studies.text("kip429-upgrade").partition("  - {at: 40s")[0]
    text = text.replace("[range, cooperative-sticky]", "[cooperative-sticky]")
    log = list(run(load(text + "until: 35s\n", "orders")))
    codes = {entry.payload["body"]["errorCode"] for entry in answers(log, "JoinGroup", "A~2")}
    assert codes == {23}
    assert violations(log) == []


def test_the_old_leader_of_one_bounce_gives_away_what_a_cooperative_member_tells_it_to_own() -> None:
    log = log_of("kip429-one-bounce")
    join = next(entry for entry in requests(log, "JoinGroup", "B~2") if entry.at_ms > 40_000)
    owned = subscriptions(join)["stream"]["ownedPartitions"]
    assert owned == [{"topic": "orders", "partitions": [3, 4, 5]}]
    given = {who for generation, _, parts in generations(log) for who in parts if 3 in parts[who]}
    assert "C" in given


@pytest.mark.parametrize(
    ("name", "owners"),
    [("kip341-two-owners", 2), ("kip341-old-leader", 2), ("kip341-generation", 1)],
)
def test_a_stale_claim_of_sticky_counts_unless_the_leader_reads_generations(name: str, owners: int) -> None:
    *_, (_, assignor, last) = generations(log_of(name))
    assert assignor == "sticky"
    most = max(sum(p in parts for parts in last.values()) for p in range(6))
    assert most == owners


def test_the_stale_member_of_2_4_claims_what_it_lost_and_one_of_4_3_does_not() -> None:
    stale = log_of("kip792-stale-owner")
    join = requests(stale, "JoinGroup", "B~2")[0]
    told = subscriptions(join)["custom-cooperative"]
    assert (told["version"], told["ownedPartitions"]) == (1, [{"topic": "orders", "partitions": [3, 4, 5]}])
    assert "lost" not in [name for who in ("B", "B~2") for name, _ in callbacks(stale, who)]
    text = studies.text("kip792-stale-owner").partition("steps:")[0].replace("'2.4'", "'4.3'")
    mended = list(run(load(text + "until: 100s\n", "orders")))
    assert callbacks(mended, "B")[-1][0] == "lost"
    assert violations(mended) == []


def test_the_leader_of_3_0_throws_until_the_end_and_nothing_is_assigned() -> None:
    log = log_of("kip792-leader-throws")
    thrown = [entry.at_ms for entry in log if entry.payload.get("fault") == "poll_throws"]
    written = [entry.at_ms for entry in log if entry.kind is Kind.RECORD and entry.payload["type"] == 2]
    assert len(thrown) > 20
    assert max(written) < thrown[0]
    assert not [
        entry for entry in log_of("kip792-leader-goes-on") if entry.payload.get("fault") == "poll_throws"
    ]


@pytest.mark.parametrize(
    ("client", "assignor", "version", "owned", "generation"),
    [
        ("2.3", "sticky", 0, False, False),
        ("2.4", "cooperative-sticky", 1, True, False),
        ("3.0", "cooperative-sticky", 1, True, False),
        ("3.2", "cooperative-sticky", 2, True, True),
        ("4.3", "cooperative-sticky", 3, True, True),
        ("4.3", "sticky", 3, False, True),
    ],
)
def test_the_compatibility_matrix_of_kip_792_is_what_members_send(
    client: str, assignor: str, version: int, owned: bool, generation: bool
) -> None:
    """A.2.3, a run for each cell: what is in the subscription, and what in the user data of the assignor."""
    text = (
        f"protocol: classic\nassignor: {assignor}\ntopics: {{orders: {{partitions: 6}}}}\n"
        f"config: {{initial_rebalance_delay_ms: 0}}\n"
        f"members:\n  A: {{subscribe: [orders], client: '{client}'}}\n"
        f"  B: {{subscribe: [orders], client: '{client}'}}\n"
        "script:\n  - {at: 0s, join: A}\n  - {at: 5s, join: B}\nuntil: 30s\n"
    )
    log = list(run(load(text, "orders")))
    second = next(entry for entry in requests(log, "JoinGroup", "A") if entry.at_ms > 5_000)
    told = subscriptions(second)[assignor]
    assert told["version"] == version
    assert bool(told.get("ownedPartitions")) == owned
    assert (told.get("generationId", -1) >= 0) == generation
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(6))


def test_a_group_whose_members_are_bounced_to_the_consumer_protocol_moves_there_online_and_back() -> None:
    log = list(
        run(
            load(
                """
protocol: classic
assignor: range
topics: {orders: {partitions: 6}}
config: {initial_rebalance_delay_ms: 0}
members: {A: {subscribe: [orders]}, B: {subscribe: [orders]}}
script:
  - {at: 0s, join: A}
  - {at: 4s, join: B}
  - {at: 20s, bounce: A, with: {protocol: consumer}, for: 2s}
  - {at: 60s, bounce: A, with: {protocol: classic}, for: 2s}
until: 100s
""",
                "orders",
            )
        )
    )
    state, protocols = initial_state("orders"), []
    for entry in log:
        state = replay(state, entry)
        assert not state.anomalies, (entry.sequence, state.anomalies)
        if entry.settled and state.protocol is not None and [str(state.protocol)] != protocols[-1:]:
            protocols.append(str(state.protocol))
    assert protocols == ["classic", "consumer", "classic"]
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(6))
