"""A share group (KIP-932), record by record as Kafka 4.3.1 was seen to write them."""

from __future__ import annotations

from typing import Any

import orjson

from groups.history.passes.units import LogRecord
from tests.history.logs import FOO, Log, Records, record
from tests.history.modern_logs import ShareRecords
from tests.history.unit_entries import entries_from_records

R = ShareRecords()

FIRST_JOIN = (
    R.member("A"),
    R.epoch(2),
    R.target("A"),
    R.target_epoch(2),
    R.current("A", 2, 0),
    R.share_state([0, 1]),
)
GIVEN_OUT = (R.epoch(3), R.target("A", 0, 1), R.target_epoch(3), R.current("A", 3, 2, 0, 1))
SECOND_JOIN = (R.member("B"), R.epoch(4), R.target("B", 1), R.target_epoch(4), R.current("B", 4, 0, 1))


def shared() -> Log:
    """A reads foo-0 and foo-1; B joins and reads foo-1 too; then A has foo-0 alone; both leave."""
    log = Log()
    log.write(*FIRST_JOIN)
    log.at(1000).write(R.share_state(initialized=[0, 1]))
    log.at(2000).write(*GIVEN_OUT)
    log.at(3000).write(*SECOND_JOIN)
    log.at(4000).write(R.current("A", 4, 3, 0, 1))
    log.at(5000).write(R.epoch(5), R.target("A", 0), R.target_epoch(5), R.current("A", 5, 4, 0))
    log.at(6000).write(R.current("B", 5, 4, 1))
    log.at(7000).write(*R.leave("A", 6))
    log.at(8000).write(*R.leave("B", 7))
    return log


def told(log: Log) -> list[str]:
    return [moment["says"] for moment in orjson.loads(log.recorded().moments)]


def findings(log: Log) -> dict[str, list[dict[str, Any]]]:
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for finding in log.recorded().summary["findings"]:
        by_kind.setdefault(finding["kind"], []).append(finding)
    return by_kind


def test_the_frame_shows_members_epochs_target_and_share_states_and_no_field_that_the_protocol_lacks() -> (
    None
):
    frame = shared().frame(at=16)

    assert frame == {
        "sequence": 16,
        "at_ms": 3000,
        "group": "orders",
        "protocol": "share",
        "state": "Stable",
        "group_epoch": 4,
        "assignment_epoch": 4,
        "target": {"A": {"foo": [0, 1]}, "B": {"foo": [1]}},
        "topics": {"foo": {"id": FOO, "partitions": None}},
        "initializing": {},
        "initialized": {"foo": [0, 1]},
        "deleting": [],
        "members": {
            "A": member("A", epoch=3, previous=2, assigned=[0, 1]),
            "B": member("B", epoch=4, previous=0, assigned=[1]),
        },
        "clients": None,
        "timers": None,
    }


def member(name: str, *, epoch: int, previous: int, assigned: list[int]) -> dict[str, Any]:
    return {
        "protocol": "share",
        "epoch": epoch,
        "previous_epoch": previous,
        "state": "STABLE",
        "client_id": name.lower(),
        "host": "/127.0.0.1",
        "rack_id": "east",
        "subscribed": ["foo"],
        "assigned": {"foo": assigned},
        "pending_assignment": {},
    }


def test_its_state_is_stable_while_it_has_members_whatever_their_epochs_are() -> None:
    log = shared()
    states = [log.frame(at=at)["state"] for at in range(1, log.last + 1)]

    assert set(states[:-2]) == {"Stable"}
    assert states[-1] == "Empty"


def test_sentences_tell_who_reads_what_and_when_partitions_can_be_read() -> None:
    assert told(shared()) == [
        "A joins; the share state of foo-0, foo-1 is being made",
        "The share state of foo-0, foo-1 is made",
        "Target computed: A is to read foo-0, foo-1; A gets foo-0, foo-1",
        "B joins and gets foo-1",
        "A moves to member epoch 4; what it reads stays the same",
        "Target computed: A is to leave foo-1; A leaves foo-1",
        "B moves to member epoch 5; what it reads stays the same",
        "A is removed; no record says why; foo-0 is unassigned",
        "B is removed; no record says why; foo-1 is unassigned",
    ]


def test_a_partition_with_two_readers_is_no_anomaly_no_move_and_no_time_without_an_owner() -> None:
    found = findings(shared())

    assert set(found) == {"formed", "joined", "removed", "epochs", "emptied"}
    assert shared().recorded().summary["verdict"]["text"] == (
        "A and B joined one after another (group epochs 2–5). At 7.0\u202fs A and B were removed; the log does not say why. "
        "The group is empty at the end."
    )


def test_units_are_the_requests_however_many_stand_in_one_batch() -> None:
    requests = [FIRST_JOIN, (R.share_state(initialized=[0, 1]),), GIVEN_OUT, R.leave("A", 4), R.deletion()]
    payloads = [payload for request in requests for payload in request]
    records = [LogRecord(offset=at, batch=0, at_ms=0, payload=payload) for at, payload in enumerate(payloads)]
    entries = list(entries_from_records(records, partition=0))

    begins = [entry.sequence for entry in entries if entry.unit == entry.sequence]
    assert begins == [1, 7, 8, 12, 16]


def test_tombstones_take_the_group_away_and_records_after_them_make_it_anew() -> None:
    log = shared()
    log.at(9000).write(*R.deletion())
    assert (log.frame()["state"], log.state().anomalies) == ("Dead", ())
    assert told(log)[-1] == "The group is deleted"

    log.at(10_000).write(*FIRST_JOIN)
    assert (log.frame()["state"], log.frame()["group_epoch"]) == ("Stable", 2)


def test_a_topic_whose_share_state_is_deleted_is_named() -> None:
    log = shared()
    log.at(9000).write(R.share_state(deleting=True))

    assert log.frame()["deleting"] == ["foo"]
    assert told(log)[-1] == "The share state of foo is being deleted"


def test_records_of_another_protocol_end_what_was_there_and_are_noted() -> None:
    log = Log()
    log.write(Records().member("C"), Records().epoch(2))
    log.write(*FIRST_JOIN)

    state = log.state(at=3)
    assert [anomaly.kind for anomaly in state.anomalies] == ["protocol"]
    assert list(log.frame()["members"]) == ["A"]


def test_a_log_that_begins_in_the_middle_says_so() -> None:
    log = Log()
    log.write(R.current("A", 9, 8, 0, 1))

    assert told(log) == [f"The log begins in the middle: A is there, with {FOO}-0, {FOO}-1"]


def test_a_tombstone_of_a_member_that_was_never_told_is_an_anomaly_and_no_failure() -> None:
    log = Log()
    log.write(*FIRST_JOIN)
    log.write(record(14, R.key("B"), None))

    assert [anomaly.kind for anomaly in log.state().anomalies] == ["unknown_member"]
