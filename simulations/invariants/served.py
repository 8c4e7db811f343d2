"""``group.version`` and the releases of brokers: the consumer protocol is refused where it is not served, and nowhere else.

Holds in addition to a run's other checks. Once a broker that does not know the consumer protocol is the coordinator of a
consumer group, nothing else is asked any more: to that broker the group is not there, and what it writes of a classic group of
that name is in one log with the records that it skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.history.state.group import Protocol, Semantics, State
from groups.releases import release_of
from simulations.invariants.classic_clients import RunChecker
from simulations.invariants.side_checker import SideChecker
from simulations.invariants.violations import Violation

UNSUPPORTED_VERSION: Final = 35

OF_ANY_BROKER: Final = frozenset({16, 29, 30})
"""What a broker that is not the coordinator answers, too: that it is not, and what ACLs deny."""

HEARTBEAT_API: Final = "ConsumerGroupHeartbeat"

SERVED: Final = "served"

LOWERED: Final = "lowered"


FORGOTTEN: Final = "a broker older than 4.0 was the coordinator of a consumer group, which it does not know"


class ServedChecker(SideChecker):
    """``level`` and ``release`` are those that the run begins with; notes show what changes."""

    def __init__(self, inner: RunChecker, *, semantics: Semantics, level: int, release: str) -> None:
        super().__init__(inner)
        self._semantics = semantics
        self._level = level
        self._usual = release
        self._releases: dict[str, str] = {}
        self._coordinator: str | None = None
        self._forgotten = False
        self._state: State | None = None
        self._changed: Entry | None = None
        """The note of the feature's last change."""
        self._asked: dict[int, tuple[Entry, bool, bool, Mapping[str, str]]] = {}
        """Heartbeats without an answer: whether nobody was to serve them, whether the coordinator was, and who ran what."""

    def see(self, entry: Entry, state: State) -> list[Violation]:
        payload, self._state = entry.payload, state
        match entry.kind:
            case Kind.NOTE if payload["note"] == "feature":
                self._level, self._changed = payload["level"], entry
            case Kind.RECORD:
                self._written(entry)
            case Kind.NOTE if payload["note"] == "broker" and payload["event"] != "stops":
                self._releases = {**self._releases, payload["broker"]: payload["release"]}
            case Kind.FAULT if payload["fault"] == "fail_over":
                self._coordinator = payload["coordinator"]
                is_consumer = state.protocol is Protocol.CONSUMER and not state.deleted
                self._forgotten = self._forgotten or (is_consumer and not self._serves(self._coordinator))
            case Kind.REQUEST if payload.get("steady"):
                self._accepted(entry)
            case Kind.REQUEST if payload["api"] == HEARTBEAT_API:
                refused = self._level < 1
                self._asked[entry.sequence] = entry, refused, self._coordinator_serves, self._releases
            case Kind.RESPONSE if payload["api"] == HEARTBEAT_API:
                self._answered(entry)
        return self._violations.take() if self._forgotten else super().see(entry, state)

    def steady(self, entry: Entry) -> list[Violation]:
        self._accepted(entry)
        return self._violations.take() if self._forgotten else super().steady(entry)

    def end(self, at_ms: int) -> list[Violation]:
        return [] if self._forgotten else super().end(at_ms)

    def has_rested(self, at_ms: int, for_ms: int) -> bool:
        return self._forgotten or super().has_rested(at_ms, for_ms)

    def demand_convergence(self) -> list[Violation]:
        self._lost()
        return [] if self._forgotten else super().demand_convergence()

    @property
    def unjudged(self) -> str | None:
        return FORGOTTEN if self._forgotten else super().unjudged

    @property
    def _coordinator_serves(self) -> bool:
        return self._serves(self._coordinator)

    def _serves(self, broker: str | None, releases: Mapping[str, str] | None = None) -> bool:
        known = self._releases if releases is None else releases
        return release_of(known.get(broker or "", self._usual)).rules.consumer_protocol

    def _written(self, entry: Entry) -> None:
        changed = self._changed
        if self._semantics is Semantics.KAFKA and changed is not None and entry.cause == changed.sequence:
            sentence = (
                f"A record of type {entry.payload['type']} is written because group.version is {self._level}"
            )
            self._violations.add(LOWERED, sentence, (changed.sequence, entry.sequence), ())

    def _lost(self) -> None:
        """In the proposal a group that its coordinator has loaded by now is lost."""
        state, changed = self._state, self._changed
        if self._semantics is not Semantics.KIP or self._level > 0 or changed is None or state is None:
            return
        if state.protocol is Protocol.CONSUMER and state.consumer.group_epoch and not state.deleted:
            sentence = "The consumer group is there, though group.version is 0"
            self._violations.add(LOWERED, sentence, (changed.sequence,), ())

    def _accepted(self, entry: Entry) -> None:
        if entry.payload["api"] == HEARTBEAT_API and not (self._level > 0 and self._coordinator_serves):
            self._add(entry, entry, "is accepted, though the consumer protocol is not served")

    def _answered(self, entry: Entry) -> None:
        asked = self._asked.pop(entry.payload.get("request", entry.cause), None)
        if asked is None:
            return
        request, off, coordinator_serves, releases = asked
        code = _code(entry.payload)
        if code == UNSUPPORTED_VERSION:
            if not off and self._serves(entry.payload.get("broker"), releases):
                self._add(request, entry, "is answered UNSUPPORTED_VERSION by a broker that serves it")
        elif off or not (coordinator_serves or code in OF_ANY_BROKER):
            self._add(request, entry, f"is answered {code}, though the consumer protocol is not served")

    def _add(self, request: Entry, entry: Entry, text: str) -> None:
        sentence = f"A heartbeat of {request.actor} {text}"
        self._violations.add(SERVED, sentence, (request.sequence, entry.sequence), (request.actor,))


def _code(payload: Payload) -> int:
    return int(payload["body"].get("errorCode", 0))
