"""Which records belong to one request, where one batch holds several."""

from __future__ import annotations

from typing import Any

from groups.history.passes.units import LogRecord
from tests.history.logs import HASH, STABLE, UNRELEASED, Records, record, released_basic
from tests.history.unit_entries import entries_from_records

R = Records()
Payload = dict[str, Any]


def units(*requests: tuple[Payload, ...], one_batch: bool = True, at_ms: int = 5) -> list[int]:
    """Lengths of the units told, the records of all requests written in one batch (or one each) at one time."""
    records, offset = [], 0
    for request in requests:
        base = 0 if one_batch else offset
        for payload in request:
            records.append(LogRecord(offset=offset, batch=base, at_ms=at_ms, payload=payload))
            offset += 1
    lengths: list[int] = []
    for entry in entries_from_records(records, partition=17):
        if entry.unit == entry.sequence:
            lengths.append(0)
        lengths[-1] += 1
        assert entry.settled == (entry.sequence == entry.unit + lengths[-1] - 1 and entry.settled)
    return lengths


def told(*requests: tuple[Payload, ...]) -> bool:
    """Whether the units are the requests, all of them written in one batch in one millisecond."""
    return units(*requests) == [len(request) for request in requests]


JOIN_A = (
    R.member("A"),
    R.epoch(2, HASH),
    R.target("A", 0, 1),
    R.target_epoch(2),
    R.current("A", 2, 0, STABLE, {0: 2, 1: 2}),
)
JOIN_B = (R.member("B"), R.epoch(3, HASH), R.target("A", 0), R.target("B", 1), R.target_epoch(3), R.current("B", 3, 0, UNRELEASED))  # fmt: skip
DELAYED_JOIN = (R.member("C"), R.epoch(4, HASH), R.current("C", 3, 0, STABLE))
LEAVE_B = R.leave("B", 5)
COMMIT = (R.commit(0, 1), R.commit(1, 1))
REGEX = {"groupId": "orders", "regularExpression": "f.*"}


def test_every_request_of_the_released_basic_case_is_a_unit_of_its_own() -> None:
    log = released_basic()
    records = [
        LogRecord(
            offset=entry.offset or 0,
            batch=entry.batch or 0,
            at_ms=entry.at_ms,
            payload=entry.payload,
        )
        for entry in log.entries
    ]
    assert [(entry.unit, entry.settled) for entry in entries_from_records(records, partition=0)] == [
        (entry.unit, entry.settled) for entry in log.entries
    ]


def test_a_unit_never_spans_batches() -> None:
    assert units(JOIN_A[:1], JOIN_A[1:], one_batch=False) == [1, 4]


def test_joins_in_one_batch_are_told_apart() -> None:
    assert told(JOIN_A, JOIN_B)
    assert told(DELAYED_JOIN, (R.member("D"), R.epoch(5, HASH), R.current("D", 3, 0, STABLE)))


def test_heartbeats_of_other_members_are_told_apart_from_a_join() -> None:
    echo = (R.current("A", 2, 2, STABLE, {0: 2}),)
    assert told(JOIN_B, echo, echo)


def test_a_target_of_a_plain_heartbeat_begins_a_unit() -> None:
    heartbeat = (R.target("A", 0), R.target_epoch(6), R.current("C", 6, 5, STABLE))
    assert told(LEAVE_B, heartbeat, (R.target_epoch(7),), (R.epoch(8),))


def test_leaves_in_one_batch_are_told_apart_and_one_request_may_remove_several() -> None:
    assert told(LEAVE_B, R.leave("C", 6))
    several = (*R.leave("B", 5)[:3], *R.leave("C", 5))
    assert told(several)


def test_a_leave_takes_the_regex_of_its_last_member_along() -> None:
    gone = (R.gone(8, "B"), R.gone(7, "B"), R.gone(5, "B"), record(16, REGEX, None), R.epoch(5))
    assert told(gone, JOIN_B)


def test_the_release_that_writes_a_target_epoch_when_a_group_empties() -> None:
    emptied = (*LEAVE_B, record(6, {"groupId": "orders"}, {"assignmentEpoch": 5}))
    assert told(emptied)


def test_a_static_replacement_is_one_unit_of_eight_records() -> None:
    gone = (R.gone(8, "A"), R.gone(7, "A"), R.gone(5, "A"))
    copy = (R.member("A~2"), R.target("A~2", 0), R.current("A~2", 0, 0, STABLE, {0: 0}))
    rest = (R.member("A~2", clientId="new"), R.current("A~2", 3, 0, STABLE, {0: 0}))
    assert told((*gone, *copy, *rest), JOIN_B)
    assert told((*gone, *copy, R.current("A~2", 3, 0, STABLE, {0: 0})), (R.current("B", 3, 3, STABLE),))


def test_a_regex_result_and_its_epoch_are_a_unit() -> None:
    resolved = record(16, REGEX, {"topics": ["fa"], "version": 1, "timestamp": 2})
    assert told((resolved, R.epoch(2)), (R.target("A", 0), R.target_epoch(2)))


def test_commits_of_one_partition_are_of_two_requests() -> None:
    assert told(COMMIT, COMMIT)
    assert told(COMMIT, JOIN_B)


def test_the_deletion_of_a_group_is_a_unit() -> None:
    offsets = (record(1, {"group": "orders", "topic": "foo", "partition": 0}, None),)
    assert told((*offsets, R.gone(6), R.gone(4), R.gone(3)), JOIN_A)


def test_a_group_of_the_old_releases_writes_partition_metadata_before_its_epoch() -> None:
    metadata = record(4, {"groupId": "orders"}, {"topics": []})
    assert told((R.member("A"), metadata, *JOIN_A[1:]), JOIN_B)


def test_an_upgrade_is_one_unit_with_its_joiner() -> None:
    tombstone = record(2, {"group": "orders"}, None)
    members = (R.member("M"), R.member("N"))
    moved = (R.target("M", 0), R.target("N", 1), R.target_epoch(22), R.current("M", 22, 22, STABLE, {0: 22}), R.current("N", 22, 22, STABLE, {1: 22}))  # fmt: skip
    assert told((tombstone, *members, R.epoch(22), *moved, *JOIN_B), JOIN_A)
    one = (tombstone, R.member("M"), R.epoch(22), R.target("M", 0), R.target_epoch(22), R.current("M", 22, 22, STABLE, {0: 22}))  # fmt: skip
    assert told((*one, *JOIN_B), JOIN_A)


def test_a_join_of_an_empty_classic_group_begins_with_its_tombstone() -> None:
    assert told((record(2, {"group": "orders"}, None), *JOIN_A), JOIN_B)


def test_a_downgrade_is_one_unit() -> None:
    classic = record(2, {"group": "orders"}, {"protocolType": "consumer", "generation": 5, "members": []})
    gone = [R.gone(kind, member) for kind in (8, 7) for member in ("A", "B")]
    ends = (R.gone(6), R.gone(5, "A"), R.gone(5, "B"), R.gone(4), R.gone(3), classic)
    assert told((*gone, *ends))


def test_records_kept_as_bytes_stand_alone() -> None:
    opaque = {"type": 31, "key_bytes": "AB8=", "value_bytes": None, "reason": "unknown"}
    assert told((opaque,), (opaque,), JOIN_A)
