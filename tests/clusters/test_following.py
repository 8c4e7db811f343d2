"""The log of a living cluster is followed: every record, from the broker's log to the group's timeline, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AclOperation, ResourceType

from groups import storage
from groups.cluster_models import Cluster
from groups.models import Timeline
from groups.watching import registry
from tests.broker.members import CLASSIC, Member
from tests.clusters.secure import READ_ONLY, Secure
from tests.clusters.watched import (
    LIMIT_S,
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


def entries_of(timeline_id: str) -> list[dict[str, Any]]:
    """All entries; dense, and no offset twice."""
    entries = list(storage.every_entry(storage.get(timeline_id)))
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    offsets = [each["offset"] for each in entries if each["kind"] == "record" and each["offset"] is not None]
    assert len(offsets) == len(set(offsets))
    return entries


def joined(timeline_id: str) -> list[str]:
    """The clients whose members' metadata stand in a timeline, in its order."""
    return [
        each["payload"]["value"]["clientId"]
        for each in entries_of(timeline_id)
        if each["payload"].get("type") == 5 and each["payload"]["value"]
    ]


def test_joins_and_a_kill_are_recorded_record_by_record_and_the_frame_is_what_the_coordinator_says(
    secure: Secure, cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    with Watch(cluster, follow=True):
        told = joined_and_killed(secure, group, members, topic)
        seen = until(lambda: (found := registry.get(cluster.pk).seen)["follow"]["checked"] and found)
    timeline = row(group).timeline  # type: ignore[union-attr]
    frame = storage.frame_at(timeline, storage.get(timeline.pk).last)  # type: ignore[union-attr]
    assert_says(frame, told)
    assert frame["topics"][topic]["partitions"] == 4
    records = [each for each in entries_of(timeline.pk) if each["kind"] == "record"]  # type: ignore[union-attr]
    assert {each["provenance"] for each in records} == {"recorded"}
    # Every group epoch has its record: none was jumped over.
    epochs = [each["payload"]["value"]["epoch"] for each in records if each["payload"]["type"] == 3]
    assert epochs == list(range(epochs[0], told.group_epoch + 1))  # type: ignore[operator]
    assert seen["follow"]["mode"] == "following"
    assert seen["follow"]["different"] == 0
    assert seen["requests"]["Fetch"] > 0


def test_who_goes_on_reads_what_was_written_meanwhile_and_nothing_twice(
    cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    with Watch(cluster, groups=[group]):
        a = members("a", group, topic)
        first = until(lambda: facts(group, members=1, rebalancing=False))
    # Nobody looks, and the log remembers.
    b = members("b", group, topic)
    b.kill()
    a.leave()
    members("c", group, topic)
    with Watch(cluster, "another", groups=[group]):
        until(lambda: joined(first.timeline_id) == ["a", "b", "c"])
    entries = entries_of(first.timeline_id)
    assert not [each for each in entries if each["payload"].get("note") == "gap"]


def test_a_transaction_that_stays_open_is_on_the_board_until_it_ends_though_the_watcher_restarts(
    secure: Secure, cluster: Cluster, topic: str
) -> None:
    group = f"g-{topic}"
    broker = {"bootstrap.servers": secure.properties("plaintext")["bootstrap.servers"]}
    producer = Producer({**broker, "transactional.id": topic, "transaction.timeout.ms": 600_000})
    producer.init_transactions(LIMIT_S)
    consumer = Consumer({**broker, "group.id": group})
    producer.begin_transaction()
    offsets = [TopicPartition(topic, 1, 70)]
    producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), LIMIT_S)
    with Watch(cluster, groups=[group]):
        first = until(lambda: transaction_of(group))
    assert (first["partitions"], first["committed"], first["open"]) == ([f"{topic}-1"], [70], True)
    with Watch(cluster, "another", groups=[group]):
        until(lambda: registry.get(cluster.pk).seen["follow"]["at_end"])
        producer.commit_transaction(LIMIT_S)
        ended = until(lambda: (found := transaction_of(group)) and not found["open"] and found)
    consumer.close()
    assert (ended["producer"], ended["from_ms"]) == (first["producer"], first["from_ms"])
    entries = entries_of(row(group).timeline_id)  # type: ignore[union-attr]
    assert [each["payload"]["note"] for each in entries if "producer" in each["payload"]] == [
        "transaction",
        "transaction_ended",
    ]


def transaction_of(group: str) -> Any:
    """The finding of the group's one open transaction, which may have ended; null before it is noted."""
    found = row(group)
    summary = storage.summary(found.timeline) if found is not None and found.timeline is not None else None
    found_open = [each for each in (summary or {}).get("findings", ()) if each["kind"] == "open_transaction"]
    return found_open[0] if found_open else None


def test_without_the_right_it_is_polled_and_says_which_line_grants_it_and_is_followed_once_it_is_granted(
    secure: Secure, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    secure.grant("guest", [right for right in READ_ONLY if right[2] is not AclOperation.READ])
    polled = registry.add("polled", secure.properties("scram-512", "guest"))
    members("a", group, topic)
    with Watch(polled, groups=[group]):
        first = until(lambda: facts(group, members=1, rebalancing=False))
        seen = until(lambda: registry.get(polled.pk).seen.get("follow"))
        assert (seen["mode"], seen["why"]) == (
            "polling",
            "The right READ on the topic __consumer_offsets is missing.",
        )
        assert seen["command"].endswith(
            "--add --allow-principal User:guest --operation Read --topic __consumer_offsets"
        )
        secure.grant("guest", [(ResourceType.TOPIC, "__consumer_offsets", AclOperation.READ)])
        until(lambda: registry.get(polled.pk).seen["follow"]["mode"] == "following")
        again = until(
            lambda: (found := facts(group, members=1)) and found.timeline_id != first.timeline_id and found
        )
        secure.revoke("guest", [(ResourceType.TOPIC, "__consumer_offsets", AclOperation.READ)])
        until(lambda: registry.get(polled.pk).seen["follow"]["mode"] == "polling")
        third = until(
            lambda: (found := facts(group, members=1)) and found.timeline_id != again.timeline_id and found
        )
    assert Timeline.objects.get(pk=again.timeline_id).problem.startswith(
        "The log could not be followed any more"
    )
    for timeline, provenance in ((first, "inferred"), (again, "recorded"), (third, "inferred")):
        told = {each["provenance"] for each in entries_of(timeline.timeline_id) if each["kind"] == "record"}
        assert told == {provenance}


def test_whoever_demands_to_follow_is_told_why_it_cannot_be(secure: Secure) -> None:
    cluster = registry.add("refused", secure.properties("plain", "nobody"))
    with Watch(cluster, follow=True):
        until(lambda: registry.get(cluster.pk).status == Cluster.Status.FAILING)
    assert registry.get(cluster.pk).problem.startswith("It cannot be followed. The right READ on the topic")


def test_a_group_that_is_deleted_ends_its_timeline_and_one_of_the_same_name_has_its_own(
    secure: Secure, cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    with Watch(cluster, groups=[group]):
        a = members("a", group, topic)
        first = until(lambda: facts(group, members=1))
        a.leave()
        until(lambda: facts(group, members=0))
        admin = secure.admin()
        for done in admin.delete_consumer_groups([group]).values():
            done.result(30)
        until(lambda: row(group).condition == "deleted")  # type: ignore[union-attr]
        assert Timeline.objects.get(pk=first.timeline_id).status == Timeline.Status.COMPLETE
        members("b", group, topic)
        again = until(lambda: (found := facts(group, members=1)) and found.condition == "seen" and found)
    assert again.timeline_id != first.timeline_id


def test_a_timeline_that_somebody_deletes_begins_anew_with_all_that_the_log_has_of_the_group(
    cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"g-{topic}"
    with Watch(cluster, groups=[group]):
        members("a", group, topic)
        first = until(lambda: facts(group, members=1, rebalancing=False))
        storage.delete(first.timeline_id)
        members("b", group, topic)
        again = until(
            lambda: (found := facts(group, members=2)) and found.timeline_id != first.timeline_id and found
        )
    assert joined(again.timeline_id) == ["a", "b"]


def test_a_timeline_that_is_long_enough_is_followed_by_one_that_begins_with_the_group_as_it_is(
    cluster: Cluster, members: Callable[..., Member], topic: str, settings: Any
) -> None:
    settings.LIVE_ENTRIES_MOST = 12
    group = f"g-{topic}"
    with Watch(cluster, groups=[group]):
        members("a", group, topic)
        first = until(lambda: facts(group, members=1))
        members("b", group, topic)
        members("c", group, topic)
        last = until(
            lambda: (
                (found := facts(group, members=3, behind=0))
                and found.timeline_id != first.timeline_id
                and found
            )
        )
    assert Timeline.objects.get(pk=first.timeline_id).status == Timeline.Status.COMPLETE
    timeline = storage.get(last.timeline_id)
    frame = storage.frame_at(timeline, timeline.last)
    assert frame is not None
    assert sorted(each["client_id"] for each in frame["members"].values()) == ["a", "b", "c"]


def test_a_classic_group_has_its_generations(
    cluster: Cluster, members: Callable[..., Member], topic: str
) -> None:
    group = f"c-{topic}"
    with Watch(cluster, groups=[group]):
        members("x", group, topic, CLASSIC)
        found = until(lambda: facts(group, members=1, rebalancing=False))
        timeline = until(
            lambda: Timeline.objects.filter(pk=found.timeline_id, summary__state="Stable").first()
        )
    generations = [
        each["payload"]["value"]["generation"]
        for each in entries_of(timeline.pk)
        if each["payload"].get("type") == 2
    ]
    assert generations == sorted(generations)
    assert generations[-1] >= 1
