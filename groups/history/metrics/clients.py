"""What a group's entries add to one consumer's metrics, of either protocol, on the coordinator's clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from groups.history.entries import Entry, Payload
from groups.history.metrics.sampled import Sampled
from groups.history.replay.fields import mapping
from groups.history.state.declared import As, Named, document

JOIN, SYNC = "JoinGroup", "SyncGroup"
APIS = frozenset({JOIN, SYNC})


@dataclass(slots=True)
class Joining:
    """``began_ms`` is the first JoinGroup since the last success: failures in between do not reset it (KIP-429 as built)."""

    began_ms: int | None = None
    asked_ms: dict[str, int] = field(default_factory=dict)
    joins: int = 0
    syncs: int = 0
    seen: bool = False
    """Whether it is a classic consumer at all."""

    def request(self, entry: Entry) -> None:
        self.seen = True
        self.asked_ms[str(entry.payload["api"])] = entry.at_ms
        if entry.payload["api"] == JOIN and self.began_ms is None:
            self.began_ms = entry.at_ms

    def response(self, entry: Entry, times: Mapping[str, Sampled]) -> int | bool | None:
        """How long the rebalance took that it ends; ``False`` where it fails; ``None`` for an answer that does neither."""
        api = str(entry.payload["api"])
        asked_ms = self.asked_ms.pop(api, None)
        if mapping(entry.payload.get("body")).get("errorCode"):
            return False
        if asked_ms is not None:
            times[api].record(entry.at_ms - asked_ms, entry.at_ms)
        if api == JOIN:
            self.joins += 1
            return None
        self.syncs += 1
        if self.began_ms is None:
            return None
        latency_ms, self.began_ms = entry.at_ms - self.began_ms, None
        return latency_ms


HEARTBEATS: Final = frozenset({"ConsumerGroupHeartbeat", "Heartbeat"})

HOUR_MS: Final = 3_600_000
LATENCIES: Final[Mapping[str, str]] = {
    "on_partitions_revoked": "partition-revoked-latency",
    "on_partitions_assigned": "partition-assigned-latency",
    "on_partitions_lost": "partition-lost-latency",
}

_Owned = frozenset[tuple[str, int]]


def _places(known: Iterable[tuple[str, int]]) -> _Owned:
    return frozenset((topic, number) for topic, number in known)


@document
@dataclass(slots=True)
class ClientMetrics:
    """One member's. A rebalance lasts from the answer that brings an assignment to its acknowledgement; in the classic protocol
    from the first JoinGroup to the answer of SyncGroup."""

    _heartbeats: Annotated[int, Named("counts")] = 0
    _commits: Annotated[int, Named("counts")] = 0
    _rebalances: Annotated[int, Named("counts")] = 0
    _failed: Annotated[int, Named("counts")] = 0
    _latency_total_ms: Annotated[int, Named("counts")] = 0
    _heartbeat_ms: Annotated[int | None, Named("times_ms")] = None
    _rebalanced_ms: Annotated[int | None, Named("times_ms")] = None
    _began_ms: Annotated[int | None, Named("times_ms")] = None
    _calling_since_ms: Annotated[int | None, Named("times_ms")] = None
    _acknowledged: Annotated[_Owned, As(object, sorted, _places)] | None = None
    _joining: Joining = field(default_factory=Joining)
    _stats: Annotated[dict[str, Sampled], Named("sampled")] = field(default_factory=dict)

    def request(self, entry: Entry) -> None:
        payload = entry.payload
        if payload["api"] == "OffsetCommit":
            self._commits += 1
            self._stat("commit").record(1, entry.at_ms)
            return
        if payload["api"] in APIS:
            self._joining.request(entry)
            return
        if payload["api"] not in HEARTBEATS:
            return
        self._heartbeats += 1
        self._heartbeat_ms = entry.at_ms
        self._stat("heartbeat").record(1, entry.at_ms)
        if payload.get("steady") or payload["api"] == "Heartbeat":
            return
        body = payload["body"]
        if body.get("memberEpoch", 0) <= 0:
            # A member that joins or leaves has acknowledged nothing; what it was about to take is off.
            self._acknowledged = self._began_ms = None
            return
        if body.get("topicPartitions") is not None:
            self._acknowledged = _owned(body["topicPartitions"])
            if self._began_ms is not None:
                latency_ms = entry.at_ms - self._began_ms
                self._began_ms, self._rebalanced_ms = None, entry.at_ms
                self._rebalances += 1
                self._latency_total_ms += latency_ms
                self._stat("rebalance-latency").record(latency_ms, entry.at_ms)

    def response(self, entry: Entry) -> None:
        if entry.payload["api"] in APIS:
            self._joined(entry)
            return
        if entry.payload["api"] != "ConsumerGroupHeartbeat":
            return
        body = entry.payload["body"]
        if body.get("errorCode"):
            if self._began_ms is not None:
                self._failed += 1
                self._stat("failed-rebalance").record(1, entry.at_ms)
            self._began_ms = self._acknowledged = None
            return
        assignment = body.get("assignment")
        if assignment is None or self._began_ms is not None:
            return
        known = assignment.get("topicPartitions", assignment.get("assignedTopicPartitions")) or ()
        if _owned(known) != self._acknowledged:
            self._began_ms = entry.at_ms

    def _joined(self, entry: Entry) -> None:
        ended = self._joining.response(entry, {JOIN: self._stat("join"), SYNC: self._stat("sync")})
        if ended is False:
            self._failed += 1
            self._stat("failed-rebalance").record(1, entry.at_ms)
        elif ended is not None:
            self._rebalances += 1
            self._rebalanced_ms = entry.at_ms
            self._latency_total_ms += ended
            self._stat("rebalance-latency").record(ended, entry.at_ms)

    def callback(self, entry: Entry) -> None:
        if entry.payload.get("phase") == "start":
            self._calling_since_ms = entry.at_ms
        elif self._calling_since_ms is not None:
            name = LATENCIES.get(str(entry.payload.get("callback")))
            if name is not None:
                self._stat(name).record(entry.at_ms - self._calling_since_ms, entry.at_ms)
            self._calling_since_ms = None

    def values(
        self, now_ms: int, owned: Mapping[str, Iterable[int]] | None
    ) -> list[tuple[str, float | int | None]]:
        latency, failed = self._asked("rebalance-latency"), self._asked("failed-rebalance")
        values: list[tuple[str, float | int | None]] = [
            ("rebalance-total", self._rebalances),
            ("rebalance-rate-per-hour", latency.count_rate(now_ms, HOUR_MS)),
            ("rebalance-latency-avg", latency.average(now_ms)),
            ("rebalance-latency-max", latency.greatest(now_ms)),
            ("rebalance-latency-total", self._latency_total_ms),
            ("failed-rebalance-total", self._failed),
            ("failed-rebalance-rate-per-hour", failed.count_rate(now_ms, HOUR_MS)),
            ("last-rebalance-seconds-ago", _seconds_ago(self._rebalanced_ms, now_ms)),
            (
                "assigned-partitions",
                None if owned is None else sum(len(list(part)) for part in owned.values()),
            ),
            ("heartbeat-total", self._heartbeats),
            ("heartbeat-rate", self._asked("heartbeat").count_rate(now_ms)),
            ("last-heartbeat-seconds-ago", _seconds_ago(self._heartbeat_ms, now_ms)),
            ("commit-total", self._commits),
            ("commit-rate", self._asked("commit").count_rate(now_ms)),
        ]
        for name, total in (
            (("join", self._joining.joins), ("sync", self._joining.syncs)) if self._joining.seen else ()
        ):
            stat = self._asked(name)
            values += [
                (f"{name}-total", total),
                (f"{name}-rate", stat.count_rate(now_ms)),
                (f"{name}-time-avg", stat.average(now_ms)),
                (f"{name}-time-max", stat.greatest(now_ms)),
            ]
        for name in LATENCIES.values():
            stat = self._asked(name)
            values += [(f"{name}-avg", stat.average(now_ms)), (f"{name}-max", stat.greatest(now_ms))]
        return values

    def _stat(self, name: str) -> Sampled:
        return self._stats.setdefault(name, Sampled())

    def _asked(self, name: str) -> Sampled:
        """One that need not be kept: asking changes nothing."""
        return self._stats.get(name) or Sampled()


def _owned(topics: Iterable[Payload]) -> _Owned:
    return frozenset(
        (str(topic["topicId"]), int(number)) for topic in topics for number in topic["partitions"]
    )


def _seconds_ago(since_ms: int | None, now_ms: int) -> int:
    return -1 if since_ms is None else (now_ms - since_ms) // 1000
