"""The recording as entries, so that it can be watched on the board: requests, answers, records, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from groups.history.entries import FIRST_SEQUENCE, Entry, Kind, Provenance
from simulations.proof.conformance.recording import Difference, ImageChange, RecordedRequest, Written
from simulations.proof.conformance.requests import HEARTBEAT, READS
from simulations.protocol.coordinator.image import Image, ImageTopic

COORDINATOR: Final = "coordinator"

NAMES: Final = {
    "CONSUMER_GROUP_HEARTBEAT": "ConsumerGroupHeartbeat",
    "OFFSET_COMMIT": "OffsetCommit",
    "OFFSET_FETCH": "OffsetFetch",
    "OFFSET_DELETE": "OffsetDelete",
    "DELETE_GROUPS": "DeleteGroups",
    "CONSUMER_GROUP_DESCRIBE": "ConsumerGroupDescribe",
}
"""An entry names an API as Kafka's schemas do."""


class Story:
    """Entries of one group, in the order in which the walk found that things happened."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.entries: list[Entry] = []
        self._told: dict[str, ImageTopic] = {}

    def topics(self, at_ms: int, image: Image) -> None:
        """What the topics are called from here on; those that were told before are left out."""
        fresh = {name: topic for name, topic in image.topics.items() if self._told.get(name) != topic}
        gone = [name for name in self._told if name not in image.topics]
        if not fresh and not gone:
            return
        told: dict[str, Any] = {
            name: {"id": topic.topic_id, "partitions": topic.partitions} for name, topic in fresh.items()
        }
        told |= dict.fromkeys(gone)
        self._told = dict(image.topics)
        self._add(at_ms, Kind.NOTE, COORDINATOR, {"note": "topics", "topics": told, "source": "metadata log"})

    def image(self, change: ImageChange, at_ms: int) -> None:
        self.topics(at_ms, change.image)

    def exchange(self, asked: RecordedRequest, at_ms: int, records: Sequence[Written]) -> None:
        """A request, the records that it brought about, and its answer."""
        if asked.api in READS:
            return
        who = asked.member or asked.client
        payload: dict[str, Any] = {
            "api": NAMES[asked.api],
            "version": asked.version,
            "body": _without_nulls(asked.request),
        }
        if not records and _steady(asked):
            self._add(asked.arrived_ms, Kind.REQUEST, who, {**payload, "steady": True})
            return
        request = self._add(asked.arrived_ms, Kind.REQUEST, who, payload)
        self._records(records, request)
        answer = {**payload, "body": dict(asked.response), "to": who}
        self._add(asked.done_ms, Kind.RESPONSE, COORDINATOR, answer, cause=request)

    def loaded(self, records: Sequence[Written]) -> None:
        """Records from before the first request."""
        self._records(records, None)

    def unasked(self, what: str | None, member: str | None, records: Sequence[Written]) -> None:
        """Records that no request brought about; ``what`` names the timer where it was one."""
        cause = None
        if what in ("session", "rebalance"):
            at_ms = records[0].at_ms
            fired = {"timer": what, "member": member, "event": "fired", "deadline_ms": at_ms}
            cause = self._add(at_ms, Kind.TIMER, COORDINATOR, fired)
        self._records(records, cause)

    def differences(self, found: Iterable[Difference], member: str | None) -> None:
        for each in found:
            says = f"The simulated coordinator differs: {each.what}"
            told = {"fault": "difference", "member": member, "says": says, **each.to_json()}
            self._add(each.at_ms, Kind.FAULT, COORDINATOR, told)

    def _records(self, records: Sequence[Written], cause: int | None) -> None:
        first = FIRST_SEQUENCE + len(self.entries)
        for index, written in enumerate(records):
            self.entries.append(
                Entry(
                    sequence=first + index,
                    at_ms=written.at_ms,
                    kind=Kind.RECORD,
                    actor=COORDINATOR,
                    provenance=Provenance.RECORDED,
                    payload=written.payload,
                    cause=cause,
                    settled=index == len(records) - 1,
                    partition=written.partition,
                    offset=written.offset,
                    batch=written.batch,
                    unit=first,
                )
            )

    def _add(
        self, at_ms: int, kind: Kind, actor: str, payload: Mapping[str, Any], cause: int | None = None
    ) -> int:
        sequence = FIRST_SEQUENCE + len(self.entries)
        self.entries.append(
            Entry(
                sequence=sequence,
                at_ms=at_ms,
                kind=kind,
                actor=actor,
                provenance=Provenance.RECORDED,
                payload=payload,
                cause=cause,
            )
        )
        return sequence


def _steady(asked: RecordedRequest) -> bool:
    """A heartbeat that tells nothing and is told nothing."""
    told = (
        "rackId",
        "subscribedTopicNames",
        "subscribedTopicRegex",
        "serverAssignor",
        "topicPartitions",
    )
    return (
        asked.api == HEARTBEAT
        and asked.request["memberEpoch"] > 0
        and all(asked.request.get(name) is None for name in told)
        and asked.response["errorCode"] == 0
        and asked.response["memberEpoch"] == asked.request["memberEpoch"]
        and asked.response.get("assignment") is None
    )


def _without_nulls(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}
