"""A cluster's whole ``__consumer_offsets``: groups of one topic, all members settled, every partition committed.

The members are no processes: a broker that starts on these segments has them as it had after a fail-over, and believes in
them until their session timeout.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

from .mixes import OFFSETS_PARTITIONS, partition_for
from .segment_files import PartitionLog
from .written_groups import WrittenGroup, uniform
from .written_values import COMMITS_A_REQUEST_MAX, Topic

HEARTBEAT_MS: Final = 1_000
"""Between two heartbeats of a member: a target is made at most so often."""

ROUNDS_MOST: Final = 20
"""Rounds of heartbeats until everybody is settled: three are needed."""


def cluster_log(
    folder: Path, groups: int, members: int, topic: Topic, *, begin_ms: int, seed: int = 1
) -> list[str]:
    """Writes the segments into ``folder``, a folder a partition; the groups' names."""
    random = Random(seed)
    logs = [PartitionLog(folder, partition) for partition in range(OFFSETS_PARTITIONS)]
    names = [f"service-{number}-consumers" for number in range(groups)]
    for name in names:
        _assemble(name, members, topic, logs[partition_for(name)], random, begin_ms)
    for log in logs:
        log.close()
    return names


def _assemble(
    name: str, members: int, topic: Topic, log: PartitionLog, random: Random, begin_ms: int
) -> None:
    group = WrittenGroup(name, [topic], random, uniform)
    now_ms = begin_ms
    for _ in range(members):
        _, records = group.join(now_ms)
        log.add(now_ms, records)
    for _ in range(ROUNDS_MOST):
        now_ms += HEARTBEAT_MS
        for member in group.roster:
            if records := group.heartbeat(member, now_ms):
                log.add(now_ms, records)
        if all(map(group.settled, group.roster)):
            break
    else:
        raise AssertionError(f"{name} is not settled after {ROUNDS_MOST} rounds of heartbeats")
    for member in group.roster:
        count, body = group.commit(member, now_ms, COMMITS_A_REQUEST_MAX)
        if count:
            log.add_commits(now_ms, count, body)
