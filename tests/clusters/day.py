"""``python -m tests.clusters.day``: 24 hours of a busy cluster, followed and forgotten as it goes; a line for each hour.

The log is made here, batch by batch, and stored as a fetch of two seconds is; time is simulated, entries and database are real.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from groups.wire.logs.record_batch import coordinator_batch, write_batch
from groups.wire.records import encode_record
from tests.history.test_following import commit, epoch

if TYPE_CHECKING:
    from groups.cluster_models import Cluster
    from groups.watching.log_storing import LogStore

FETCH_S = 2
BATCHES = 4
"""Batches of one group in a fetch, each with a time of its own."""

BEGAN_MS = 1_700_000_000_000
"""When the day begins, by the clock of the log."""


@dataclass(slots=True, kw_only=True)
class Day:
    """Groups that commit so often a second each, and rebalance so often an hour."""

    groups: int
    commits_s: float
    rebalances_h: float
    hours: float = 24.0
    records: int = 0
    rebalances: set[tuple[str, int]] = field(default_factory=set)
    """Group and epoch of each."""

    def fetches(self) -> Iterator[tuple[float, bytes]]:
        """The hour that it is, and what was written in ``FETCH_S``."""
        epochs = dict.fromkeys((f"group-{number}" for number in range(self.groups)), 1)
        offset = 0
        due = dict.fromkeys(epochs, 0.0)
        for second in range(0, int(self.hours * 3600), FETCH_S):
            data = b""
            for number, group in enumerate(epochs):
                if second >= due[group]:
                    due[group] = second + 3600 / self.rebalances_h
                    payloads: list[dict[str, Any]] = [epoch(epochs[group], group)]
                    self.rebalances.add((group, epochs[group]))
                    epochs[group] += 1
                else:
                    count = max(1, round(self.commits_s * FETCH_S))
                    payloads = [
                        commit(100 * second + each, group, (number + each) % 12) for each in range(count)
                    ]
                at_ms, size = BEGAN_MS + second * 1000, max(1, len(payloads) // BATCHES)
                for part in range(0, len(payloads), size):
                    some = payloads[part : part + size]
                    records = [encode_record(payload) for payload in some]
                    data += write_batch(
                        coordinator_batch(
                            base_offset=offset, timestamp_ms=at_ms, records=records, partition_leader_epoch=0
                        )
                    )
                    offset, at_ms = offset + len(some), at_ms + FETCH_S * 1000 // BATCHES
            self.records = offset
            yield second / 3600, data

    def live(
        self,
        cluster: Cluster,
        store: LogStore,
        *,
        forget_every: int = 300,
        say: Callable[[float, int], None] = lambda hour, stored: None,
    ) -> int:
        """Store the day; the most bytes of entries that were there at once, looked at before what is too much goes."""
        from groups.history.following.partition import PartitionLog
        from groups.watching import followed, retention
        from groups.watching.log_storing import Taken

        log = PartitionLog(partition=0)
        most, told = 0, -1
        now_s = 0.0
        kept = followed.time, retention._now_ms
        followed.time = SimpleNamespace(monotonic=lambda: now_s)  # type: ignore[assignment]
        retention._now_ms = lambda: BEGAN_MS + int(now_s * 1000)
        try:
            for number, (hour, data) in enumerate(self.fetches()):
                now_s = hour * 3600
                store.take([Taken(log, list(log.take(data)), True, log.position)], {})
                if number % forget_every == 0:
                    most = max(most, retention.bytes_of(cluster))
                    while retention.forget(cluster):
                        pass
                    if int(hour) > told:
                        told = int(hour)
                        say(hour, retention.bytes_of(cluster))
            store.flush()
        finally:
            followed.time, retention._now_ms = kept
        return most


def rebalances_of(cluster: Cluster) -> set[tuple[str, int]]:
    """The group epochs that are stored of each group."""
    from groups import storage
    from groups.models import Timeline

    return {
        (timeline.group, entry["payload"]["value"]["epoch"])
        for timeline in Timeline.objects.filter(cluster=cluster)
        for entry in storage.every_entry(timeline)
        if entry["kind"] == "record" and entry["payload"]["type"] == 3
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=10)
    parser.add_argument("--commits", type=float, default=2.0, metavar="N", help="of each group in a second")
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--bound", type=int, default=200, metavar="MB", help="entries that are kept")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"REBALANCE_VAR": folder, "DJANGO_SETTINGS_MODULE": "explorer.settings"}
        import django

        django.setup()
        from django.core.management import call_command

        from groups.watching import registry, retention
        from groups.watching.log_storing import LogStore

        call_command("migrate", verbosity=0)
        retention.BYTES_MOST = asked.bound * 1024**2
        cluster = registry.add("day", {"bootstrap.servers": "localhost:9092"})
        registry.take(cluster.pk, "day")
        store = LogStore(cluster, "day")
        store.begin()
        day = Day(groups=asked.groups, commits_s=asked.commits, rebalances_h=6, hours=asked.hours)
        began = time.process_time()

        def say(hour: float, stored: int) -> None:
            size = sum(path.stat().st_size for path in Path(folder).glob("*sqlite*"))
            sys.stdout.write(
                f"hour {hour:4.1f}: {day.records:,} records, entries {stored / 1e6:.0f} MB, database {size / 1e6:.0f} MB, "
                f"{time.process_time() - began:.0f} s of processor\n"
            )
            sys.stdout.flush()

        most = day.live(cluster, store, say=say)
        sys.stdout.write(
            f"{day.records:,} records; entries at most {most / 1e6:.0f} MB of {asked.bound} MB\n"
        )
        return 0 if most < retention.BYTES_MOST * 1.5 else 1


if __name__ == "__main__":
    sys.exit(main())
