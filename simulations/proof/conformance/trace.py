"""The recording as entries, so that it can be watched on the board: requests, answers, records, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from groups.history.entries import FIRST_SEQUENCE, Entry, Kind, NotedTopic, Payload, Provenance
from groups.history.state.plain import to_plain
from simulations.proof.conformance.recording import (
    Difference,
    ImageChange,
    RecordedRequest,
    Written,
)
from simulations.proof.conformance.requests import CLASSIC, HEARTBEAT, READS
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.timers import JOIN, REBALANCE, SESSION, SYNC
from simulations.protocol.coordinator.transactions import InForce
from simulations.protocol.messages.groups import TRANSACTIONAL_COMMIT_API

COORDINATOR: Final = "coordinator"

CLASSIC_HEARTBEAT: Final = "HEARTBEAT"

NAMES: Final = {
    "CONSUMER_GROUP_HEARTBEAT": "ConsumerGroupHeartbeat",
    "OFFSET_COMMIT": "OffsetCommit",
    "TXN_OFFSET_COMMIT": TRANSACTIONAL_COMMIT_API,
    "OFFSET_FETCH": "OffsetFetch",
    "OFFSET_DELETE": "OffsetDelete",
    "DELETE_GROUPS": "DeleteGroups",
    "CONSUMER_GROUP_DESCRIBE": "ConsumerGroupDescribe",
    **CLASSIC,
}
"""An entry names an API as Kafka's schemas do."""


class Story:
    """Entries of one group, in the order in which the walk found that things happened."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.entries: list[Entry] = []
        self._noted: dict[str, ImageTopic] = {}
        self._waiting: dict[int, int] = {}
        """By line of a request that waits, the sequence of its entry."""
        self._log = InForce()

    def topics(self, at_ms: int, image: Image) -> None:
        """What the topics are called from here on; those that were written before are left out."""
        fresh = {name: topic for name, topic in image.topics.items() if self._noted.get(name) != topic}
        gone = [name for name in self._noted if name not in image.topics]
        if not fresh and not gone:
            return
        known: dict[str, NotedTopic | None] = {
            name: {"id": topic.topic_id, "partitions": topic.partitions} for name, topic in fresh.items()
        }
        known.update(dict.fromkeys(gone))
        self._noted = dict(image.topics)
        self._add(
            at_ms, Kind.NOTE, COORDINATOR, {"note": "topics", "topics": known, "source": "metadata log"}
        )

    def image(self, change: ImageChange, at_ms: int) -> None:
        self.topics(at_ms, change.image)

    def exchange(self, asked: RecordedRequest, records: Sequence[Written]) -> None:
        """A request, the records that it brought about, and its answer."""
        if asked.api in READS:
            return
        if not records and _steady(asked):
            self._add(asked.arrived_ms, Kind.REQUEST, _who(asked), {**_request(asked), "steady": True})
            return
        self.waits(asked, records)
        self.answered(asked)

    def waits(self, asked: RecordedRequest, records: Sequence[Written]) -> None:
        """A request and the records that it brought about; its answer comes later."""
        request = self._add(asked.arrived_ms, Kind.REQUEST, _who(asked), _request(asked))
        self._waiting[asked.line] = request
        self._records(records, request)

    def answered(self, asked: RecordedRequest) -> None:
        """The answer to a request that is already in the trace."""
        answer = {
            "api": NAMES[asked.api],
            "version": asked.version,
            "body": dict(asked.response),
            "to": _who(asked),
        }
        cause = self._waiting.pop(asked.line, None)
        self._add(asked.done_ms, Kind.RESPONSE, COORDINATOR, answer, cause=cause)

    def loaded(self, records: Sequence[Written]) -> None:
        """Records from before the first request."""
        self._records(records, None)

    def unasked(self, what: str | None, member: str | None, at_ms: int, records: Sequence[Written]) -> None:
        """Something that no request brought about, and its records; ``what`` names the timer where it was one."""
        cause = None
        if what in (SESSION, REBALANCE, JOIN, SYNC):
            fired = {"timer": what, "member": member, "event": "fired", "deadline_ms": at_ms}
            cause = self._add(at_ms, Kind.TIMER, COORDINATOR, fired)
        self._records(records, cause)

    def differences(self, found: Iterable[Difference], member: str | None) -> None:
        for each in found:
            by_rules = f"; the broker's release differs by {' and '.join(each.rules)}" if each.rules else ""
            text = f"The simulated coordinator differs: {each.what}{by_rules}"
            known = {"fault": "difference", "member": member, "says": text, **to_plain(each)}
            self._add(each.at_ms, Kind.FAULT, COORDINATOR, known)

    def _records(self, logged: Sequence[Written], cause: int | None) -> None:
        first = FIRST_SEQUENCE + len(self.entries)
        records = [each for written in logged for each in self._in_force(written)]
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

    def _in_force(self, written: Written) -> Iterable[Written]:
        """The record; nothing while its transaction has not ended; what that has committed where it has."""
        in_force = self._log.after(written.payload)
        if "producer" not in written.payload:
            return (written,)
        return (replace(written, payload=payload) for payload in in_force)

    def _add(self, at_ms: int, kind: Kind, actor: str, payload: Payload, cause: int | None = None) -> int:
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
    """An empty heartbeat with an empty answer."""
    if asked.api == CLASSIC_HEARTBEAT:
        return not asked.response["errorCode"]
    known = (
        "rackId",
        "subscribedTopicNames",
        "subscribedTopicRegex",
        "serverAssignor",
        "topicPartitions",
    )
    return (
        asked.api == HEARTBEAT
        and asked.request["memberEpoch"] > 0
        and all(asked.request.get(name) is None for name in known)
        and asked.response["errorCode"] == 0
        and asked.response["memberEpoch"] == asked.request["memberEpoch"]
        and asked.response.get("assignment") is None
    )


def _request(asked: RecordedRequest) -> Payload:
    body = {name: value for name, value in asked.request.items() if value is not None}
    return {"api": NAMES[asked.api], "version": asked.version, "body": body}


def _who(asked: RecordedRequest) -> str:
    """The member; one that joins for the first time goes by the id that it was given."""
    return asked.member or str(asked.response.get("memberId") or "") or asked.client
