"""A broker that is rolled from 4.3.1 to 4.4.0 and back, while two Java members tie: ``python -m tests.broker.rolled_tie FOLDER``.

The members of ``tied`` ask for range and for uniform. A member of ``short`` joins and leaves on each release, so that its records
show which one wrote them. FOLDER receives the segments of both groups.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .members import CONSUMER, Member
from .node import Node, running, wait_for_coordinator

TIED, SHORT = "tied", "short"
EPOCHS_LEAST: Final = 6
"""So many epochs without a cause are recorded."""

LIMIT_S: Final = 180
SESSION_MS: Final = 60_000
"""Nobody goes while the broker starts again."""


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, "it did not come to be in time"
        time.sleep(0.2)


def epochs(node: Node) -> tuple[int, set[int]]:
    """The group epoch of ``tied``, and those of its members."""
    with node.connect() as connection:
        group = connection.describe_consumer_group(TIED)
    return int(group["groupEpoch"]), {int(each["memberEpoch"]) for each in group["members"]}


def comes_and_goes(node: Node, member: str) -> None:
    wait_for_coordinator(node, SHORT)
    with node.connect() as connection:
        joined = connection.heartbeat(
            SHORT, member, 0, subscribed=["orders"], rebalance_timeout_ms=10_000, owned={}
        )
        assert joined["errorCode"] == 0, joined
        connection.heartbeat(SHORT, member, -1)


def roll(node: Node, release: str) -> None:
    node.stop()
    node.release = release
    node.start(same_ports=True)
    wait_for_coordinator(node, TIED)


def main() -> int:
    kept = Path(sys.argv[1]) / "segments"
    with tempfile.TemporaryDirectory() as place:
        settings = {
            "group.consumer.session.timeout.ms": SESSION_MS,
            "group.consumer.max.session.timeout.ms": SESSION_MS,
        }
        with running(Path(place), settings, release="4.3.1") as node:
            with node.connect() as connection:
                connection.create_topic("orders", 6)
            wait_for_coordinator(node, TIED)
            members = [
                Member(node, name, TIED, "orders", {**CONSUMER, "group.remote.assignor": assignor}).start()
                for name, assignor in (("ranger", "range"), ("unifier", "uniform"))
            ]
            try:
                for member in members:
                    member.wait_for("ready")
                    member.join()
                    member.wait_for("assigned")
                until(lambda: len(epochs(node)[1]) == 1 and epochs(node)[1] == {epochs(node)[0]})
                comes_and_goes(node, "first")
                before = epochs(node)[0]
                roll(node, "4.4.0")
                until(lambda: epochs(node)[0] >= before + EPOCHS_LEAST)
                comes_and_goes(node, "second")
                roll(node, "4.3.1")
                comes_and_goes(node, "third")
                after = epochs(node)[0]
                until(lambda: epochs(node)[1] == {after})
            finally:
                for member in members:
                    member.kill()
        for group in (TIED, SHORT):
            # The partition of a group is the hash of its name, whose segments hold its name in their keys.
            for segment in sorted(node.data.glob("__consumer_offsets-*/*.log")):
                if group.encode() in segment.read_bytes():
                    to = kept / segment.relative_to(node.data)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(segment, to)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
