"""Twenty followed groups that commit 27 times a second each, for six simulated hours: what is stored of them.

Time is simulated, the log's bytes, the entries and the database are real. The bound of bytes is so small that commits of the last hour
are thinned, too. ``python -m tests.benchmarks.live_commits HOURS GROUPS`` is the process whose database it is.
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
BOUND_BYTES: Final = 1024**2
"""Of the entries of each group: less than the commits of an hour take before they are thinned."""


def run() -> Iterator[Figure]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "explorer.settings"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.live_commits", str(HOURS), str(GROUPS)],
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
        what=f"{what}, entries' bytes of a group and day, thinned",
        value=told["thinned"] / days / 1e6,
        unit="MB",
    )
    yield Figure(
        what=f"{what}, database's bytes of a group and day, thinned",
        value=told["database"] / days / 1e6,
        unit="MB",
    )
    yield Figure(what=f"{what}, rebalances that are missing", value=told["missing"], unit="", goal=0)
    yield Figure(
        what=f"{what}, processor time of 1,000 commits",
        value=told["cpu_s"] / told["commits"] * 1e6,
        unit="ms",
    )
    week = told["thinned"] / days * 2_000 * 7 / 1e9
    yield Figure(what="commits: entries of 2,000 such groups and 7 days, computed", value=week, unit="GB")


def measured(hours: float, groups: int, folder: Path) -> dict[str, Any]:
    """What is stored after so many hours, in the process whose database is in ``folder``."""
    from django.db import connection

    from groups.models import Timeline
    from groups.watching import registry, retention
    from groups.watching.log_storing import LogStore

    retention.BYTES_MOST = BOUND_BYTES * groups
    cluster = registry.add("commits", {"bootstrap.servers": "localhost:9092"})
    registry.take(cluster.pk, "commits")
    store = LogStore(cluster, "commits")
    store.begin()
    day = Day(groups=groups, commits_s=COMMITS_S, rebalances_h=REBALANCES_H, hours=hours)
    began = time.process_time()
    most = day.live(cluster, store, say=_say)
    cpu_s, whole = time.process_time() - began, retention.bytes_of(cluster)
    # What stays of a day does not depend on when it was measured: the last hour is thinned, too.
    while retention.thin(cluster, 10**15, least_ms=0):
        pass
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return {
        "commits": day.records,
        "most": most,
        "bytes": whole,
        "thinned": retention.bytes_of(cluster),
        "entries": sum(Timeline.objects.values_list("last", flat=True)),
        "timelines": Timeline.objects.count(),
        "database": sum(path.stat().st_size for path in folder.glob("*.sqlite3")),
        "missing": len(day.rebalances - rebalances_of(cluster)),
        "rebalances": len(day.rebalances),
        "cpu_s": cpu_s,
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
    json.dump(measured(float(sys.argv[1]), int(sys.argv[2]), Path(os.environ["REBALANCE_VAR"])), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
