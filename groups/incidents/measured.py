"""Kafka's metrics at each moment of an incident, as a page shows them that has no server to ask.

A value is written where it changes, so a moment costs what it moves. A page shows a few consumers side by side; no others are in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

from groups.history.entries import Entry
from groups.history.metrics import Metrics
from groups.history.metrics.shapes import MetricValue, UnmeasuredMetric
from groups.history.state.plain import from_plain
from groups.incidents.pieces import Piece, frames_at_moments

CLIENTS_MOST: Final = 8
"""Columns of the page's table (``static/js/figures/metrics-panel.js``)."""

MOMENTS_MOST: Final = 5_000
"""Moments that are measured: two seconds of folding, and half a megabyte. Of more, none are."""


class Measure(TypedDict):
    """``member`` is null for one of the coordinator's; ``at`` are sequences, ``values`` what holds from each on."""

    member: str | None
    about: Mapping[str, object]
    """All of the metric but its value (``groups.history.metrics.shapes``)."""
    at: list[int]
    values: list[float | int | None]


class Measured(TypedDict):
    """The metrics of an incident; ``members`` in the order of the table, ``clients`` is how many consumers there were."""

    measures: list[Measure]
    members: list[str]
    clients: int
    not_told: list[UnmeasuredMetric]


def measured(pieces: Sequence[Piece]) -> Measured | None:
    """The metrics at each moment; null where there are too many moments."""
    if sum(len(piece.moments) for piece in pieces) > MOMENTS_MOST:
        return None
    members = _members(pieces)
    shown = members[:CLIENTS_MOST]
    measures: dict[tuple[str | None, str, str], Measure] = {}
    unmeasured: list[UnmeasuredMetric] = []
    for piece in pieces:
        metrics, entries = from_plain(Metrics, piece.metrics), iter(piece.entries)
        entry = next(entries, None)
        for moment, frame in frames_at_moments(piece.frame, piece.changes, piece.moments):
            while entry is not None and entry["sequence"] <= moment["sequence"]:
                metrics.add(Entry.from_json(entry))
                entry = next(entries, None)
            measured = metrics.values(frame, shown)
            unmeasured = measured["not_told"]
            for metric in measured["broker"]:
                _note(measures, None, metric, moment["sequence"])
            for client in measured["clients"]:
                for found in client["metrics"]:
                    _note(measures, client["member"], found, moment["sequence"])
    return Measured(
        measures=list(measures.values()), members=shown, clients=len(members), not_told=unmeasured
    )


def _members(pieces: Sequence[Piece]) -> list[str]:
    """The consumers that did something in these pieces, or were there, in the order in which they were met."""
    metrics = Metrics()
    there: dict[str, None] = {}
    for piece in pieces:
        there |= dict.fromkeys(piece.frame.get("members") or {})
        for entry in piece.entries:
            metrics.add(Entry.from_json(entry))
    known = set(from_plain(Metrics, pieces[0].metrics).client_ids) | set(metrics.client_ids)
    return list(dict.fromkeys([*(one for one in there if one in known), *metrics.client_ids]))


def _note(
    measures: dict[tuple[str | None, str, str], Measure],
    member: str | None,
    found: MetricValue,
    sequence: int,
) -> None:
    value = found["value"]
    key = (member, found["name"], repr(found.get("tags")))
    measure = measures.get(key)
    if measure is None:
        about = {name: held for name, held in found.items() if name != "value"}
        measure = measures[key] = Measure(member=member, about=about, at=[], values=[])
    if not measure["values"] or measure["values"][-1] != value:
        measure["at"].append(sequence)
        measure["values"].append(value)
