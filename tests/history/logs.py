"""Logs typed by hand: a small context in which a test writes down requests and records as a timeline has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from groups.history.entries import Entry, Kind, Provenance
from groups.history.frames.changes import apply
from groups.history.frames.frame import frame
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state

FOO = "cLledStpRu6ixDUvA4jVgA"
"""The id of topic foo, in Kafka's base64 form."""

Partitions = Mapping[str, Iterable[int]]


def frame_at(checkpoint: dict[str, Any], changes: list[dict[str, Any]], sequence: int) -> dict[str, Any]:
    """The frame after entry ``sequence``, from a chunk's checkpoint and the changes of that chunk, in order."""
    assert sequence >= checkpoint["sequence"], "it lies before the checkpoint"
    told: dict[str, Any] = apply(
        checkpoint["frame"], (each for each in changes if each["sequence"] <= sequence)
    )
    return told


class Log:
    """Entries of one group in the making. Records that are written together are one unit."""

    def __init__(
        self, group: str = "orders", provenance: Provenance = Provenance.RECORDED, start_ms: int = 0
    ) -> None:
        self.group = group
        self.provenance = provenance
        self.entries: list[Entry] = []
        self.now_ms = start_ms
        self._offset = 0

    @property
    def last(self) -> int:
        return len(self.entries)

    def at(self, at_ms: int) -> Log:
        self.now_ms = at_ms
        return self

    def write(self, *records: dict[str, Any], cause: int | None = None) -> int:
        """Records of one request; the sequence of the first."""
        first = self.last + 1
        for index, record in enumerate(records):
            self._add(
                Kind.RECORD,
                "coordinator",
                record,
                cause=cause,
                settled=index == len(records) - 1,
                partition=0,
                offset=self._offset,
                batch=self._offset - index,
                unit=first,
            )
            self._offset += 1
        return first

    def heartbeat(
        self,
        member: str,
        epoch: int,
        owned: Iterable[int] | None = None,
        *,
        steady: bool = False,
        **fields: Any,
    ) -> int:
        body: dict[str, Any] = {"groupId": self.group, "memberId": member, "memberEpoch": epoch, **fields}
        body["topicPartitions"] = None if owned is None else topic_partitions({FOO: owned})
        payload = {"api": "ConsumerGroupHeartbeat", "version": 1, "body": body}
        return self._add(Kind.REQUEST, member, payload | ({"steady": True} if steady else {}))

    def answer(self, request: int, member: str, epoch: int, assigned: Iterable[int] | None = None) -> int:
        assignment = None if assigned is None else {"topicPartitions": topic_partitions({FOO: assigned})}
        body = {"errorCode": 0, "memberId": member, "memberEpoch": epoch, "assignment": assignment}
        payload = {"api": "ConsumerGroupHeartbeat", "version": 1, "to": member, "body": body}
        return self._add(Kind.RESPONSE, "coordinator", payload, cause=request)

    def refuse(self, request: int, member: str, code: int) -> int:
        body = {"errorCode": code, "memberId": None, "memberEpoch": 0, "assignment": None}
        payload = {"api": "ConsumerGroupHeartbeat", "version": 1, "to": member, "body": body}
        return self._add(Kind.RESPONSE, "coordinator", payload, cause=request)

    def callback(self, member: str, name: str, phase: str, partitions: Iterable[int]) -> int:
        payload = {"callback": name, "phase": phase, "partitions": {"foo": list(partitions)}}
        return self._add(Kind.CALLBACK, member, payload)

    def timer(self, name: str, member: str, event: str, deadline_ms: int, cause: int | None = None) -> int:
        payload = {"timer": name, "member": member, "event": event, "deadline_ms": deadline_ms}
        return self._add(Kind.TIMER, "coordinator", payload, cause=cause)

    def fault(self, fault: str, member: str | None = None) -> int:
        return self._add(Kind.FAULT, member or "coordinator", {"fault": fault, "member": member})

    def topics(self, **topics: Any) -> int:
        return self._add(Kind.NOTE, "coordinator", {"note": "topics", "topics": topics, "source": "test"})

    def note(self, **payload: Any) -> int:
        return self._add(Kind.NOTE, "coordinator", payload)

    def _add(self, kind: Kind, actor: str, payload: dict[str, Any], **fields: Any) -> int:
        entry = Entry(
            sequence=self.last + 1,
            at_ms=self.now_ms,
            kind=kind,
            actor=actor,
            provenance=self.provenance,
            payload=payload,
            **fields,
        )
        self.entries.append(entry)
        return entry.sequence

    # What tests look at.

    def state(self, semantics: str = "kafka", at: int | None = None) -> State:
        state = initial_state(self.group, semantics)
        for entry in self.entries[:at]:
            state = replay(state, entry)
        return state

    def frame(self, semantics: str = "kafka", at: int | None = None) -> dict[str, Any]:
        return frame(self.state(semantics, at))

    def recorded(self, semantics: str = "kafka") -> RecordedBatch:
        recorder = Recorder(group=self.group, semantics=semantics)
        for entry in self.entries:
            recorder.add(entry)
        batch = recorder.flush(final=True)
        assert batch is not None
        return batch


def record(kind: int, key: dict[str, Any], value: dict[str, Any] | None) -> dict[str, Any]:
    return {"type": kind, "key": key, "version": None if value is None else 0, "value": value}


def topic_partitions(partitions: Partitions) -> list[dict[str, Any]]:
    return [{"topicId": topic, "partitions": list(numbers)} for topic, numbers in partitions.items()]


class Records:
    """Record payloads of one group, named by what they say."""

    def __init__(self, group: str = "orders") -> None:
        self.group = group

    def member(self, member: str, names: Iterable[str] = ("foo",), **fields: Any) -> dict[str, Any]:
        value = {
            "instanceId": None,
            "rackId": None,
            "clientId": member.lower(),
            "clientHost": "/127.0.0.1",
            "subscribedTopicNames": list(names),
            "subscribedTopicRegex": "",
            "rebalanceTimeoutMs": 300_000,
            "serverAssignor": None,
        }
        return record(5, {"groupId": self.group, "memberId": member}, value | fields)

    def epoch(self, epoch: int, metadata_hash: int = 0) -> dict[str, Any]:
        return record(3, {"groupId": self.group}, {"epoch": epoch, "metadataHash": metadata_hash})

    def target(self, member: str, *partitions: int) -> dict[str, Any]:
        topics = topic_partitions({FOO: partitions}) if partitions else []
        return record(7, {"groupId": self.group, "memberId": member}, {"topicPartitions": topics})

    def target_epoch(self, epoch: int, timestamp_ms: int = 1) -> dict[str, Any]:
        value = {"assignmentEpoch": epoch, "assignmentTimestamp": timestamp_ms}
        return record(6, {"groupId": self.group}, value)

    def current(
        self,
        member: str,
        epoch: int,
        previous: int,
        state: int,
        assigned: Mapping[int, int] | None = None,
        pending: Mapping[int, int] | None = None,
    ) -> dict[str, Any]:
        """Partitions of foo, each with its assignment epoch."""
        value = {
            "memberEpoch": epoch,
            "previousMemberEpoch": previous,
            "state": state,
            "assignedPartitions": _with_epochs(assigned or {}),
            "partitionsPendingRevocation": _with_epochs(pending or {}),
        }
        return record(8, {"groupId": self.group, "memberId": member}, value)

    def gone(self, kind: int, member: str | None = None) -> dict[str, Any]:
        key = {"groupId": self.group} | ({"memberId": member} if member is not None else {})
        return record(kind, key, None)

    def leave(self, member: str, epoch: int, metadata_hash: int = 0) -> tuple[dict[str, Any], ...]:
        gone = (self.gone(8, member), self.gone(7, member), self.gone(5, member))
        return (*gone, self.epoch(epoch, metadata_hash))

    def commit(
        self, partition: int, offset: int, topic_id: str | None = FOO, at_ms: int = 0
    ) -> dict[str, Any]:
        value = {"offset": offset, "leaderEpoch": -1, "metadata": "", "commitTimestamp": at_ms}
        if topic_id is not None:
            value["topicId"] = topic_id
        return record(1, {"group": self.group, "topic": "foo", "partition": partition}, value)


def _with_epochs(partitions: Mapping[int, int]) -> list[dict[str, Any]]:
    if not partitions:
        return []
    return [{"topicId": FOO, "partitions": list(partitions), "assignmentEpochs": list(partitions.values())}]


STABLE, UNREVOKED, UNRELEASED = 0, 1, 2
HASH = 410732866622391630


def released_basic(group: str = "orders") -> Log:
    """The basic case of Kafka 4.3.1: A, B and C join; commits; B leaves; C is killed; A leaves. 48 records."""
    log, r = Log(group), Records(group)
    log.at(0).write(
        r.member("A"),
        r.epoch(2, HASH),
        r.target("A", 0, 1, 2),
        r.target_epoch(2, 1),
        r.current("A", 2, 0, STABLE, {0: 2, 1: 2, 2: 2}),
    )
    log.at(8000).write(
        r.member("B"),
        r.epoch(3, HASH),
        r.target("A", 0, 1),
        r.target("B", 2),
        r.target_epoch(3, 8000),
        r.current("B", 3, 0, UNRELEASED),
    )
    log.at(9000).write(r.current("B", 3, 3, UNRELEASED))
    log.at(9100).write(r.current("A", 2, 2, UNREVOKED, {0: 2, 1: 2}, {2: 2}))
    log.at(9200).write(r.current("A", 3, 2, STABLE, {0: 2, 1: 2}))
    log.at(10000).write(r.current("B", 3, 3, STABLE, {2: 3}))
    log.at(16000).write(
        r.member("C"),
        r.epoch(4, HASH),
        r.target("A", 0),
        r.target("C", 1),
        r.target_epoch(4, 16000),
        r.current("C", 4, 0, UNRELEASED),
    )
    log.at(17000).write(r.current("C", 4, 4, UNRELEASED))
    log.at(17100).write(r.current("A", 3, 3, UNREVOKED, {0: 2}, {1: 2}))
    log.at(17200).write(r.current("A", 4, 3, STABLE, {0: 2}))
    log.at(17400).write(r.current("B", 4, 3, STABLE, {2: 3}))
    log.at(18000).write(r.current("C", 4, 4, STABLE, {1: 4}))
    for partition in range(3):
        log.at(20000 + partition).write(r.commit(partition, 10 + partition, at_ms=20000 + partition))
    log.at(24000).write(*r.leave("B", 5, HASH))
    log.at(24900).write(r.target("A", 0, 2), r.target_epoch(5, 24900), r.current("C", 5, 4, STABLE, {1: 4}))
    log.at(25100).write(r.current("A", 5, 4, STABLE, {0: 2, 2: 5}))
    log.at(34000).write(*r.leave("C", 6, HASH))
    log.at(34300).write(
        r.target("A", 0, 1, 2),
        r.target_epoch(6, 34300),
        r.current("A", 6, 5, STABLE, {0: 2, 1: 6, 2: 5}),
    )
    log.at(40000).write(*r.leave("A", 7))
    return log
