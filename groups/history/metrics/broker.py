"""What a group's entries add to the coordinator's metrics."""

from __future__ import annotations

from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.evidence.commit_runs import CommitRun
from groups.history.frames.shapes import Frame
from groups.history.metrics.sampled import Sampled
from groups.history.replay.record_types import GROUP_EPOCH, MEMBER_METADATA, OFFSET_TYPES, meaning
from groups.history.state.plain import Plain

STATES: Final = ("empty", "assigning", "reconciling", "stable", "dead")
LOAD_STATES: Final = ("loading", "active", "failed")


class BrokerMetrics:
    """``add`` entries in order; ``values`` gives ``[(name, tags, value)]`` as of a moment."""

    def __init__(self) -> None:
        self._rebalances = 0
        self._commits = 0
        self._loading_until_ms: int | None = None
        self._rebalance_rate, self._commit_rate, self._flush_rate = Sampled(), Sampled(), Sampled()
        self._load_times = Sampled()
        self._batch: int | None = None
        self._bumped = self._removed = self._joined = False

    def add(self, entry: Entry) -> None:
        if entry.kind is Kind.RECORD:
            self.record(entry)
        elif entry.kind is Kind.FAULT and entry.payload.get("fault") == "fail_over":
            loading_ms = entry.payload.get("loading_ms")
            if loading_ms is not None:
                self._loading_until_ms = entry.at_ms + loading_ms
                self._load_times.record(loading_ms, entry.at_ms)

    def record(self, entry: Entry) -> None:
        if entry.batch is not None and entry.batch != self._batch:
            self._batch = entry.batch
            self._flush_rate.record(1, entry.at_ms)
        record_type, value = entry.payload.get("type"), entry.payload.get("value")
        if record_type in OFFSET_TYPES:
            if value is not None:
                self._commits += 1
                self._commit_rate.record(1, entry.at_ms)
            return
        what = meaning(record_type) if record_type is not None else None
        if what == GROUP_EPOCH and value is not None:
            self._bumped = True
        elif what == MEMBER_METADATA:
            self._removed, self._joined = self._removed or value is None, self._joined or value is not None
        if entry.settled:
            # Who leaves, and who is put out, begins an epoch that the coordinator does not count.
            if self._bumped and not (self._removed and not self._joined):
                self._rebalances += 1
                self._rebalance_rate.record(1, entry.at_ms)
            self._bumped = self._removed = self._joined = False

    def add_commits(self, run: CommitRun) -> None:
        """``add`` each entry of a run."""
        if run.first_batch is not None:
            began = run.batch_times_ms if run.first_batch != self._batch else run.batch_times_ms[1:]
            self._flush_rate.record_many(1, began)
            self._batch = run.last_batch
        self._commits += len(run.value_times_ms)
        self._commit_rate.record_many(1, run.value_times_ms)

    def values(self, now_ms: int, frame: Frame) -> list[tuple[str, dict[str, str], float | int | None]]:
        state = str(frame.get("state") or "").lower()
        loading = self._loading_until_ms is not None and now_ms < self._loading_until_ms
        load_state = "loading" if loading else "active"
        protocol = frame.get("protocol")
        gauges: list[tuple[str, dict[str, str], float | int | None]] = []
        if protocol is not None and state != "dead":
            gauges.append(("group-count", {"protocol": str(protocol)}, 1))
        if protocol == "consumer":
            gauges += [("consumer-group-count", {"state": name}, int(name == state)) for name in STATES]
        return [
            *gauges,
            ("consumer-group-rebalance-count", {}, self._rebalances),
            ("consumer-group-rebalance-rate", {}, self._rebalance_rate.count_rate(now_ms)),
            *(("num-partitions", {"state": name}, int(name == load_state)) for name in LOAD_STATES),
            ("partition-load-time-max", {}, self._load_times.greatest(now_ms)),
            ("partition-load-time-avg", {}, self._load_times.average(now_ms)),
            ("offset-commit-count", {}, self._commits),
            ("offset-commit-rate", {}, self._commit_rate.count_rate(now_ms)),
            ("batch-flush-rate", {}, self._flush_rate.count_rate(now_ms)),
        ]

    def to_json(self) -> Plain:
        return {
            "unit": [self._bumped, self._removed, self._joined],
            "rebalances": self._rebalances,
            "commits": self._commits,
            "loading_until_ms": self._loading_until_ms,
            "batch": self._batch,
            "sampled": [stat.to_json() for stat in self._sampled()],
        }

    @classmethod
    def from_json(cls, data: Plain) -> BrokerMetrics:
        metrics = cls()
        metrics._rebalances, metrics._commits = data["rebalances"], data["commits"]
        metrics._bumped, metrics._removed, metrics._joined = data["unit"]
        metrics._loading_until_ms, metrics._batch = data["loading_until_ms"], data["batch"]
        (
            metrics._rebalance_rate,
            metrics._commit_rate,
            metrics._flush_rate,
            metrics._load_times,
        ) = (Sampled(*stat) for stat in data["sampled"])
        return metrics

    def _sampled(self) -> tuple[Sampled, ...]:
        return self._rebalance_rate, self._commit_rate, self._flush_rate, self._load_times
