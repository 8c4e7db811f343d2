"""Logs of a small group, sound and broken, and what the checker tells of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state
from simulations.invariants import Bounds, Checker, Violation
from tests.history.logs import FOO, Log, topic_partitions

Record = dict[str, Any]
KEY = {"groupId": "orders"}
BOUNDS = Bounds(session_timeout_ms=6_000, heartbeat_interval_ms=1_000, assignment_interval_ms=0)
Held = Sequence[int]


def record(number: int, key: Record, value: Record | None) -> Record:
    version = None if value is None else 0
    return {"type": number, "key": KEY | key, "version": version, "value": value}


def epoch(number: int) -> Record:
    return record(3, {}, {"epoch": number, "metadataHash": 0})


def target_epoch(number: int) -> Record:
    return record(6, {}, {"assignmentEpoch": number})


def subscribes(member: str, *names: str) -> Record:
    value = {
        "instanceId": None,
        "rackId": None,
        "clientId": "c",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": list(names or ["foo"]),
        "subscribedTopicRegex": "",
        "rebalanceTimeoutMs": 4_000,
        "serverAssignor": None,
    }
    return record(5, {"memberId": member}, value)


def target(member: str, *numbers: int) -> Record:
    return record(7, {"memberId": member}, {"topicPartitions": topic_partitions({FOO: numbers})})


def current(
    member: str,
    at: int,
    held: Held = (),
    *,
    pending: Held = (),
    state: int = 0,
    previous: int = 1,
    since: int = 2,
) -> Record:
    def listed(numbers: Held, epochs: int) -> list[Record]:
        topics = topic_partitions({FOO: numbers}) if numbers else []
        return [{**topic, "assignmentEpochs": [epochs] * len(numbers)} for topic in topics]

    value = {
        "memberEpoch": at,
        "previousMemberEpoch": previous,
        "state": state,
        "assignedPartitions": listed(held, since),
        "partitionsPendingRevocation": listed(pending, 2),
    }
    return record(8, {"memberId": member}, value)


def group() -> Log:
    """A has foo-0 and foo-1 at epoch 2, B is there with nothing; entries 1 to 14."""
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 2})
    first = log.heartbeat("A", 0, [])
    targets = (target("A", 0, 1), target("B"), target_epoch(2))
    members = (current("A", 2, [0, 1]), current("B", 2))
    log.write(subscribes("A"), subscribes("B"), epoch(2), *targets, *members, cause=first)
    for member in "AB":
        log.timer("session", member, "started", 6_000, cause=first)
    log.callback("A", "on_partitions_assigned", "start", [0, 1])
    log.callback("A", "on_partitions_assigned", "end", [0, 1])
    return log


def shown(
    log: Log,
    semantics: str = "kafka",
    spoil: Callable[[State], State] = lambda state: state,
    retry_ms: int = 0,
) -> list[Violation]:
    """What is told of a log; ``spoil`` changes the memory after the last entry."""
    bounds = replace(BOUNDS, retry_ms=retry_ms)
    checker, state, told = Checker(semantics, bounds), initial_state("orders", semantics), list[Violation]()
    for entry in log.entries:
        state = replay(state, entry)
        told += checker.see(entry, spoil(state) if entry.sequence == log.last else state)
    return told


def commit(log: Log, member: str, at: int, number: int) -> None:
    where = {"topicId": FOO, "partitions": [{"partitionIndex": number, "committedOffset": 7}]}
    body = {"memberId": member, "generationIdOrMemberEpoch": at, "topics": [where]}
    request = log.heartbeat(member, at)
    answer = log.answer(request, member, at)
    asked, told = log.entries[request - 1], log.entries[answer - 1]
    partitions = [{"partitionIndex": number, "errorCode": 0}]
    errors = {"topics": [{"topicId": FOO, "partitions": partitions}]}
    log.entries[request - 1] = replace(asked, payload={"api": "OffsetCommit", "version": 10, "body": body})
    log.entries[answer - 1] = replace(
        told, payload={"api": "OffsetCommit", "version": 10, "to": member, "body": errors}
    )


def answered(log: Log, member: str, at: int, *, asked: dict[str, Any] | None = None, **told: Any) -> None:
    """A heartbeat of the member at this epoch that asks for more, and its answer, which tells other things."""
    request = log.heartbeat(member, at)
    answer = log.answer(request, member, at)
    for sequence, more in ((request, asked or {}), (answer, told)):
        entry = log.entries[sequence - 1]
        body = {**entry.payload["body"], **more}
        log.entries[sequence - 1] = replace(entry, payload={**entry.payload, "body": body})


def committed(number: int, offset: int | None) -> Record:
    """The record of an offset of foo, or its tombstone."""
    value = None if offset is None else {"offset": offset, "metadata": "", "commitTimestamp": 0}
    return record(1, {"group": "orders", "topic": "foo", "partition": number}, value)


def static(member: str, instance: str) -> Record:
    told = subscribes(member)
    return {**told, "value": {**told["value"], "instanceId": instance}}


def gone(member: str, *numbers: int) -> list[Record]:
    return [record(number, {"memberId": member}, None) for number in numbers or (8, 7, 5)]


def by_heartbeat(*records: Record, member: str = "A", owned: Held = (0, 1)) -> Callable[[Log], object]:
    """A heartbeat that writes these records: entries 15 and 16 on."""
    return lambda log: log.write(*records, cause=log.heartbeat(member, 2, owned))


def commits_after_giving_up(log: Log) -> None:
    log.callback("A", "on_partitions_revoked", "start", [1])
    log.callback("A", "on_partitions_revoked", "end", [1])
    commit(log.at(log.now_ms + 10), "A", 2, 1)
