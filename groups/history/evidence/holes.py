"""Where a log lacks something: entries and steps behind which records are missing."""

from __future__ import annotations

from groups.history.entries import Entry, Kind
from groups.history.evidence.steps import Step
from groups.history.state.group import EPOCH_JUMP


def is_hole(step: Step) -> bool:
    """Whether something is missing right before this step: a gap, or changes of the group that nobody saw."""
    if any(anomaly.kind == EPOCH_JUMP for anomaly in step.anomalies):
        return True
    return any(is_gap(entry) and not entry.payload.get("compacted") for entry in step.entries)


def is_gap(entry: Entry) -> bool:
    """Whether the entry reports records that are missing: here, or (``compacted``) here and there from here on."""
    return entry.kind is Kind.NOTE and entry.payload.get("note") == "gap"
