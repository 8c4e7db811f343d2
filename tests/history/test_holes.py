"""Where a followed log has nothing to read: holes are told once, as one where they touch, and in a bounded number."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.following import partition
from groups.history.following.partition import Hole, PartitionLog
from groups.history.following.topics import mentioned
from groups.history.passes.units import LogRecord
from groups.wire.logs.control import ControlType
from tests.history.test_following import batch, commit, gone, marker, offsets, target, transactional

FOO_SUBSCRIBED = "AAAAAAABAANmb28AAAAA"
"""A subscription of the consumer protocol, version 0: one topic, foo."""


def test_holes_that_touch_are_one_where_their_reason_is_one() -> None:
    log = PartitionLog(partition=0)
    log.skip_to(5, "deleted")
    log.skip_to(9, "deleted")
    assert log.holes == [Hole(0, 8, "deleted")]
    log.skip_to(12, "damaged")
    assert log.holes == [Hole(0, 8, "deleted"), Hole(9, 11, "damaged")]


def test_holes_with_a_single_record_between_them_are_two() -> None:
    log = PartitionLog(partition=0)
    log.skip_to(5, "deleted")
    assert offsets(log.take(batch(5, commit(1)))) == [("g", 5)]
    log.skip_to(9, "deleted")
    assert log.holes == [Hole(0, 4, "deleted"), Hole(6, 8, "deleted")]


def test_nothing_is_missing_where_the_log_begins_at_what_comes_next() -> None:
    log = PartitionLog(partition=0)
    log.skip_to(5, "deleted")
    log.skip_to(5, "deleted")
    log.skip_to(3, "deleted")
    assert (log.holes, log.next) == ([Hole(0, 4, "deleted")], 5)


def test_a_hole_that_is_met_again_is_known_and_one_that_reaches_farther_is_not() -> None:
    log = PartitionLog(partition=0)
    log.skip_to(5, "deleted")
    list(log.take(batch(5, commit(1))))
    log.skip_to(9, "deleted")
    known = [Hole(0, 4, "deleted"), Hole(6, 8, "deleted")]
    for begin, end in ((0, 5), (1, 3), (6, 9), (7, 8)):
        log.begin_at(begin)
        log.skip_to(end, "deleted")
        assert log.holes == known
    log.begin_at(5)
    log.skip_to(9, "deleted")
    assert log.holes == [Hole(0, 4, "deleted"), Hole(5, 8, "deleted"), Hole(6, 8, "deleted")]


def test_what_is_missing_from_an_offset_on_is_one_hole_with_the_first_reason_that_is_known() -> None:
    log = PartitionLog(partition=0, holes=[Hole(2, 3), Hole(5, 6, "damaged"), Hole(9, 9, "deleted")])
    assert log.hole_from(0) == Hole(2, 9, "damaged")
    assert log.hole_from(3) == Hole(3, 9, "damaged")
    assert log.hole_from(4) == Hole(5, 9, "damaged")
    assert log.hole_from(0, until=9) == Hole(2, 6, "damaged")
    assert log.hole_from(0, until=5) == Hole(2, 3)
    assert log.hole_from(0, until=2) is None
    assert log.hole_from(10) is None


def test_of_more_holes_than_are_kept_the_two_oldest_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "HOLES_KEPT_MOST", 2)
    log = PartitionLog(partition=0)
    for base in (2, 5, 8, 11):
        list(log.take(batch(base, commit(1))))
    assert log.holes == [Hole(0, 7), Hole(9, 10)]


def test_a_log_that_was_cut_keeps_the_holes_before_its_new_end_and_forgets_its_leader_there() -> None:
    log = PartitionLog(partition=0)
    list(log.take(batch(2, commit(1), leader=4)))
    list(log.take(batch(5, commit(1), leader=4)))
    assert (log.position.high, log.position.epoch) == (6, 4)
    log.cut(6)
    assert (log.position.high, log.position.epoch) == (6, 4)
    log.cut(4)
    assert (log.position.high, log.position.epoch) == (4, partition.NO_EPOCH)
    assert log.holes == [Hole(0, 1)]


def test_the_largest_open_transaction_is_given_up_where_too_many_records_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition, "OPEN_RECORDS_MOST", 3)
    log = PartitionLog(partition=0)
    assert offsets(log.take(transactional(0, 7, commit(1)))) == []
    assert offsets(log.take(transactional(1, 8, commit(1), commit(2)))) == []
    assert (log.holes, log.resume) == ([], 0)
    assert offsets(log.take(transactional(3, 8, commit(3)))) == []
    assert log.holes == [Hole(1, 3, "a transaction of more records than are kept (3)")]
    assert offsets(log.take(marker(4, 8, ControlType.COMMIT))) == []
    assert offsets(log.take(marker(5, 7, ControlType.COMMIT))) == [("g", 0)]
    assert log.resume == 6


def read(*payloads: dict[str, Any]) -> tuple[set[str], set[str]]:
    return mentioned(
        [LogRecord(offset=at, batch=0, at_ms=0, payload=payload) for at, payload in enumerate(payloads)]
    )


def classic(protocol_type: str, *subscriptions: str) -> dict[str, Any]:
    members = [{"memberId": "A", "subscription": told, "assignment": ""} for told in subscriptions]
    value = {"protocolType": protocol_type, "generation": 1, "members": members}
    return {"type": 2, "key": {"group": "g"}, "version": 3, "value": value}


def test_records_speak_of_topics_by_their_ids_or_by_their_names() -> None:
    subscribed = {"type": 5, "key": {"groupId": "g"}, "value": {"subscribedTopicNames": ["foo", "bar"]}}
    assert read(target()) == ({"AAAAAAAAAAAAAAAAAAAAAQ"}, set())
    assert read(commit(1)) == (set(), {"foo"})
    assert read(subscribed) == (set(), {"foo", "bar"})
    assert read(gone(target()), gone(commit(1)), {"type": 31, "key_bytes": "AB8="}) == (set(), set())


def test_members_of_a_classic_group_speak_of_what_they_subscribe_to_where_consumers_are_its_members() -> None:
    assert read(classic("consumer", FOO_SUBSCRIBED)) == (set(), {"foo"})
    assert read(classic("consumer", "AAAA", FOO_SUBSCRIBED)) == (set(), {"foo"}), "broken bytes hide nobody"
    assert read(classic("connect", FOO_SUBSCRIBED)) == (set(), set())
    assert read(classic("consumer")) == (set(), set())
