"""A log before and after Kafka's own cleaner went over it, and what the broker says of its group then.

The broker writes a segment every few hundred milliseconds and compacts nothing at first. Started again with an eager
cleaner it compacts all but the newest segment and is asked. Started a third time, without a cleaner, it goes on: a log
with a hole and a history behind it, as every cluster has. The segments from before, and what was written later, are the
whole log, which tells what really happened.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from tests.benchmarks.generated.mixes import partition_for

from .acting import Group
from .moments import OFFSETS, Moment, Moments
from .node import OFFSETS_PARTITIONS, Node
from .scripted_cases import ends

GROUP = "compacted"
ROLL_MS = 300
WRITING: dict[str, object] = {"group.consumer.assignment.interval.ms": 0, "log.roll.ms": ROLL_MS}
CLEANING: dict[str, object] = WRITING | {
    "log.cleaner.backoff.ms": 200,
    "log.cleaner.min.cleanable.ratio": 0.01,
    "log.cleaner.delete.retention.ms": 0,
    "log.segment.delete.delay.ms": 100,
}

SESSION_MS = 60_000
"""Kafka's greatest: members stay over the restart, which takes ten seconds."""

CLEANED_LIMIT_S = 180
QUIET_S = 2.0
COMMITS_A_STEP = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """Copies of the broker's folder, and what it said.

    ``whole`` has every record, ``after`` is what the cleaner left, ``continued`` that and what was written later.
    ``at_rest`` holds at the end of ``after``, each of ``moments`` and ``at_end`` in ``continued``; all of them in ``whole``.
    """

    whole: Path
    after: Path
    continued: Path
    at_rest: Moment
    moments: list[Moment]
    at_end: Moment


def play(folder: Path) -> Compacted:
    """Takes about a minute."""
    node = Node(folder / "node", WRITING)
    node.start()
    try:
        group = Group(node, GROUP)
        first_life(group)
        node.stop()
        before = copy(node, folder / "before")

        node.settings = CLEANING
        node.start()
        wait_until_cleaned(node, before)
        group.reconnect(node)
        at_rest = ends(node, [GROUP])[GROUP]
        group.close()
        node.stop()
        after = copy(node, folder / "after")

        node.settings = WRITING
        node.start()
        group.reconnect(node)
        with Moments(node, [GROUP]) as watch:
            second_life(group)
        at_end = ends(node, [GROUP])[GROUP]
        group.close()
        node.stop()
        continued = copy(node, folder / "continued")
    finally:
        node.kill()
    return Compacted(
        whole=put_together(before, continued, folder / "whole"),
        after=after,
        continued=continued,
        at_rest=at_rest,
        moments=watch.taken,
        at_end=at_end,
    )


def put_together(before: Path, continued: Path, to: Path) -> Path:
    """The segments as they were before the cleaner came, and the later ones: it never touches the newest segment."""
    shutil.copytree(continued, to)
    old, new = partition_folder(before), partition_folder(to)
    newest = max(old.glob("*.log")).name
    for segment in new.glob("*.log"):
        if segment.name < newest:
            segment.unlink()
    for segment in old.glob("*.log"):
        if segment.name < newest:
            shutil.copyfile(segment, new / segment.name)
    return to


def first_life(group: Group) -> None:
    """A and B, then C; B leaves; D joins; the topic grows. Partitions change hands often, and commits are many."""
    group.topic("foo", 6)
    group.configure(session_timeout_ms=SESSION_MS)
    steps: list[tuple[str, Callable[[], object]]] = [
        ("A", lambda: group.join("A", ["foo"])),
        ("AB", lambda: group.join("B", ["foo"])),
        ("ABC", lambda: group.join("C", ["foo"])),
        ("AC", lambda: group.leave("B")),
        ("ACD", lambda: group.join("D", ["foo"])),
        ("ACD", lambda: group.grow("foo", 8)),
        ("CD", lambda: group.leave("A")),
        ("CDE", lambda: group.join("E", ["foo"])),
    ]
    for members, step in steps:
        step()
        group.settle(*members)
        commit_all(group, members)


def commit_all(group: Group, members: str) -> None:
    for offset in range(COMMITS_A_STEP):
        for member in members:
            for partitions in group.owned[member].values():
                group.commit(member, None, "foo", dict.fromkeys(partitions, offset))
    # The next record begins a segment of its own.
    time.sleep(1.5 * ROLL_MS / 1000)


def second_life(group: Group) -> None:
    group.leave("D")
    group.settle("C", "E")
    commit_all(group, "CE")
    group.join("F", ["foo"])
    group.settle("C", "E", "F")
    group.leave("C")
    group.settle("E", "F")


def partition_folder(data: Path) -> Path:
    return data / f"{OFFSETS}-{partition_for(GROUP, OFFSETS_PARTITIONS)}"


def records_in(data: Path) -> int:
    """Records of the group's partition, as far as they can be read."""
    return sum(
        len(batch.records)
        for segment in sorted(partition_folder(data).glob("*.log"))
        for batch in read_batches(segment.read_bytes())
        if isinstance(batch, RecordBatch)
    )


def wait_until_cleaned(node: Node, before: Path) -> None:
    """Until much fewer records are there and no file changes any more."""
    written, deadline = records_in(before), time.monotonic() + CLEANED_LIMIT_S
    known, since = -1, time.monotonic()
    while time.monotonic() < deadline:
        try:
            now = records_in(node.data)
        except FileNotFoundError:
            # The cleaner has just replaced it.
            continue
        if now != known:
            known, since = now, time.monotonic()
        elif now < written / 2 and time.monotonic() - since > QUIET_S:
            return
        time.sleep(0.2)
    raise AssertionError(f"the cleaner left {known} of {written} records after {CLEANED_LIMIT_S} s")


def copy(node: Node, to: Path) -> Path:
    """The segments of the offsets topic and of the metadata log, as they are now."""
    for pattern in (f"{OFFSETS}-*", "__cluster_metadata-0"):
        for folder in node.data.glob(pattern):
            target = to / folder.name
            target.mkdir(parents=True)
            for segment in folder.glob("*.log"):
                shutil.copyfile(segment, target / segment.name)
    return to
