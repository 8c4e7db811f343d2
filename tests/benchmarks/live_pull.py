"""A cluster of 2,000 groups of 20 members each, pulled and recorded: how long a full round takes, and how much memory.

The broker is a real one. Its groups come from segments that are laid into its folder before it starts, each with a member's
metadata, target and assignment and with committed offsets of all 60 partitions of a topic; the broker answers for them as for any.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from groups.wire.codecs.uuids import base64_to_uuid
from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.generated.cluster_log import cluster_log
from tests.benchmarks.generated.mixes import OFFSETS_PARTITIONS
from tests.benchmarks.generated.written_values import Topic
from tests.broker.node import Node
from tests.serving import ROOT, environment_for

GROUPS, MEMBERS, PARTITIONS = 2_000, 20, 60
TOPIC: Final = "measured"
SESSION_MS: Final = 3_600_000
"""Longer than the measurement: nobody sends heartbeats for these members."""

ROUNDS: Final = 5
"""Full rounds of a cluster in which nothing changes, after the first one."""

LIMIT_S: Final = 900.0
PULL_GOAL_S, MEMORY_GOAL_MB = 10.0, 300.0

SETTINGS: Final[dict[str, object]] = {
    "offsets.topic.num.partitions": OFFSETS_PARTITIONS,
    "group.consumer.max.session.timeout.ms": SESSION_MS,
    "group.consumer.session.timeout.ms": SESSION_MS,
}


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        told = measure(Path(folder), GROUPS, MEMBERS, PARTITIONS)
    size = f"{GROUPS:,} groups × {MEMBERS} members"
    first, later = told["rounds"][0], told["rounds"][1:]
    yield Figure(
        what=f"live: the first full pull of {size}, all listed",
        value=first["wall_s"],
        unit="s",
        goal=PULL_GOAL_S,
    )
    yield Figure(what="live: processor time of it", value=first["processor_s"], unit="s")
    yield Figure(what="live: until all of them have a timeline", value=told["recorded_s"], unit="s")
    yield Figure(
        what="live: a full pull from then on, nothing having changed, median",
        value=middle([each["wall_s"] for each in later]),
        unit="s",
        goal=PULL_GOAL_S,
    )
    yield Figure(
        what="live: processor time of it, median",
        value=middle([each["processor_s"] for each in later]),
        unit="s",
    )
    yield Figure(
        what="live: most memory of the process that pulls and records",
        value=told["memory_mb"],
        unit="MB",
        goal=MEMORY_GOAL_MB,
    )


def measure(folder: Path, groups: int, members: int, partitions: int, rounds: int = ROUNDS) -> dict[str, Any]:
    """``rounds``, each with ``wall_s`` and ``processor_s``, ``recorded_s`` and ``memory_mb``; what was seen is checked."""
    node = Node(folder / "node", SETTINGS)
    with_groups(node, groups, members, partitions)
    try:
        (folder / "var").mkdir()
        environment = environment_for(folder / "var", DJANGO_SETTINGS_MODULE="explorer.settings")
        # A process of its own: its memory is that of the watching alone.
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.live_pull", node.bootstrap, str(rounds)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
            check=True,
        )
    finally:
        node.stop()
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    seen = (told["groups"], told["members"], told["timelines"], told["lagging"])
    assert seen == (groups, groups * members, groups, groups), seen
    return told


def with_groups(node: Node, groups: int, members: int, partitions: int) -> None:
    """Starts the node on a log that holds these groups, and waits until it lists them all."""
    node.start()
    with node.connect() as connection:
        topic_id = connection.create_topic(TOPIC, partitions)
        # The first question for a coordinator makes the offsets topic.
        deadline = time.monotonic() + LIMIT_S
        while connection.find_coordinator("nobody") or len(offsets_folders(node)) < OFFSETS_PARTITIONS:
            assert time.monotonic() < deadline, "the offsets topic was not made"
            time.sleep(0.2)
    node.stop()
    for each in offsets_folders(node):
        # What lay beside the empty segment says that it is empty.
        for file in each.iterdir():
            if file.suffix in (".log", ".index", ".timeindex", ".snapshot"):
                file.unlink()
    # Without it the broker reads its segments anew instead of believing what it remembers of them.
    (node.data / ".kafka_cleanshutdown").unlink(missing_ok=True)
    topic = Topic(TOPIC, base64_to_uuid(topic_id), partitions)
    cluster_log(node.data, groups, members, topic, begin_ms=time.time_ns() // 1_000_000 - 60_000)
    node.start(same_ports=True)
    with node.connect() as connection:
        deadline = time.monotonic() + LIMIT_S
        while (
            listed := len(connection.ask("ListGroups", 5, {"statesFilter": [], "typesFilter": []})["groups"])
        ) < groups:
            assert time.monotonic() < deadline, f"the broker has {listed} groups of {groups}"
            time.sleep(0.5)


def offsets_folders(node: Node) -> list[Path]:
    return sorted(node.data.glob("__consumer_offsets-*"))


def pull(bootstrap: str, rounds: int) -> dict[str, Any]:
    """Watches the cluster as a server's child does, polling, until all groups have a timeline and so many full rounds were seen after that."""
    import asyncio

    import django

    django.setup()
    from django.core.management import call_command

    from groups.cluster_models import WatchedGroup
    from groups.models import Timeline
    from groups.watching import registry
    from groups.watching.job import Watching
    from groups.watching.pulling import Round

    call_command("migrate", verbosity=0)
    cluster = registry.add("measured", {"bootstrap.servers": bootstrap})
    owner = "measured"
    assert registry.take(cluster.pk, owner)
    measured: list[dict[str, float]] = []
    members: dict[str, int] = {}
    begun: set[str] = set()
    recorded_s: list[float] = []
    began_s, used = time.monotonic(), [processor_s()]

    def on_round(seen: Round, rows: list[dict[str, Any]]) -> None:
        now_s = processor_s()
        members.update((row["group"], row["members"]) for row in rows)
        # Full rounds between the first one and the last beginning also begin timelines: they are in ``recorded_s``.
        if seen.full and (not measured or recorded_s):
            # What was asked, decoded, folded, stored and announced: all of the round.
            measured.append({"wall_s": time.time() - seen.at_ms / 1000, "processor_s": now_s - used[0]})
        used[0] = now_s
        begun.update(row["group"] for row in rows if row["timeline"])
        if not recorded_s and len(begun) == len(seen.listing.groups):
            recorded_s.append(time.monotonic() - began_s)

    watching = Watching(
        cluster, owner, stopped=lambda: len(measured) > rounds, follow=False, on_round=on_round
    )
    asyncio.run(watching.run())
    lagging = sum(1 for row in WatchedGroup.objects.all() if row.facts.get("lag") is not None)
    return {
        "rounds": measured,
        "recorded_s": recorded_s[0],
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "groups": len(members),
        "members": sum(members.values()),
        "timelines": Timeline.objects.filter(source=Timeline.Source.LIVE).count(),
        "lagging": lagging,
    }


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.stdout.write(json.dumps(pull(sys.argv[1], int(sys.argv[2]))) + "\n")
    sys.stdout.flush()
    os._exit(0)
