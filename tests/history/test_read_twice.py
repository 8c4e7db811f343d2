"""Records that are read twice after a refused commit: who read them, who again, and which."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groups.history.entries import Kind
from groups.history.findings.finding import Finding
from tests.history.logs import FOO, STABLE, UNREVOKED, Log
from tests.history.test_causes import R, two_members

CODES = {25: "UNKNOWN_MEMBER_ID", 113: "STALE_MEMBER_EPOCH", 27: "REBALANCE_IN_PROGRESS"}


def asks(log: Log, offset: int, code: int, *, by_id: bool = False) -> int:
    """A wants to commit foo-1; the sequence of the response."""
    topic = {"topicId": FOO} if by_id else {"name": "foo"}
    request = log._add(
        Kind.REQUEST,
        "A",
        {"api": "OffsetCommit", "version": 10, "body": {"topics": [{**topic, "partitions": [{"partitionIndex": 1, "committedOffset": offset}]}]}},
    )  # fmt: skip
    if not code:
        log.write(R.commit(1, offset), cause=request)
    body = {"topics": [{**topic, "partitions": [{"partitionIndex": 1, "errorCode": code}]}]}
    payload = {"api": "OffsetCommit", "version": 10, "to": "A", "body": body}
    return log._add(Kind.RESPONSE, "coordinator", payload, cause=request)


def takes_over(log: Log) -> int:
    log.write(R.current("A", 2, 2, UNREVOKED, {0: 2}, {1: 2}))
    log.write(R.current("A", 3, 2, STABLE, {0: 2}))
    return log.write(R.current("B", 3, 3, STABLE, {1: 3, 2: 3}))


def twice(log: Log) -> list[Finding]:
    return [one for one in log.recorded().summary["findings"] if one["kind"] == "read_twice"]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("by_id", [False, True])
def test_records_that_the_former_owner_could_not_commit_are_read_twice_by_the_next_one(code: int, by_id: bool) -> None:  # fmt: skip
    log = two_members()
    log.at(2_000).write(R.commit(1, 120))
    refused = asks(log.at(3_000), 180, code, by_id=by_id)
    taken = takes_over(log.at(4_000))
    [one] = twice(log)
    assert one["says"] == (
        f"60 records of foo-1 are read twice (120 to 179): A had read them, its commit was refused ({CODES[code]}), and B began at 120"
    )
    assert (one["sequences"], one["from_offset"], one["to_offset"]) == ([refused, taken], 120, 180)


def test_of_a_member_that_lost_the_partition_before_what_its_next_owner_committed_since_counts_too() -> None:
    log = two_members()
    log.at(2_000).write(R.commit(1, 120))
    taken = takes_over(log.at(4_000))
    log.at(5_000).write(R.commit(1, 150))
    asks(log.at(6_000), 170, 25)
    last = asks(log.at(7_000), 180, 25)
    [one] = twice(log)
    assert (one["from_offset"], one["to_offset"], one["count"]) == (120, 180, 60)
    assert one["sequences"] == [taken, last]


def test_a_commit_that_was_accepted_when_sent_again_is_none_where_offsets_are_reset_later() -> None:
    log = two_members()
    log.at(2_000).write(R.commit(1, 120))
    asks(log.at(3_000), 180, 113)
    asks(log.at(3_100), 180, 0)
    log.at(3_500).write(R.commit(1, 50))
    takes_over(log.at(4_000))
    assert twice(log) == []


def test_where_offsets_were_deleted_before_a_member_took_its_partition_again_none_are() -> None:
    """As for a topic that was deleted and made again under its name."""
    log = two_members()
    log.at(2_000).write(R.commit(1, 120))
    asks(log.at(3_000), 180, 113)
    log.at(3_200).write({**R.commit(1, 0), "value": None})
    log.write(R.current("A", 2, 2, STABLE, {0: 2}))
    log.write(R.current("A", 2, 2, STABLE, {0: 2, 1: 2}))
    log.at(3_500).write(R.commit(1, 50))
    takes_over(log.at(4_000))
    assert twice(log) == []


def test_of_refused_commits_whose_responses_overtook_each_other_the_highest_counts() -> None:
    log = two_members()
    log.at(2_000).write(R.commit(1, 120))
    asks(log.at(3_000), 180, 113)
    asks(log.at(3_100), 170, 113)
    takes_over(log.at(4_000))
    assert [(one["from_offset"], one["to_offset"]) for one in twice(log)] == [(120, 180)]


@pytest.mark.parametrize("kind", [Kind.REQUEST, Kind.RESPONSE])
@pytest.mark.parametrize("body", [None, 5, {"topics": 5}, {"topics": [5]}, {"topics": [{"name": "foo", "partitions": 5}]}])  # fmt: skip
def test_a_commit_of_another_form_is_none(kind: Kind, body: object) -> None:
    log = two_members()
    log.at(2_000).write(R.commit(1, 120))
    log._add(kind, "A", {"api": "OffsetCommit", "version": 10, "to": "A", "body": body})
    takes_over(log.at(4_000))
    assert twice(log) == []


@pytest.mark.parametrize(
    "goes_on",
    [lambda log: asks(log, 180, 0), lambda log: None, lambda log: log.write(R.commit(1, 200))],
    ids=["asks again", "keeps it", "another commit"],
)
def test_none_are_where_the_next_owner_began_behind_them_or_there_is_none(goes_on: Callable[[Log], object]) -> None:  # fmt: skip
    log = two_members()
    log.at(2_000).write(R.commit(1, 120))
    asks(log.at(3_000), 180, 27)
    if goes_on(log.at(3_500)) is not None:
        takes_over(log.at(4_000))
    assert twice(log) == []
