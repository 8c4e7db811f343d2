"""``conform`` notices each single changed value: every leaf of every answer and record of a recording is changed in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest

from simulations.proof.conformance import Judge, NotJudged, Recording, recordings, settings_of
from simulations.proof.conformance.comparing import UNJUDGED_FIELDS
from simulations.recorded_files import read
from tests.simulations.test_conformance import RECORDED, SETTINGS

Place = tuple[str | int, ...]
Changed = tuple[str, Place, Recording]

EVERY = {"clients-slow-poll": 1, "clients-static": 12, "clients-join-leave-kill": 24, "clients-regex": 48}
"""Of one group each leaf is tried, of the others every so many: each takes some hundredths of a second."""

CLOCKS = frozenset({"assignmentTimestamp", "commitTimestamp", "timestamp"})
"""Taken from the recording, within what the request's own times allow: an hour is not."""

HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def groups() -> dict[str, Recording]:
    files = read(str(RECORDED.requests), [str(RECORDED.segments)], timedelta())
    every = recordings(files.requests, files.written, files.images, NotJudged())
    return {recording.group: recording for recording in every}


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


@pytest.mark.parametrize("group", EVERY)
def test_whichever_value_of_an_answer_or_a_record_is_another_it_is_told(
    groups: dict[str, Recording], group: str
) -> None:
    settings = settings_of(SETTINGS)
    unnoticed = []
    for where, path, lied in islice(lies(groups[group]), 0, None, EVERY[group]):
        judge = Judge(lied, settings)
        judge.judge()
        if not judge.tally.differences:
            unnoticed.append((where, path))
    assert unnoticed == []


def test_every_kind_of_place_is_tried(groups: dict[str, Recording]) -> None:
    tried = [path for _, path, _ in lies(groups["clients-slow-poll"])]
    assert len(tried) > 250
    assert {path[0] for path in tried} >= {"errorCode", "memberEpoch", "assignment", "key", "value"}
