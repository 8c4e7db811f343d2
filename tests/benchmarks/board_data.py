"""Timelines of the sizes that a board is measured with, simulated and stored: groups that join, lose members and recover."""

from __future__ import annotations

import os
import sys
from itertools import islice
from typing import Final, NamedTuple

HEARTBEAT_S: Final = 5
DAY_S: Final = 24 * 3600


class Size(NamedTuple):
    """``entries`` is where the log is cut, in the midst of what happens."""

    timeline: str
    members: int
    partitions: int
    entries: int
    joined_s: int
    """Everybody joins within so long."""


LARGE: Final = Size("bench-1000", 1_000, 10_000, 100_000, 12)
MIDDLE: Final = Size("bench-200", 200, 2_000, 100_000, 20)
LONG: Final = Size("bench-long", 50, 60, 1_000_000, 30)
"""A day: as long as a scenario may last."""

SCENARIO: Final = """
name: {members} members on {partitions} partitions
protocol: consumer
semantics: kafka
topics: {{{topics}}}
config: {{session_timeout_ms: 45000, heartbeat_interval_ms: {heartbeat_ms}}}
members: {{{names}}}
script:
{script}
seed: 1
until: {until_s}s
"""


def scenario_text(size: Size) -> str:
    """A tenth of the members are killed some at a time and come back, for as long as the log lasts."""
    names = [f"payments-{number:04}" for number in range(size.members)]
    topics = max(1, size.partitions // 1_000)
    script = [(size.joined_s * number / size.members, f"join: {name}") for number, name in enumerate(names)]
    until_s = min(DAY_S - 1, size.joined_s + size.entries * HEARTBEAT_S / (2 * size.members))
    at_s, turn = size.joined_s + 30.0, 0
    every_s = max(90.0, until_s / 400)
    while at_s + 80 < until_s:
        for name in names[turn * 7 % size.members :: max(3, size.members // 3)]:
            script += [(at_s, f"kill: {name}"), (at_s + 60, f"restart: {name}")]
        at_s, turn = at_s + every_s, turn + 1
    return SCENARIO.format(
        members=size.members,
        partitions=size.partitions,
        topics=", ".join(
            f"orders-{number}: {{partitions: {size.partitions // topics}}}" for number in range(topics)
        ),
        heartbeat_ms=HEARTBEAT_S * 1_000,
        names=", ".join(
            f"{name}: {{subscribe: [{', '.join(f'orders-{number}' for number in range(topics))}]}}"
            for name in names
        ),
        script="\n".join(f"  - {{at: {int(1_000 * at)}ms, {what}}}" for at, what in sorted(script)),
        until_s=int(until_s) + 1,
    )


def store(size: Size) -> None:
    """Simulates the timeline and stores it whole under its name; a minute of processor time for the large one."""
    from groups.history.passes.recorder import Recorder
    from groups.models import Timeline
    from groups.storage import replace_timeline
    from simulations.world.engine import run
    from simulations.world.scenario import load

    scenario = load(scenario_text(size), size.timeline)
    recorder = Recorder(group=scenario.group, semantics="kafka")

    def batches():  # type: ignore[no-untyped-def]
        for entry in islice(run(scenario, "kafka", 1), size.entries):
            recorder.add(entry)
            if recorder.full and (batch := recorder.flush()) is not None:
                yield batch
        if (last := recorder.flush(final=True)) is not None:
            yield last

    replace_timeline(
        size.timeline,
        batches(),
        title=f"{size.members:,} members, {size.partitions:,} partitions, {size.entries:,} entries",
        source=Timeline.Source.SIMULATION,
        semantics="kafka",
        seed=1,
    )


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    import django

    django.setup()
    for wanted in (LARGE, MIDDLE, LONG):
        if wanted.timeline in sys.argv[1:]:
            store(wanted)
