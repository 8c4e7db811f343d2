"""Kafka's own unit tests, recorded once: the simulated coordinator does what the released one did in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from groups.releases import EARLIER, NEWEST, Release

from .playing import Event, Played, each_test, play
from .recording import kept

NEW_GROUP_NOT_WRITTEN: Final = (
    "GroupMetadataManagerTest testGenerateRecordsOnNewClassicGroupFailureTransformsError()"
)
"""The first record of a classic group cannot be written; no write of a simulated log fails that is not too large."""

EMPTIED: Final = "{'type': 6, 'key': {'groupId': "
"""A target epoch that only the simulated coordinator writes, where the last member goes."""


@pytest.fixture(scope="module")
def recorded() -> dict[str, list[Event]]:
    return dict(each_test(kept()))


def _played(recorded: Mapping[str, list[Event]], release: Release) -> Iterator[Played]:
    return (play(name, events, release) for name, events in recorded.items())


def test_the_simulated_coordinator_does_what_the_released_one_did_in_kafkas_own_unit_tests(
    recorded: Mapping[str, list[Event]],
) -> None:
    played = list(_played(recorded, EARLIER))
    assert {each.name for each in played if each.differences} == {NEW_GROUP_NOT_WRITTEN}
    assert sum(each.compared > 0 and each.unplayed is None for each in played) >= 288
    assert sum(each.compared for each in played) >= 1_250


def test_by_the_newest_releases_rules_they_differ_by_the_target_epoch_of_a_group_that_empties_alone(
    recorded: Mapping[str, list[Event]],
) -> None:
    differing = {
        each.name: each.differences
        for each in _played(recorded, NEWEST)
        if each.differences and each.name != NEW_GROUP_NOT_WRITTEN
    }
    assert len(differing) == 10
    for name, (difference, *others) in differing.items():
        assert not others, name
        assert f"record: None | {EMPTIED}" in difference, name
        assert "assignmentTimestamp" not in difference, name


def test_a_record_that_differs_is_found(recorded: Mapping[str, list[Event]]) -> None:
    """The first test with a heartbeat, with the records of that heartbeat taken away."""
    name, events = next(
        (name, events)
        for name, events in recorded.items()
        if any(event["what"] == "consumerGroupHeartbeat" and event.get("records") for event in events)
    )
    without = [
        {**event, "records": []} if event["what"] == "consumerGroupHeartbeat" else event for event in events
    ]
    assert play(name, without, EARLIER).differences
