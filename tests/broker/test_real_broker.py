"""A broker that is started for the test records segments; the frames made of them equal what it said meanwhile."""

from __future__ import annotations

import pytest

from groups.history.passes.units import units
from groups.pipeline.folding.group_records import GroupRecord
from groups.wire.logs.control import ControlType, decode_control
from groups.wire.records import decode_record

from .comparison import disagreements, untrue_tables
from .fresh import (
    ABORTED_OFFSET,
    COMMITTED_OFFSET,
    CROWD,
    CROWD_MEMBERS,
    OLD,
    SHARED,
    TRANSACTIONAL,
    Recorded,
)
from .segments import batches, group_hashes, hash_of, payloads, settled_frames

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("group", [SHARED, OLD])
@pytest.mark.quick
def test_frames_equal_what_the_broker_described_at_those_moments(recorded: Recorded, group: str) -> None:
    frames = settled_frames(recorded.data, group, recorded.topics)
    assert disagreements(frames, recorded.snapshots, group) == []


@pytest.mark.quick
def test_frames_equal_the_tables_of_kafka_consumer_groups(recorded: Recorded) -> None:
    frames = {group: settled_frames(recorded.data, group, recorded.topics) for group in (SHARED, OLD)}
    assert len(recorded.tables) == 3
    assert untrue_tables(frames, recorded.tables) == []


@pytest.mark.quick
def test_the_broker_was_seen_in_every_state_that_a_record_tells(recorded: Recorded) -> None:
    states = {each["said"]["state"] for each in recorded.snapshots if each["said"]["group"] == SHARED}
    assert states >= {"Stable", "Reconciling", "Empty"}


@pytest.mark.quick
def test_the_metadata_hash_follows_from_the_topic_and_its_partitions(recorded: Recorded) -> None:
    (foo,) = (topic_id for topic_id, name in recorded.topics.items() if name == "foo")
    # The last member leaves, and with it the last subscribed topic.
    assert group_hashes(recorded.data, SHARED) == [hash_of(foo, "foo", 4), hash_of(foo, "foo", 6), 0]


@pytest.mark.quick
def test_offsets_of_a_transaction_are_followed_by_its_end(recorded: Recorded) -> None:
    """One transaction commits its offset, the next one aborts: both offsets are in the log, the markers differ."""
    seen: list[object] = []
    for _, batch in batches(recorded.data):
        for record in batch.records:
            if batch.is_control:
                seen.append(decode_control(record.key, record.value).type)
            elif batch.is_transactional:
                payload = decode_record(record.key, record.value)
                assert payload["key"]["group"] == TRANSACTIONAL
                seen.append(payload["value"]["offset"])
    assert seen == [COMMITTED_OFFSET, ControlType.COMMIT, ABORTED_OFFSET, ControlType.ABORT]


@pytest.mark.quick
def test_requests_that_share_a_batch_are_told_apart(recorded: Recorded) -> None:
    """Each member's join and each leave is one unit, however many of them the broker wrote as one batch."""
    written = payloads(recorded.data, CROWD)
    records = [
        GroupRecord(
            partition=0,
            offset=offset,
            batch=number,
            at_ms=at_ms,
            type=payload["type"],
            payload=payload,
            text=b"",
        )
        for number, batch in enumerate(written)
        for offset, at_ms, payload in batch
    ]
    found = list(units(records))
    assert len(found) == 2 * CROWD_MEMBERS
    assert len(written) < len(found), "no batch held two requests, so nothing was shown"
    assert [unit[0].type for unit in found[:CROWD_MEMBERS]] == [5] * CROWD_MEMBERS
    assert all([record.type for record in unit] == [8, 7, 5, 3] for unit in found[CROWD_MEMBERS:])
