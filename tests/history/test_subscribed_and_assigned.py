"""What members subscribe to and what they were given are compared at the end of a log, while the group is at rest."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pytest

from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from tests.history import truth
from tests.history.corpus import corpus, recorded
from tests.history.logs import FOO, STABLE, UNRELEASED, Log, Records
from tests.history.test_departures import of_clients
from tests.tiers import spread

R = Records()

KINDS: Final = {"topic_not_assigned", "partitions_not_assigned", "assigned_unsubscribed"}


def found(log: Log) -> list[dict[str, Any]]:
    return [one for one in log.recorded().summary["findings"] if one["kind"] in KINDS]


def says(log: Log) -> list[str]:
    return [str(one["says"]).replace("\u202f", " ") for one in found(log)]


def generation(
    number: int, subscribed: Mapping[str, Iterable[str]], held: Mapping[str, Mapping[str, list[int]]]
) -> dict[str, Any]:
    """A generation whose members subscribe to and hold partitions of several topics."""
    record = of_clients(number, {member: [] for member in subscribed})
    for member in record["value"]["members"]:
        topics = {"version": 0, "topics": list(subscribed[member["memberId"]]), "userData": None}
        given = held.get(member["memberId"], {}).items()
        parts = [{"topic": topic, "partitions": numbers} for topic, numbers in given]
        blob = encode_assignment({"version": 0, "assignedPartitions": parts, "userData": None})
        member["subscription"] = base64.b64encode(encode_subscription(topics)).decode()
        member["assignment"] = base64.b64encode(blob).decode()
    return record


def at_rest(log: Log) -> Log:
    log.at(log.now_ms + 120_000).note(note="seen")
    return log


def consumer(log: Log, subscribed: Iterable[str] = ("foo",), **fields: Any) -> Log:
    log.write(
        R.member("A", subscribed, **fields),
        R.epoch(2, 7),
        R.target("A", 0, 1, 2),
        R.target_epoch(2, 1),
        R.current("A", 2, 0, STABLE, {0: 2, 1: 2, 2: 2}),
    )
    return log


def test_a_topic_of_which_a_classic_leader_gave_nothing_to_anybody_is_named() -> None:
    log = Log()
    log.write(generation(3, {"A": ["foo", "bar"], "B": ["foo"]}, {"A": {"foo": [0]}, "B": {"foo": [1]}}))
    [one] = found(at_rest(log))
    assert (one["kind"], one["topic"], one["members"], one["certain"]) == (
        "topic_not_assigned",
        "bar",
        ["A"],
        True,
    )
    assert says(log) == [
        "Nobody was given a partition of bar, to which A subscribes, for 2 min 0 s (the log cannot show whether the topic "
        "exists: either the leader's client knew no such topic, or its assignor left it out)"
    ]
    assert "Nobody was given a partition of bar" in log.recorded().summary["verdict"]["text"]


def test_a_topic_that_exists_and_that_the_assignor_left_out_is_known_to_exist() -> None:
    log = Log()
    log.topics(foo={"id": None, "partitions": 2}, bar={"id": None, "partitions": 4})
    log.write(generation(3, {"A": ["foo", "bar"]}, {"A": {"foo": [0, 1]}}))
    assert says(at_rest(log)) == [
        "Nobody was given a partition of bar, to which A subscribes, though it has 4 partitions, for 2 min 0 s"
    ]


def test_a_topic_that_does_not_exist_is_probably_why_a_consumer_group_has_none_of_it() -> None:
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3})
    assert says(at_rest(consumer(log, ["foo", "missing"]))) == [
        "Nobody was given a partition of missing, to which A subscribes, for 2 min 0 s (the log cannot show why: the "
        "assignors of Kafka's brokers give out every topic that exists, so there was probably none of this name)"
    ]


def test_a_subscribed_topic_that_was_deleted_is_said_to_be() -> None:
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3}, bar={"id": "T2pdQV9WTvWWDYLZnhCh4A", "partitions": 1})
    log.topics(bar=None)
    assert says(at_rest(consumer(log, ["foo", "bar"]))) == [
        "Nobody was given a partition of bar, to which A subscribes, and which was deleted, for 2 min 0 s"
    ]


def test_a_topic_whose_name_no_source_has_may_be_the_one_that_nobody_seems_to_have() -> None:
    """The records of a consumer group have ids; what a subscription calls foo may be the topic with this id."""
    assert found(at_rest(consumer(Log()))) == []


def test_a_member_with_partitions_of_a_topic_to_which_it_does_not_subscribe_is_named() -> None:
    log = Log()
    log.write(generation(3, {"A": ["foo"]}, {"A": {"foo": [0], "bar": [0, 1]}}))
    assert says(at_rest(log)) == ["A has bar-0 and -1, and does not subscribe to bar, for 2 min 0 s"]
    [one] = found(log)
    assert (one["kind"], one["member"], one["partitions"]) == (
        "assigned_unsubscribed",
        "A",
        ["bar-0", "bar-1"],
    )
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3})
    kinds = {one["kind"]: one for one in found(at_rest(consumer(log, ["bar"])))}
    assert kinds["assigned_unsubscribed"]["member"] == "A"


def test_what_an_expression_matches_is_subscribed_and_unknown_until_it_is_resolved() -> None:
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3})
    consumer(log, ["bar"], subscribedTopicRegex="f.*")
    assert "assigned_unsubscribed" not in {one["kind"] for one in found(at_rest(log))}


def test_a_classic_group_that_has_not_noticed_new_partitions_is_told_since_when_they_are_there() -> None:
    log = Log()
    log.topics(foo={"id": None, "partitions": 2})
    log.write(generation(3, {"A": ["foo"]}, {"A": {"foo": [0, 1]}}))
    log.at(60_000).topics(foo={"id": None, "partitions": 4})
    assert says(at_rest(log)) == [
        "The group has not noticed that foo grew from 2 to 4 partitions: foo-2 and -3 are nobody's, and no generation "
        "followed (a client of the classic protocol looks for new partitions every metadata.max.age.ms, 5 min by "
        "default), for 2 min 0 s"
    ]
    [one] = found(log)
    assert (one["from_ms"], one["length_ms"], one["needs"]) == (60_000, 120_000, ["records", "notes"])
    assert one["sequences"] == [3]


def test_a_group_that_noticed_new_partitions_and_gave_them_to_members_has_nothing_to_report() -> None:
    log = Log()
    log.topics(foo={"id": None, "partitions": 2})
    log.write(generation(3, {"A": ["foo"]}, {"A": {"foo": [0, 1]}}))
    log.at(60_000).topics(foo={"id": None, "partitions": 3})
    log.at(61_000).write(generation(4, {"A": ["foo"]}, {"A": {"foo": [0, 1, 2]}}))
    assert found(at_rest(log)) == []


def test_new_partitions_of_a_consumer_group_without_a_group_epoch_after_them_are_nobodys() -> None:
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3})
    consumer(log)
    log.at(60_000).topics(foo={"id": FOO, "partitions": 5})
    assert says(at_rest(log)) == [
        "The group has not noticed that foo grew from 3 to 5 partitions: foo-3 and -4 are nobody's, and no group epoch "
        "followed, for 2 min 0 s"
    ]


def test_partitions_that_a_newer_assignment_leaves_out_are_named_with_their_topics_size() -> None:
    log = Log()
    log.topics(foo={"id": None, "partitions": 3})
    log.write(generation(3, {"A": ["foo"]}, {"A": {"foo": [0, 2]}}))
    assert says(at_rest(log)) == ["foo has 3 partitions, and nobody was given foo-1, for 2 min 0 s"]


def test_a_group_that_is_not_at_rest_is_not_compared() -> None:
    log = Log()
    log.topics(foo={"id": None, "partitions": 3})
    log.write(generation(3, {"A": ["foo", "bar"]}, {"A": {"foo": [0, 2]}}))
    log.at(10_000).note(note="seen")
    assert found(log) == []
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3}, bar={"id": "T2pdQV9WTvWWDYLZnhCh4A", "partitions": 1})
    consumer(log, ["foo", "bar"])
    log.write(R.member("B"), R.epoch(3, 7), R.target_epoch(3, 1), R.current("B", 3, 0, UNRELEASED))
    assert found(at_rest(log)) == []


def test_a_consumer_group_whose_log_has_a_gap_may_have_members_that_nobody_saw() -> None:
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 5})
    consumer(log)
    log.note(note="gap", partition=0, from_offset=5, to_offset=9, missing=4)
    [one] = found(at_rest(log))
    assert not one["certain"]
    assert (
        one["cannot_know"] == "whether other members have them: the log does not hold all of the group's past"
    )


ASSIGNOR_FAILS = "found assignor-fails-after-a-member-unsubscribed"
"""A run whose client-side assignor gives nobody foo again."""


@pytest.mark.parametrize(
    "name", [one for one in spread(truth.committed()["logs"]) if one.values != (ASSIGNOR_FAILS,)]
)
def test_of_the_corpus_only_topics_that_were_deleted_and_stay_subscribed_are_reported(name: str) -> None:
    log = next(log for log in corpus() if log.name == name)
    gone = [
        topic
        for entry in log.entries
        if entry.payload.get("note") == "topics"
        for topic, told in entry.payload["topics"].items()
        if told is None
    ]
    for one in recorded(log).batch.summary["findings"]:
        if one["kind"] in KINDS:
            assert (one["kind"], "which was deleted" in one["says"]) == ("topic_not_assigned", True)
            assert one["topic"] in gone


def test_a_topic_that_a_failing_client_side_assignor_gives_nobody_is_reported() -> None:
    log = next(log for log in corpus() if log.name == ASSIGNOR_FAILS)
    [one] = [each for each in recorded(log).batch.summary["findings"] if each["kind"] in KINDS]
    assert (one["kind"], one["topic"], one["names"]) == ("topic_not_assigned", "foo", ["C"])
