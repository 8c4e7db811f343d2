"""The log of a living cluster is followed: every record, from the broker's log to the group's timeline, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groups import storage
from groups.cluster_models import Cluster
from groups.watching import registry
from tests.broker.members import Member
from tests.clusters.secure import Secure
from tests.clusters.watched import Watch, cluster, described, facts, members, row, topic, until

__all__ = ["cluster", "members", "topic"]

pytestmark = [pytest.mark.broker, pytest.mark.once, pytest.mark.django_db(transaction=True)]


def entries_of(timeline_id: str) -> list[dict[str, Any]]:
    """All entries; dense, and no offset twice."""
    entries = list(storage.every_entry(storage.get(timeline_id)))
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    offsets = [entry["offset"] for entry in entries if entry["kind"] == "record"]
    assert len(offsets) == len(set(offsets))
    return entries


def test_joins_and_a_kill_are_recorded_record_by_record_and_the_frame_is_what_the_coordinator_says(
    secure: Secure, cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    with Watch(cluster, follow=True):
        members("a", group, topic)
        until(lambda: facts(group, members=1, rebalancing=False))
        b = members("b", group, topic)
        until(lambda: facts(group, members=2, rebalancing=False, behind=0))
        b.kill()
        until(lambda: facts(group, members=1, rebalancing=False, behind=0))
        told = described(secure, group)
        seen = until(lambda: (found := registry.get(cluster.pk).seen)["follow"]["checked"] and found)
    timeline = row(group).timeline  # type: ignore[union-attr]
    frame = storage.frame_at(timeline, storage.get(timeline.pk).last)  # type: ignore[union-attr]
    assert frame is not None
    assert frame["group_epoch"] == told.group_epoch
    assert {name: (each["epoch"], each["assigned"]) for name, each in frame["members"].items()} == {
        each.member_id: (each.epoch, {name: list(some) for name, some in each.assignment.items()})
        for each in told.members
    }
    assert frame["topics"][topic]["partitions"] == 4
    records = [each for each in entries_of(timeline.pk) if each["kind"] == "record"]  # type: ignore[union-attr]
    assert {each["provenance"] for each in records} == {"recorded"}
    # Every group epoch has its record: none was jumped over.
    epochs = [each["payload"]["value"]["epoch"] for each in records if each["payload"]["type"] == 3]
    assert epochs == list(range(epochs[0], told.group_epoch + 1))  # type: ignore[operator]
    assert seen["follow"]["mode"] == "following"
    assert seen["follow"]["different"] == 0
    assert seen["requests"]["Fetch"] > 0
