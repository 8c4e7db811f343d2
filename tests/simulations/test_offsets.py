"""Offsets of a group: who may commit and fetch, what is written, and what deletes them, and groups with them."""

from __future__ import annotations

from typing import Any

import pytest

from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.messages.groups import CommittedOffset, OffsetCommit
from simulations.protocol.messages.offsets import FetchedTopic, OffsetDelete, OffsetFetch
from tests.simulations.broker import BAR, FOO, GROUP, Broker

DAY_MS = 24 * 60 * 60 * 1_000
THIRD = "AAAAAAAAAAAAAAAAAAAAAw"


def commit(
    broker: Broker, member_id: str, epoch: int, *offsets: CommittedOffset, **fields: Any
) -> list[tuple[int, int]]:
    """``(partition, code)`` of the answer, in its order."""
    request = OffsetCommit(
        **{
            "group_id": GROUP,
            "member_id": member_id,
            "member_epoch": epoch,
            "offsets": offsets or (foo(0),),
            **fields,
        }
    )
    broker.last = outcome = broker.shard.commit(request, broker.now_ms)
    return [(partition, int(code)) for _, partition, code in outcome.answer.error_codes]


def foo(partition: int, **fields: Any) -> CommittedOffset:
    return CommittedOffset(**{"topic": "foo", "topic_id": FOO, "partition": partition, "offset": 5, **fields})


def fetch(broker: Broker, **fields: Any) -> Any:
    request = OffsetFetch(
        **{"group_id": GROUP, "topics": (FetchedTopic(topic_id=FOO, partitions=(0, 1)),), **fields}
    )
    return broker.shard.fetch(request, broker.now_ms).answer


def two_members() -> Broker:
    """A at epoch 3 with 0 and 1 since 2, told to give 2 up before; B at 3 with 2 since 3."""
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    broker.heartbeat("A", 2)
    return broker


@pytest.mark.parametrize(
    ("epoch", "version", "code"), [(-1, 10, 0), (-1, 8, 0), (0, 10, 69), (3, 9, 69), (3, 8, 22), (0, 2, 22)]
)
def test_without_a_group_only_who_is_no_member_commits(epoch: int, version: int, code: int) -> None:
    broker = Broker()
    assert commit(broker, "", epoch, version=version) == [(0, code)]
    assert broker.types == ([] if code else [1])


@pytest.mark.parametrize(
    ("member", "epoch", "version", "code"),
    [
        ("Z", 2, 10, 25),
        ("", -1, 10, 25),
        ("A", 2, 8, 35),
        ("A", 2, 9, 0),
        ("A", 3, 10, 113),
        ("A", -1, 10, 113),
        ("B", 3, 10, 0),
        ("B", 2, 10, 113),
    ],
)
def test_a_member_commits_at_its_epoch(member: str, epoch: int, version: int, code: int) -> None:
    broker = two_members()
    assert commit(broker, member, epoch, version=version) == [(0, code)]
    assert broker.last.timers == ()


def test_an_older_epoch_commits_what_it_has_had_since_then_also_what_it_gives_up() -> None:
    broker = two_members()
    assert commit(broker, "A", 1, foo(0)) == [(0, 113)]
    assert set(broker.member("A").pending_revocation[FOO]) == {2}
    broker.heartbeat("A", 2, {FOO: (0, 1)})
    broker.join("C")
    broker.heartbeat("A", 3)
    assert broker.member("A").epoch == 3
    given_up = tuple(broker.member("A").pending_revocation[FOO])
    assert commit(broker, "A", 2, *(foo(p) for p in given_up)) == [(p, 0) for p in given_up]
    assert commit(broker, "A", 2, foo(0), foo(2)) == [(0, 113), (2, 113)], "the whole request"
    assert commit(broker, "A", 2, foo(2, metadata="x" * 5_000)) == [(2, 12)], "that one is not asked for"


def test_a_member_that_left_for_now_commits_nothing() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A", instance_id="i")
    broker.heartbeat("A", -2, instance_id="i")
    assert commit(broker, "A", 2) == [(0, 113)]
    assert commit(broker, "A", -2) == [(0, 0)]


def test_what_the_image_does_not_know_is_answered_first_and_the_rest_goes_on() -> None:
    broker = Broker()
    broker.join("A")
    unknown = CommittedOffset(topic="gone", topic_id=THIRD, partition=4, offset=1)
    assert commit(broker, "A", 2, foo(0), unknown, foo(7), foo(1)) == [(4, 100), (7, 3), (0, 0), (1, 0)]
    assert commit(broker, "A", 2, unknown, version=9) == [(4, 3)]
    assert commit(broker, "Z", 2, unknown) == [(4, 100)], "nothing is left to ask the group for"


def test_a_record_holds_what_was_committed_and_until_when_an_old_client_wants_it_kept() -> None:
    broker = Broker()
    broker.join("A")
    commit(broker, "A", 2, foo(1, leader_epoch=4, metadata="m"))
    record = broker.last.records[0]
    assert (record["type"], record["version"]) == (1, 4)
    assert record["key"] == {"group": GROUP, "topic": "foo", "partition": 1}
    assert record["value"] == {
        "offset": 5,
        "leaderEpoch": 4,
        "metadata": "m",
        "commitTimestamp": broker.now_ms,
        "topicId": FOO,
    }
    broker.heartbeat("A", -1)
    commit(broker, "", -1, version=4, retention_ms=1_000)
    record = broker.last.records[0]
    assert record["version"] == 1
    assert record["value"]["expireTimestamp"] == broker.now_ms + 1_000


def test_metadata_is_measured_in_javas_characters() -> None:
    broker = Broker(offset_metadata_max_bytes=4)
    broker.join("A")
    assert commit(
        broker, "A", 2, foo(0, metadata="éééé"), foo(1, metadata="😀😀"), foo(2, metadata="😀😀😀")
    ) == [
        (0, 0),
        (1, 0),
        (2, 12),
    ]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, 0),
        ({"member_id": "A", "member_epoch": 2}, 0),
        ({"member_id": "A", "member_epoch": 1}, 113),
        ({"member_id": "A", "member_epoch": 3}, 113),
        ({"member_id": "Z", "member_epoch": 2}, 25),
        ({"member_id": "", "member_epoch": -1}, 25),
        ({"member_epoch": 2}, 25),
    ],
)
def test_a_fetch_is_of_a_members_epoch_or_of_nobody(fields: dict[str, Any], code: int) -> None:
    broker = Broker()
    broker.join("A")
    answer = fetch(broker, **fields)
    assert int(answer.error_code) == code
    assert len(answer.offsets) == (0 if code else 2)


def test_a_fetch_tells_offsets_where_there_are_some_and_needs_no_group() -> None:
    broker = Broker()
    assert [(o.partition, o.offset, int(o.error_code)) for o in fetch(broker, member_id="A").offsets] == [
        (0, -1, 0),
        (1, -1, 0),
    ]
    broker.join("A")
    commit(broker, "A", 2, foo(1, leader_epoch=3, metadata="m"))
    told = [(o.partition, o.offset, o.leader_epoch, o.metadata) for o in fetch(broker).offsets]
    assert told == [(0, -1, -1, ""), (1, 5, 3, "m")]
    everything = fetch(broker, topics=None)
    assert [(o.topic, o.topic_id, o.partition) for o in everything.offsets] == [("foo", FOO, 1)]
    by_name = fetch(broker, version=9, topics=(FetchedTopic(topic="foo", partitions=(1,)),))
    assert by_name.body()["groups"][0]["topics"][0]["name"] == "foo"
    assert by_name.offsets[0].offset == 5
    unknown = fetch(broker, topics=(FetchedTopic(topic_id=THIRD, partitions=(0,)),))
    assert [(int(o.error_code), o.offset) for o in unknown.offsets] == [(100, -1)]


def test_offsets_of_a_topic_that_was_made_again_are_not_those_of_the_new_one() -> None:
    broker = Broker()
    broker.join("A")
    commit(broker, "A", 2, foo(1))
    broker.create("foo", THIRD, 3)
    (told,) = fetch(broker, topics=(FetchedTopic(topic_id=THIRD, partitions=(1,)),)).offsets
    assert (told.offset, int(told.error_code)) == (-1, 0)


def test_offsets_of_subscribed_topics_are_not_deleted() -> None:
    broker = Broker()
    request = OffsetDelete(group_id=GROUP, topics={"foo": (0,), "bar": (0, 1)})
    assert int(broker.shard.delete_offsets(request, 0).answer.error_code) == 69
    broker.join("A")
    bar = CommittedOffset(topic="bar", topic_id=BAR, partition=0, offset=1)
    commit(broker, "A", 2, foo(0), bar)
    outcome = broker.shard.delete_offsets(request, broker.now_ms)
    assert outcome.answer.error_codes == (("foo", 0, 86), ("bar", 0, 0), ("bar", 1, 0))
    assert [(r["key"]["topic"], r["value"]) for r in outcome.records] == [("bar", None)]
    assert set(broker.shard.state.offsets) == {"foo"}


def test_offsets_of_a_group_with_an_empty_name_are_refused_as_a_request_not_as_a_group() -> None:
    """Kafka: ``GroupCoordinatorService.deleteOffsets`` looks at the name before it looks for the group."""
    request = OffsetDelete(group_id="", topics={"foo": (0,)})
    assert int(Broker().shard.delete_offsets(request, 0).answer.error_code) == 24


def deleted(outcome: Outcome[Any]) -> tuple[int, list[int]]:
    return int(outcome.answer.error_code), [record["type"] for record in outcome.records]


def test_a_group_is_deleted_when_it_has_no_members_offsets_first() -> None:
    broker = Broker()
    assert deleted(broker.shard.delete_group(0)) == (69, [])
    broker.join("A")
    commit(broker, "A", 2, foo(0), foo(2))
    assert deleted(broker.shard.delete_group(0)) == (68, [])
    broker.heartbeat("A", -1)
    outcome = broker.shard.delete_group(broker.now_ms)
    assert deleted(outcome) == (0, [1, 1, 6, 4, 3])
    assert {record["value"] for record in outcome.records} == {None}
    assert broker.shard.state.deleted
    assert int(broker.heartbeat("A", 2).error_code) == 69
    assert broker.join("A").member_epoch == 2, "a group made anew begins at the first epoch"


def test_a_group_of_offsets_alone_is_a_classic_one_until_a_member_joins() -> None:
    broker = Broker()
    commit(broker, "", -1)
    answer = broker.heartbeat("A", 3)
    assert (int(answer.error_code), answer.error_message) == (69, "Group orders is not a consumer group.")
    assert broker.heartbeat("A", -1).error_message == "Group orders is not a consumer group."
    assert broker.shard.describe()["errorMessage"] == "Group orders is not a consumer group."
    assert commit(broker, "A", 3) == [(0, 25)]
    broker.join("A")
    assert broker.types == [2, 5, 3, 7, 6, 8]
    assert broker.last.records[0]["key"] == {"group": GROUP}
    assert fetch(broker).offsets[0].offset == 5
    alone = Broker()
    commit(alone, "", -1)
    assert deleted(alone.shard.delete_group(0)) == (0, [1, 2])


def test_old_offsets_of_topics_that_nobody_reads_go_and_with_the_last_an_empty_group() -> None:
    broker = Broker()
    broker.join("A")
    bar = CommittedOffset(topic="bar", topic_id=BAR, partition=0, offset=1)
    commit(broker, "A", 2, foo(0), bar)
    expired = broker.shard.expire_offsets(broker.now_ms + 7 * DAY_MS - 1)
    assert expired.records == ()
    expired = broker.shard.expire_offsets(broker.now_ms + 7 * DAY_MS)
    assert [(r["type"], r["key"].get("topic")) for r in expired.records] == [(1, "bar")]
    broker.heartbeat("A", -1)
    expired = broker.shard.expire_offsets(broker.now_ms + 7 * DAY_MS)
    assert [record["type"] for record in expired.records] == [1, 6, 4, 3]
    assert broker.shard.expire_offsets(broker.now_ms + 8 * DAY_MS).records == ()


def test_an_empty_group_without_offsets_goes_at_the_next_check() -> None:
    broker = Broker()
    broker.join("A")
    assert broker.shard.expire_offsets(broker.now_ms).records == ()
    broker.heartbeat("A", -1)
    assert [record["type"] for record in broker.shard.expire_offsets(broker.now_ms).records] == [6, 4, 3]


def test_an_offset_with_an_end_of_its_own_goes_then() -> None:
    broker = Broker()
    commit(broker, "", -1, version=4, retention_ms=1_000)
    assert broker.shard.expire_offsets(broker.now_ms + 999).records == ()
    expired = broker.shard.expire_offsets(broker.now_ms + 1_000)
    assert [record["type"] for record in expired.records] == [1, 2]


def test_partitions_that_are_committed_again_may_be_told_and_deleted_in_another_order() -> None:
    """The exchange ``committed-again``: a put may double a table, also one of a key that is there."""
    broker = Broker(foo=12)
    broker.join("A")
    commit(broker, "A", 2, foo(0), foo(4))
    everything = {"topics": None}
    assert [told.partition for told in fetch(broker, **everything).offsets] == [4, 0]
    commit(broker, "A", 2, foo(4))
    assert [told.partition for told in fetch(broker, **everything).offsets] == [0, 4]
    broker.heartbeat("A", -1)
    gone = broker.shard.delete_group(broker.now_ms).records
    assert [record["key"]["partition"] for record in gone if record["type"] == 1] == [0, 4]
    assert broker.shard.memory.offset_slots == {}, "an empty table is thrown away"
    commit(broker, "", -1, foo(0), foo(4))
    assert [told.partition for told in fetch(broker, **everything).offsets] == [4, 0]


def test_a_topic_that_loses_one_of_its_offsets_keeps_its_place_among_the_others() -> None:
    broker = Broker(foo=12)
    broker.join("A")
    # Both names stand in one slot of a table of two: the one that came last is walked first.
    one, two = foo(0, topic="foo"), foo(0, topic="fob", topic_id=THIRD)
    broker.create("fob", THIRD, 12)
    commit(broker, "A", 2, one, foo(1), two)
    before = [(told.topic, told.partition) for told in fetch(broker, topics=None).offsets]
    assert before[0] == ("fob", 0)
    broker.heartbeat("A", -1)
    broker.shard.delete_offsets(OffsetDelete(group_id=GROUP, topics={"foo": (1,)}), broker.now_ms)
    assert [told.topic for told in fetch(broker, topics=None).offsets] == ["fob", "foo"]
