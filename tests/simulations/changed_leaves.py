"""Recordings with one thing changed: every leaf of every answer and record in turn, which ``conform`` has to notice.

``python -m tests.simulations.changed_leaves [EVERY [GROUP…]]`` changes each leaf (or each so many-th) of the recorded exchanges
of the classic protocol and of released clients, and prints those that nobody noticed. All are 37,000, and take some nine hours:
``make proof`` takes each twelfth, and all of the one recording of which the tests take one of each kind.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Any

from simulations.proof.conformance import Judge, NotJudged, Recording, recordings, settings_of
from simulations.proof.conformance.comparing import UNJUDGED_FIELDS
from simulations.proof.conformance.position import Position
from simulations.proof.conformance.steps import SearchStep
from simulations.protocol.coordinator.settings import Settings
from simulations.recorded_files import read
from simulations.samples import sample

Place = tuple[str | int, ...]
Changed = tuple[str, Place, Recording]

CLOCKS = frozenset({"assignmentTimestamp", "commitTimestamp", "currentStateTimestamp", "timestamp"})
"""Taken from the recording, within what the request's own times allow: an hour is not."""

HOUR_MS = 3_600_000


def unnoticed(
    recording: Recording, settings: Settings, *, every: int | None = 1
) -> Iterator[tuple[str, Place]]:
    """Each so many-th change that ``conform`` does not report, or the first of each kind of place."""
    chosen = of_each_kind(lies(recording)) if every is None else islice(lies(recording), 0, None, every)
    for where, path, changed in chosen:
        if not differs(changed, settings):
            yield where, path


def differs(recording: Recording, settings: Settings) -> bool:
    try:
        ToFirstDifference(recording, settings).judge()
    except Noticed:
        return True
    return False


class Noticed(Exception):
    """The recording differs: what lies behind the first difference makes no difference to that."""


class ToFirstDifference(Judge):
    """Ends at the first difference, and looks for no rules of another release that explain it."""

    def _by_other_rules(self, position: Position, *, known: bool = False) -> SearchStep | None:
        return None

    def _settled(self, step: SearchStep) -> Position:
        after = super()._settled(step)
        if self.tally.differences:
            raise Noticed
        return after


def other(name: str | int, value: Any) -> Any:
    """Another value of the same field."""
    if name in CLOCKS:
        return value + HOUR_MS
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return "x" if value is None else f"{value}x"


def changes(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Each place in the value, with what stands there instead: a leaf is another, a list lacks or repeats an item."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name not in UNJUDGED_FIELDS:
                yield from changes(item, (*path, name))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from changes(item, (*path, index))
        if value:
            yield path, list(value[:-1])
            yield path, [*value, value[0]]
        if len(value) > 1 and (turned := [value[-1], *value[:-1]]) != list(value):
            yield path, turned
    else:
        yield path, other(path[-1], value)


def put(value: Any, path: Place, new: Any) -> Any:
    if not path:
        return new
    first, *rest = path
    if isinstance(value, Mapping):
        return {**value, first: put(value[first], tuple(rest), new)}
    assert isinstance(first, int)
    return [*value[:first], put(value[first], tuple(rest), new), *value[first + 1 :]]


def lies(recording: Recording) -> Iterator[Changed]:
    """The recording with one thing changed, each in turn: where, and the whole."""
    for at, asked in enumerate(recording.asked):
        for path, new in changes(asked.response):
            lied = replace(asked, response=put(asked.response, path, new))
            whole = (*recording.asked[:at], lied, *recording.asked[at + 1 :])
            yield f"answer in line {asked.line}", path, replace(recording, asked=whole)
    for at, written in enumerate(recording.written):
        payload = written.payload
        told = {"key": payload["key"]}
        if payload["value"] is not None:
            # Without its value a record is a tombstone, which has no fields.
            told |= {"version": payload["version"], "value": payload["value"]}
        found = list(changes(told))
        if payload["value"] is not None:
            found.append((("value",), None))
        for path, new in found:
            if path == ("value", "version"):
                # Which of two images that show the group the same was looked at makes no difference.
                new = 0
            lied_record = replace(written, payload=put(payload, path, new))
            records = (*recording.written[:at], lied_record, *recording.written[at + 1 :])
            yield f"record at offset {written.offset}", path, replace(recording, written=records)


def of_each_kind(changes: Iterator[Changed]) -> Iterator[Changed]:
    """The first change of each field, in answers and in records, wherever it is in a list."""
    seen: set[tuple[object, ...]] = set()
    for where, path, changed in changes:
        kind = (where.split()[0], *("an item" if isinstance(part, int) else part for part in path))
        if kind not in seen:
            seen.add(kind)
            yield where, path, changed


def all_recordings() -> Iterator[tuple[str, Recording, Settings]]:
    """Those of the classic protocol and of released clients, with their names."""
    from tests.broker.classic.as_recorded import recording_of
    from tests.broker.classic.recording import recorded

    for name, transcript in sorted(recorded().items()):
        yield name, recording_of(transcript), settings_of(transcript.settings)
    for clients in (sample("recorded-clients"), sample("recorded-classic")):
        files = read(str(clients.requests), [str(clients.segments)], timedelta())
        for recording in recordings(files.requests, files.written, files.images, NotJudged()):
            yield f"clients {recording.group}", recording, settings_of(clients.settings)


def main() -> int:
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    named = sys.argv[2:]
    found = tried = 0
    for name, recording, settings in all_recordings():
        if named and name not in named:
            continue
        if differs(recording, settings):
            sys.stdout.write(f"{name}: it differs as it is\n")
            continue
        tried += len(range(0, sum(1 for _ in lies(recording)), every))
        for where, path in unnoticed(recording, settings, every=every):
            found += 1
            sys.stdout.write(f"{name}: {where}: {'.'.join(map(str, path))}\n")
    sys.stdout.write(f"{tried} changes, {found} unnoticed\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
