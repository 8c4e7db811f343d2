"""Two members tie while their broker is rolled over releases: ``python -m tests.broker.rolled_tie FOLDER PROGRAM RELEASE…``.

The members of ``tied``, clients of PROGRAM (``java`` or ``rdkafka``), ask for range and for uniform. A member of ``short`` joins and
leaves on each release, so that its records show which one wrote them. FOLDER receives the segments of both groups. The fixtures are
``rolled-tie`` (java 4.3.1 4.4.0 4.3.1), ``rdkafka-tie`` (rdkafka 4.4.0) and its control ``rdkafka-no-tie`` (rdkafka 4.3.1).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, get_args

from .members import CONSUMER, Member, Program
from .node import Node, running, wait_for_coordinator

TIED, SHORT = "tied", "short"
EPOCHS_LEAST: Final = 6
"""So many epochs without a cause are recorded."""

HELD_S: Final = EPOCHS_LEAST
"""A release that does not let them tie is watched for as long: members send a heartbeat a second."""

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


def play(node: Node, name: str) -> None:
    """What both groups do on one release."""
    begun, _ = epochs(node)
    if node.follows("assignor_change_bumps"):
        until(lambda: epochs(node)[0] >= begun + EPOCHS_LEAST)
    else:
        until(lambda: epochs(node)[1] == {epochs(node)[0]})
        time.sleep(HELD_S)
    comes_and_goes(node, name)


def main() -> int:
    folder, program, *releases = sys.argv[1:]
    kept = Path(folder) / "segments"
    [program] = [each for each in get_args(Program) if each == program]
    with tempfile.TemporaryDirectory() as place:
        settings = {
            "group.consumer.session.timeout.ms": SESSION_MS,
            "group.consumer.max.session.timeout.ms": SESSION_MS,
        }
        with running(Path(place), settings, release=releases[0]) as node:
            with node.connect() as connection:
                connection.create_topic("orders", 6)
            wait_for_coordinator(node, TIED)
            members = [
                Member(
                    node,
                    name,
                    TIED,
                    "orders",
                    {**CONSUMER, "group.remote.assignor": assignor},
                    program=program,
                ).start()
                for name, assignor in (("ranger", "range"), ("unifier", "uniform"))
            ]
            try:
                for member in members:
                    member.wait_for("ready")
                    member.join()
                    member.wait_for("assigned")
                play(node, "member-0")
                for turn, release in enumerate(releases[1:], 1):
                    roll(node, release)
                    play(node, f"member-{turn}")
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
