"""A streams group (KIP-1071), record by record as Kafka 4.3.1 was seen to write them."""

from __future__ import annotations

from typing import Any

import orjson

from groups.history.passes.units import LogRecord
from tests.history.logs import Log, Records
from tests.history.modern_logs import StreamsRecords
from tests.history.unit_entries import entries_from_records

R = StreamsRecords()
STABLE, UNREVOKED, UNRELEASED = 1, 2, 3

FIRST_JOIN = (
    R.member("A"),
    R.topology(s0="foo"),
    R.epoch(2),
    R.target("A", {"0": [0, 1]}),
    R.target_epoch(2),
    R.current("A", 2, 0, STABLE, {"0": [0, 1]}),
)
SECOND_JOIN = (
    R.member("B"),
    R.epoch(3),
    R.target("A", {"0": [0]}, standby={"0": [1]}),
    R.target("B", {"0": [1]}, standby={"0": [0]}),
    R.target_epoch(3),
    R.current("B", 3, 0, UNRELEASED, {}, standby={"0": [0]}),
)


def moving() -> Log:
    """A has both tasks of subtopology 0; B joins, and gets one of them and a standby of the other; A leaves."""
    log = Log()
    log.write(*FIRST_JOIN)
    log.at(1000).write(*SECOND_JOIN)
    log.at(2000).write(R.current("A", 2, 2, UNREVOKED, {"0": [0]}, pending={"0": [1]}))
    log.at(3000).write(R.current("A", 3, 2, UNRELEASED, {"0": [0]}))
    log.at(4000).write(R.current("B", 3, 3, STABLE, {"0": [1]}, standby={"0": [0]}))
    log.at(5000).write(R.current("A", 3, 3, STABLE, {"0": [0]}, standby={"0": [1]}))
    log.at(6000).write(*R.leave("A", 4))
    log.at(7000).write(
        R.target("B", {"0": [0, 1]}),
        R.target_epoch(4),
        R.current("B", 3, 3, UNREVOKED, {"0": [1]}, standby_pending={"0": [0]}),
    )
    log.at(8000).write(R.current("B", 4, 3, STABLE, {"0": [0, 1]}))
    return log


def told(log: Log) -> list[str]:
    return [moment["says"] for moment in orjson.loads(log.recorded().moments)]


def test_the_frame_shows_members_epochs_tasks_and_the_topology() -> None:
    frame = moving().frame(at=12)

    assert {key: frame[key] for key in frame if key not in ("members", "topology")} == {
        "sequence": 12,
        "at_ms": 1000,
        "group": "orders",
        "protocol": "streams",
        "state": "Reconciling",
        "group_epoch": 3,
        "assignment_epoch": 3,
        "target": {"A": {"0": [0]}, "B": {"0": [1]}},
        "target_standby": {"A": {"0": [1]}, "B": {"0": [0]}},
        "target_warmup": {"A": {}, "B": {}},
        "validated_topology_epoch": 0,
        "topics": {"foo": {"id": None, "partitions": None}},
        "clients": None,
        "timers": None,
    }
    assert frame["topology"] == {
        "epoch": 0,
        "subtopologies": {
            "0": {
                "source_topics": ["foo"],
                "source_topic_regex": [],
                "repartition_source_topics": [],
                "repartition_sink_topics": [],
                "state_changelog_topics": ["foo-changelog"],
            }
        },
    }
    assert frame["members"]["B"] == {
        "protocol": "streams",
        "epoch": 3,
        "previous_epoch": 0,
        "state": "UNRELEASED_TASKS",
        "client_id": "b",
        "host": "/127.0.0.1",
        "instance_id": None,
        "rack_id": None,
        "process_id": "process-B",
        "endpoint": "localhost:60000",
        "tags": {"zone": "east"},
        "topology_epoch": 0,
        "assigned": {},
        "pending_revocation": {},
        "pending_assignment": {"0": [1]},
        "standby": {"0": [0]},
        "standby_pending_revocation": {},
        "warmup": {},
        "warmup_pending_revocation": {},
    }


def test_its_state_follows_the_topology_the_target_and_the_members_in_that_order() -> None:
    log = Log()
    states = []
    for records in (
        (R.member("A"), R.topology(), R.epoch(2, validated=-1), R.current("A", 1, 0, STABLE, {})),
        (R.epoch(3, validated=0),),
        (R.target("A", {"0": [0]}), R.target_epoch(3)),
        (R.current("A", 3, 1, STABLE, {"0": [0]}),),
        (R.topology(1),),
        R.leave("A", 4),
    ):
        log.write(*records)
        states.append(log.frame()["state"])

    assert states == ["NotReady", "Assigning", "Reconciling", "Stable", "NotReady", "Empty"]


def test_a_topology_that_the_log_does_not_hold_is_not_called_unready() -> None:
    log = Log()
    log.write(R.current("A", 9, 9, STABLE, {"0": [0]}), R.epoch(9), R.target_epoch(9))

    assert log.frame()["topology"] is None
    assert log.frame()["state"] == "Stable"


def test_sentences_tell_tasks_as_kafka_streams_writes_them_and_copies_apart() -> None:
    assert told(moving()) == [
        "A joins and gets 0_0, 0_1; the topology of epoch 0 has 1 subtopology",
        "B joins; 0_1 goes to B; B gets standby 0_0",
        "A is asked to revoke 0_1",
        "A confirms the revocation; 0_1 is released",
        "B gets 0_1",
        "A gets standby 0_1",
        "A is removed; no record says why; 0_0 is unassigned",
        "Target computed: 0_0 goes to B",
        "B gets 0_0; B drops standby 0_0",
    ]


def test_active_tasks_move_and_are_without_an_owner_like_partitions_and_copies_do_not() -> None:
    summary = moving().recorded().summary

    moved = [finding["says"] for finding in summary["findings"] if finding["kind"] in ("moved", "no_owner")]
    assert moved == [
        "0_1 moved from A to B",
        "0_0 moved from A to B",
        "0_0 was unassigned for 2.0\u202fs",
        "0_1 was unassigned for 1.0\u202fs",
    ]
    assert "1 task moved" in summary["verdict"]["text"]


def test_an_active_task_of_two_members_is_an_anomaly_and_a_standby_of_two_is_none() -> None:
    log = Log()
    log.write(*FIRST_JOIN)
    log.write(R.member("B"), R.current("B", 2, 0, STABLE, {}, standby={"0": [0]}))
    log.write(R.member("C"), R.current("C", 2, 0, STABLE, {}, standby={"0": [0]}))
    assert log.state().anomalies == ()

    log.write(R.current("B", 2, 2, STABLE, {"0": [1]}))
    assert [anomaly.says for anomaly in log.state().anomalies] == [
        "0_1 has two owners: it is still held at epoch 2."
    ]


def test_a_topology_that_loses_its_topics_and_gets_them_back_is_told() -> None:
    log = Log()
    log.write(*FIRST_JOIN)
    log.write(R.epoch(3, validated=-1))
    log.write(R.epoch(4, validated=0))
    log.write(R.topology(1, s0="foo", s1="bar"), R.epoch(5, validated=1))

    assert told(log)[1:] == [
        "Group epoch 3; the topology is not ready: not all of its topics are there",
        "Group epoch 4; the topology is ready",
        "Group epoch 5; the topology of epoch 1 has 2 subtopologies",
    ]


def test_units_are_the_requests_however_many_stand_in_one_batch() -> None:
    classic = {"type": 2, "key": {"group": "orders"}, "version": None, "value": None}
    requests: list[tuple[dict[str, Any], ...]] = [
        (classic, *FIRST_JOIN),
        SECOND_JOIN,
        (R.current("A", 2, 2, UNREVOKED, {"0": [0]}, pending={"0": [1]}),),
        R.leave("A", 4),
        R.leave("B", 5),
        R.deletion(),
    ]
    payloads = [payload for request in requests for payload in request]
    records = [LogRecord(offset=at, batch=0, at_ms=0, payload=payload) for at, payload in enumerate(payloads)]

    begins = [
        entry.sequence for entry in entries_from_records(records, partition=0) if entry.unit == entry.sequence
    ]
    # Two leaves with no heartbeat between them are told apart by the epoch record that ends each.
    assert begins == [1, 8, 14, 15, 19, 23]


def test_offsets_are_committed_and_the_group_goes_with_its_tombstones() -> None:
    log = moving()
    log.at(9000).write(Records().commit(0, 10))
    log.at(9500).write(*R.leave("B", 5))
    log.at(9600).write(*R.deletion())

    assert log.frame()["state"] == "Dead"
    assert told(log)[-3:] == [
        "Offsets of foo-0 are committed",
        "B is removed; no record says why; 0_0, 0_1 are unassigned",
        "The group is deleted",
    ]
