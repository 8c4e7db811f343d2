"""A living cluster is watched: real members join, are killed and leave, and their groups' timelines grow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from groups import storage
from groups.cluster_models import Cluster
from groups.models import Timeline
from groups.watching import registry, retention
from groups.watching.storing import UNWATCHED_SHOWN_AFTER_MS
from tests.broker.members import CLASSIC, Member
from tests.clusters.secure import Secure
from tests.clusters.watched import (
    Watch,
    assert_says,
    cluster,
    facts,
    joined_and_killed,
    members,
    row,
    topic,
    until,
)

__all__ = ["cluster", "members", "topic"]

pytestmark = [pytest.mark.broker, pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.mark.quick
def test_a_join_and_a_kill_are_recorded_and_the_frame_is_what_the_coordinator_says(
    secure: Secure, cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    with Watch(cluster, follow=False):
        told = joined_and_killed(secure, group, members, topic)
        timeline = row(group).timeline  # type: ignore[union-attr]
        frame = storage.frame_at(timeline, storage.get(timeline.pk).last)  # type: ignore[union-attr]
    assert_says(frame, told)
    entries = list(storage.every_entry(storage.get(timeline.pk)))  # type: ignore[union-attr]
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    assert {entry["provenance"] for entry in entries if entry["kind"] == "record"} == {"inferred"}
    assert frame["topics"][topic]["partitions"] == 4


def test_a_watch_that_is_taken_up_again_goes_on_in_the_same_timeline_and_says_that_nobody_looked(
    secure: Secure, cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    members("a", group, topic)
    with Watch(cluster, groups=[group], follow=False):
        first = until(lambda: facts(group, members=1))
    members("b", group, topic)
    until(lambda: time.time() * 1000 - registry.get(cluster.pk).seen["at_ms"] > UNWATCHED_SHOWN_AFTER_MS)
    with Watch(cluster, "another", groups=[group], follow=False):
        again = until(lambda: facts(group, members=2, rebalancing=False))
    assert again.timeline_id == first.timeline_id
    entries = list(storage.every_entry(storage.get(again.timeline_id)))
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry["payload"]["says"] for entry in entries if "says" in entry["payload"]]
    assert storage.get(again.timeline_id).summary["gaps"][0]["says"].startswith("Nobody looked for ")


def test_two_workers_never_watch_one_cluster(cluster: Cluster) -> None:
    assert registry.take(cluster.pk, "one")
    assert not registry.take(cluster.pk, "two")
    assert not registry.renew(cluster.pk, "two")
    registry.give_back(cluster.pk, "one")
    assert registry.take(cluster.pk, "two")


def test_a_group_that_is_deleted_ends_its_timeline(
    secure: Secure, cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    a = members("a", group, topic)
    with Watch(cluster, groups=[group], follow=False):
        found = until(lambda: facts(group, members=1))
        a.leave()
        until(lambda: facts(group, members=0))
        admin = secure.admin()
        for done in admin.delete_consumer_groups([group]).values():
            done.result(30)
        until(lambda: Timeline.objects.get(pk=found.timeline_id).status == Timeline.Status.COMPLETE)
        until(lambda: row(group).condition == "deleted")  # type: ignore[union-attr]
        # One of the same name is another incarnation.
        members("b", group, topic)
        again = until(lambda: facts(group, members=1))
        assert again.timeline_id != found.timeline_id
        assert again.condition == "seen"


def test_a_timeline_that_somebody_deletes_is_followed_by_another_one(
    cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    with Watch(cluster, groups=[group], follow=False):
        members("a", group, topic)
        first = until(lambda: facts(group, members=1, rebalancing=False))
        storage.delete(first.timeline_id)
        members("b", group, topic)
        members("c", group, topic)
        again = until(lambda: facts(group, members=3))
        assert again.timeline_id != first.timeline_id


@pytest.mark.quick
def test_a_classic_group_is_recorded_with_its_decoded_assignment(
    cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"c-{topic}"
    with Watch(cluster, groups=[group], follow=False):
        members("x", group, topic, CLASSIC)
        found = until(lambda: facts(group, members=1, rebalancing=False))
        timeline = until(
            lambda: Timeline.objects.filter(pk=found.timeline_id, summary__state="Stable").first()
        )
    frame = storage.frame_at(timeline, timeline.last)
    assert frame is not None
    assert [each["assigned"] for each in frame["members"].values()] == [{topic: [0, 1, 2, 3]}]


def test_a_cluster_that_cannot_be_reached_is_failing_with_the_sentence_and_is_tried_again(
    secure: Secure,
) -> None:
    wrong = secure.properties("scram-512") | {
        "sasl.jaas.config": 'x required username="watcher" password="not-the-one";'
    }
    cluster = registry.add("wrong", wrong)
    with Watch(cluster, follow=False):
        until(lambda: registry.get(cluster.pk).status == Cluster.Status.FAILING)
    assert registry.get(cluster.pk).problem.startswith("User or password is wrong")


def test_secrets_are_stored_encrypted_and_shown_to_nobody(secure: Secure) -> None:
    cluster = registry.add("kept", secure.properties("scram-512"))
    stored = bytes(Cluster.objects.get(pk=cluster.pk).sealed)
    assert b"watcher-secret" not in stored
    assert b"watcher" not in stored
    assert "watcher-secret" not in str(registry.shown(cluster))
    assert "watcher-secret" not in repr(registry.settings_for(cluster))
    assert registry.properties_of(cluster)["sasl.jaas.config"].endswith('password="watcher-secret";')


def test_a_timeline_that_is_long_enough_is_followed_by_the_next_and_old_ones_are_forgotten(
    cluster: Cluster, members: Callable[..., Member], topic: str, settings: Any
) -> None:
    settings.LIVE_ENTRIES_MOST = 12
    group = f"g-{topic}"
    with Watch(cluster, groups=[group], follow=False):
        members("a", group, topic)
        first = until(lambda: facts(group, members=1))
        members("b", group, topic)
        until(lambda: (found := facts(group, members=2)) and found.timeline_id != first.timeline_id)
    assert Timeline.objects.get(pk=first.timeline_id).status == Timeline.Status.COMPLETE
    assert retention.forget(cluster) == 0
    Timeline.objects.filter(pk=first.timeline_id).update(created="2026-01-01T00:00:00Z")
    assert retention.forget(cluster) == 1
    assert not Timeline.objects.filter(pk=first.timeline_id).exists()
