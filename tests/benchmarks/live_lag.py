"""What lag costs the process that watches: 2,000 groups × 20 partitions, a round every 5 s; a week of one group; its disk.

The brokers' answers are made, and time is simulated; what is computed, packed, stored and read is real.
``python -m tests.benchmarks.live_lag ROUNDS`` is the process whose memory and database it is.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, Final

from tests.benchmarks.figures import Figure

GROUPS, PARTITIONS, ROUND_S = 2_000, 20, 5
ROUNDS: Final = 180
"""A quarter of an hour."""

WEEK_S: Final = 7 * 86_400
SHARE_GOAL, MEMORY_GOAL_MB, WEEK_GOAL_S = 25.0, 300.0, 1.0


def run() -> Iterator[Figure]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "explorer.settings", "DATABASE_URL": ""}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.live_lag", str(ROUNDS)],
            env=environment | {"REBALANCE_VAR": folder},
            capture_output=True,
            check=True,
        )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    size = f"lag: {GROUPS:,} groups × {PARTITIONS} partitions, a round every {ROUND_S} s"
    yield Figure(
        what=f"{size}, share of a core for lag alone", value=told["share"], unit="%", goal=SHARE_GOAL
    )
    yield Figure(what=f"{size}, most memory", value=told["memory_mb"], unit="MB", goal=MEMORY_GOAL_MB)
    yield Figure(what=f"{size}, memory of the same process without lag", value=told["base_mb"], unit="MB")
    yield Figure(
        what="lag: disk of a day and 1,000 partitions, as it comes", value=told["full_mb"], unit="MB"
    )
    yield Figure(what="lag: disk of an older day and 1,000 partitions", value=told["thin_mb"], unit="MB")
    yield Figure(
        what="lag: a week of one group is answered", value=told["week_s"], unit="s", goal=WEEK_GOAL_S
    )


def measured(rounds: int) -> dict[str, float]:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db.models import Sum
    from django.db.models.functions import Length

    from groups.cluster_models import WatchedGroup
    from groups.history.lag.samples import thinned, unpacked
    from groups.models import OffsetBlock
    from groups.storage import offset_blocks
    from groups.watching import registry
    from groups.watching.positions import PositionKeeper
    from groups.watching.pulling import Positions, Puller

    call_command("migrate", verbosity=0)
    cluster = registry.add("measured", {"bootstrap.servers": "127.0.0.1:1"})
    assert registry.take(cluster.pk, "measured")
    names = [f"group-{number}" for number in range(GROUPS)]
    WatchedGroup.objects.bulk_create(WatchedGroup(cluster=cluster, group=name) for name in names)
    drawn = random.Random(7)
    base_mb = memory_mb()
    keeper, puller = PositionKeeper(cluster, "measured"), Puller(None)  # type: ignore[arg-type]
    puller._partitions = {f"topic-{number}": PARTITIONS for number in range(GROUPS)}
    ends = [[drawn.randrange(10**6) for _ in range(PARTITIONS)] for _ in range(GROUPS)]
    begin_ms, used_s = time.time_ns() // 1_000_000 - rounds * ROUND_S * 1_000, 0.0
    for number in range(rounds):
        for some in ends:
            for partition in range(PARTITIONS):
                some[partition] += drawn.randrange(500)
        at_ms = begin_ms + number * ROUND_S * 1_000
        positions = Positions(
            committed_ms=at_ms,
            committed={
                name: [(f"topic-{at}", partition, end - drawn.randrange(400)) for partition, end in enumerate(ends[at])]
                for at, name in enumerate(names)
            },
            ends_ms=at_ms + 20,
            ends={f"topic-{at}": dict(enumerate(some)) for at, some in enumerate(ends)},
            starts={},
            made_again=frozenset(),
        )  # fmt: skip
        before_s = time.process_time()
        puller._lag(positions)
        keeper.take(positions)
        if number % 4 == 0:
            registry.renew(cluster.pk, "measured")
        used_s += time.process_time() - before_s
    keeper.flush()
    rows = OffsetBlock.objects.filter(cluster=cluster)
    total = rows.aggregate(total=Sum(Length("columns")))["total"]
    a_day = 86_400 / (rounds * ROUND_S) / (GROUPS * PARTITIONS / 1_000) / 1e6
    first = unpacked(bytes(rows.order_by("pk")[0].columns))
    share = len(thinned(first, offset_blocks.THINNED_EVERY_MS).packed()) / len(first.packed())
    return {
        "share": 100 * used_s / (rounds * ROUND_S),
        "memory_mb": memory_mb(),
        "base_mb": base_mb,
        "full_mb": total * a_day,
        "thin_mb": total * a_day * share,
        "week_s": week_s(cluster),
    }


def week_s(cluster: Any) -> float:
    """How long the lag of a week takes of a polled group of 20 partitions: a day as it comes, six with a look a minute."""
    from groups import storage
    from groups.cluster_models import WatchedGroup
    from groups.history.lag.samples import OffsetColumns
    from groups.history.passes.recorder import Recorder
    from groups.models import OffsetBlock, Timeline
    from tests.watching.test_lag_over_time import commit

    row = WatchedGroup.objects.get(cluster=cluster, group="group-0")
    end_ms = time.time_ns() // 1_000_000
    begin_ms = end_ms - WEEK_S * 1_000
    timeline = storage.create_timeline(
        title="week", source=Timeline.Source.LIVE, group="group-0", semantics="kafka", cluster_id=cluster.pk, provenance="inferred",
    )  # fmt: skip
    recorder = Recorder(group="group-0")
    for sequence, at_ms in enumerate((begin_ms, end_ms), 1):
        recorder.add(commit(sequence, at_ms, 1))
    batch = recorder.flush(final=True)
    assert batch is not None
    writer = storage.open_writer(timeline.pk, "measured")
    writer.append(batch)
    writer.finish(Timeline.Status.COMPLETE)
    day_ms, drawn = 86_400_000, random.Random(7)
    at_ms = begin_ms
    while at_ms < end_ms:
        every_ms = ROUND_S * 1_000 if at_ms >= end_ms - day_ms else 60_000
        length_ms = 3_600_000 if every_ms < 60_000 else day_ms
        ends, committed = OffsetColumns(), OffsetColumns()
        for each in range(at_ms, min(at_ms + length_ms, end_ms), every_ms):
            now = dict.fromkeys(range(PARTITIONS), (each - begin_ms) // 10)
            ends.add(each + 20, now)
            committed.add(
                each, {partition: end - drawn.randrange(min(400, end + 1)) for partition, end in now.items()}
            )
        for kind, key, columns in (
            (OffsetBlock.Kind.END, None, ends),
            (OffsetBlock.Kind.COMMITTED, row.pk, committed),
        ):
            OffsetBlock.objects.create(
                cluster=cluster, kind=kind, watched_id=key, topic="week", first_ms=columns.times_ms[0],
                last_ms=columns.times_ms[-1], columns=columns.packed(),
            )  # fmt: skip
        at_ms += length_ms
    took: list[float] = []
    for _ in range(3):
        before_s = time.monotonic()
        answer = storage.lag_between(storage.get(timeline.pk), 1, 2, 400, "topic")
        took.append(time.monotonic() - before_s)
        assert len(answer["times_ms"]) > 100, answer["problem"]
    return sorted(took)[1]


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured(int(sys.argv[1]))) + "\n")
    sys.stdout.flush()
    os._exit(0)
