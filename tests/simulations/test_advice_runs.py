"""What a pattern says to look at, where it names a setting: the incident is run again with another value, and is over or smaller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import pytest

from groups.history.findings.patterns.pattern import DeclaredPattern
from groups.history.findings.registry import finders
from groups.history.passes.recorder import Recorder
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import load

SETTING: Final = re.compile(r"\b[a-z]+(?:\.[a-z]+)+\b")


@dataclass(frozen=True)
class Changed:
    """``kind``'s advice ``line``: the case study with ``other`` values. ``over``: kinds of findings that are gone with them;
    ``shorter``: kinds whose longest ``length_ms`` is at most half of what it was."""

    kind: str
    line: str
    study: str
    other: Mapping[str, str] = field(default_factory=dict)
    over: tuple[str, ...] = ()
    shorter: tuple[str, ...] = ()


RUNS: Final = (
    Changed(
        "session_expiry",
        "group.consumer.session.timeout.ms",
        "incident-session-expiry",
        {"session_timeout_ms: 45000": "session_timeout_ms: 10000"},
        shorter=("unread",),
    ),
    Changed(
        "storm",
        "group.consumer.session.timeout.ms and group.consumer.heartbeat.interval.ms (at most a third of it)",
        "incident-rebalance-storm",
        {
            "session_timeout_ms: 45000, heartbeat_interval_ms: 5000": "session_timeout_ms: 6000, heartbeat_interval_ms: 2000"
        },
        shorter=("unread",),
    ),
    Changed(
        "zombie",
        "group.consumer.session.timeout.ms",
        "incident-zombie-member",
        {"session_timeout_ms: 45000": "session_timeout_ms: 90000"},
        over=("zombie", "removed"),
    ),
    Changed(
        "limbo",
        "group.consumer.session.timeout.ms",
        "incident-epoch-minus-two",
        {"session_timeout_ms: 60000": "session_timeout_ms: 12000"},
        shorter=("away",),
    ),
    Changed(
        "limbo",
        "group.instance.id: the same for the same instance",
        "incident-epoch-minus-two",
        {"instance_id: payments-4": "instance_id: payments-3"},
        over=("limbo", "removed"),
    ),
    Changed(
        "static_churn",
        "group.consumer.session.timeout.ms against the time of a restart",
        "incident-static-churn",
        {"session_timeout_ms: 45000": "session_timeout_ms: 90000"},
        over=("removed",),
    ),
    Changed(
        "static_churn",
        "group.instance.id: one for each process",
        "incident-static-churn",
        {"instance_id: payments-1, client_id: copied": "instance_id: payments-3, client_id: copied"},
        over=("refused",),
    ),
    Changed(
        "poll_interval_exceeded",
        "max.poll.interval.ms",
        "incident-max-poll-interval",
        {"rebalance_timeout_ms: 60000": "rebalance_timeout_ms: 120000"},
        over=("poll_interval_exceeded", "removed"),
    ),
    Changed(
        # Fewer records a poll are less work between two polls.
        "poll_interval_exceeded",
        "max.poll.records",
        "incident-max-poll-interval",
        {"for: 75s": "for: 30s"},
        over=("poll_interval_exceeded", "removed"),
    ),
    Changed(
        "slow_revocation",
        "max.poll.interval.ms (it is the rebalance timeout)",
        "incident-slow-revocation",
        {"rebalance_timeout_ms: 60000": "rebalance_timeout_ms: 20000"},
        shorter=("waited_for",),
    ),
    Changed(
        "slow_revocation",
        "max.poll.records",
        "incident-slow-revocation",
        {"for: 90s": "for: 4s"},
        over=("slow_revocation", "removed"),
    ),
    Changed(
        "stuck_revocation",
        "max.poll.interval.ms",
        "incident-stuck-unrevoked",
        {"rebalance_timeout_ms: 60000": "rebalance_timeout_ms: 20000"},
        shorter=("waited_for",),
    ),
    Changed(
        "absent_static_member",
        "session.timeout.ms of static members",
        "incident-absent-static-member",
        {"session_timeout_ms: 1800000": "session_timeout_ms: 6000"},
        over=("absent_static_member",),
    ),
    Changed(
        "absent_static_member",
        "max.poll.interval.ms: the longest of the group is the wait",
        "incident-absent-static-member",
        {"rebalance_timeout_ms: 60000": "rebalance_timeout_ms: 20000"},
        shorter=("absent_static_member",),
    ),
    Changed(
        "sync_never_sent",
        "max.poll.interval.ms",
        "incident-sync-never-sent",
        {"rebalance_timeout_ms: 30000": "rebalance_timeout_ms: 10000"},
        shorter=("sync_never_sent",),
    ),
    Changed(
        "stale_owned",
        "session.timeout.ms",
        "kip792-stale-owner",
        {"session_timeout_ms: 10000": "session_timeout_ms: 60000"},
        over=("stale_owned",),
    ),
    Changed(
        "stale_owned",
        "partition.assignment.strategy",
        "kip792-stale-owner",
        {"assignor: custom-cooperative": "assignor: range"},
        over=("stale_owned",),
    ),
    Changed(
        "causeless_rebalances",
        "group.remote.assignor of every member: one for all, or none, ends a tie; so does a third member that asks for one of the two",
        "released-assignor-tie",
        {"assignor: range": "assignor: uniform"},
        over=("causeless_rebalances",),
    ),
    Changed(
        # Whoever makes the topic again does so by reading or writing it.
        "metadata_flapping",
        "auto.create.topics.enable",
        "incident-metadata-flapping",
        {
            "  - {at: 25s, create_topic: retries, partitions: 2}\n": "",
            "  - {at: 40s, delete_topic: retries}\n": "",
            "  - {at: 55s, create_topic: retries, partitions: 2}\n": "",
        },
        over=("metadata_flapping", "topics_remade"),
    ),
)

UPGRADES: Final = {
    "partition.assignment.strategy: first bounce with both assignors, second without the eager one": "kip429-upgrade",
    "upgrade.from (Kafka Streams)": "kip429-streams-upgrade",
}
"""Advice against upgrading in one bounce, and the case study that follows it."""

ELSEWHERE: Final = {
    "the rebalance timeout that the client sends with JoinGroup (version 1 or later); in Java max.poll.interval.ms": "test_advice runs it",
    "how the processes end: group.instance.id helps against some restarts alone": "test_advice runs it",
    "session.timeout.ms": "test_advice runs it",
    "session.timeout.ms and heartbeat.interval.ms (at most a third of it)": "test_advice runs it",
    "session.timeout.ms against the time of a restart": "test_advice runs it",
}

NO_RUN: Final = {
    (
        "causeless_rebalances",
        "max.poll.interval.ms and the time between its polls",
    ): "its own log shows why a client joins again",
    ("assignor_failure", "group.consumer.assignors"): "names whose code fails, and no value that would do",
    (
        "assignor_failure",
        "group.remote.assignor of the members",
    ): "names whose code fails, and no value that would do",
    (
        "sync_never_sent",
        "partition.assignment.strategy",
    ): "names whose code hangs, and no value that would do",
    (
        "fence_loop",
        "group.consumer.session.timeout.ms: it ends with the session",
    ): "the simulated release has no such loop",
}
"""Lines that say where to look, and advise no value: why no run can show an effect."""


@cache
def findings(study: str, other: tuple[tuple[str, str], ...] = ()) -> list[dict[str, Any]]:
    text = re.sub(r"^steps:\n.*?(?=^\w)", "", studies.text(study), flags=re.DOTALL | re.MULTILINE)
    for old, new in other:
        assert old in text, f"{study} has no {old}"
        text = text.replace(old, new)
    scenario = load(text, study)
    recorder = Recorder(group=scenario.group, semantics=scenario.semantics, digests=False)
    for entry in run(scenario, scenario.semantics):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return [dict(one) for one in batch.summary["findings"]]


def longest_ms(found: list[dict[str, Any]], kind: str) -> int:
    return max((one.get("length_ms") or 0 for one in found if one["kind"] == kind), default=0)


@pytest.mark.parametrize("changed", RUNS, ids=lambda one: f"{one.kind}: {one.line[:40]}")
def test_another_value_of_the_setting_ends_the_incident_or_makes_it_smaller(changed: Changed) -> None:
    before, after = findings(changed.study), findings(changed.study, tuple(changed.other.items()))
    assert any(changed.line in one.get("look_at", ()) for one in before if one["kind"] == changed.kind)
    for kind in changed.over:
        assert any(one["kind"] == kind for one in before), kind
        assert [one["says"] for one in after if one["kind"] == kind] == []
    for kind in changed.shorter:
        assert 0 < 2 * longest_ms(after, kind) <= longest_ms(before, kind), kind


@pytest.mark.parametrize(("line", "study"), UPGRADES.items())
def test_an_upgrade_as_advised_has_not_the_two_owners_of_one_in_a_single_bounce(
    line: str, study: str
) -> None:
    [before] = [one for one in findings("kip429-one-bounce") if one["kind"] == "mixed_upgrade"]
    assert line in before["look_at"]
    assert [one["says"] for one in findings(study) if one["kind"] == "mixed_upgrade"] == []


def test_no_line_of_a_pattern_is_shown_to_a_group_whose_protocol_does_not_have_it() -> None:
    """A line of one protocol is declared as such, and none speaks of both."""
    patterns = [each.pattern for each in finders() if isinstance(each, DeclaredPattern)]
    for pattern in patterns:
        for line in (*pattern.causes, *pattern.look_at):
            of_consumer = "group.consumer." in line or "UNRELEASED" in line
            of_classic = re.search(
                r"(?<![.\w])(session\.timeout|heartbeat\.interval)\.ms|FENCED_INSTANCE", line
            )
            assert not (of_consumer and of_classic), (pattern.kind, line)
            alone = ONE_PROTOCOL.get(pattern.kind)
            if of_consumer and alone != "consumer":
                assert line in pattern.consumer, (pattern.kind, line)
            if of_classic and alone != "classic":
                assert line in pattern.classic, (pattern.kind, line)
        assert {*pattern.classic, *pattern.consumer} <= {*pattern.causes, *pattern.look_at}, pattern.kind


ONE_PROTOCOL: Final = {
    "absent_static_member": "classic",
    "assignor_failure": "consumer",
    "fence_loop": "consumer",
    "limbo": "consumer",
    "stale_owned": "classic",
}
"""Patterns that groups of the other protocol cannot have."""


def test_every_line_that_names_a_setting_has_a_run_or_a_reason_why_there_is_none() -> None:
    named = {
        (each.pattern.kind, line)
        for each in finders()
        if isinstance(each, DeclaredPattern)
        for line in each.pattern.look_at
        if SETTING.search(line)
    }
    run = {(one.kind, one.line) for one in RUNS}
    told = {each for each in named if each[1] in UPGRADES or each[1] in ELSEWHERE}
    assert named == run | told | NO_RUN.keys()
