"""``python -m tests.clusters.faults``: everything that can die while a log is followed dies, under load; a report is printed.

The broker, the watching process, the server, PostgreSQL and Redis are killed with SIGKILL, or suspended, and the log is
compacted while nobody reads: in turn, then in a drawn order. The truth is the broker's own segments, read from its disk by the
pure packages. In the end every record of every group stands in a timeline once, or a gap in it says that it is missing.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.broker.compacted import CLEANING, WRITING
from tests.broker.node import Node
from tests.clusters.loaded_world import TOPIC, Load, Services, World, services, until

LEASE_OVER_S: Final = 25.0
"""Longer than a cluster's lease: another process takes it while the suspended one still believes to have it."""


def kill_child(world: World) -> None:
    if child := world.child():
        os.kill(child, signal.SIGKILL)


def suspend_child(world: World, length_s: float = 3.0) -> None:
    if child := world.child():
        os.kill(child, signal.SIGSTOP)
        time.sleep(length_s)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGCONT)


def suspend_child_beyond_its_lease(world: World) -> None:
    suspend_child(world, LEASE_OVER_S)


def kill_server(world: World) -> None:
    world.kill_server()
    world.serve()


def kill_broker(world: World) -> None:
    world.node.kill()
    world.node.start(same_ports=True)


def suspend_broker(world: World) -> None:
    os.kill(world.node.pid, signal.SIGSTOP)
    time.sleep(3)
    os.kill(world.node.pid, signal.SIGCONT)


def compact_unread(world: World) -> None:
    """Nobody reads while the load goes on; the broker compacts what was not read, then the server comes back."""
    world.kill_server()
    time.sleep(3)
    world.node.stop()
    world.look_at_log()
    sizes = _log_bytes(world)
    world.node.settings = CLEANING
    world.node.start(same_ports=True)
    until(lambda: _log_bytes(world) < sizes * 0.9)
    world.node.stop()
    world.node.settings = WRITING
    world.look_at_log()
    world.node.start(same_ports=True)
    world.serve()


def _log_bytes(world: World) -> int:
    return sum(
        path.stat().st_size for path in world.node.data.glob("__consumer_offsets-*/*.log") if path.exists()
    )


def kill_postgresql(world: World) -> None:
    assert world.services is not None
    world.services.kill("postgresql")
    time.sleep(1)
    world.services.start("postgresql")


def kill_redis(world: World) -> None:
    assert world.services is not None
    world.services.kill("redis")
    time.sleep(1)
    world.services.start("redis")


Fault = Callable[[World], None]

EVERYWHERE: Final[tuple[Fault, ...]] = (kill_child, suspend_child, kill_server, suspend_broker, kill_broker)
WHOLE: Final[tuple[Fault, ...]] = (
    *EVERYWHERE, suspend_child_beyond_its_lease, kill_postgresql, kill_redis, compact_unread
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One fault in the report: how long it lasted, and until all was recorded or said again."""

    fault: str
    lasted_s: float
    recovered_s: float


def run(world: World, faults: list[Fault], seed: int, say: Callable[[str], None]) -> list[Line]:
    """Each fault under load; after each the load rests until the timelines have everything, or say what they lack."""
    lines = []
    for number, fault in enumerate(faults):
        with Load(world.node, seed * 1000 + number):
            time.sleep(1)
            began = time.monotonic()
            fault(world)
            lasted_s = time.monotonic() - began
            time.sleep(1)
        recovered_s = recover(world)
        lines.append(Line(fault.__name__, lasted_s, recovered_s))
        records = sum(map(len, world.truth.values()))
        say(f"| {fault.__name__.replace('_', ' ')} | {lasted_s:.1f} s | {recovered_s:.1f} s | {records:,} |")
    return lines


def recover(world: World) -> float:
    """Seconds until every record is recorded once or said to be missing; ``AssertionError`` after ``LIMIT_S``."""
    began = time.monotonic()
    problems: list[str] = ["nothing was looked at"]

    def holds() -> bool:
        try:
            world.look_at_log()
            problems[:] = world.problems()
        except OSError as error:
            problems[:] = [f"the server does not answer: {error}"]
        return not problems

    try:
        until(holds)
    except AssertionError:
        raise AssertionError("; ".join(problems)) from None
    return time.monotonic() - began


@contextlib.contextmanager
def world_in(folder: Path, services: Services | None = None) -> Iterator[World]:
    node = Node(folder / "node", WRITING)
    node.start()
    (folder / "var").mkdir()
    (folder / "properties").write_text(f"bootstrap.servers={node.bootstrap}\nrequest.timeout.ms=2000\n")
    world = World(folder, node, services.environment if services is not None else {}, services)
    try:
        with node.connect() as connection:
            connection.create_topic(TOPIC, 4)
        world.serve()
        yield world
    finally:
        world.close()
        node.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--drawn", type=int, default=10, help="faults in a drawn order, after each was there once"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--embedded", action="store_true", help="without PostgreSQL and Redis")
    asked = parser.parse_args()

    def say(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        made = None if asked.embedded else stack.enter_context(services())
        world = stack.enter_context(world_in(folder, made))
        known = WHOLE if made is not None else (*EVERYWHERE, suspend_child_beyond_its_lease, compact_unread)
        drawn = random.Random(asked.seed).choices(known, k=asked.drawn)
        say("| fault | lasted | until all is recorded once, or said to be missing | records of the log |")
        say("|---|---:|---:|---:|")
        try:
            run(world, [*known, *drawn], asked.seed, say)
        except AssertionError as problem:
            say(f"NOT HELD: {problem}")
            return 1
        records = sum(map(len, world.truth.values()))
        say(
            f"\n{len(known) + asked.drawn} faults, {records:,} records: none stands twice, "
            f"{world.said_to_be_missing():,} are said to be missing, none is missing in silence."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
