"""A stored timeline's incident from one of its moments on."""

from __future__ import annotations

from typing import Final

from groups import storage
from groups.history.entries import Entry
from groups.models import Timeline
from simulations.fork.values import ForkError
from simulations.jobs.moments import moment_of
from simulations.remedies.incident import of_log, of_run
from simulations.remedies.values import Incident, RemediesError

ENTRIES_MOST: Final = 100_000
"""Entries of a log that are folded to measure its incident: some twenty seconds of one processor."""


def incident_of(timeline: Timeline, at: int) -> Incident:
    """``RemediesError`` in one sentence if the moment has none, or cannot be continued in the simulator."""
    try:
        moment = moment_of(timeline, _settled(timeline, at))
        if moment.scenario is not None:
            return of_run(moment)
        if timeline.last > ENTRIES_MOST:
            raise RemediesError(
                f"This log has {timeline.last:,} entries; remedies are searched for {ENTRIES_MOST:,} at most"
            )
        findings = storage.summary(timeline).get("findings") or ()
        return of_log(moment, map(Entry.from_json, storage.every_entry(timeline)), findings)
    except ForkError as error:
        raise RemediesError(str(error)) from error


def _settled(timeline: Timeline, at: int) -> int:
    """States within a unit never existed: the end of the unit that entry ``at`` is in."""
    if not 0 < at <= timeline.last:
        return at
    for sequence in range(at, timeline.last + 1):
        (entry,) = storage.entries_between(timeline, sequence, sequence)
        if entry.get("settled", True):
            return sequence
    return at


def in_plain(incident: Incident) -> dict[str, object]:
    """As JSON, for a child process."""
    return {
        "document": incident.document,
        "semantics": str(incident.semantics),
        "seed": incident.seed,
        "recorded": incident.recorded,
        "assumptions": list(incident.assumptions),
        "of_records": incident.of_records,
    }
