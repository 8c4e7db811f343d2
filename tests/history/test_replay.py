"""The rules by which Kafka builds its memory from records, and what becomes of records that break them."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.frames.frame import FrameMaker, frame
from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state
from tests.history.logs import FOO, STABLE, UNRELEASED, UNREVOKED, Log, Records, record, released_basic

R = Records()


def after(*records: dict[str, Any], semantics: str = "kafka") -> State:
    log = Log()
    log.write(*records)
    return log.state(semantics)


def anomalies(*records: dict[str, Any], semantics: str = "kafka") -> list[str]:
    """Kinds of the anomalies of the last record."""
    return [anomaly.kind for anomaly in after(*records, semantics=semantics).anomalies]


def test_a_member_record_makes_the_member_at_epoch_0() -> None:
    member = after(R.member("A")).consumer.members["A"]
    assert (member.epoch, member.previous_epoch, member.state) == (0, -1, STABLE)
    assert (member.client_id, member.client_host, member.rebalance_timeout_ms) == ("a", "/127.0.0.1", 300_000)


def test_a_later_member_record_keeps_epochs_and_assignment() -> None:
    group = after(R.member("A"), R.current("A", 2, 0, STABLE, {0: 2}), R.member("A", ["foo", "bar"])).consumer
    member = group.members["A"]
    assert (member.epoch, member.assigned) == (2, {FOO: {0: 2}})
    assert member.subscribed_topic_names == ("foo", "bar")


def test_without_assignment_epochs_partitions_take_the_member_epoch() -> None:
    bare = R.current("A", 5, 4, STABLE, {0: 1, 1: 1})
    for topic in bare["value"]["assignedPartitions"]:
        del topic["assignmentEpochs"]
    assert after(bare).consumer.members["A"].assigned == {FOO: {0: 5, 1: 5}}


def test_assignment_epochs_of_another_length_are_not_believed() -> None:
    odd = R.current("A", 5, 4, STABLE, {0: 1, 1: 1})
    odd["value"]["assignedPartitions"][0]["assignmentEpochs"] = [1]
    assert after(odd).consumer.members["A"].assigned == {FOO: {0: 5, 1: 5}}


def test_partition_epochs_follow_assigned_and_pending_partitions() -> None:
    group = after(R.current("A", 2, 2, UNREVOKED, {0: 2}, {1: 2})).consumer
    assert (group.partition_epoch(FOO, 0), group.partition_epoch(FOO, 1)) == (2, 2)
    assert group.partition_epoch(FOO, 2) == -1


def test_a_later_owner_at_a_higher_epoch_may_overtake() -> None:
    """Compaction can drop the record that gave a partition up: the map then holds the later owner's epoch."""
    records = (R.current("A", 2, 0, STABLE, {0: 2}), R.current("B", 3, 0, STABLE, {0: 3}))
    assert anomalies(*records) == ["overtaken"]
    assert after(*records).consumer.partition_epoch(FOO, 0) == 3
    # The old owner's next record does not take the partition away from the new one.
    assert after(*records, R.current("A", 3, 2, STABLE)).consumer.partition_epoch(FOO, 0) == 3


def test_two_owners_at_one_epoch_are_an_anomaly_and_both_stand_in_the_frame() -> None:
    records = (R.current("A", 2, 0, STABLE, {0: 2}), R.current("B", 2, 0, STABLE, {0: 2}))
    assert anomalies(*records) == ["two_owners"]
    members = frame(after(*records))["members"]
    assert members["A"]["assigned"] == members["B"]["assigned"] == {FOO: [0]}


def test_a_tombstone_of_the_current_assignment_frees_what_the_member_held() -> None:
    group = after(R.current("A", 2, 2, UNREVOKED, {0: 2}, {1: 2}), R.gone(8, "A")).consumer
    assert group.partition_epochs == {}
    assert group.members["A"].epoch == -1


@pytest.mark.parametrize(
    ("records", "kind"),
    [
        ((R.member("A"), R.gone(5, "B")), "unknown_member"),
        ((R.member("A"), R.gone(8, "B")), "unknown_member"),
        ((R.member("A"), R.gone(5, "A")), "removed_early"),
        ((R.target("A", 0), R.gone(6)), "target_early"),
        ((R.member("A"), R.gone(3)), "deleted_early"),
        ((R.epoch(2), R.epoch(5)), "epoch_jump"),
        ((R.epoch(5), R.epoch(4)), "epoch_back"),
        ((R.epoch(400),), "starts_midway"),
        ((R.epoch(2), R.target_epoch(3)), "target_ahead"),
        ((R.current("A", 2, 0, 9),), "state_code"),
        ((record(9, {"groupId": "orders"}, {}),), "unknown_type"),
        ((R.epoch(2), Records("others").epoch(3)), "other_group"),
        ((record(3, {"groupId": "orders"}, {"epoch": "two"}),), "unreadable"),
        ((record(8, {"groupId": "orders", "memberId": "A"}, {}),), "unreadable"),
    ],
)
def test_what_breaks_a_rule_is_noted_and_folded_on(records: tuple[dict[str, Any], ...], kind: str) -> None:
    assert anomalies(*records) == [kind]


def test_an_anomaly_is_told_of_its_own_entry_alone() -> None:
    assert anomalies(R.epoch(2), R.epoch(5), R.epoch(6)) == []


def test_a_tombstone_in_a_group_that_is_not_there_is_nothing() -> None:
    for kind in (3, 4, 5, 6, 7, 8, 16):
        log = Log()
        log.write(R.gone(kind, "A"))
        assert log.state().protocol is None
        assert not log.state().anomalies


def test_a_state_code_of_a_newer_release_has_a_name_and_is_not_stable() -> None:
    state = after(R.epoch(2), R.target_epoch(2), R.current("A", 2, 0, 9))
    assert frame(state)["members"]["A"]["state"] == "UNKNOWN"
    assert frame(state)["state"] == "Reconciling"


def test_in_the_proposal_a_removed_member_stays_in_the_target_without_an_anomaly() -> None:
    records = (R.member("A"), R.target("A", 0), R.gone(8, "A"), R.gone(5, "A"))
    assert anomalies(*records, semantics="kip") == []
    assert frame(after(*records, semantics="kip"))["target"] == {"A": {FOO: [0]}}


def test_an_instance_belongs_to_the_member_that_said_it_last() -> None:
    state = after(R.member("A", instanceId="i"), R.member("B", instanceId="i"))
    assert state.consumer.instances == {"i": "B"}
    gone = after(R.member("A", instanceId="i"), R.gone(8, "A"), R.gone(5, "A"))
    assert gone.consumer.instances == {}


def test_a_deleted_group_begins_anew_with_its_next_record() -> None:
    records = (R.epoch(7), R.target_epoch(7), R.gone(6), R.gone(3))
    assert frame(after(*records))["state"] == "Dead"
    again = frame(after(*records, R.member("A")))
    assert (again["state"], again["group_epoch"], list(again["members"])) == ("Reconciling", 1, ["A"])


def test_a_topic_that_is_made_anew_leaves_its_name_to_the_newer_id() -> None:
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3})
    log.write(R.current("A", 2, 0, STABLE, {0: 2}))
    log.topics(foo={"id": "ICAgICAgICAgICAgICAgIA", "partitions": 1})
    assert log.frame()["members"]["A"]["assigned"] == {FOO: [0]}
    assert log.frame()["topics"] == {
        FOO: {"id": FOO, "partitions": None, "was": "foo"},
        "foo": {"id": "ICAgICAgICAgICAgICAgIA", "partitions": 1},
    }


def test_partition_metadata_of_older_releases_names_topics() -> None:
    topics = [{"topicId": FOO, "topicName": "foo", "numPartitions": 3, "partitionMetadata": []}]
    state = after(record(4, {"groupId": "orders"}, {"topics": topics}))
    assert frame(state)["topics"] == {"foo": {"id": FOO, "partitions": 3}}
    assert state.consumer.has_partition_metadata


def test_a_resolved_regex_is_part_of_what_its_members_subscribe_to() -> None:
    key = {"groupId": "orders", "regularExpression": "f.*"}
    resolved = record(16, key, {"topics": ["fa", "fb"], "version": 3, "timestamp": 9})
    state = after(R.member("A", [], subscribedTopicRegex="f.*"), resolved)
    assert frame(state)["members"]["A"]["subscribed"] == ["fa", "fb"]
    assert frame(state)["members"]["A"]["subscribed_regex"] == "f.*"
    log = Log()
    log.write(R.member("A", [], subscribedTopicRegex="f.*"), resolved, record(16, key, None))
    assert log.frame()["members"]["A"]["subscribed"] == []


def test_commits_alone_make_a_simple_classic_group() -> None:
    state = after(R.commit(0, 42))
    assert (frame(state)["protocol"], frame(state)["state"]) == ("classic", "Empty")
    assert state.offsets["foo"][0].offset == 42
    # It gives way to a group of the consumer protocol without an anomaly.
    log = Log()
    log.write(R.commit(0, 42))
    log.write(R.member("A"))
    assert (log.frame()["protocol"], log.state().anomalies) == ("consumer", ())


def test_a_commit_that_tells_no_metadata_has_an_empty_one() -> None:
    without = R.commit(0, 42)
    del without["value"]["metadata"]
    null = R.commit(1, 42)
    null["value"]["metadata"] = None
    assert [offset.metadata for offset in after(without, null).offsets["foo"].values()] == ["", ""]


def test_an_entry_that_touches_one_member_leaves_the_others_the_same_objects() -> None:
    before = after(R.current("A", 2, 0, STABLE, {0: 2}), R.current("B", 2, 0, STABLE, {1: 2}))
    log = Log()
    log.write(R.current("A", 2, 0, STABLE, {0: 2}))
    (entry,) = log.entries
    now = replay(before, entry)
    assert now.consumer.members["B"] is before.consumer.members["B"]
    assert now.consumer.target is before.consumer.target
    assert now.topics is before.topics


def test_the_compacted_log_gives_the_same_group_as_the_whole_one() -> None:
    """At the end of every unit: of each key only the last record is kept, where it stood; tombstones too, or not."""
    log = released_basic()
    for end in (entry.sequence for entry in log.entries if entry.settled):
        last = {str(entry.payload["key"]) + str(entry.payload["type"]): entry for entry in log.entries[:end]}
        kept = sorted(last.values(), key=lambda entry: entry.sequence)
        whole = log.state(at=end).consumer
        for entries in (kept, [entry for entry in kept if entry.payload["value"] is not None]):
            state = initial_state("orders")
            for entry in entries:
                state = replay(state, entry)
            assert state.consumer.members == whole.members
            assert state.consumer.target == whole.target
            assert state.consumer.partition_epochs == whole.partition_epochs
            assert (state.consumer.group_epoch, state.consumer.assignment_epoch) == (
                whole.group_epoch,
                whole.assignment_epoch,
            )


def test_a_frame_that_is_carried_on_shows_whom_an_expression_or_a_target_of_others_concerns() -> None:
    """Nothing is written of the member itself; what it subscribes to, and what it waits for, is another."""
    log = Log()
    key = {"groupId": "orders", "regularExpression": "f.*"}
    joins = (R.member("A", [], subscribedTopicRegex="f.*"), R.epoch(2), R.target("A"), R.target_epoch(2))
    log.write(*joins, R.current("A", 2, 0, STABLE))
    log.write(record(16, key, {"topics": ["foo"], "version": 1, "timestamp": 0}))
    log.write(R.epoch(3), R.target("A", 0), R.target_epoch(3))
    log.write(R.current("A", 3, 2, UNRELEASED))
    log.write(R.epoch(4), R.target("A", 0, 1), R.target_epoch(4))
    log.write(record(16, key, None))
    state, maker, told = initial_state("orders"), FrameMaker(), []
    for entry in log.entries:
        state = replay(state, entry)
        made = maker.frame(state)
        assert made == frame(state)
        told.append(made["members"].get("A", {}).get("subscribed"))
    assert [told[at] for at in (4, 5, -1)] == [[], ["foo"], []]
