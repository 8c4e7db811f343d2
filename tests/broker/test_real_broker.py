"""A broker that is started for the test records segments; the frames made of them equal what it said meanwhile."""

from __future__ import annotations

import pytest

from .comparison import disagreements, untrue_tables
from .fresh import OLD, SHARED, Recorded
from .segments import settled_frames

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("group", [SHARED, OLD])
def test_frames_equal_what_the_broker_described_at_those_moments(recorded: Recorded, group: str) -> None:
    frames = settled_frames(recorded.data, group, recorded.topics)
    assert disagreements(frames, recorded.snapshots, group) == []


def test_frames_equal_the_tables_of_kafka_consumer_groups(recorded: Recorded) -> None:
    frames = {group: settled_frames(recorded.data, group, recorded.topics) for group in (SHARED, OLD)}
    assert len(recorded.tables) == 3
    assert untrue_tables(frames, recorded.tables) == []


def test_the_broker_was_seen_in_every_state_that_a_record_tells(recorded: Recorded) -> None:
    states = {each["said"]["state"] for each in recorded.snapshots if each["said"]["group"] == SHARED}
    assert states >= {"Stable", "Reconciling", "Empty"}
