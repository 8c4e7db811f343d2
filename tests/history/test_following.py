"""The pure following of a log: continuity, transactions, lives and places to go on from; nothing doubled, nothing lost in silence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Entry, Kind
from groups.history.findings.log_notes import ABORTED_MOST
from groups.history.following.group import FollowedGroup, newest
from groups.history.following.partition import GroupRecords, Hole, PartitionLog, Position
from groups.history.following.topics import TopicFacts
from groups.history.following.transactions import OPEN_LEAST_MS, PRODUCERS_MOST
from groups.history.passes.recorder import Recorder
from groups.history.state.plain import from_plain, to_plain
from groups.wire.logs.control import ControlRecord, ControlType, encode_control
from groups.wire.logs.record_batch import Record, RecordBatch, coordinator_batch, write_batch
from groups.wire.records import encode_record

FOO = "AAAAAAAAAAAAAAAAAAAAAQ"
TOPICS = {"foo": TopicFacts(FOO, 3)}


def epoch(number: int, group: str = "g") -> dict[str, Any]:
    value = {"epoch": number, "metadataHash": 0}
    return {"type": 3, "key": {"groupId": group}, "version": 0, "value": value}


def commit(offset: int, group: str = "g", partition: int = 0) -> dict[str, Any]:
    value = {"offset": offset, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 0}
    key = {"group": group, "topic": "foo", "partition": partition}
    return {"type": 1, "key": key, "version": 3, "value": value}


def target(member: str = "A") -> dict[str, Any]:
    value = {"topicPartitions": [{"topicId": FOO, "partitions": [0, 1]}]}
    return {"type": 7, "key": {"groupId": "g", "memberId": member}, "version": 0, "value": value}


def gone(payload: dict[str, Any]) -> dict[str, Any]:
    return payload | {"version": None, "value": None}


def batch(base: int, *payloads: dict[str, Any], leader: int = 0) -> bytes:
    records = [encode_record(payload) for payload in payloads]
    return write_batch(
        coordinator_batch(
            base_offset=base, timestamp_ms=1_000 + base, records=records, partition_leader_epoch=leader
        )
    )


def transactional(base: int, producer: int, *payloads: dict[str, Any]) -> bytes:
    rows = tuple(
        Record(base + index, 1_000 + base, *encode_record(payload)) for index, payload in enumerate(payloads)
    )
    made = RecordBatch(
        base, rows, len(rows) - 1, 1_000 + base, 1_000 + base, is_transactional=True, producer_id=producer
    )
    return write_batch(made)


def marker(base: int, producer: int, type_: ControlType) -> bytes:
    key, value = encode_control(ControlRecord(type=type_, coordinator_epoch=0))
    made = RecordBatch(
        base, (Record(base, 1_000 + base, key, value),), 0, 1_000 + base, 1_000 + base,
        is_transactional=True, is_control=True, producer_id=producer,
    )  # fmt: skip
    return write_batch(made)


def offsets(some: Iterable[GroupRecords]) -> list[tuple[str, int]]:
    return [(each.group, record.offset) for each in some for record in each.records]


def followed(log: PartitionLog, data: bytes, group: FollowedGroup | None = None) -> list[Entry]:
    group = group or FollowedGroup(group="g", partition=0)
    entries = []
    for told in log.take(data):
        if told.group == group.group and group.takes(told):
            entries += group.take(told, log, TOPICS)
    return [*entries, *group.settle()]


def test_records_come_by_group_in_the_order_of_the_log_and_the_next_fetch_begins_behind_them() -> None:
    log = PartitionLog(partition=0)
    some = list(log.take(batch(0, epoch(1), epoch(1, "h")) + batch(2, epoch(2), leader=3)))
    assert offsets(some) == [("g", 0), ("h", 1), ("g", 2)]
    assert (log.next, log.epoch, log.resume) == (3, 3, 3)
    assert log.holes == []


def test_a_batch_that_is_cut_short_is_left_for_the_next_fetch() -> None:
    log = PartitionLog(partition=0)
    whole, next_one = batch(0, epoch(1)), batch(1, epoch(2))
    assert offsets(log.take(whole + next_one[:-3])) == [("g", 0)]
    assert log.next == 1
    assert offsets(log.take(next_one)) == [("g", 1)]


def test_an_answer_that_begins_inside_of_a_batch_that_was_read_gives_none_of_it_again() -> None:
    log = PartitionLog(partition=0)
    data = batch(0, epoch(1), epoch(2), epoch(3))
    log.next = 2
    assert offsets(log.take(data)) == [("g", 2)]
    assert offsets(log.take(data)) == []


def test_a_fetch_that_begins_later_than_it_was_asked_is_a_hole_that_the_group_tells() -> None:
    log = PartitionLog(partition=0)
    group = FollowedGroup(group="g", partition=0)
    followed(log, batch(0, epoch(1)), group)
    entries = followed(log, batch(40, epoch(5)), group)
    assert [entry.payload for entry in entries if entry.kind is Kind.NOTE] == [
        {
            "note": "gap",
            "partition": 0,
            "from_offset": 1,
            "to_offset": 39,
            "reason": "compacted",
            "compacted": True,
        }
    ]


def test_records_that_compaction_took_out_of_a_batch_are_a_hole_too() -> None:
    log = PartitionLog(partition=0)
    rows = tuple(Record(at, 1_000, *encode_record(epoch(at))) for at in (0, 3))
    list(log.take(write_batch(RecordBatch(0, rows, 5, 1_000, 1_000, has_delete_horizon=True))))
    assert log.holes == [Hole(1, 2), Hole(4, 5)]
    assert log.next == 6


def test_a_hole_behind_the_last_record_of_a_group_is_told_when_the_log_is_read_to_its_end() -> None:
    log = PartitionLog(partition=0, initial=False)
    group = FollowedGroup(group="g", partition=0)
    followed(log, batch(0, epoch(1)), group)
    list(log.take(batch(9, epoch(1, "h"))))
    [note] = group.caught_up(log)
    assert (note.payload["from_offset"], note.payload["to_offset"]) == (1, 8)
    assert group.caught_up(log) == []


def test_a_damaged_batch_is_told_with_its_reason_and_reading_goes_on_behind_it() -> None:
    log = PartitionLog(partition=0)
    group = FollowedGroup(group="g", partition=0)
    damaged = bytearray(batch(1, epoch(2)))
    damaged[-1] ^= 0xFF
    entries = followed(log, batch(0, epoch(1)) + bytes(damaged) + batch(2, epoch(3)), group)
    [gap] = [entry.payload for entry in entries if entry.kind is Kind.NOTE]
    assert "compacted" not in gap
    assert gap["reason"].startswith("a batch cannot be read: ")
    assert [entry.offset for entry in entries if entry.kind is Kind.RECORD] == [0, 2]


def test_records_of_a_transaction_hold_when_its_marker_comes_and_never_if_it_was_aborted() -> None:
    log = PartitionLog(partition=0)
    data = batch(0, epoch(1)) + transactional(1, 7, commit(5)) + transactional(2, 8, commit(6))
    assert offsets(log.take(data)) == [("g", 0)]
    assert log.next == 3
    assert log.resume == 1, "whoever goes on reads the open transactions again"
    [aborted] = log.take(marker(3, 8, ControlType.ABORT))
    assert (aborted.aborted, aborted.producer, aborted.first) == (True, 8, 2)
    [held] = log.take(marker(4, 7, ControlType.COMMIT))
    assert (held.first, held.settled) == (1, 4)
    assert log.resume == 5


def test_a_transaction_that_is_read_again_is_taken_though_later_records_were_stored_before_its_end() -> None:
    data = batch(0, epoch(1)) + transactional(1, 7, commit(5)) + batch(2, epoch(2))
    log, group = PartitionLog(partition=0), FollowedGroup(group="g", partition=0)
    before = followed(log, data, group)
    position, kept = log.position, to_plain(group)
    again = PartitionLog.going_on(0, position)
    assert (again.next, again.resume) == (3, 1)
    assert not again.is_what_it_was()
    assert again.next == 1
    after = followed(again, data + marker(3, 7, ControlType.COMMIT), from_plain(FollowedGroup, kept))
    assert [entry.offset for entry in before if entry.kind is Kind.RECORD] == [0, 2]
    assert [entry.payload["from_offset"] for entry in after if entry.kind is Kind.COMMITS] == [1]


def notes(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    return [
        dict(entry.payload) for entry in entries if entry.kind is Kind.NOTE and "producer" in entry.payload
    ]


HELD = {
    "note": "transaction",
    "producer": 7,
    "from_ms": 1_001,
    "from_offset": 1,
    "partition": 0,
    "partitions": {"foo": [0]},
    "committed": [5],
}


def held(log: PartitionLog, group: FollowedGroup, at_ms: int) -> list[dict[str, Any]]:
    return notes(group.hold(log.open_transactions().get(group.group, ()), at_ms))


def test_each_request_of_a_transaction_is_in_force_when_its_marker_comes() -> None:
    data = batch(0, epoch(1)) + transactional(1, 7, commit(5)) + transactional(2, 7, commit(6, partition=1))
    entries = followed(PartitionLog(partition=0), data + marker(3, 7, ControlType.COMMIT))
    [commits] = [entry.payload for entry in entries if entry.kind is Kind.COMMITS]
    assert [(line["partition"], line["offsets"]) for line in commits["commits"]] == [(0, [5]), (1, [6])]


@pytest.mark.parametrize(("type_", "committed"), [(ControlType.COMMIT, True), (ControlType.ABORT, False)])
def test_a_transaction_that_stays_open_is_noted_once_and_its_end_once_though_another_process_goes_on(
    type_: ControlType, committed: bool
) -> None:
    data = batch(0, epoch(1)) + transactional(1, 7, commit(5))
    log, group = PartitionLog(partition=0), FollowedGroup(group="g", partition=0)
    followed(log, data, group)
    assert held(log, group, 1_001 + OPEN_LEAST_MS - 1) == [], "it is at work"
    assert held(log, group, 1_001 + OPEN_LEAST_MS) == [HELD]
    again, kept = PartitionLog.going_on(0, log.position), from_plain(FollowedGroup, to_plain(group))
    assert not again.is_what_it_was()
    followed(again, data, kept)
    assert held(again, kept, 90_000) == []
    more = transactional(2, 7, commit(6, partition=2))
    followed(again, more, kept)
    assert [each["partitions"] for each in held(again, kept, 91_000)] == [{"foo": [0, 2]}]
    end = followed(again, marker(3, 7, type_), kept)
    ended, *rest = notes(end)
    assert ended == {"note": "transaction_ended", "producer": 7, "committed": committed}
    assert [each["committed"] for each in rest] == ([] if committed else [[5], [6]])
    assert [entry.kind for entry in end].count(Kind.COMMITS) == committed
    assert held(again, kept, 92_000) == notes(followed(again, marker(4, 7, type_), kept)) == []


def test_an_open_transaction_whose_end_the_log_no_longer_has_is_ended_as_unknown() -> None:
    log, group = PartitionLog(partition=0), FollowedGroup(group="g", partition=0)
    followed(log, batch(0, epoch(1)) + transactional(1, 7, commit(5)), group)
    held(log, group, 60_000)
    assert notes(group.hold([], 70_000)) == [{"note": "transaction_ended", "producer": 7, "committed": None}]


def test_the_next_timeline_has_a_note_of_a_transaction_that_is_still_open() -> None:
    log, group = PartitionLog(partition=0), FollowedGroup(group="g", partition=0)
    before = followed(log, batch(0, epoch(1)) + transactional(1, 7, commit(5)), group)
    held(log, group, 60_000)
    assert notes(group.continued(newest(before, "g"))) == [HELD]


def test_open_transactions_and_aborted_commits_are_noted_up_to_a_bound() -> None:
    log, group = PartitionLog(partition=0), FollowedGroup(group="g", partition=0)
    followed(log, batch(0, epoch(1)), group)
    at = 1
    for producer in range(PRODUCERS_MOST + 5):
        followed(log, transactional(at, producer, commit(5)), group)
        at += 1
    assert len(held(log, group, 60_000)) == len(group.held) == PRODUCERS_MOST
    entries: list[Entry] = []
    for producer in range(ABORTED_MOST + 5):
        entries += followed(log, marker(at, producer, ControlType.ABORT), group)
        at += 1
    assert [each["note"] for each in notes(entries)].count("aborted") == ABORTED_MOST
    assert group.held == []


def test_another_leader_of_the_partition_is_told_before_its_first_record() -> None:
    entries = followed(PartitionLog(partition=0), batch(0, epoch(1), leader=4) + batch(1, epoch(2), leader=5))
    assert [entry.payload for entry in entries if entry.kind is Kind.NOTE] == [
        {"note": "coordinator", "leader_epoch": 5}
    ]


def test_topics_are_named_when_a_record_speaks_of_them() -> None:
    entries = followed(PartitionLog(partition=0), batch(0, epoch(1), target()))
    [note] = [entry.payload for entry in entries if entry.kind is Kind.NOTE]
    assert note == {"note": "topics", "topics": {"foo": {"id": FOO, "partitions": 3}}, "source": "cluster"}


def test_a_group_that_ends_is_followed_by_another_life_with_a_timeline_of_its_own() -> None:
    log, group = PartitionLog(partition=0), FollowedGroup(group="g", partition=0)
    [told] = log.take(batch(0, epoch(1), gone(epoch(1)), epoch(1)))
    first = group.take(told, log, {})
    assert group.ended
    assert [entry.offset for entry in first] == [0, 1]
    rest = group.left(told)
    assert rest is not None
    second = group.next_life().take(rest, log, {})
    assert [(entry.sequence, entry.offset) for entry in second] == [(1, 2)]


def test_the_next_timeline_of_a_group_begins_with_the_newest_record_of_each_key_and_is_the_same_group() -> (
    None
):
    log, group = PartitionLog(partition=0), FollowedGroup(group="g", partition=0)
    assigned = {"type": 6, "key": {"groupId": "g"}, "version": 0, "value": {"assignmentEpoch": 1}}
    data = (
        batch(0, epoch(1), target(), assigned) + batch(3, epoch(2), commit(1)) + batch(5, commit(2), epoch(3))
    )
    entries = followed(log, data, group)
    before = Recorder(group="g")
    for entry in entries:
        before.add(entry)
    before.flush(final=True)
    latest = newest(entries, "g")
    assert [entry.offset for entry in latest] == [1, 2, 5, 6]
    after = Recorder(group="g")
    for entry in group.continued(latest):
        after.add(entry)
    after.flush(final=True)
    same = ("group_epoch", "assignment_epoch", "members", "target", "topics", "protocol")
    assert {name: after.frame[name] for name in same} == {name: before.frame[name] for name in same}


def test_a_place_that_was_stored_is_where_another_process_goes_on() -> None:
    log = PartitionLog(partition=2)
    list(log.take(batch(0, epoch(1), leader=6) + transactional(1, 7, commit(5))))
    assert log.position == Position(next=1, high=2, epoch=0)


RECORDS = st.lists(
    st.one_of(
        st.builds(lambda n, g: ("plain", epoch(n, g)), st.integers(1, 50), st.sampled_from("gh")),
        st.builds(
            lambda n, p: ("transactional", commit(n, partition=p)), st.integers(0, 50), st.integers(0, 2)
        ),
        st.sampled_from([("commit", {}), ("abort", {})]),
    ),
    max_size=30,
)


@given(RECORDS, st.lists(st.integers(0, 30), max_size=6))
def test_wherever_the_process_dies_and_goes_on_the_entries_are_those_of_one_that_never_died(
    rows: list[tuple[str, dict[str, Any]]], deaths: list[int]
) -> None:
    log: list[bytes] = []
    for at, (kind, payload) in enumerate(rows):
        if kind == "plain":
            log.append(batch(at, payload))
        elif kind == "transactional":
            log.append(transactional(at, 7, payload))
        else:
            log.append(marker(at, 7, ControlType.COMMIT if kind == "commit" else ControlType.ABORT))

    def read(deaths: list[int]) -> list[dict[str, Any]]:
        """Each batch is a fetch that is stored whole, with the position behind it."""
        group = FollowedGroup(group="g", partition=0)
        kept: tuple[Position, Any] = (Position(), to_plain(group))
        partition = PartitionLog(partition=0)
        entries: list[Entry] = []
        at = 0
        left = sorted(deaths)
        while at < len(log):
            if left and left[0] <= at:
                left.pop(0)
                partition, group = PartitionLog.going_on(0, kept[0]), from_plain(FollowedGroup, kept[1])
                if not partition.is_what_it_was():
                    at = partition.next
                    continue
                at = partition.next
            if at < len(log):
                entries += followed(partition, log[at], group)
                kept = (partition.position, to_plain(group))
                at = partition.next
        return [entry.to_json() for entry in entries]

    assert read(deaths) == read([])


def test_a_timeline_that_goes_on_with_an_earlier_one_does_not_say_that_the_log_is_compacted() -> None:
    log = PartitionLog(partition=0)
    group = FollowedGroup(group="g", partition=0)
    before = followed(log, batch(0, epoch(1)), group)
    recorder = Recorder(group="g")
    for entry in group.continued(newest(before, "g")):
        recorder.add(entry)
    recorded = recorder.flush(final=True)
    assert recorded is not None
    text = recorded.summary["verdict"]["text"]
    assert "compacted" not in text
    assert text.startswith("An earlier timeline of the group has what was before.")
