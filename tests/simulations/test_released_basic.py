"""The case study ``released-basic``: the records that a broker of release 4.3.1 wrote for the same script.

Members' ids, timestamps and the topic's id are the run's own; everything else is as recorded.
"""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from groups.wire.metadata_hash import group_hash, topic_hash
from simulations.world import studies
from simulations.world.engine import run

NAMES = {"c1": "A", "c2": "B", "c3": "C"}
STABLE, UNREVOKED, UNRELEASED = 0, 1, 2


def records(seed: int | None = None) -> list[Entry]:
    return [entry for entry in run(studies.load("released-basic"), seed=seed) if entry.kind is Kind.RECORD]


def topics(entry: Entry, field: str) -> dict[int, int | None]:
    """Partition → assignment epoch of the one topic, ``None`` where the record has no epochs."""
    listed = entry.payload["value"][field]
    assert len(listed) <= 1
    if not listed:
        return {}
    partitions = listed[0]["partitions"]
    epochs = listed[0].get("assignmentEpochs", [None] * len(partitions))
    return dict(zip(partitions, epochs, strict=True))


def shown(entry: Entry) -> tuple[Any, ...]:
    """A record without its ids and times: the type, whose it is, and its fields."""
    number, value = entry.payload["type"], entry.payload["value"]
    member = NAMES.get(entry.payload["key"].get("memberId", ""))
    if number == 1:
        return 1, entry.payload["key"]["partition"], value["leaderEpoch"], value["metadata"]
    if value is None:
        return number, member, None
    match number:
        case 3:
            return 3, value["epoch"], "metadataHash" in value
        case 5:
            return 5, member
        case 6:
            return 6, value["assignmentEpoch"]
        case 7:
            return 7, member, sorted(topics(entry, "topicPartitions"))
        case _:
            return (
                8,
                member,
                (value["memberEpoch"], value["previousMemberEpoch"]),
                value["state"],
                topics(entry, "assignedPartitions"),
                topics(entry, "partitionsPendingRevocation"),
            )


UNITS: list[list[tuple[Any, ...]]] = [
    # A joins: member, epoch, target and assignment in one request, and the first epoch is 2.
    [(5, "A"), (3, 2, True), (7, "A", [0, 1, 2]), (6, 2), (8, "A", (2, 0), STABLE, {0: 2, 1: 2, 2: 2}, {})],
    # B joins, and says so again with what it owns: only the previous epoch changes.
    [(5, "B"), (3, 3, True), (7, "A", [0, 1]), (7, "B", [2]), (6, 3), (8, "B", (3, 0), UNRELEASED, {}, {})],
    [(8, "B", (3, 3), UNRELEASED, {}, {})],
    [(8, "A", (2, 2), UNREVOKED, {0: 2, 1: 2}, {2: 2})],
    [(8, "A", (3, 2), STABLE, {0: 2, 1: 2}, {})],
    [(8, "B", (3, 3), STABLE, {2: 3}, {})],
    # C joins in the same shape. Targets stand in Java's order of the ids.
    [(5, "C"), (3, 4, True), (7, "C", [1]), (7, "A", [0]), (6, 4), (8, "C", (4, 0), UNRELEASED, {}, {})],
    [(8, "C", (4, 4), UNRELEASED, {}, {})],
    [(8, "A", (3, 3), UNREVOKED, {0: 2}, {1: 2})],
    [(8, "A", (4, 3), STABLE, {0: 2}, {})],
    [(8, "B", (4, 3), STABLE, {2: 3}, {})],
    [(8, "C", (4, 4), STABLE, {1: 4}, {})],
    # One commit each.
    [(1, 0, -1, "")],
    [(1, 2, -1, "")],
    [(1, 1, -1, "")],
    # B leaves: no new target yet. The first heartbeat after it makes one; only what changed is written.
    [(8, "B", None), (7, "B", None), (5, "B", None), (3, 5, True)],
    [(7, "A", [0, 2]), (6, 5), (8, "C", (5, 4), STABLE, {1: 4}, {})],
    [(8, "A", (5, 4), STABLE, {0: 2, 2: 5}, {})],
    # C's session runs out: the records of a leave.
    [(8, "C", None), (7, "C", None), (5, "C", None), (3, 6, True)],
    [(7, "A", [0, 1, 2]), (6, 6), (8, "A", (6, 5), STABLE, {0: 2, 1: 6, 2: 5}, {})],
    # A leaves: the hash of no topics is 0, which is not written.
    [(8, "A", None), (7, "A", None), (5, "A", None), (3, 7, False)],
]


@pytest.mark.parametrize("seed", [None, 2, 77])
def test_the_run_writes_the_forty_eight_records_of_a_real_broker(seed: int | None) -> None:
    written = records(seed)
    units: dict[int | None, list[tuple[Any, ...]]] = {}
    for entry in written:
        units.setdefault(entry.unit, []).append(shown(entry))
    assert list(units.values()) == UNITS
    assert [entry.offset for entry in written] == list(range(48))


def test_each_request_is_a_batch_of_its_own_and_settles_with_its_last_record() -> None:
    written = records()
    assert [entry.batch for entry in written] == [n for n, unit in enumerate(UNITS) for _ in unit]
    for unit in {entry.unit for entry in written}:
        of_unit = [entry for entry in written if entry.unit == unit]
        assert unit == of_unit[0].sequence
        assert [entry.settled for entry in of_unit] == [False] * (len(of_unit) - 1) + [True]


def test_a_member_record_holds_what_a_java_consumer_told() -> None:
    first = records()[0].payload
    assert first["value"] == {
        "instanceId": None,
        "rackId": None,
        "clientId": "A",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": ["basic-foo"],
        "subscribedTopicRegex": "",
        "rebalanceTimeoutMs": 300000,
        "serverAssignor": None,
        "classicMemberMetadata": None,
    }


def test_the_hash_of_every_epoch_is_that_of_the_topic() -> None:
    entries = list(run(studies.load("released-basic")))
    topic_id = entries[0].payload["topics"]["basic-foo"]["id"]
    expected = group_hash({"basic-foo": topic_hash(topic_id, "basic-foo", 3)})
    epochs = [entry.payload["value"] for entry in entries if entry.payload.get("type") == 3]
    assert [value.get("metadataHash", 0) for value in epochs] == [expected] * 5 + [0]


def test_a_commit_names_the_topic_by_name_and_id() -> None:
    commit = next(entry for entry in records() if entry.payload["type"] == 1)
    topic_id = records()[2].payload["value"]["topicPartitions"][0]["topicId"]
    assert commit.payload["version"] == 4
    assert commit.payload["key"] == {"group": "released-basic", "topic": "basic-foo", "partition": 0}
    assert commit.payload["value"] == {
        "offset": 42,
        "leaderEpoch": -1,
        "metadata": "",
        "commitTimestamp": commit.at_ms,
        "topicId": topic_id,
    }


def test_the_killed_member_is_removed_six_seconds_after_its_last_heartbeat() -> None:
    entries = list(run(studies.load("released-basic")))
    killed = next(entry for entry in entries if entry.kind is Kind.FAULT)
    last = [e for e in entries if e.kind is Kind.REQUEST and e.actor == "c3"][-1]
    fired = next(e for e in entries if e.kind is Kind.TIMER and e.payload["event"] == "fired")
    assert fired.payload["timer"] == "session"
    assert fired.at_ms - last.at_ms == 6000
    assert 5000 < fired.at_ms - killed.at_ms < 5400
    removal = [e for e in entries if e.kind is Kind.RECORD and e.cause == fired.sequence]
    assert [e.payload["type"] for e in removal] == [8, 7, 5, 3]
