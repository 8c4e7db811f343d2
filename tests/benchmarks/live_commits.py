"""Twenty followed groups that commit 27 times a second each, for six simulated hours: what is stored of them.

Time is simulated, the log's bytes, the entries and the database are real. The bound of bytes is so small that commits of the last hour
are thinned, too. ``python -m tests.benchmarks.live_commits`` is the process whose database it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.figures import Figure
from tests.clusters.day import Day, rebalances_of

GROUPS: Final = 20
COMMITS_S: Final = 27.0
REBALANCES_H: Final = 6.0
HOURS: Final = 6.0
BOUND_BYTES: Final = 24 * 1024**2
"""Of all entries: less than the commits of an hour take before they are thinned."""


def run() -> Iterator[Figure]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "explorer.settings"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.live_commits", str(HOURS)],
            env=environment | {"REBALANCE_VAR": folder},
            capture_output=True,
            check=True,
        )
    told = json.loads(done.stdout)
    days = GROUPS * HOURS / 24
    what = f"commits: {GROUPS} groups, {COMMITS_S:.0f} commits a second each, {HOURS:.0f} h"
    yield Figure(what=f"{what}, commits", value=told["commits"], unit="")
    yield Figure(what=f"{what}, entries of a group and day", value=told["entries"] / days, unit="")
    yield Figure(
        what=f"{what}, entries' bytes of a group and day", value=told["bytes"] / days / 1e6, unit="MB"
    )
    yield Figure(
        what=f"{what}, database's bytes of a group and day", value=told["database"] / days / 1e6, unit="MB"
    )
    yield Figure(what=f"{what}, rebalances that are missing", value=told["missing"], unit="", goal=0)
    yield Figure(
        what=f"{what}, processor time of 1,000 commits",
        value=told["cpu_s"] / told["commits"] * 1e6,
        unit="ms",
    )
    week = told["bytes"] / days * 2_000 * 7 / 1e9
    yield Figure(what="commits: entries of 2,000 such groups and 7 days, computed", value=week, unit="GB")


def measured(hours: float, folder: Path) -> dict[str, Any]:
    """What is stored after so many hours, in the process whose database is in ``folder``."""
    from groups.models import Timeline
    from groups.watching import registry, retention
    from groups.watching.log_storing import LogStore

    retention.BYTES_MOST = BOUND_BYTES
    cluster = registry.add("commits", {"bootstrap.servers": "localhost:9092"})
    registry.take(cluster.pk, "commits")
    store = LogStore(cluster, "commits")
    store.begin()
    day = Day(groups=GROUPS, commits_s=COMMITS_S, rebalances_h=REBALANCES_H, hours=hours)
    began = time.process_time()
    most = day.live(cluster, store, say=_say)
    return {
        "commits": day.records,
        "most": most,
        "bytes": retention.bytes_of(cluster),
        "entries": sum(Timeline.objects.values_list("last", flat=True)),
        "timelines": Timeline.objects.count(),
        "database": sum(path.stat().st_size for path in folder.glob("*sqlite*")),
        "missing": len(day.rebalances - rebalances_of(cluster)),
        "rebalances": len(day.rebalances),
        "cpu_s": time.process_time() - began,
    }


def _say(hour: float, stored: int) -> None:
    sys.stderr.write(
        f"hour {hour:.1f}: entries {stored / 1e6:.1f} MB, {time.process_time():.0f} s of processor\n"
    )


def main() -> int:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    json.dump(measured(float(sys.argv[1]), Path(os.environ["REBALANCE_VAR"])), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
