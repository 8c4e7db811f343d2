"""The joins and syncs of one classic consumer, as Kafka's ``AbstractCoordinator`` measures them, on the coordinator's clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groups.history.entries import Entry
from groups.history.metrics.sampled import Sampled
from groups.history.replay.fields import mapping

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
