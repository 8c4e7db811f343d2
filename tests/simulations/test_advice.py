"""Advice that names a setting: a simulated run shows what the setting changes."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from groups.history.findings.patterns.restart_advice import (
    ADVICE,
    CLASSIC_CRASH,
    CLASSIC_LEAVE,
    CONSUMER_CRASH,
    CONSUMER_LEAVE,
)
from groups.history.passes.recorder import Recorder
from simulations.world.engine import run
from simulations.world.scenario import load

UNRELEASED_INSTANCE_ID = 111

ENDS = {"crash": ("kill", 5), "crash for long": ("kill", 10), "leave": ("leave", 5)}
"""How a process ends, and after how many seconds its next one starts."""


SHORT = """
name: nobody has time to rejoin
protocol: classic
assignor: range
topics: {payments: {partitions: 6}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [payments], rebalance_timeout_ms: REBALANCE}
  B: {subscribe: [payments], rebalance_timeout_ms: REBALANCE}
script:
  - {at: 0s, join: A}
  - {at: 10s, join: B}
seed: 1
until: 40s
"""


SLEEPS = """
name: a process that sleeps for longer than its session
protocol: classic
assignor: range
topics: {payments: {partitions: 6}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [payments], session_timeout_ms: SESSION}
  B: {subscribe: [payments], session_timeout_ms: SESSION}
script:
  - {at: 0s, join: A}
  - {at: 1s, join: B}
  - {at: 20s, pause: B}
  - {at: 50s, resume: B}
seed: 1
until: 90s
"""


def findings_of(entries: list[Entry], group: str = "advice") -> list[dict[str, Any]]:
    recorder = Recorder(group=group, digests=False)
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return [dict(one) for one in batch.summary["findings"]]


class Ran:
    """A run of three processes, the third of which ends and starts again six times."""

    def __init__(self, protocol: str, end: str, *, static: bool, session_ms: int) -> None:
        verb, pause_s = ENDS[end]
        seat = ", instance_id: seat-{}" if static else ""
        common = "subscribe: [payments], rebalance_timeout_ms: 300000"
        if protocol == "classic":
            common += f", session_timeout_ms: {session_ms}"
        members = [f"  {name}: {{{common}{seat.format(name)}}}" for name in "ABC"]
        script = [f"  - {{at: {3 * at}s, join: {name}}}" for at, name in enumerate("ABC")]
        for turn in range(6):
            script.append(f"  - {{at: {40 + 15 * turn}s, {verb}: C}}")
            again = "restart" if verb == "kill" else "join"
            script.append(f"  - {{at: {40 + 15 * turn + pause_s}s, {again}: C}}")
        config = (
            "initial_rebalance_delay_ms: 0" if protocol == "classic" else f"session_timeout_ms: {session_ms}"
        )
        lines = [
            "name: a process that starts again",
            *(
                [f"protocol: {protocol}", "assignor: range"]
                if protocol == "classic"
                else ["assignor: uniform"]
            ),
            "topics: {payments: {partitions: 6}}",
            f"config: {{{config}}}",
            "members:",
            *members,
            "script:",
            *script,
            "seed: 1",
            "until: 200s",
        ]
        self.entries: list[Entry] = list(run(load("\n".join(lines), "advice")))
        self.findings = findings_of(self.entries)

    @property
    def generations(self) -> set[int]:
        """A static member that takes its seat again is written in a record of the same generation."""
        return {
            entry.payload["value"]["generation"]
            for entry in self.entries
            if entry.kind is Kind.RECORD and entry.payload["type"] == 2 and entry.at_ms > 30_000
        }

    @property
    def rebalances(self) -> int:
        """Generations or group epochs after the group had formed."""
        return sum(
            entry.kind is Kind.RECORD and entry.payload["type"] in (2, 3) and entry.at_ms > 30_000
            for entry in self.entries
        )

    @property
    def refused(self) -> int:
        return sum(
            entry.kind is Kind.RESPONSE and entry.payload["body"].get("errorCode") == UNRELEASED_INSTANCE_ID
            for entry in self.entries
        )

    @property
    def unread_ms(self) -> int:
        return max((one["length_ms"] for one in self.findings if one["kind"] == "unread"), default=0)

    def advice(self) -> set[str]:
        return {line for one in self.findings for line in one.get("look_at", ()) if line in ADVICE.values()}


@cache
def ran(protocol: str, end: str, *, static: bool = False, session_ms: int = 45_000) -> Ran:
    return Ran(protocol, end, static=static, session_ms=session_ms)


def test_a_static_consumer_that_crashes_is_refused_and_a_shorter_session_helps() -> None:
    dynamic, static = ran("consumer", "crash"), ran("consumer", "crash", static=True)
    short = ran("consumer", "crash", session_ms=6_000)
    assert dynamic.advice() == short.advice() == {CONSUMER_CRASH}
    assert static.refused >= 4
    assert short.unread_ms < 10_000 < min(dynamic.unread_ms, static.unread_ms)


def test_a_static_consumer_that_closes_and_is_back_within_its_session_costs_no_rebalance() -> None:
    dynamic, static = ran("consumer", "leave"), ran("consumer", "leave", static=True)
    assert CONSUMER_LEAVE in dynamic.advice()
    assert (dynamic.rebalances >= 12, static.rebalances, static.refused) == (True, 0, 0)


@pytest.mark.parametrize(("end", "line"), [("crash", CLASSIC_CRASH), ("leave", CLASSIC_LEAVE)])
def test_a_static_classic_member_that_is_back_within_its_session_costs_no_rebalance(
    end: str, line: str
) -> None:
    dynamic, static = ran("classic", end), ran("classic", end, static=True)
    assert line in dynamic.advice()
    assert (len(dynamic.generations) >= 3, static.generations) == (True, {3})
    assert static.unread_ms <= dynamic.unread_ms


def test_every_line_of_advice_has_a_run() -> None:
    assert set(ADVICE.values()) == {CONSUMER_CRASH, CONSUMER_LEAVE, CLASSIC_CRASH, CLASSIC_LEAVE}


@pytest.mark.parametrize(("rebalance_ms", "opens"), [(500, True), (60_000, False)])
def test_a_rebalance_timeout_that_leaves_time_to_rejoin_ends_the_removals(
    rebalance_ms: int, opens: bool
) -> None:
    entries = list(run(load(SHORT.replace("REBALANCE", str(rebalance_ms)), "short")))
    found = findings_of(entries, "short")
    assert any(one["kind"] == "short_rebalance_timeout" for one in found) is opens
    assert any(one["kind"] == "removed" for one in found) is opens


def looked_at(found: list[dict[str, Any]], kind: str) -> set[str]:
    return {line for one in found if one["kind"] == kind for line in one["look_at"]}


def test_a_shorter_session_of_classic_members_ends_the_wait_for_one_that_crashed() -> None:
    long, short = ran("classic", "crash"), ran("classic", "crash", session_ms=6_000)
    assert 0 < 2 * short.unread_ms < long.unread_ms
    assert "session.timeout.ms" in looked_at(long.findings, "session_expiry")


def test_a_session_of_classic_static_members_that_outlasts_a_restart_costs_no_rebalance() -> None:
    short, long = (ran("classic", "crash for long", static=True, session_ms=each) for each in (6_000, 45_000))
    assert len(long.generations) < len(short.generations)
    assert "session.timeout.ms against the time of a restart" in looked_at(short.findings, "static_churn")


def test_a_session_of_classic_members_that_outlasts_a_pause_leaves_no_zombie() -> None:
    short, long = (
        findings_of(list(run(load(SLEEPS.replace("SESSION", each), "advice")))) for each in ("10000", "45000")
    )
    assert "session.timeout.ms" in looked_at(short, "zombie")
    assert looked_at(long, "zombie") == set()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("end", ["crash", "leave"])
@pytest.mark.parametrize("static", [False, True])
def test_what_to_do_of_a_group_names_settings_and_errors_of_its_own_protocol_alone(
    protocol: str, end: str, static: bool
) -> None:
    lines = {line for one in ran(protocol, end, static=static).findings for line in one.get("look_at", ())}
    foreign = (
        ("group.consumer.", "UNRELEASED")
        if protocol == "classic"
        else (" session.timeout.ms", "FENCED_INSTANCE")
    )
    assert [line for line in lines if any(word in f" {line}" for word in foreign)] == []
