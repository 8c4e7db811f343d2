"""Counts what runs reached: a fuzzer that never gets a member fenced has nothing about fencing.

``Coverage`` counts it from scenarios and entries alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.releases import release_of
from simulations.invariants.payloads import AnyAnswer, AnyRequest
from simulations.world.scenario import Scenario

STATES: Final[Mapping[int, str]] = {0: "stable", 1: "unrevoked", 2: "unreleased"}


class Coverage:
    """Counts by name; ``ran`` each scenario, then ``see`` its entries, then ``ended`` it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._answered: dict[str, int] = {}
        self._static: set[str] = set()
        self._away: set[str] = set()
        self._held: dict[str, set[tuple[str, int]]] = {}
        self._wrote: set[int] = set()
        self._ended: tuple[int, int | None] | None = None
        """The record that ended a group's kind last, 2 or 3, and its unit."""

    def ran(self, scenario: Scenario) -> None:
        self.counts.update(f"verb {action.verb}" for action in scenario.script)
        self._answered.clear()
        self._static.clear()
        self._away.clear()
        self._held.clear()
        self._wrote.clear()

    def ended(self) -> None:
        """The run broke nothing, and its group came to rest."""
        self.counts["rested"] += 1

    def see(self, entry: Entry) -> None:
        payload = entry.payload
        match entry.kind:
            case Kind.RECORD:
                self._record(entry, payload)
            case Kind.TIMER:
                self.counts[f"timer {payload['timer']} {payload['event']}"] += 1
            case Kind.CALLBACK if payload["phase"] == "start":
                self.counts[f"callback {payload['callback']}"] += 1
            case Kind.FAULT:
                self.counts[f"fault {payload['fault']}"] += 1
                self.counts["older broker skips records"] += bool(payload.get("skipped"))
            case Kind.NOTE if payload["note"] == "feature":
                self.counts[f"feature at {payload['level']}"] += 1
            case Kind.NOTE if payload["note"] == "broker":
                self.counts[f"broker {payload['event']}"] += 1
                protocols = "serving" if release_of(payload["release"]).rules.consumer_protocol else "older"
                self.counts[f"broker back with a release {protocols}"] += payload["event"] == "starts"
            case Kind.REQUEST:
                self._request(entry.actor, payload["api"], payload["body"])
            case Kind.RESPONSE:
                self._response(payload)

    def _request(self, who: str, api: str, body: AnyRequest) -> None:
        self.counts[f"request {api}"] += 1
        if api == "OffsetCommit":
            self.counts["commit"] += 1
        elif api == "ConsumerGroupHeartbeat":
            epoch = body["memberEpoch"]
            if epoch == -2:
                self.counts["static leave"] += 1
            if 0 < epoch < self._answered.get(who, 0) and body.get("topicPartitions") is not None:
                self.counts["asked again"] += 1

    def _response(self, payload: Payload) -> None:
        body: AnyAnswer = payload["body"]
        if code := body.get("errorCode"):
            self.counts[f"error {code}"] += 1
            self.counts["refused"] += 1
        elif payload["api"] == "ConsumerGroupHeartbeat":
            self._answered[str(payload["to"])] = body["memberEpoch"]
        for topic in body.get("topics") or ():
            for answer in topic.get("partitions") or ():
                if answer.get("errorCode"):
                    self.counts[f"error {answer['errorCode']} of a commit"] += 1

    def _record(self, entry: Entry, payload: Payload) -> None:
        number, value = payload["type"], payload["value"]
        self.counts[f"record {number}"] += 1
        if entry.unit == entry.sequence and entry.cause is not None:
            self.counts["request that writes"] += 1
        if number == 2 and value is not None and value["members"]:
            self.counts["generation"] += 1
        if number == 5 and value is not None and value.get("classicMemberMetadata") is not None:
            self.counts["classic member of a consumer group"] += 1
        if number in (2, 3):
            self._changes(number, entry, value is None)
        if number != 8 or value is None:
            return
        who = payload["key"]["memberId"]
        held = {
            (topic["topicId"], partition)
            for part in ("assignedPartitions", "partitionsPendingRevocation")
            for topic in value.get(part) or ()
            for partition in topic["partitions"]
        }
        if held:
            self.counts["record 8 assigns"] += 1
        if self._held.get(who, set()) - held:
            self.counts["gave up"] += 1
        self._held[who] = held
        if (state := value.get("state")) is not None:
            self.counts[f"state {STATES.get(state, state)}"] += 1
        if value["memberEpoch"] == -2:
            self._away.add(who)
        elif self._away:
            # Anyone who writes next of those that are away, or in their place.
            self.counts["static return"] += value["memberEpoch"] > 0 and value["previousMemberEpoch"] == 0

    def _changes(self, number: int, entry: Entry, ended: bool) -> None:
        """A unit that ends the one kind of group and begins the other."""
        before, self._ended = self._ended, (number, entry.unit) if ended else None
        if not ended and before is not None and before[1] == entry.unit and before[0] != number:
            self.counts["downgrade" if number == 2 else "upgrade"] += 1
