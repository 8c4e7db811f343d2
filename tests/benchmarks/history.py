"""The fold: entries in a second of processor time, for each pass, and what a member more costs.

The churning group is what a broker writes for 20 members of the consumer protocol: members leave and join, everybody moves
to the new epoch, and in between they commit. The large one shows whether cost follows what changes: all join, all
move to one epoch, all leave, four times as many of them the second time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

from groups.history.entries import Entry, Kind, Provenance
from groups.history.passes.indexing import Indexer
from groups.history.passes.recorder import Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from tests.benchmarks.figures import Figure

GROUP: Final = "service-consumers"
TOPIC, TOPIC_ID = "topic", "cLledStpRu6ixDUvA4jVgA"

CHURN_ENTRIES: Final = 40_000
CHURN_MEMBERS: Final = 20
LARGE_MEMBERS: Final = (5_000, 20_000)

REPLAYED_GOAL, INDEXED_GOAL, RECORDED_GOAL = 100_000, 50_000, 20_000


def run() -> Iterator[Figure]:
    churn = Churn(CHURN_MEMBERS).log(CHURN_ENTRIES)
    what = f"a churning group of {CHURN_MEMBERS}"
    for name, fold, goal in PASSES:
        yield Figure(
            what=f"{name}: {what}", value=speed(fold, churn), unit="entries/s", goal=goal, at_least=True
        )
    few, many = (large(members) for members in LARGE_MEMBERS)
    for name, fold, _ in PASSES:
        some, all_ = speed(fold, few), speed(fold, many)
        yield Figure(what=f"{name}: {LARGE_MEMBERS[1]:,} members", value=all_, unit="entries/s")
        times = LARGE_MEMBERS[1] // LARGE_MEMBERS[0]
        yield Figure(
            what=f"{name}: cost of an entry, {times} times as many members", value=some / all_, unit="times"
        )


def replayed(entries: Sequence[Entry]) -> None:
    state = initial_state(GROUP)
    for entry in entries:
        state = replay(state, entry)


def indexed(entries: Sequence[Entry]) -> None:
    indexer = Indexer(group=GROUP)
    for entry in entries:
        indexer.add(entry)
    indexer.summary()


def recorded(entries: Sequence[Entry]) -> None:
    """As an import does it: what is full is flushed."""
    recorder = Recorder(group=GROUP)
    for entry in entries:
        recorder.add(entry)
        if recorder.full:
            recorder.flush()
    recorder.flush(final=True)


PASSES: Final[Sequence[tuple[str, Callable[[Sequence[Entry]], None], float]]] = (
    ("replayed", replayed, REPLAYED_GOAL),
    ("indexed", indexed, INDEXED_GOAL),
    ("recorded", recorded, RECORDED_GOAL),
)


def speed(fold: Callable[[Sequence[Entry]], None], entries: Sequence[Entry]) -> float:
    began = time.process_time()
    fold(entries)
    return len(entries) / (time.process_time() - began)


class Writer:
    """Records of one group as entries, a batch for each request."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.now_ms = 0

    def write(self, *records: dict[str, Any]) -> None:
        first = len(self.entries) + 1
        for place, payload in enumerate(records):
            self.entries.append(
                Entry(
                    sequence=first + place,
                    at_ms=self.now_ms,
                    kind=Kind.RECORD,
                    actor="coordinator",
                    provenance=Provenance.RECORDED,
                    payload=payload,
                    settled=place == len(records) - 1,
                    partition=0,
                    offset=first + place - 1,
                    batch=first - 1,
                    unit=first,
                )
            )


def record(kind: int, value: dict[str, Any] | None, **key: Any) -> dict[str, Any]:
    fields = {"groupId": GROUP, **key}
    return {"type": kind, "key": fields, "version": None if value is None else 0, "value": value}


def member(name: str) -> dict[str, Any]:
    value = {
        "instanceId": None,
        "rackId": None,
        "clientId": f"client-{name[:4]}",
        "clientHost": "/10.0.0.1",
        "subscribedTopicNames": [TOPIC],
        "subscribedTopicRegex": "",
        "rebalanceTimeoutMs": 300_000,
        "serverAssignor": None,
    }
    return record(5, value, memberId=name)


def epoch(number: int) -> dict[str, Any]:
    return record(3, {"epoch": number, "metadataHash": 7})


def target(name: str, partitions: Sequence[int]) -> dict[str, Any]:
    return record(
        7, {"topicPartitions": [{"topicId": TOPIC_ID, "partitions": list(partitions)}]}, memberId=name
    )


def target_epoch(number: int, now_ms: int) -> dict[str, Any]:
    return record(6, {"assignmentEpoch": number, "assignmentTimestamp": now_ms})


def current(name: str, number: int, previous: int, partitions: Sequence[int]) -> dict[str, Any]:
    topics = [
        {
            "topicId": TOPIC_ID,
            "partitions": list(partitions),
            "assignmentEpochs": [number] * len(partitions),
        }
    ]
    value = {
        "memberEpoch": number,
        "previousMemberEpoch": previous,
        "state": 0,
        "assignedPartitions": topics,
        "partitionsPendingRevocation": [],
    }
    return record(8, value, memberId=name)


def gone(kind: int, name: str) -> dict[str, Any]:
    return record(kind, None, memberId=name)


class Churn:
    """As ``BigSegment`` of the import's benchmark has them: one leave and one join in fifty requests, else commits."""

    def __init__(self, members: int, seed: int = 1) -> None:
        self.size, self.partitions = members, 2 * members
        self.random = Random(seed)
        self.writer = Writer()
        self.epoch = 1
        self.epochs: dict[str, int] = {}
        self.offsets = [0] * self.partitions

    def log(self, entries: int) -> list[Entry]:
        for _ in range(self.size):
            self.join()
        while len(self.writer.entries) < entries:
            self.writer.now_ms += self.random.randrange(300)
            drawn = self.random.randrange(100)
            if drawn < 2 and len(self.epochs) > 1:
                self.leave()
            elif drawn < 4 and len(self.epochs) < self.size + 2:
                self.join()
            else:
                self.commit()
        return self.writer.entries

    def plan(self) -> dict[str, list[int]]:
        names = sorted(self.epochs)
        return {name: list(range(at, self.partitions, len(names))) for at, name in enumerate(names)}

    def commit(self) -> None:
        value = {"leaderEpoch": 0, "metadata": "", "commitTimestamp": self.writer.now_ms, "topicId": TOPIC_ID}
        records = []
        for partition in self.plan()[self.random.choice(sorted(self.epochs))]:
            self.offsets[partition] += self.random.randrange(500)
            key = {"group": GROUP, "topic": TOPIC, "partition": partition}
            told = {"offset": self.offsets[partition], **value}
            records.append({"type": 1, "key": key, "version": 4, "value": told})
        self.writer.write(*records)

    def join(self) -> None:
        name = f"{self.random.getrandbits(128):032x}"
        self.epochs[name] = 0
        self.rebalance(member(name))

    def leave(self) -> None:
        name = self.random.choice(sorted(self.epochs))
        del self.epochs[name]
        self.rebalance(gone(8, name), gone(7, name), gone(5, name))

    def rebalance(self, *records: dict[str, Any]) -> None:
        self.epoch += 1
        self.writer.write(*records, epoch(self.epoch))
        self.writer.now_ms += 5
        plan = self.plan()
        targets = (target(name, partitions) for name, partitions in plan.items())
        self.writer.write(*targets, target_epoch(self.epoch, self.writer.now_ms))
        for name, partitions in plan.items():
            self.writer.now_ms += 1
            self.writer.write(current(name, self.epoch, self.epochs[name], partitions))
            self.epochs[name] = self.epoch


def large(members: int) -> list[Entry]:
    """All join, one after another, and get a partition each; all move to the last epoch; all leave."""
    writer = Writer()
    random = Random(members)
    names = [f"{random.getrandbits(128):032x}" for _ in range(members)]
    for number, name in enumerate(names):
        writer.now_ms += 10
        at = number + 2
        writer.write(
            member(name),
            epoch(at),
            target(name, [number]),
            target_epoch(at, writer.now_ms),
            current(name, at, 0, [number]),
        )
    last = members + 1
    for number, name in enumerate(names):
        writer.now_ms += 1
        writer.write(current(name, last, number + 2, [number]))
    for number, name in enumerate(names):
        writer.now_ms += 10
        at = last + 1 + number
        writer.write(gone(8, name), gone(7, name), gone(5, name), epoch(at), target_epoch(at, 0))
    return writer.entries
