"""The metrics of a timeline as a fold over its entries, which a checkpoint can carry."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.frames.shapes import Frame
from groups.history.metrics.broker import BrokerMetrics
from groups.history.metrics.clients import ClientMetrics
from groups.history.metrics.shapes import AboutMetric, MetricsSheet
from groups.history.metrics.table import METRICS, UNMEASURED
from groups.history.replay.commit_runs import CommitRun, run_of
from groups.history.state.declared import document

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
