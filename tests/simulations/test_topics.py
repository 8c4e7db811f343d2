"""Topics come, grow, go and come again under another id; their replicas' racks are part of a group's hash."""

from __future__ import annotations

from groups.wire.metadata_hash import group_hash, topic_hash
from simulations.protocol.assignors.broker_order import in_memory_target
from simulations.protocol.coordinator.image import Image, ImageTopic
from tests.simulations.broker import BAR, FOO, Broker

THIRD = "AAAAAAAAAAAAAAAAAAAAAw"


def test_each_change_of_the_image_is_a_new_version_and_tells_what_came_and_what_went() -> None:
    image = Image(topics={}, version=4)
    foo = ImageTopic(name="foo", topic_id=FOO, partitions=3)
    made = image.with_topic(foo)
    grown = made.with_partitions("foo", 5)
    again = grown.with_topic(ImageTopic(name="foo", topic_id=THIRD, partitions=5), version=90)
    gone = again.without_topic("foo")
    assert [i.version for i in (image, made, grown, again, gone)] == [4, 5, 6, 90, 91]
    assert made.created_since(image) == (foo,)
    assert grown.created_since(made) == grown.deleted_since(made) == ()
    assert [t.topic_id for t in again.created_since(grown)] == [THIRD]
    assert [t.topic_id for t in again.deleted_since(grown)] == [FOO]
    assert [t.topic_id for t in gone.deleted_since(again)] == [THIRD]
    assert gone.topics == {}


def test_racks_are_part_of_the_hash_sorted_and_as_often_as_replicas_are_there() -> None:
    racks = (("b", "a", "a"), ("a",))
    foo = ImageTopic(name="foo", topic_id=FOO, partitions=2, racks=racks)
    image = Image(topics={"foo": foo})
    assert foo.racks_of(0) == ("a", "a", "b")
    assert foo.racks_of(7) == ()
    assert image.metadata_hash(("foo", "nowhere")) == group_hash(
        {"foo": topic_hash(FOO, "foo", [("a", "a", "b"), ("a",)])}
    )
    assert image.metadata_hash(("nowhere",)) == 0
    bare = Image(topics={"foo": ImageTopic(name="foo", topic_id=FOO, partitions=2)})
    assert image.metadata_hash(("foo",)) != bare.metadata_hash(("foo",))


def test_other_racks_of_a_subscribed_topic_bump_at_the_next_heartbeat_of_anybody() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.heartbeat("A", 2)
    foo = ImageTopic(name="foo", topic_id=FOO, partitions=3, racks=(("r1",), ("r2",), ("r1",)))
    image = broker.shard.image.with_topic(foo)
    assert broker.shard.image_changed(image, ("foo",), broker.now_ms).records == ()
    broker.heartbeat("A", 2)
    assert broker.types == [3, 6, 8]


def test_a_change_that_leaves_the_hash_alone_writes_nothing() -> None:
    broker = Broker()
    broker.join("A")
    broker.heartbeat("A", 2)
    broker.shard.image_changed(broker.shard.image, ("foo",), broker.now_ms)
    assert broker.shard.memory.refresh.deadline_ms < broker.now_ms
    broker.heartbeat("A", 2)
    assert broker.types == []
    assert broker.shard.memory.refresh.deadline_ms > broker.now_ms


def test_a_topic_may_be_subscribed_before_it_is_there() -> None:
    broker = Broker(assignment_interval_ms=0)
    answer = broker.join("A", "later")
    assert (answer.member_epoch, answer.assigned) == (2, {})
    broker.create("later", THIRD, 2)
    answer = broker.heartbeat("A", 2)
    assert broker.types == [3, 7, 6, 8]
    assert answer.assigned == {THIRD: (0, 1)}


def test_a_deleted_topic_takes_its_offsets_then_its_target_and_each_member_gives_it_up() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A", "foo", "bar")
    broker.commit("A", 2, 0, 2)
    broker.delete("foo")
    told = {(r["type"], r["key"]["partition"], r["value"]) for r in broker.last.records}
    assert told == {(1, 0, None), (1, 2, None)}
    answer = broker.heartbeat("A", 2)
    assert broker.types == [3, 7, 6, 8]
    assert answer.assigned == {BAR: (0, 1)}
    assert set(broker.member("A").pending_revocation) == {FOO}
    assert broker.heartbeat("A", 2, {BAR: (0, 1)}).member_epoch == 3


def test_a_topic_that_is_made_again_is_another_one() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.commit("A", 2, 1)
    before = broker.shard.image
    broker.create("foo", THIRD, 3)
    deleted = broker.shard.topics_deleted(broker.shard.image.deleted_since(before), broker.now_ms)
    assert [record["key"]["partition"] for record in deleted.records] == [1]
    broker.heartbeat("A", 2)
    assert set(broker.member("A").pending_revocation) == {FOO}
    answer = broker.heartbeat("A", 2, {})
    assert answer.assigned == {THIRD: (0, 1, 2)}


def test_a_leave_takes_the_new_image_for_its_hash() -> None:
    broker = Broker()
    broker.join("A")
    broker.join("B", "bar")
    broker.grow("bar", 9)
    broker.heartbeat("A", -1)
    assert broker.last.records[-1]["value"]["metadataHash"] == broker.shard.image.metadata_hash(("bar",))


def test_what_is_left_after_a_topic_is_deleted_stands_in_the_table_that_was_made_for_all() -> None:
    # Their order is one in the table of four topics, another in one made for three, and a third before.
    kept, gone = "oGYZcO8_bfAUje1-ijSIjQ", "hzdvB7y4Eof9yMA4j-iBww"
    first, last = "OWyrO4DSf1jfERo7PfJFrQ", "3w5zN0IME_j11A9s4HnRuQ"
    broker = Broker(assignment_interval_ms=0)
    for name, topic_id in (("a", kept), ("b", gone), ("c", last), ("d", first)):
        broker.create(name, topic_id, 1)
    broker.join("A", "a", "b", "c", "d")
    assert list(in_memory_target(broker.group.target["A"])) == [kept, gone, last, first]
    broker.delete("b")
    broker.heartbeat("A", 2)
    (target,) = [record["value"] for record in broker.last.records if record["type"] == 7]
    assert [topic["topicId"] for topic in target["topicPartitions"]] == [first, kept, last]


def test_who_gains_topics_before_it_loses_its_own_has_them_in_the_table_that_grew_for_all() -> None:
    """As a broker wrote it: the balance takes ``a`` away from B only after B was given ``b`` and ``c``."""
    lost, one, two = "KfTmmzZ0SZaAyXtEqXHdSg", "oss6QOfyRCOsXBokiob1wQ", "nBKazo8yRWy6eFtTTeeuqA"
    broker = Broker(assignment_interval_ms=0)
    for name, topic_id, partitions in (("a", lost, 5), ("b", one, 1), ("c", two, 2)):
        broker.create(name, topic_id, partitions)
    for member in ("E", "C2", "B", "A"):
        broker.join(member, "a")
    assert {member: len(target[lost]) for member, target in broker.group.target.items()}["B"] == 1
    broker.heartbeat("B", broker.member("B").epoch, subscribed_topic_names=("a", "b", "c"))
    told = {
        r["key"]["memberId"]: r["value"]["topicPartitions"] for r in broker.last.records if r["type"] == 7
    }
    assert [topic["topicId"] for topic in told["B"]] == [one, two]
    assert list(in_memory_target(broker.group.target["B"])) == [one, two]
