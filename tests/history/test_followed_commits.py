"""Commits of a followed group in one entry for each stretch: state, frame and findings are those of one entry for each commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from groups.history.entries import Entry, Kind
from groups.history.evidence.committed import Committed, TopicPartition, committed_in
from groups.history.following import group as following
from groups.history.following.group import FollowedGroup
from groups.history.following.partition import GroupRecords, PartitionLog
from groups.history.frames.changes import apply, unapply
from groups.history.frames.frame import whole
from groups.history.passes.recorder import Recorder
from groups.history.passes.units import LogRecord
from groups.history.replay.commit_runs import thinned
from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state
from groups.incidents.redaction import KEY_BYTES, Redactor
from tests.history.commits import with_commits
from tests.history.corpus import CorpusLog, corpus
from tests.history.logs import FOO, released_basic
from tests.history.test_following import commit
from tests.tiers import examples

SEEDS = st.integers(0, 2**32)
SOME = examples(25, suppress_health_check=list(HealthCheck))


NAMES = (
    "study released-basic kafka",
    "study released-member-failure kafka",
    "study released-static-replacement kafka",
    "study kip848-migration kafka",
    "study kip429-upgrade kafka",
    "study incident-session-expiry kafka",
    "study kip848-streams kafka",
)


@cache
def followable() -> tuple[CorpusLog, ...]:
    """Short logs of records that a broker could have written."""
    return tuple(log for log in corpus() if log.name.startswith(NAMES))


def busy(log: CorpusLog, seed: int, *, apart: bool) -> list[GroupRecords]:
    """The log with many commits between its requests; ``apart``: each of one partition, and each at a time of its own."""
    records = [entry for entry in log.entries if entry.kind is Kind.RECORD]
    entries = with_commits(records, log.group, Random(seed))
    if apart:
        entries = [entry for entry in entries if entry.payload["type"] != 1 or entry.sequence == entry.unit]
        entries = [
            replace(
                entry,
                settled=entry.settled or entry.payload["type"] == 1,
                at_ms=(entry.unit or 0) + entry.at_ms,
            )
            for entry in entries
        ]
    return list(units_of(entries))


def units_of(entries: Sequence[Entry]) -> Iterator[GroupRecords]:
    """Each request is a batch of its own."""
    unit: list[LogRecord] = []
    for offset, entry in enumerate(entries):
        first = unit[0].offset if unit else offset
        unit.append(LogRecord(offset=offset, batch=first, at_ms=entry.at_ms, payload=entry.payload))
        if entry.settled:
            yield GroupRecords(group="", settled=offset, leader_epoch=0, records=tuple(unit))
            unit = []


def followed(group: str, some: Sequence[GroupRecords], random: Random | None = None) -> list[Entry]:
    """The entries of the first life; chance stores now and then."""
    log, follows = PartitionLog(partition=0), FollowedGroup(group=group, partition=0)
    entries: list[Entry] = []
    for records in some:
        if follows.ended:
            break
        entries += follows.take(records, log, {})
        if random is not None and random.random() < 0.1:
            entries += follows.settle()
    return entries + follows.settle()


def one_by_one(group: str, some: Sequence[GroupRecords]) -> list[Entry]:
    """The same with an entry for each commit, as an import has them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("is_readable_commit", "is_commit_unit"):
            patch.setattr(following, name, lambda *_: False)
        return followed(group, some)


def states(group: str, entries: Sequence[Entry]) -> Iterator[State]:
    state = initial_state(group)
    for entry in entries:
        state = replay(state, entry)
        yield state


def folded(group: str, entries: Sequence[Entry]) -> tuple[Recorder, dict[str, Any]]:
    recorder = Recorder(group=group)
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return recorder, orjson.loads(orjson.dumps(batch.summary))


def without_sequences(value: Any) -> Any:
    """Findings and verdicts name entries as their proof; which ones is the difference between the two logs."""
    if isinstance(value, dict):
        left = {name: each for name, each in value.items() if "sequence" not in name and name not in PLACES}
        return {name: without_sequences(each) for name, each in left.items()}
    return [without_sequences(each) for each in value] if isinstance(value, list) else value


PLACES = frozenset({"steps", "at", "again", "sequence", "entries"})


@SOME
@given(st.sampled_from(followable()), SEEDS)
def test_a_followed_log_with_runs_of_commits_folds_to_what_it_folds_to_with_an_entry_for_each(
    log: CorpusLog, seed: int
) -> None:
    """Exactly, where no two commits have one time: those of one millisecond have the order of their partitions."""
    some = busy(log, seed, apart=True)
    runs, single = followed(log.group, some, Random(seed)), one_by_one(log.group, some)
    assert [entry.sequence for entry in runs] == list(range(1, len(runs) + 1))
    (recorder, summary), (reference, expected) = folded(log.group, runs), folded(log.group, single)
    assert {**recorder.frame, "sequence": 0} == {**reference.frame, "sequence": 0}
    assert without_sequences(summary["findings"]) == without_sequences(expected["findings"])
    assert summary["verdict"]["text"] == expected["verdict"]["text"]


@SOME
@given(st.sampled_from(followable()), SEEDS)
def test_state_and_committed_offsets_are_the_same_also_for_requests_of_many_partitions(
    log: CorpusLog, seed: int
) -> None:
    some = busy(log, seed, apart=False)
    runs, single = followed(log.group, some, Random(seed)), one_by_one(log.group, some)
    assert last_state(log.group, runs) == last_state(log.group, single)
    assert sorted(lines_of(runs)) == sorted(lines_of(single))


@SOME
@given(st.sampled_from(followable()), SEEDS)
def test_thinned_commits_leave_the_state_after_every_entry_as_it_was(log: CorpusLog, seed: int) -> None:
    runs = followed(log.group, busy(log, seed, apart=False))
    thin = [thin_entry(entry) for entry in runs]
    assert list(states(log.group, thin)) == list(states(log.group, runs))
    assert [thin_entry(entry) for entry in thin] == thin
    (recorder, _), (reference, _) = folded(log.group, thin), folded(log.group, runs)
    assert recorder.frame == reference.frame
    assert recorder.finder.counts == reference.finder.counts
    before, after = (sum(1 + one.between for _, one in lines) for lines in (committed(runs), committed(thin)))
    assert before == after


@pytest.mark.parametrize("pause_s", [20, 70])
def test_what_is_found_of_a_steady_group_that_fell_silent_is_found_of_its_thinned_log_too(
    pause_s: int,
) -> None:
    """Three members commit a partition each every second; one of them does not for a while, and goes on."""
    some = list(units_of(list(silent_log(pause_s))))
    runs = followed("orders", some)
    (_, before), (_, after) = folded("orders", runs), folded("orders", [thin_entry(entry) for entry in runs])
    kinds = ("silent", "unread", "stopped")
    [found, again] = [
        [each for each in told["findings"] if each["kind"] in kinds] for told in (before, after)
    ]
    assert found
    assert [(each["kind"], each.get("member"), each["from_ms"], each["to_ms"]) for each in again] == [
        (each["kind"], each.get("member"), each["from_ms"], each["to_ms"]) for each in found
    ]
    assert len(orjson.dumps([thin_entry(entry).to_json() for entry in runs])) < len(
        orjson.dumps([entry.to_json() for entry in runs])
    )


def silent_log(pause_s: int) -> Iterator[Entry]:
    start: list[Entry] = []
    state = initial_state("orders")
    for entry in released_basic().entries:
        start.append(entry)
        state = replay(state, entry)
        members = state.consumer.members.values()
        if entry.settled and len(members) == 3 and all(member.assigned for member in members):
            break
    yield from start
    began = start[-1].at_ms + 1_000
    for second in range(600):
        for partition in range(3):
            if partition == 2 and 310 <= second < 310 + pause_s:
                continue
            value = {
                "offset": 100 * second,
                "leaderEpoch": 0,
                "metadata": "",
                "commitTimestamp": -1,
                "topicId": FOO,
            }
            key = {"group": "orders", "topic": "foo", "partition": partition}
            payload = {"type": 1, "key": key, "version": 4, "value": value}
            yield replace(start[0], at_ms=began + 1_000 * second + partition, payload=payload, settled=True)


def test_every_move_between_entries_works_in_both_directions() -> None:
    log = followable()[0]
    recorder = Recorder(group=log.group)
    start = whole(recorder.frame)
    for entry in followed(log.group, busy(log, 5, apart=False)):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    changes = orjson.loads(batch.changes)
    end = apply(start, changes)
    assert end == whole(recorder.frame)
    assert unapply(end, changes) == start


def test_an_entry_covers_a_minute_at_most_and_a_clock_that_goes_back_begins_another() -> None:
    def at(*times_ms: int) -> list[Entry]:
        rows = [(offset, at_ms) for offset, at_ms in enumerate(times_ms)]
        records = [
            LogRecord(offset=each, batch=each, at_ms=at_ms, payload=commit(each)) for each, at_ms in rows
        ]
        some = [
            GroupRecords(group="g", settled=record.offset, leader_epoch=0, records=(record,))
            for record in records
        ]
        return followed("g", some)

    def spans(entries: list[Entry]) -> list[tuple[int, int]]:
        return [(entry.payload["first_ms"], entry.at_ms) for entry in entries if entry.kind is Kind.COMMITS]

    assert spans(at(0, 30_000, 60_000, 60_001)) == [(0, 60_000), (60_001, 60_001)]
    assert spans(at(5_000, 4_000, 6_000)) == [(5_000, 5_000), (4_000, 6_000)]


def test_a_stretch_of_commits_says_how_many_of_what_in_what_time() -> None:
    records = [
        LogRecord(offset=each, batch=each, at_ms=1_000 + 100 * each, payload=commit(each, partition=each % 3))
        for each in range(20)
    ]
    some = [GroupRecords(group="g", settled=each.offset, leader_epoch=0, records=(each,)) for each in records]
    assert moments(followed("g", some[:1])) == ["Offsets of foo-0 are committed"]
    assert moments(followed("g", some)) == ["20 commits of 3 partitions in 1.9\u202fs"]


def test_names_in_stretches_of_commits_are_hidden_with_all_others() -> None:
    [line] = [entry.to_json() for entry in followed("g", [one_record("payments", "by billing-7")])]
    redactor = Redactor(b"k" * KEY_BYTES)
    redactor.meet(line)
    text = orjson.dumps(redactor.redacted(line)).decode()
    assert "payments" not in text
    assert "billing" not in text
    assert "topic-1" in text


def one_record(topic: str, metadata: str) -> GroupRecords:
    payload = commit(5)
    payload["key"]["topic"], payload["value"]["metadata"] = topic, metadata
    record = LogRecord(offset=0, batch=0, at_ms=1_000, payload=payload)
    return GroupRecords(group="g", settled=0, leader_epoch=0, records=(record,))


def moments(entries: Sequence[Entry]) -> list[str]:
    recorder = Recorder(group="g")
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return [moment["says"] for moment in orjson.loads(batch.moments)]


def thin_entry(entry: Entry) -> Entry:
    return replace(entry, payload=thinned(entry.payload)) if entry.kind is Kind.COMMITS else entry


def last_state(group: str, entries: Sequence[Entry]) -> State:
    *_, last = states(group, entries)
    return replace(last, sequence=0, anomalies=())


def committed(entries: Sequence[Entry]) -> list[tuple[TopicPartition, Committed]]:
    return list(committed_in([entry.to_json() for entry in entries]))


def lines_of(entries: Sequence[Entry]) -> list[tuple[object, int, int]]:
    return [(place, one.at_ms, -1 if one.offset is None else one.offset) for place, one in committed(entries)]
