"""A large group over a simulated hour: 1,000 members on 10,000 partitions that join, fail, and lose their coordinator.

Figures are of processor time, which is what one core has, also while others are at work on the machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from groups.history.passes.recorder import Recorder
from simulations.world.engine import run as simulate
from simulations.world.scenario import Scenario, load
from tests.benchmarks.figures import Figure

MEMBERS: Final = 1_000
PARTITIONS: Final = 10_000
HOUR_S: Final = 3_600
JOINED_S: Final = 60
"""Everybody joins within so long."""

KILLS: Final = 3
STEADY_S: Final = 120
"""How long each piece of the run is whose steady heartbeats are measured by themselves."""

SCENARIO: Final = """
name: {members} members on {partitions} partitions
protocol: consumer
semantics: kafka
topics: {{orders: {{partitions: {partitions}}}}}
config: {{session_timeout_ms: 45000, heartbeat_interval_ms: 5000}}
members: {{{names}}}
script:
{script}
seed: 1
until: {until_s}s
"""


def run() -> Iterator[Figure]:
    yield from whole_hour()
    for members in (10, 100, MEMBERS):
        yield from steady(members)


def scenario(
    members: int = MEMBERS, partitions: int = PARTITIONS, until_s: int = HOUR_S, *, troubled: bool = True
) -> Scenario:
    """Members join evenly over the first minute; then some are killed and come back, and the rest happens once."""
    names = [f"member-{number:04}" for number in range(members)]
    script = [(JOINED_S * number / members, f"join: {name}") for number, name in enumerate(names)]
    if troubled:
        for number in range(KILLS):
            name = names[number * members // KILLS]
            script += [(600 + 300 * number, f"kill: {name}"), (750 + 300 * number, f"restart: {name}")]
        script += [(2_000, "fail_over: coordinator, how: crash, loading: 2s")]
        script += [(2_600, f"add_partitions: orders, to: {partitions}")]
    lines = [f"  - {{at: {int(1_000 * at_s)}ms, {what}}}" for at_s, what in sorted(script)]
    text = SCENARIO.format(
        members=members,
        partitions=partitions * 9 // 10 if troubled else partitions,
        names=", ".join(f"{name}: {{subscribe: [orders]}}" for name in names),
        script="\n".join(lines),
        until_s=until_s,
    )
    return load(text, "large")


def whole_hour() -> Iterator[Figure]:
    """The run as it is simulated and checked, without its board."""
    made, entries, joined_s = scenario(), 0, 0.0
    began = time.process_time()
    for entry in simulate(made, "kafka", 1):
        entries += 1
        if not joined_s and entry.at_ms - made.start_ms > 1_000 * (JOINED_S + 20):
            joined_s = time.process_time() - began
    took = time.process_time() - began
    what = f"simulated hour: {MEMBERS:,} members, {PARTITIONS:,} partitions"
    yield Figure(what=f"{what}, {entries:,} entries", value=took, unit="s", goal=60)
    yield Figure(what=f"{what}: of it, until all have joined", value=joined_s, unit="s")
    yield Figure(what=f"{what}: entries of a whole run", value=entries / took, unit="entries/s")


def steady(members: int) -> Iterator[Figure]:
    """What steady heartbeats cost, simulated and recorded for a board."""
    made = scenario(members, members, JOINED_S + 60 + STEADY_S, troubled=False)
    recorder = Recorder(group=made.group, semantics="kafka")
    entries = simulate(made, "kafka", 1)
    for entry in entries:
        recorder.add(entry)
        if recorder.full:
            recorder.flush()
        if entry.at_ms - made.start_ms > 1_000 * (JOINED_S + 60):
            break
    began = time.process_time()
    rest = list(entries)
    simulated = time.process_time() - began
    began = time.process_time()
    for entry in rest:
        recorder.add(entry)
    recorder.flush(final=True)
    recorded = time.process_time() - began
    what = f"steady heartbeats of {members:,} members"
    yield Figure(what=f"simulated: {what}", value=len(rest) / simulated, unit="heartbeats/s")
    yield Figure(what=f"recorded: {what}", value=len(rest) / recorded, unit="heartbeats/s")
