"""The fold: entries a second, into frames, changes and moments, for a small group and for a large one."""

from __future__ import annotations

import time
from collections.abc import Iterator

from groups.history.recorder import Recorder
from simulations import studies
from simulations.engine import run as simulate
from simulations.scenario import load
from tests.benchmarks.figures import Figure

LARGE = """
name: a large group
protocol: consumer
semantics: kafka
topics: {{foo: {{partitions: 2000}}}}
config: {{session_timeout_ms: 45000, heartbeat_interval_ms: 5000}}
members: {{{members}}}
script:
{script}
seed: 1
until: 120s
"""
MEMBERS = 100


def run() -> Iterator[Figure]:
    yield from fold("kip848-basic", studies.load("kip848-basic").text)
    members = ", ".join(f"M{n:03}: {{subscribe: [foo]}}" for n in range(MEMBERS))
    script = "\n".join(f"  - {{at: {n / 4}s, join: M{n:03}}}" for n in range(MEMBERS))
    yield from fold(f"{MEMBERS} members, 2,000 partitions", LARGE.format(members=members, script=script))


def fold(what: str, text: str) -> Iterator[Figure]:
    scenario = load(text, what)
    began = time.perf_counter()
    entries = list(simulate(scenario, "kafka", 1))
    simulated = time.perf_counter() - began
    recorder = Recorder(group=entries[0].payload.get("group", "group"), semantics="kafka")
    began = time.perf_counter()
    for entry in entries:
        recorder.add(entry)
    recorder.flush(final=True)
    folded = time.perf_counter() - began
    yield Figure(
        what=f"simulated: {what}, {len(entries):,} entries", value=len(entries) / simulated, unit="entries/s"
    )
    yield Figure(what=f"folded and recorded: {what}", value=len(entries) / folded, unit="entries/s")
