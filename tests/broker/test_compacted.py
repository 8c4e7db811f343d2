"""A log that Kafka's own cleaner compacted: imported with its gaps, without a claim that the whole log refutes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.serving import ROOT, environment_for

from .compacted import GROUP, Compacted, play, records_in
from .comparison import said_of
from .moments import Imported, Moment, difference

pytestmark = [pytest.mark.broker, pytest.mark.spark]

COMMAND_LIMIT_S = 300

Row = dict[str, Any]


@pytest.fixture(scope="module")
def compacted(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Compacted:
    return play(tmp_path_factory.mktemp("compacted"))


@dataclass(frozen=True, slots=True)
class Log:
    """One copy, imported: the timeline's line in the report, its settled frames, findings and entries."""

    told: Row
    frames: list[Row]
    findings: list[Row]
    places: Imported
    end_offset: int

    def frame_before(self, moment: Moment) -> Row:
        """The frame after the last record that the broker had written when it said so."""
        place = self.places.before(moment)
        assert place is not None
        return next(frame for frame in self.frames if frame["sequence"] == place.sequence)

    def of(self, kind: str) -> list[Row]:
        return [each for each in self.findings if each["kind"] == kind]


class Imports:
    def __init__(self, folder: Path) -> None:
        self.environment = environment_for(folder)
        self.manage("migrate", "--verbosity", "0")

    def manage(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=COMMAND_LIMIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2_000:]
        return done.stdout

    def take(self, data: Path) -> Log:
        report = json.loads(self.manage("import_log", str(data)))
        (told,) = (each for each in report["timelines"] if each["group"] == GROUP)
        shown = {
            format: [
                json.loads(line)
                for line in self.manage("timeline", "show", told["id"], "--format", format).splitlines()
            ]
            for format in ("frames", "findings", "entries")
        }
        frames = [frame for frame in shown["frames"] if frame["settled"] and frame["protocol"]]
        records = [entry["offset"] for entry in shown["entries"] if entry["kind"] == "record"]
        places = Imported({told["id"]: shown["entries"]})
        return Log(told, frames, shown["findings"], places, max(records) + 1)


@pytest.fixture(scope="module")
def imports(tmp_path_factory: pytest.TempPathFactory, spark_can_start: None) -> Imports:
    return Imports(tmp_path_factory.mktemp("compacted-imports"))


@pytest.fixture(scope="module")
def whole(compacted: Compacted, imports: Imports) -> Log:
    return imports.take(compacted.whole)


@pytest.fixture(scope="module", params=["after", "continued"])
def log(request: pytest.FixtureRequest, compacted: Compacted, imports: Imports) -> Log:
    """The compacted log as the cleaner left it, and with what was written later."""
    return imports.take(getattr(compacted, request.param))


def test_the_cleaner_took_most_of_the_records(compacted: Compacted) -> None:
    assert records_in(compacted.after) < records_in(compacted.whole) / 2


def test_the_whole_log_equals_what_the_broker_said_at_each_offset(compacted: Compacted, whole: Log) -> None:
    assert whole.told["gaps"] == []
    assert len(compacted.moments) >= 4
    for moment in (compacted.at_rest, *compacted.moments, compacted.at_end):
        assert difference(moment, whole.frame_before(moment)) is None


def test_a_compacted_log_equals_what_the_broker_said_and_what_the_whole_log_shows(
    compacted: Compacted, whole: Log, log: Log
) -> None:
    told = (compacted.at_rest, *compacted.moments, compacted.at_end)
    held = [moment for moment in told if moment.end_offset <= log.end_offset]
    for moment in held:
        frame = log.frame_before(moment)
        assert difference(moment, frame) is None
        assert said_of(frame) == said_of(whole.frame_before(moment))
    assert said_of(log.frames[-1]) == held[-1].said


def test_offsets_that_compaction_took_are_marked_as_gaps(log: Log) -> None:
    assert log.told["gaps"] != []


def test_nobody_is_said_to_join_who_was_there_before(whole: Log, log: Log) -> None:
    wrong = [
        joined["says"]
        for joined in log.of("joined")
        if joined["at_ms"] not in times_of_coming(whole.frames, joined["member"])
    ]
    assert wrong == []


def test_nobody_is_said_to_be_removed_at_another_time_than_it_was(whole: Log, log: Log) -> None:
    wrong = [
        removed["says"]
        for removed in log.of("removed")
        if removed["at_ms"] not in times_of_going(whole.frames, removed["member"])
    ]
    assert wrong == []


def test_no_unassigned_time_is_measured_over_a_hole(whole: Log, log: Log) -> None:
    wrong = [
        one["says"]
        for one in log.of("no_owner")
        if any(
            owner is not None
            for owner in owners_between(
                whole.frames, one["partition"], one["from_ms"], one["from_ms"] + one["length_ms"]
            )
        )
    ]
    assert wrong == []


def test_no_move_is_told_that_another_owner_stood_between(whole: Log, log: Log) -> None:
    wrong = [
        one["says"]
        for one in log.of("moved")
        if (one["from"], one["to"]) not in pairwise(owners_of(whole.frames, one["partition"]))
    ]
    assert wrong == []


def test_no_wait_is_told_that_did_not_happen(whole: Log, log: Log) -> None:
    assert [one["says"] for one in log.of("waited_for") if not waited(whole.frames, one)] == []


def test_what_compaction_did_is_not_told_as_a_coordinators_mistake(log: Log) -> None:
    assert [one["says"] for one in log.of("anomaly") if one["anomaly"] == "two_owners"] == []


def test_the_verdict_says_that_the_beginning_is_missing_and_names_the_members_that_were_there(
    log: Log,
) -> None:
    (began,) = log.of("began")
    assert set(began["members"]) >= {"C", "E"}
    assert log.of("midway") != []


# What really happened, from the frames of the whole log.


def times_of_coming(frames: list[Row], member: str) -> list[int]:
    seen = [{"members": {}, "at_ms": 0}, *frames]
    return [
        now["at_ms"]
        for then, now in pairwise(seen)
        if member in now["members"] and member not in then["members"]
    ]


def times_of_going(frames: list[Row], member: str) -> list[int]:
    return [
        now["at_ms"]
        for then, now in pairwise(frames)
        if member in then["members"] and member not in now["members"]
    ]


def owner_in(frame: Row, partition: str) -> str | None:
    """Who holds it, also who is still to give it up."""
    topic, _, number = partition.rpartition("-")
    for member_id, member in frame["members"].items():
        for part in (member["assigned"], member["pending_revocation"]):
            if int(number) in part.get(topic, ()):
                return str(member_id)
    return None


def owners_between(frames: list[Row], partition: str, from_ms: int, to_ms: int) -> Iterator[str | None]:
    """The owners that stood within a time, its two ends left out."""
    for frame, following in pairwise([*frames, {"at_ms": 1 << 62}]):
        if frame["at_ms"] < to_ms and following["at_ms"] > from_ms and following["at_ms"] > frame["at_ms"]:
            yield owner_in(frame, partition)


def owners_of(frames: list[Row], partition: str) -> list[str]:
    """One owner after the other."""
    out: list[str] = []
    for frame in frames:
        owner = owner_in(frame, partition)
        if owner is not None and (not out or out[-1] != owner):
            out.append(owner)
    return out


def waited(frames: list[Row], wait: Row) -> bool:
    """Whether its holder ever had the partition while it was meant for the one who waited."""
    topic, _, number = wait["partition"].rpartition("-")
    return any(
        owner_in(frame, wait["partition"]) == wait["member"]
        and int(number) in frame["target"].get(wait["waiter"], {}).get(topic, ())
        for frame in frames
    )
