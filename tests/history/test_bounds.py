"""Of what a group's records name no more is believed than a group can have, however small the file that they came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import given

from groups.history.frames.frame import frame
from groups.history.passes.indexing import Indexer
from groups.history.replay import epoch_groups
from groups.history.replay.fold import replay
from groups.history.state import group as bounds
from groups.history.state.epochs import ModernGroup, named_partitions
from groups.history.state.group import State, initial_state
from tests.history.corpus import CorpusLog
from tests.history.logs import Log, Records, record
from tests.history.modern_logs import ShareRecords, StreamsRecords
from tests.history.test_indexing import any_log

R = Records()
Fields = dict[str, Any]


def counted(group: ModernGroup) -> int:
    members = sum(named_partitions(member.parts) for member in group.members.values())
    targets = {*group.target, *getattr(group, "target_standby", ()), *getattr(group, "target_warmup", ())}
    return members + sum(group.named_by_target(member_id) for member_id in targets)


@given(log=any_log())
def test_what_target_and_assignments_name_is_counted_as_it_changes(log: CorpusLog) -> None:
    state: State = initial_state(log.group, log.semantics)
    for entry in log.entries:
        state = replay(state, entry)
        assert state.modern.named == counted(state.modern)


def in_share_group(member: str, partitions: Sequence[int]) -> tuple[Fields, Fields]:
    records = ShareRecords()
    return records.target(member, *partitions), records.current(member, 2, 1, *partitions)


def in_streams_group(member: str, partitions: Sequence[int]) -> tuple[Fields, Fields]:
    records, tasks = StreamsRecords(), {"0": tuple(partitions)}
    return records.target(member, {}, standby=tasks), records.current(member, 2, 1, 1, {}, warmup=tasks)


def in_consumer_group(member: str, partitions: Sequence[int]) -> tuple[Fields, Fields]:
    return R.target(member, *partitions), R.current(member, 2, 1, 0, dict.fromkeys(partitions, 2))


@pytest.mark.parametrize("records", [in_consumer_group, in_share_group, in_streams_group])
def test_members_are_given_no_more_partitions_together_than_a_group_can_have(
    records: Callable[[str, Sequence[int]], tuple[Fields, Fields]],
) -> None:
    log = Log()
    for number in range(4):
        log.write(*records(f"m{number}", range(6 * number, 6 * number + 6)))
    with mock.patch.object(epoch_groups, "NAMED_A_GROUP_MAX", 20):
        state = log.state()
        # Who gives something up makes room.
        log.write(*records("m0", ()))
        log.write(*records("m3", range(18, 22)))
        after = log.state()

    assert [state.modern.named, counted(state.modern)] == [18, 18]
    assert list(state.modern.members) == ["m0"]
    assert [anomaly.says for anomaly in state.anomalies] == [
        "With this record the group's target and assignments would name 24 partitions; at most 20 are believed."
    ]
    assert after.anomalies == ()
    assert after.modern.named == counted(after.modern) < 20


def test_a_record_that_is_believed_again_takes_the_place_of_the_one_before() -> None:
    log = Log()
    for _ in range(5):
        log.write(*in_consumer_group("A", range(8)))
    with mock.patch.object(epoch_groups, "NAMED_A_GROUP_MAX", 16):
        assert log.state().anomalies == ()


def test_a_group_has_no_more_topics_than_a_page_can_list() -> None:
    ids = [f"{'A' * 19}{number:02}g" for number in range(6)]

    def topics(some: Sequence[str]) -> list[Fields]:
        return [{"topicId": topic_id, "partitions": [0]} for topic_id in some]

    log = Log()
    log.write(record(7, {"groupId": "orders", "memberId": "A"}, {"topicPartitions": topics(ids[:3])}))
    log.write(record(7, {"groupId": "orders", "memberId": "B"}, {"topicPartitions": topics(ids[2:])}))
    log.write(record(7, {"groupId": "orders", "memberId": "C"}, {"topicPartitions": topics(ids[:2])}))
    log.write(R.member("A", [f"topic-{number}" for number in range(9)]))
    log.write(record(4, {"groupId": "orders"}, {"topics": [
        {"topicId": topic_id, "topicName": f"named-{topic_id}", "numPartitions": 1} for topic_id in ids
    ]}))  # fmt: skip
    with (
        mock.patch.object(bounds, "TOPICS_A_GROUP_MAX", 4),
        mock.patch.object(epoch_groups, "TOPICS_A_GROUP_MAX", 4),
    ):
        second, third, named, counts = (log.state(at=at) for at in (2, 3, 4, 5))

    assert list(second.modern.target) == ["A"]
    assert [anomaly.says for anomaly in second.anomalies] == [
        f"With {ids[-1]} the group would have 6 topics; at most 4 are believed."
    ]
    assert list(third.modern.target) == ["A", "C"]
    assert len(named.seen_topic_names) == len(counts.topics) == 4
    assert {anomaly.kind for anomaly in (*named.anomalies, *counts.anomalies)} == {"partition_count"}
    assert len(frame(counts)["topics"]) <= 3 * 4


def test_the_count_goes_on_behind_a_checkpoint() -> None:
    log = Log()
    log.write(*in_consumer_group("A", range(8)))
    indexer = Indexer(group="orders")
    indexer.add_unit(log.entries)
    assert counted(Indexer.from_checkpoint(indexer.checkpoint())._state.modern) == 16
    assert Indexer.from_checkpoint(indexer.checkpoint())._state.modern.named == 16
