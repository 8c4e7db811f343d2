"""The metrics of a timeline as a fold over its entries, which a checkpoint can carry."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Annotated, Final

from groups.history.entries import Entry, Kind
from groups.history.frames.shapes import Frame
from groups.history.metrics.clients import ClientMetrics
from groups.history.metrics.sampled import Sampled
from groups.history.metrics.shapes import AboutMetric, MetricsSheet
from groups.history.metrics.table import METRICS, UNMEASURED
from groups.history.replay.commit_runs import CommitRun, run_of
from groups.history.replay.fields import mapping
from groups.history.replay.record_types import (
    CLASSIC_GROUP,
    GROUP_EPOCH,
    MEMBER_METADATA,
    OFFSET_TYPES,
    meaning,
)
from groups.history.state.declared import Named, document

CLASSIC_STATES: Final = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")

STATES: Final = ("empty", "assigning", "reconciling", "stable", "dead")
LOAD_STATES: Final = ("loading", "active", "failed")


@document
@dataclass(slots=True)
class BrokerMetrics:
    """``add`` entries in order; ``values`` gives ``[(name, tags, value)]`` as of a moment."""

    _bumped: Annotated[bool, Named("unit")] = False
    _removed: Annotated[bool, Named("unit")] = False
    _joined: Annotated[bool, Named("unit")] = False
    _rebalances: int = 0
    _completed: int = 0
    _generation: Annotated[int | None, Named("completed")] = None
    _commits: int = 0
    _loading_until_ms: int | None = None
    _batch: int | None = None
    _rebalance_rate: Annotated[Sampled, Named("sampled")] = field(default_factory=Sampled)
    _commit_rate: Annotated[Sampled, Named("sampled")] = field(default_factory=Sampled)
    _flush_rate: Annotated[Sampled, Named("sampled")] = field(default_factory=Sampled)
    _load_times: Annotated[Sampled, Named("sampled")] = field(default_factory=Sampled)
    _completed_rate: Annotated[Sampled, Named("sampled")] = field(default_factory=Sampled)

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
        if record_type == CLASSIC_GROUP:
            self._generation_record(entry, value)
        what = meaning(record_type) if record_type is not None else None
        if what == GROUP_EPOCH and value is not None:
            self._bumped = True
        elif what == MEMBER_METADATA:
            self._removed, self._joined = self._removed or value is None, self._joined or value is not None
        if entry.settled:
            # A member that leaves or is removed begins an epoch that the coordinator does not count.
            if self._bumped and not (self._removed and not self._joined):
                self._rebalances += 1
                self._rebalance_rate.record(1, entry.at_ms)
            self._bumped = self._removed = self._joined = False

    def _generation_record(self, entry: Entry, value: object) -> None:
        """A generation with members is one whose leader has assigned; it is written again when a static member moves."""
        known = mapping(value)
        generation = known.get("generation")
        if known.get("members") and generation != self._generation:
            self._completed += 1
            self._completed_rate.record(1, entry.at_ms)
        self._generation = generation if isinstance(generation, int) else None

    def add_commits(self, run: CommitRun) -> None:
        """``add`` each entry of a run."""
        if run.first_batch is not None:
            began = run.batch_times_ms if run.first_batch != self._batch else run.batch_times_ms[1:]
            self._flush_rate.record_many(1, began)
            self._batch = run.last_batch
        self._commits += run.records
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
        if protocol == "classic":
            shown = str(frame.get("state"))
            gauges += [(f"NumGroups{name}", {}, int(name == shown)) for name in CLASSIC_STATES]
            gauges += [
                ("group-completed-rebalance-count", {}, self._completed),
                ("group-completed-rebalance-rate", {}, self._completed_rate.count_rate(now_ms)),
            ]
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


_RECORD: Final = Kind.RECORD

CLIENTS_MAX: Final = 2_000
"""Consumers that are measured, the first ones: twice the members of the largest group that a board shows."""

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError)
"""What reading an entry of another shape raises; such an entry measures nothing."""


@document
@dataclass(slots=True)
class Metrics:
    """``add`` entries in order, then ``values`` as of a moment, or go on."""

    _broker: BrokerMetrics = field(default_factory=BrokerMetrics)
    _clients: dict[str, ClientMetrics] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        try:
            if entry.kind is _RECORD:
                self._broker.record(entry)
            elif entry.kind is Kind.COMMITS:
                self._broker.add_commits(run_of(entry))
            else:
                self._add(entry)
        except _MALFORMED:
            # The fold has reported it; only a measurement is lost.
            return

    def add_commits(self, run: CommitRun) -> None:
        """``add`` each entry of a run of commits."""
        self._broker.add_commits(run)

    def _add(self, entry: Entry) -> None:
        match entry.kind:
            case Kind.REQUEST:
                client = self._client(entry.actor)
                if client is not None:
                    client.request(entry)
            case Kind.RESPONSE:
                client = self._clients.get(str(entry.payload.get("to")))
                if client is not None:
                    client.response(entry)
            case Kind.CALLBACK:
                client = self._client(entry.actor)
                if client is not None:
                    client.callback(entry)
            case _:
                self._broker.add(entry)

    def _client(self, member_id: str) -> ClientMetrics | None:
        client = self._clients.get(member_id)
        if client is None and len(self._clients) < CLIENTS_MAX:
            client = self._clients[member_id] = ClientMetrics()
        return client

    @property
    def client_ids(self) -> list[str]:
        """The member ids of the consumers that are measured, in the order in which they were met."""
        return list(self._clients)

    def values(self, frame: Frame, only: Collection[str] | None = None) -> MetricsSheet:
        """``frame`` is that of the moment; ``only``: the consumers in the answer, all if it is null."""
        now_ms = frame["at_ms"]
        owners, members = frame["clients"] or {}, frame["members"]
        return {
            "sequence": frame["sequence"],
            "at_ms": now_ms,
            "broker": [
                {**_ABOUT[name], "tags": tags, "value": _rounded(value)}
                for name, tags, value in self._broker.values(now_ms, frame)
            ],
            "clients": [
                {
                    "member": member_id,
                    "client_id": members[member_id]["client_id"] if member_id in members else None,
                    "metrics": [
                        {**_ABOUT[name], "value": _rounded(value)}
                        for name, value in client.values(
                            now_ms, owners[member_id]["owned"] if member_id in owners else None
                        )
                    ],
                }
                for member_id, client in self._clients.items()
                if only is None or member_id in only
            ],
            "not_told": [{"where": gap.where, "name": gap.name, "why": gap.why} for gap in UNMEASURED],
        }


_ABOUT: Final[dict[str, AboutMetric]] = {
    metric.name: {
        "where": metric.where,
        "name": metric.name,
        "unit": metric.unit,
        "about": metric.about,
        "proposed": metric.proposed,
        "kip_429": metric.kip_429 or None,
    }
    for metric in METRICS
}


def _rounded(value: float | None) -> float | int | None:
    """Six digits after the point: what a division adds beyond is noise that differs between machines."""
    return round(value, 6) if isinstance(value, float) else value
