"""What no record told is unknown in a frame; what no topic can have is not believed."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.frames.frame import frame
from groups.history.state.group import PARTITIONS_A_GROUP_MAX, PARTITIONS_A_TOPIC_MAX
from tests.history.logs import FOO, Log, record
from tests.history.test_causes import R, moments, two_members

INT32_MAX = 2**31 - 1


def compacted() -> Log:
    log = Log()
    log.note(note="gap", partition=0, from_offset=3, to_offset=610, reason="compacted", compacted=True)
    return log


def head(frame: dict[str, Any]) -> tuple[Any, Any, Any]:
    return frame["state"], frame["group_epoch"], frame["assignment_epoch"]


def test_a_compacted_log_tells_no_epoch_and_no_state_before_their_records() -> None:
    log = compacted()
    assert head(log.frame()) == (None, None, None)
    log.write(R.member("A"))
    member = log.frame()["members"]["A"]
    assert (member["epoch"], member["previous_epoch"], member["state"]) == (None, None, None)
    log.write(R.current("A", 9, 8, 0, {0: 9}))
    assert log.frame()["members"]["A"]["epoch"] == 9
    assert head(log.frame()) == (None, None, None)
    assert [moment["epoch"] for moment in moments(log.recorded())] == [None] * 3
    log.write(R.epoch(9))
    assert moments(log.recorded())[-1]["epoch"] == 9
    assert head(log.frame()) == (None, 9, None)
    log.write(R.target("A", 0), R.target_epoch(9))
    assert head(log.frame()) == ("Stable", 9, 9)


def test_a_log_that_begins_with_a_current_assignment_has_a_past_that_it_does_not_tell() -> None:
    log = Log()
    log.write(R.current("A", 9, 8, 0, {0: 9}))
    assert head(log.frame()) == (None, None, None)


def test_a_log_that_begins_with_the_group_knows_everything_from_its_first_unit_on() -> None:
    assert head(two_members().frame()) == ("Reconciling", 3, 3)
    assert head(Log().frame())[0] == "Empty"


def test_commits_of_a_compacted_log_do_not_make_a_group_empty() -> None:
    log = compacted()
    log.write(R.commit(0, 1))
    frame = log.frame()
    assert (frame["protocol"], frame["state"], frame["generation"]) == ("classic", None, None)
    whole = Log()
    whole.write(R.commit(0, 1))
    assert whole.frame()["state"] == "Empty"


def test_a_group_that_is_made_anew_after_its_deletion_has_no_past() -> None:
    log = compacted()
    log.write(R.member("A"), R.epoch(9), R.target("A", 0), R.target_epoch(9), R.current("A", 9, 8, 0, {0: 9}))
    log.write(*R.leave("A", 10))
    log.write(R.gone(6), R.gone(3))
    log.write(R.member("B"))
    log.write(R.epoch(1))
    assert log.frame()["group_epoch"] == 1
    assert log.frame()["members"]["B"]["epoch"] == 0


def test_a_count_of_partitions_that_no_topic_has_is_not_believed_and_one_anomaly_says_so() -> None:
    log = Log()
    log.topics(
        foo={"id": FOO, "partitions": INT32_MAX}, bar={"id": "mQnGqXwYTz2Yt0a0h8s8nQ", "partitions": 3}
    )
    topics = log.frame()["topics"]
    assert (topics["foo"]["partitions"], topics["bar"]["partitions"]) == (None, 3)
    [anomaly] = log.state().anomalies
    assert (anomaly.kind, anomaly.says) == (
        "partition_count",
        "foo is said to have 2,147,483,647 partitions; at most 100,000 are believed.",
    )


@pytest.mark.parametrize("named", [True, False])
def test_topics_of_a_group_have_no_more_than_so_many_partitions_together(named: bool) -> None:
    log = Log()
    ids = [f"{'A' * 19}{number:02}g" for number in range(5)]
    counted = [
        {"topicId": topic, "numPartitions": PARTITIONS_A_TOPIC_MAX, **({"topicName": topic} if named else {})}
        for topic in ids
    ]
    log.write(record(4, {"groupId": "orders"}, {"topics": counted}))
    log.write(R.member("A", ids), R.epoch(2), R.target("A", 0), R.target_epoch(2))
    log.write(record(4, {"groupId": "orders"}, {"topics": [{**counted[0], "numPartitions": 7}]}))
    state = log.state(at=1)
    believed = [
        None if topic is None else topic["partitions"] for topic in map(frame(state)["topics"].get, ids)
    ]
    if named:
        assert believed == [PARTITIONS_A_TOPIC_MAX] * 2 + [None] * 3
    assert sum(state.partitions_by_id.values()) <= PARTITIONS_A_GROUP_MAX
    assert {anomaly.kind for anomaly in state.anomalies} == {"partition_count"}
    assert len(state.anomalies) == 3
    # Of fewer there is room again.
    assert not log.state().anomalies


@pytest.mark.parametrize("named", [True, False])
def test_neither_is_a_count_in_a_record(named: bool) -> None:
    log = Log()
    topic = {"topicId": FOO, "numPartitions": INT32_MAX, **({"topicName": "foo"} if named else {})}
    log.write(record(4, {"groupId": "orders"}, {"topics": [topic]}))
    assert [anomaly.kind for anomaly in log.state().anomalies] == ["partition_count"]
    assert all(topic["partitions"] is None for topic in log.frame()["topics"].values())


@pytest.mark.parametrize("number", [INT32_MAX, PARTITIONS_A_TOPIC_MAX, -1])
def test_a_record_of_a_partition_that_no_topic_has_changes_nothing_and_says_why(number: int) -> None:
    log = two_members()
    before = log.frame()["members"]
    log.write(R.current("B", 3, 3, 0, {2: 3, number: 3}))
    assert log.frame()["members"] == before
    [anomaly] = log.state().anomalies
    assert anomaly.kind == "unreadable"
    assert f"partition {number:,} is none" in anomaly.says


def test_the_last_partition_that_is_believed_is_shown() -> None:
    log = two_members()
    log.write(R.current("B", 3, 3, 0, {PARTITIONS_A_TOPIC_MAX - 1: 3}))
    assert log.state().anomalies == ()


def test_the_summary_tells_how_many_partitions_are_known_or_named_at_least() -> None:
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3})
    assert log.recorded().summary["partitions_most"] == 3
    log.write(R.member("A"), R.epoch(2), R.target("A", 0, 1), R.target_epoch(2))
    assert log.recorded().summary["partitions_most"] == 3
    # A target is enough, and it stays when the group has gone.
    log.write(R.epoch(3), R.target("A", 8), R.target_epoch(3))
    log.write(*R.leave("A", 4))
    assert log.recorded().summary["partitions_most"] == 9
    uncounted = Log()
    uncounted.write(R.member("A"), R.epoch(2), R.target("A", 41), R.target_epoch(2))
    assert uncounted.recorded().summary["partitions_most"] == 42
