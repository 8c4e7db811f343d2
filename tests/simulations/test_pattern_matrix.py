"""Each incident pattern on its own scenario, and on those of all others: the matrix is written down, and each other cell has its reason.

A finder that fires on a scenario of another pattern without a reason here claims too much; one that is silent on its own claims too
little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import pytest

from groups.history.entries import Entry, Kind
from groups.history.findings.patterns.pattern import DeclaredPattern
from groups.history.findings.registry import finders
from groups.history.passes.recorder import Recorder
from groups.history.state.copying import replace
from simulations.world import studies
from simulations.world.engine import run

OWN: Final[Mapping[str, str]] = {
    "storm": "incident-rebalance-storm",
    "slow_revocation": "incident-slow-revocation",
    "stuck_revocation": "incident-stuck-unrevoked",
    "poll_interval_exceeded": "incident-max-poll-interval",
    "session_expiry": "incident-session-expiry",
    "zombie": "incident-zombie-member",
    "static_churn": "incident-static-churn",
    "limbo": "incident-epoch-minus-two",
    "stale_owned": "kip792-stale-owner",
    "absent_static_member": "incident-absent-static-member",
    "sync_never_sent": "incident-sync-never-sent",
    "assignor_failure": "incident-assignor-failure",
    "two_round_cooperative": "kip429-cooperative",
    "mixed_upgrade": "kip429-one-bounce",
    "metadata_flapping": "incident-metadata-flapping",
}
"""Pattern → its scenario. A fence loop no release that is simulated has: ``tests/history/test_fence_loop.py`` has a log of one."""

OTHERS: Final[Mapping[tuple[str, str], str]] = {
    (
        "incident-rebalance-storm",
        "crash_loop",
    ): "each of the processes crashes again and again; that is why its sessions expire",
    (
        "incident-zombie-member",
        "session_expiry",
    ): "the pause outlasts the session; that is how the member becomes a zombie",
    (
        "incident-assignor-failure",
        "session_expiry",
    ): "clients end at the error, and no heartbeat succeeds any more",
    (
        "kip792-stale-owner",
        "session_expiry",
    ): "the member with the stale claim missed a rebalance as its session expired",
    ("kip792-stale-owner", "zombie"): "it sends the SyncGroup of a generation that is over",
    (
        "kip792-stale-owner",
        "two_round_cooperative",
    ): "its assignor is cooperative, and what moves takes two generations",
}
"""Scenario and pattern of another one that fires there, too: why it may."""

UNTOUCHED: Final = (
    "kip429-eager",
    "kip848-basic",
    "kip848-partition-added",
    "kip848-six-partitions",
    "kip848-client-side",
    "released-partition-added",
    "released-regex",
    "released-static-replacement",
    "released-unresolved-regex",
)
"""Scenarios in which nothing goes wrong: a join, a leave, a topic that grows, a restart in time."""

SLOW_BY_SCRIPT: Final[Mapping[str, str]] = {
    "kip429-consumer": "B works for 12 s and does not poll",
    "released-fail-over": "A takes 9 s to revoke, so that the coordinator fails over meanwhile",
    "released-six-partitions": "B takes 8 s to revoke, as in the proposal's table",
}
"""Scenarios of something else whose script has a member revoke slowly."""


def summary_of(name: str, entries: Iterable[Entry]) -> dict[str, Any]:
    scenario = studies.load(name)
    recorder = Recorder(group=scenario.group, semantics=scenario.semantics)
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return dict(batch.summary)


@cache
def entries(name: str) -> tuple[Entry, ...]:
    return tuple(run(studies.load(name)))


@cache
def summary(name: str) -> dict[str, Any]:
    return summary_of(name, entries(name))


def patterns(told: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in told["findings"] if one.get("pattern")}


def declared() -> dict[str, DeclaredPattern]:
    return {each.pattern.kind: each for each in finders() if isinstance(each, DeclaredPattern)}


BY_HAND = {"causeless_rebalances", "crash_loop", "fence_loop", "short_rebalance_timeout", "two_owners"}
"""What no simulated coordinator brings about; the tests of each, in ``tests/history``, have logs of it."""


def test_every_pattern_has_a_scenario_of_its_own_or_a_log_made_by_hand() -> None:
    assert declared().keys() == OWN.keys() | BY_HAND


@pytest.mark.parametrize("scenario", sorted(set(OWN.values())))
def test_a_scenario_has_its_own_pattern_and_of_others_those_that_have_a_reason(scenario: str) -> None:
    own = {kind for kind, name in OWN.items() if name == scenario}
    reasoned = {kind for name, kind in OTHERS if name == scenario}
    assert patterns(summary(scenario)).keys() == own | reasoned


@pytest.mark.parametrize("kind", sorted(OWN))
def test_the_first_clause_of_the_verdict_is_the_scenarios_own_and_leads_to_its_proof(kind: str) -> None:
    told = summary(OWN[kind])
    first, one = told["verdict"]["clauses"][0], patterns(told)[kind]
    assert first["text"] == one["says"]
    assert first["text"].startswith(one["title"])
    assert first["sequence"] == one["steps"][0]


@pytest.mark.parametrize("kind", sorted(OWN))
def test_a_pattern_tells_its_evidence_how_bad_it_is_its_causes_and_where_to_look(kind: str) -> None:
    told = summary(OWN[kind])
    one = patterns(told)[kind]
    assert one["sequences"]
    assert all(0 < sequence <= told["entries"] for sequence in one["sequences"])
    assert one["severity"] in ("critical", "warning", "harmless")
    assert one["causes"]
    assert one["look_at"]
    assert one["certain"], "a simulated run has every source"


@pytest.mark.parametrize("name", UNTOUCHED)
def test_where_nothing_goes_wrong_no_pattern_fires(name: str) -> None:
    assert patterns(summary(name)) == {}


@pytest.mark.parametrize("name", SLOW_BY_SCRIPT)
def test_a_revocation_that_a_script_made_slow_is_told_wherever_it_stands(name: str) -> None:
    assert patterns(summary(name)).keys() == {"slow_revocation"}


def test_a_two_round_rebalance_is_said_to_be_harmless_and_opens_no_board_at_a_worst_moment() -> None:
    told = summary("kip429-cooperative")
    one = patterns(told)["two_round_cooperative"]
    assert (one["severity"], "harmless" in one["says"]) == ("harmless", True)
    assert told["verdict"]["worst"] is None


def test_an_upgrade_in_two_bounces_is_no_storm_and_none_of_its_owners_is_given_away() -> None:
    assert patterns(summary("kip429-upgrade")).keys() == {"two_round_cooperative"}
    assert patterns(summary("kip429-streams-upgrade")).keys() == {"two_round_cooperative"}


def test_a_stale_claim_is_harmless_where_a_generation_tells_that_it_is_one() -> None:
    severities = {
        name: patterns(summary(name))["stale_owned"]["severity"]
        for name in ("kip341-two-owners", "kip341-generation", "kip792-stale-owner", "kip792-generation")
    }
    assert severities == {
        "kip341-two-owners": "critical",
        "kip341-generation": "harmless",
        "kip792-stale-owner": "critical",
        "kip792-generation": "harmless",
    }


# -- with less evidence


def without(name: str, kinds: Sequence[Kind]) -> dict[str, Any]:
    """The scenario's log as a source gives it that lacks entries of these kinds."""
    kept = [entry for entry in entries(name) if entry.kind not in kinds]
    numbers = {entry.sequence: at for at, entry in enumerate(kept, 1)}
    return summary_of(
        name,
        [
            replace(
                entry,
                sequence=at,
                cause=numbers.get(entry.cause or 0),
                unit=None if entry.unit is None else numbers[entry.unit],
            )
            for at, entry in enumerate(kept, 1)
        ],
    )


ALL_BUT_RECORDS: Final = tuple(kind for kind in Kind if kind is not Kind.RECORD)

RECORDS_TELL: Final = frozenset(
    {
        "storm",
        "slow_revocation",
        "static_churn",
        "limbo",
        "stale_owned",
        "two_round_cooperative",
        "mixed_upgrade",
        "metadata_flapping",
    }
)
"""Patterns that the records of ``__consumer_offsets`` alone show."""


@pytest.mark.parametrize("kind", sorted(OWN))
def test_from_records_alone_a_pattern_is_told_or_said_to_be_beyond_them(kind: str) -> None:
    told = without(OWN[kind], ALL_BUT_RECORDS)
    found, unsure = patterns(told), {one["kind"]: one["lacks"] for one in told["cannot_tell"]}
    assert (kind in found) == (kind in RECORDS_TELL)
    assert (kind in unsure) == (kind not in RECORDS_TELL)
    if kind in unsure:
        assert set(unsure[kind]) <= {source for each in declared()[kind].pattern.sources for source in each}


def test_from_records_alone_a_stuck_callback_looks_like_a_slow_one() -> None:
    told = without("incident-stuck-unrevoked", ALL_BUT_RECORDS)
    one = patterns(told)["slow_revocation"]
    assert (one["certain"], one["needs"]) == (False, ["records"])
    assert told["verdict"]["text"].startswith("Looks like slow revocation: A did not release ")


def test_from_a_request_log_without_callbacks_a_stuck_revocation_shows_by_the_targets_that_pass_it_by() -> (
    None
):
    told = without("incident-stuck-unrevoked", (Kind.CALLBACK, Kind.TIMER, Kind.FAULT, Kind.NOTE))
    one = patterns(told)["stuck_revocation"]
    assert (one["certain"], one["needs"]) == (False, ["records", "requests"])
    assert one["newer_targets"] >= 1


def test_without_requests_nobody_knows_of_a_zombie() -> None:
    told = without("incident-zombie-member", (Kind.REQUEST, Kind.RESPONSE))
    assert "zombie" not in patterns(told)
    assert {"kind": "zombie", "title": "Zombie member", "lacks": ["requests"]} in told["cannot_tell"]
