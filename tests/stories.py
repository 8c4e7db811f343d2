"""A small group's log, entry by entry, for tests of what stores and shows timelines (not of what folds them)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from groups.history.entries import Entry, Kind, Provenance
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.wire.codecs.primitives import to_base64
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from tests.history.test_causes import R, two_members

GROUP = "orders"
TOPIC_ID = "cLledStpRu6ixDUvA4jVgA"
OTHER_TOPIC_ID = "mQnGqXwYTz2Yt0a0h8s8nQ"


class Story:
    """Writes the records that Kafka's coordinator writes; each method is one request's unit."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.epoch = 1
        self.at_ms = 0

    def joins(self, member: str, partitions: Sequence[int], topic_id: str = TOPIC_ID) -> Story:
        """A member that gets its partitions at once, since nobody owns them."""
        self.epoch += 1
        target = [{"topicId": topic_id, "partitions": list(partitions)}]
        return self.unit(
            record(5, {"memberId": member}, member_metadata(member)),
            record(3, {}, {"epoch": self.epoch}),
            record(7, {"memberId": member}, {"topicPartitions": target}),
            record(6, {}, {"assignmentEpoch": self.epoch}),
            record(8, {"memberId": member}, self.current_assignment(target)),
        )

    def leaves(self, member: str) -> Story:
        self.epoch += 1
        gone = [record(kind, {"memberId": member}, None) for kind in (8, 7, 5)]
        return self.unit(
            *gone, record(3, {}, {"epoch": self.epoch}), record(6, {}, {"assignmentEpoch": self.epoch})
        )

    def unit(self, *payloads: dict[str, Any]) -> Story:
        first = len(self.entries) + 1
        self.at_ms += 1000
        for place, payload in enumerate(payloads):
            self.entries.append(
                Entry(
                    sequence=first + place,
                    at_ms=self.at_ms,
                    kind=Kind.RECORD,
                    actor="coordinator",
                    provenance=Provenance.SIMULATED,
                    payload=payload,
                    settled=place == len(payloads) - 1,
                    partition=0,
                    offset=first + place - 1,
                    batch=first,
                    unit=first,
                )
            )
        return self

    def current_assignment(self, target: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "memberEpoch": self.epoch,
            "previousMemberEpoch": 0,
            "state": 0,
            "assignedPartitions": target,
            "partitionsPendingRevocation": [],
        }

    def batches(self, units_a_batch: int = 1) -> list[RecordedBatch]:
        return batches_of(self.entries, units_a_batch)


def a_day_of_three() -> Story:
    """A, B and C join, B leaves: four units of 20 entries in all."""
    return Story().joins("A", [0]).joins("B", [1]).joins("C", [2]).leaves("B")


def broken_run() -> RecordedBatch:
    """A and B share three partitions; then B gets foo-1, which A has, and whoever checks the run says so."""
    log = two_members()
    log.at(2000).heartbeat("A", 3)
    log.at(3000).heartbeat("B", 3)
    log.write(R.current("B", 3, 3, 0, {2: 3, 1: 3}))
    told = {
        "fault": "invariant",
        "member": "A",
        "invariant": "one_holder",
        "says": "foo-1 is assigned to A and to B at the same time.",
        "sequences": [5, log.last],
        "members": ["A", "B"],
        "partitions": {"foo": [1]},
    }
    log._add(Kind.FAULT, "coordinator", told, cause=log.last)
    log.at(4000).heartbeat("A", 3)
    return log.recorded()


def batches_of(entries: Iterable[Entry], units_a_batch: int = 1) -> list[RecordedBatch]:
    """The entries as a child process would hand them over: a batch for every so many units."""
    recorder = Recorder(group=GROUP)
    flushed: list[RecordedBatch | None] = []
    units = 0
    for entry in entries:
        recorder.add(entry)
        units += entry.settled
        if entry.settled and units % units_a_batch == 0:
            flushed.append(recorder.flush())
    flushed.append(recorder.flush(final=True))
    return [batch for batch in flushed if batch is not None]


def record(kind: int, key: Mapping[str, Any], value: dict[str, Any] | None) -> dict[str, Any]:
    version = None if value is None else 0
    return {"type": kind, "key": {"groupId": GROUP, **key}, "version": version, "value": value}


def member_metadata(member: str) -> dict[str, Any]:
    return {
        "instanceId": None,
        "rackId": None,
        "clientId": member.lower(),
        "clientHost": "/10.0.0.1",
        "subscribedTopicNames": ["foo"],
        "subscribedTopicRegex": "",
        "rebalanceTimeoutMs": 300000,
        "serverAssignor": None,
    }


def classic_group() -> dict[str, Any]:
    """The record of a classic group of one member, which came with foo-0 and foo-1 and keeps them."""
    owned = [{"topic": "foo", "partitions": [0, 1]}]
    subscription = {"version": 1, "topics": ["foo"], "userData": None, "ownedPartitions": owned}
    assignment = {"version": 1, "assignedPartitions": owned, "userData": None}
    value = {
        "protocolType": "consumer",
        "generation": 1,
        "protocol": "range",
        "leader": "c-1",
        "currentStateTimestamp": 1000,
        "members": [
            {
                "memberId": "c-1",
                "groupInstanceId": None,
                "clientId": "c",
                "clientHost": "/10.0.0.1",
                "rebalanceTimeout": 300000,
                "sessionTimeout": 45000,
                "subscription": to_base64(encode_subscription(subscription)),
                "assignment": to_base64(encode_assignment(assignment)),
            }
        ],
    }
    return {"type": 2, "key": {"group": GROUP}, "version": 3, "value": value}
