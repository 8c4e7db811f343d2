"""``python -m tests.clusters.releases``: brokers of several releases, groups that live, and each frame beside Kafka's own tools.

For each release: classic, static and (where it has them) consumer groups, one with an expression, and a migration; of the newest
one also a share and a streams group, each beside the tool of its kind. A member
is suspended while another joins, so that a group stays Reconciling for as long as it is sampled. JSON on standard output, a
line a release; exit 1 where any frame differs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.broker import share_and_streams
from tests.broker.members import CLASSIC, CONSUMER, Member
from tests.broker.node import Node
from tests.clusters.releases.new_kinds import sampled
from tests.clusters.releases.sampling import Sampler, sampling
from tests.clusters.releases.tool import tool_of

RELEASES = ("4.3.1", "4.0.2", "3.9.1", "3.7.2", "2.8.2")
SAMPLES = 300
LIMIT_S = 60
A_ROUND = 75
"""Samples while one member is suspended: some seconds, less than its session."""

SESSION_MS = 45_000
COOPERATIVE = CLASSIC | {
    "partition.assignment.strategy": "cooperative-sticky",
    "session.timeout.ms": SESSION_MS,
}


class Story:
    """The members of one broker, and what happens to them while it is sampled."""

    def __init__(self, node: Node, sampler: Sampler, leftovers: contextlib.ExitStack) -> None:
        self.node, self.sampler, self.leftovers = node, sampler, leftovers

    def joins(
        self, name: str, group: str, topic: str, settings: Mapping[str, object], *, waits: bool = True
    ) -> Member:
        member = Member(self.node, name, group, topic, settings, program="rdkafka").start()
        self.leftovers.callback(member.kill)
        member.wait_for("ready")
        member.join()
        if waits:
            member.wait_for("assigned")
        return member

    def until(self, group: str, holds: Callable[[Any], bool]) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not ((told := self.sampler.describe(group)) and holds(told)):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{group} did not come to that: {told}")
            time.sleep(0.1)

    def settles(self, group: str, members: int) -> None:
        self.until(group, lambda told: told.state == "Stable" and len(told.members) == members)

    def samples(self, group: str, count: int) -> None:
        """Brackets until so many held; a group that never rests gives up in the end."""
        held = tries = 0
        while held < count and tries < 3 * count + 10:
            tries += 1
            held += self.sampler.sample(group)

    def old(self, count: int) -> None:
        """Classic: cooperative members that come and go, and a static one that is away and back."""
        self.joins("x", "old", "orders", COOPERATIVE)
        self.samples("old", count)
        y = self.joins("y", "old", "orders", COOPERATIVE)
        self.settles("old", 2)
        self.samples("old", count)
        y.leave()
        self.settles("old", 1)
        self.samples("old", count)
        seat = self.joins("s", "old-seats", "orders", COOPERATIVE | {"group.instance.id": "seat"})
        self.samples("old-seats", count)
        seat.leave()
        self.joins("t", "old-seats", "orders", COOPERATIVE | {"group.instance.id": "seat"})
        self.samples("old-seats", count)

    def modern(self, count: int, reconciling: int) -> None:
        """Consumer groups: static, an expression, a migration, and one that stays Reconciling."""
        self.joins("s", "seats", "orders", CONSUMER | {"group.instance.id": "seat-1"})
        seat = self.joins("t", "seats", "orders", CONSUMER | {"group.instance.id": "seat-2"})
        self.settles("seats", 2)
        self.samples("seats", count)
        seat.leave()
        self.samples("seats", count)
        self.joins("f", "regex", "^ord.*", CONSUMER)
        self.samples("regex", count)
        self.joins("c", "moving", "orders", COOPERATIVE)
        self.samples("moving", count)
        self.joins("d", "moving", "orders", CONSUMER)
        self.settles("moving", 2)
        self.samples("moving", count)
        a = self.joins("a", "modern", "orders", CONSUMER)
        self.samples("modern", count)
        while (left := reconciling - self.sampler.compared["modern", "Reconciling"]) > 0:
            a.suspend()
            b = self.joins("b", "modern", "orders", CONSUMER, waits=False)
            self.until("modern", lambda told: told.state == "Reconciling")
            self.samples("modern", min(left, A_ROUND))
            a.resume()
            self.settles("modern", 2)
            self.samples("modern", 3)
            b.leave()
            self.settles("modern", 1)


def run(release: str, count: int, reconciling: int, folder: Path) -> dict[str, Any]:
    """The report of one release."""
    settings = {
        "group.consumer.session.timeout.ms": SESSION_MS,
        "group.consumer.migration.policy": "bidirectional",
        "group.max.session.timeout.ms": 60_000,
    }
    has_new_kinds = release == RELEASES[0]
    node = Node(
        folder / release, settings | (share_and_streams.SETTINGS if has_new_kinds else {}), release=release
    )
    node.start()
    begun_s = time.monotonic()
    try:
        with (
            contextlib.ExitStack() as leftovers,
            tool_of(node, folder / "classes") as tool,
            sampling(tool) as sampler,
        ):
            with node.connect() as connection:
                connection.create_topic("orders", 6)
            story = Story(node, sampler, leftovers)
            story.old(count)
            # Before 4.0 consumer groups are a preview, of which librdkafka does not know the requests.
            if not release.startswith(("2.", "3.")):
                story.modern(count, reconciling)
        samplers = [sampler]
        if has_new_kinds:
            samplers += sampled(node, folder / "classes", count)
    finally:
        node.stop()
    compared = Counter[tuple[str, str]]()
    for each in samplers:
        compared.update(each.compared)
    by_state = Counter[str]()
    for (_, state), held in compared.items():
        by_state[state] += held
    differing = [difference for each in samplers for difference in each.differing]
    return {
        "release": release,
        "groups": sorted({group for group, _ in compared}),
        "compared": compared.total(),
        "by_state": dict(by_state),
        "by_group": {
            group: sum(held for (name, _), held in compared.items() if name == group) for group, _ in compared
        },
        "changed_meanwhile": sum(each.changed for each in samplers),
        "different": len(differing),
        "differences": differing[:20],
        "seconds": round(time.monotonic() - begun_s),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clusters.releases", description=__doc__)
    parser.add_argument("--release", action="append", help=f"one of them; default: {', '.join(RELEASES)}")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="while Reconciling")
    parser.add_argument("--each", type=int, default=10, help="at every other step")
    options = parser.parse_args()
    different = 0
    for release in options.release or RELEASES:
        sys.stderr.write(f"Kafka {release} …\n")
        with tempfile.TemporaryDirectory(prefix="rebalance-releases-") as folder:
            report = run(release, options.each, options.samples, Path(folder))
        different += report["different"]
        sys.stdout.write(json.dumps(report) + "\n")
        sys.stdout.flush()
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
