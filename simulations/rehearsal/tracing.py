"""How a violation came about: the moments of a run that caused it, and no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypedDict

import orjson

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import Recorder
from simulations.rehearsal.playing import Violation
from simulations.world.engine import run
from simulations.world.scenario import load

STEPS_MOST: Final = 8
"""Moments of a trace: the last ones, which is what somebody reads."""


class TraceStep(TypedDict):
    sequence: int
    at_ms: int
    says: str


def trace_of(scenario: str, violation: Violation, first: int) -> list[TraceStep]:
    """The moments that led to a violation, from entry ``first`` on, in order; the violation itself is the last.

    Each entry names the one that brought it about. From the entries that prove the violation those links are followed back, and
    so they are from the last JoinGroup of either member: the last member to come releases a parked answer.
    """
    loaded = load(scenario, "rehearsal")
    recorder = Recorder(group=loaded.group)
    entries: dict[int, Entry] = {}
    for entry in run(loaded):
        recorder.add(entry)
        entries[entry.sequence] = entry
        if entry.sequence > violation.sequence:
            break
    causes: set[int] = set()
    waiting = [*violation.proof, violation.sequence, *_joins(entries, violation)]
    while waiting:
        sequence = waiting.pop()
        if sequence in causes or sequence < first or sequence not in entries:
            continue
        causes.add(sequence)
        cause = entries[sequence].cause
        if cause is not None:
            waiting.append(cause)
    batch = recorder.flush(final=True)
    moments = orjson.loads(batch.moments) if batch is not None else []
    steps: list[TraceStep] = [
        {"sequence": moment["sequence"], "at_ms": moment["at_ms"], "says": moment["says"]}
        for moment in moments
        if any(moment["first"] <= sequence <= moment["sequence"] for sequence in causes)
    ]
    return steps[-STEPS_MOST:]


def _joins(entries: Mapping[int, Entry], violation: Violation) -> Iterable[int]:
    """The last JoinGroup of each member before the violation."""
    last: dict[str, int] = {}
    for sequence, entry in entries.items():
        name = entry.actor.partition("~")[0]
        asks = entry.kind is Kind.REQUEST and entry.payload["api"] == "JoinGroup"
        if asks and name in violation.members and sequence < violation.sequence:
            last[name] = sequence
    return last.values()
