"""The client of the classic protocol: why it joins, what it gives up, and what its application is told, in which order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Kind
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.classic_runs import (
    answers,
    callbacks,
    entries,
    generations,
    owned_at_the_end,
    reasons,
    requests,
    subscriptions,
    violations,
)
from tests.tiers import examples

GROUP = """
protocol: classic
topics: {orders: {partitions: 6}, refunds: {partitions: 2}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [orders], assignors: [%(assignor)s]%(more)s}
  B: {subscribe: [orders], assignors: [%(assignor)s]%(more)s}
  C: {subscribe: [orders], assignors: [%(assignor)s]%(more)s}
script:
  - {at: 0s, join: A}
  - {at: 5s, join: B}
"""


def group(assignor: str = "range", *script: str, until: str = "60s", more: str = "") -> str:
    """A and B are members from the sixth second on; ``script`` goes on from there."""
    text = GROUP % {"assignor": assignor, "more": f", {more}" if more else ""}
    return text + "".join(f"  - {{{line}}}\n" for line in script) + f"until: {until}\n"


def test_an_eager_member_gives_up_all_before_it_joins_and_is_assigned_all_after() -> None:
    log = entries(group("range"))
    assert callbacks(log, "A") == [
        ("assigned", (0, 1, 2, 3, 4, 5)),
        ("revoked", (0, 1, 2, 3, 4, 5)),
        ("assigned", (0, 1, 2)),
    ]
    assert owned_at_the_end(log) == {"A": [0, 1, 2], "B": [3, 4, 5]}
    assert violations(log) == []


def test_a_cooperative_member_keeps_what_it_keeps_and_joins_once_more_for_what_it_gave_up() -> None:
    log = entries(group("cooperative-sticky"))
    assert callbacks(log, "A") == [
        ("assigned", (0, 1, 2, 3, 4, 5)),
        ("revoked", (3, 4, 5)),
        ("assigned", ()),
        ("assigned", ()),
    ]
    assert [name for name, _ in callbacks(log, "B")] == ["assigned", "assigned"]
    assert reasons(log, "A")[-2:] == ["group is already rebalancing", "need to revoke partitions and re-join"]
    assert [assigned for _, _, assigned in generations(log)][-2:] == [
        {"A": [0, 1, 2], "B": []},
        {"A": [0, 1, 2], "B": [3, 4, 5]},
    ], "the first round withholds what A still has"
    assert violations(log) == []


def test_a_new_member_is_told_its_id_first_and_joins_with_it() -> None:
    first, second, *_ = requests(entries(group()), "JoinGroup", "A")
    assert (first.payload["body"]["memberId"], second.payload["body"]["memberId"]) == ("", "A")
    assert second.payload["body"]["reason"] == "need to re-join with the given member-id: A"


def test_an_old_client_joins_without_asking_for_an_id_and_tells_no_reason() -> None:
    only, *_ = requests(entries(group(more="client: '2.1'")), "JoinGroup", "A")
    assert (only.payload["version"], only.payload["body"]["reason"]) == (3, None)


@pytest.mark.parametrize(
    ("client", "fields"),
    [
        ("2.3", {"version", "topics", "userData"}),
        ("2.4", {"version", "topics", "userData", "ownedPartitions"}),
        ("3.2", {"version", "topics", "userData", "ownedPartitions", "generationId"}),
        ("4.3", {"version", "topics", "userData", "ownedPartitions", "generationId", "rackId"}),
    ],
)
def test_each_release_writes_its_own_version_of_the_subscription(client: str, fields: set[str]) -> None:
    join, *_ = requests(entries(group(more=f"client: '{client}'")), "JoinGroup", "A")
    assert set(subscriptions(join)["range"]) == fields


def test_the_leader_alone_assigns_and_everybody_else_syncs_with_nothing() -> None:
    log = entries(group())
    leaders = [entry.actor for entry in requests(log, "SyncGroup") if entry.payload["body"]["assignments"]]
    followers = [
        entry.actor for entry in requests(log, "SyncGroup") if not entry.payload["body"]["assignments"]
    ]
    assert (leaders, followers) == (["A", "A"], ["B"])


def test_a_changed_subscription_makes_the_member_join_and_give_up_only_what_it_dropped() -> None:
    script = ("at: 20s, subscribe: A, topics: [refunds]",)
    log = entries(group("cooperative-sticky", *script))
    assert "subscription has changed" in reasons(log, "A")
    assert callbacks(log, "A")[-2:] == [("revoked", (0, 1, 2)), ("assigned", (0, 1))]
    assert owned_at_the_end(log) == {"A": [0, 1], "B": [0, 1, 2, 3, 4, 5]}


def test_the_leader_joins_again_when_its_metadata_tell_of_more_partitions() -> None:
    log = entries(group("range", "at: 20s, add_partitions: orders, to: 8", more="metadata_max_age_ms: 10000"))
    assert "cached metadata has changed" in reasons(log, "A")
    assert "cached metadata has changed" not in reasons(log, "B"), "only the leader looks"
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(8))


def test_an_enforced_rebalance_tells_its_reason() -> None:
    log = entries(group("range", "at: 20s, enforce_rebalance: A, reason: 'spread anew'"))
    assert reasons(log, "A")[-1] == "spread anew"


def test_only_the_leader_can_enforce_a_rebalance_with_an_unchanged_subscription() -> None:
    log = entries(group("range", "at: 20s, enforce_rebalance: B", more="client: '3.1'"))
    assert len(list(generations(log))) == 2, "a follower is told its generation again"


def test_who_polls_too_late_leaves_loses_everything_and_comes_back_under_another_id() -> None:
    log = entries(group("range", "at: 20s, poll_late: B, for: 20s", more="rebalance_timeout_ms: 10000"))
    leave = requests(log, "LeaveGroup", "B")[0].payload["body"]["members"][0]
    assert leave["reason"] == "consumer poll timeout has expired."
    assert callbacks(log, "B")[-1] == ("lost", (3, 4, 5))
    assert reasons(log, "B~2")[0] == "consumer pro-actively leaving the group"
    assert owned_at_the_end(log) == {"A": [0, 1, 2], "B~2": [3, 4, 5]}


def test_who_was_removed_while_it_stood_still_loses_everything_when_it_hears_so() -> None:
    log = entries(
        group(
            "range", "at: 20s, pause: B", "at: 60s, resume: B", until="100s", more="session_timeout_ms: 10000"
        )
    )
    assert answers(log, "Heartbeat", "B")[-1].payload["body"]["errorCode"] == 25
    assert callbacks(log, "B")[-1] == ("lost", (3, 4, 5))
    assert reasons(log, "B~2")[0] == "encountered UNKNOWN_MEMBER_ID from HEARTBEAT response"
    assert violations(log) == [], "that both processed them for a while is shown, and no violation"


def test_a_static_member_that_restarts_keeps_its_partitions_and_nobody_rebalances() -> None:
    static = group("range", "at: 20s, bounce: C, for: 3s").replace(
        "C: {subscribe: [orders]", "C: {subscribe: [orders], instance_id: c-1"
    )
    log = entries(static.replace("  - {at: 20s", "  - {at: 7s, join: C}\n  - {at: 20s"))
    before = [assigned for generation, _, assigned in generations(log) if generation == 3]
    assert {"A": [2, 3], "B": [4, 5], "C": [0, 1]} in before
    assert {"A": [2, 3], "B": [4, 5], "C~2": [0, 1]} in before, "the same generation, under the new id"
    assert requests(log, "LeaveGroup", "C") == []
    assert callbacks(log, "A")[-1] == ("assigned", (2, 3)), "A heard nothing of it"


def test_a_second_process_with_the_same_instance_fences_the_first_for_good() -> None:
    static = group("range", "at: 20s, join: C").replace(
        "members:\n  A: {subscribe: [orders]", "members:\n  A: {subscribe: [orders], instance_id: one"
    )
    log = entries(static.replace("  C: {subscribe: [orders]", "  C: {subscribe: [orders], instance_id: one"))
    thrown = [entry.payload["exception"] for entry in log if entry.payload.get("fault") == "poll_throws"]
    assert thrown == ["FencedInstanceIdException"]
    assert callbacks(log, "A")[-1][0] == "lost"
    assert set(owned_at_the_end(log)) == {"B", "C"}


def test_an_automatic_commit_goes_out_before_the_join_and_one_in_the_callback_within_it() -> None:
    log = entries(group("range", more="auto_commit: true, auto_commit_interval_ms: 600000"))
    order = [
        entry.payload["api"]
        for entry in log
        if entry.kind is Kind.REQUEST and entry.actor == "A" and not entry.payload.get("steady")
    ]
    assert order[-4:] == ["Heartbeat", "OffsetCommit", "JoinGroup", "SyncGroup"]
    within = entries(group("range", more="revoke_commits: true"))
    commits = requests(within, "OffsetCommit", "A")
    assert [entry.payload["body"]["generationIdOrMemberEpoch"] for entry in commits] == [1]


def test_a_commit_of_a_member_that_is_told_of_a_rebalance_makes_it_join() -> None:
    """The heartbeat would be due only after the join phase that the commit hears of is over."""
    log = entries(
        group("range", "at: 20s, join: C", "at: 20.1s, commit: A", more="heartbeat_interval_ms: 30000")
    )
    assert "group is already rebalancing" in reasons(log, "A")


def test_a_lost_coordinator_is_found_again_and_the_group_goes_on() -> None:
    log = entries(group("cooperative-sticky", "at: 20s, fail_over: coordinator, loading: 2s", until="120s"))
    assert owned_at_the_end(log) == {"A": [0, 1, 2], "B": [3, 4, 5]}
    assert violations(log) == []


def test_a_callback_that_throws_does_not_stop_the_rebalance() -> None:
    log = entries(group("range", "at: 4s, fail_callback: A"))
    assert owned_at_the_end(log) == {"A": [0, 1, 2], "B": [3, 4, 5]}
    assert any(entry.payload.get("fault") == "poll_throws" for entry in log)


def test_the_last_to_leave_leaves_an_empty_group() -> None:
    log = entries(group("range", "at: 20s, leave: A", "at: 30s, leave: B"))
    last = [entry for entry in log if entry.kind is Kind.RECORD][-1].payload["value"]
    assert (last["members"], last["protocol"]) == ([], None)


VERBS = ("join", "leave", "kill", "pause", "resume", "poll_late", "heartbeat", "commit")


@given(
    st.sampled_from(("range", "roundrobin", "sticky", "cooperative-sticky", "stream", "custom-cooperative")),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ABC"), st.integers(1, 12)), max_size=12),
    st.integers(0, 2**32),
)
@examples(40)
def test_whatever_members_do_a_quiet_group_covers_its_topic_and_nobody_shares_a_partition(
    assignor: str, moves: Sequence[tuple[int, str, int]], seed: int
) -> None:
    """Members join, leave, die and fall silent at any time; then they are left alone."""
    lines, there, at_s = [], {"A", "B"}, 6
    for kind, who, wait_s in moves:
        at_s += wait_s
        if who not in there:
            lines.append(f"at: {at_s}s, join: {who}")
            there.add(who)
        elif kind == 0:
            lines.append(f"at: {at_s}s, leave: {who}")
            there.discard(who)
        elif kind == 1:
            lines.append(f"at: {at_s}s, restart: {who}")
        elif kind == 2:
            lines.append(f"at: {at_s}s, poll_late: {who}, for: 15s")
        else:
            lines.append(f"at: {at_s}s, bounce: {who}, for: 2s")
    if not there:
        lines.append(f"at: {at_s + 1}s, join: A")
    more = "session_timeout_ms: 10000, rebalance_timeout_ms: 12000"
    text = group(assignor, *lines, until=f"{at_s + 120}s", more=more) + f"seed: {seed}\n"
    log = entries(text)
    assert violations(log) == []
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(6)), text


def test_a_static_member_commits_under_its_instance_so_that_one_that_was_replaced_is_fenced() -> None:
    """Without it the answer is UNKNOWN_MEMBER_ID, and two processes of one instance replace each other for ever."""
    log = entries("""
        protocol: classic
        topics: {orders: {partitions: 2}}
        config: {initial_rebalance_delay_ms: 0}
        members:
          A: {subscribe: [orders], instance_id: i1}
          B: {subscribe: [orders], instance_id: i1}
        script:
          - {at: 0s, join: A}
          - {at: 10s, join: B}
          - {at: 10010ms, commit: A}
        until: 30s
    """)
    (asked,) = requests(log, "OffsetCommit", "A")
    assert asked.payload["body"]["groupInstanceId"] == "i1"
    (told,) = answers(log, "OffsetCommit", "A")
    assert {p["errorCode"] for topic in told.payload["body"]["topics"] for p in topic["partitions"]} == {82}


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_what_a_cooperative_member_owns_of_a_deleted_topic_is_revoked_and_not_lost(semantics: str) -> None:
    text = """
topics: {foo: {partitions: 2}, bar: {partitions: 2}}
protocol: classic
assignor: cooperative-sticky
members: {A: {subscribe: [foo, bar]}, B: {subscribe: [foo, bar]}}
script:
  - {at: 0s, join: [A, B]}
  - {at: 30s, delete_topic: bar}
until: 400s
"""
    given_up = [
        (e.actor, e.payload["callback"], dict(e.payload["partitions"]))
        for e in run(load(text), semantics)
        if e.kind is Kind.CALLBACK and e.payload["phase"] == "start" and e.at_ms > 30_000
        if e.payload["callback"] != "on_partitions_assigned"
    ]
    assert given_up == [
        ("A", "on_partitions_revoked", {"bar": [0]}),
        ("B", "on_partitions_revoked", {"bar": [1]}),
    ]
