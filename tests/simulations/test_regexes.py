"""Regular expressions of a group: what is refused, when they are resolved, and what a resolution writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groups.history.state.consumer import ResolvedRegex
from simulations.protocol.coordinator.consumer.counts import Counts
from simulations.protocol.coordinator.consumer.outcome import ResolveRegexes
from simulations.protocol.coordinator.consumer.regexes import description, resolve
from simulations.protocol.coordinator.consumer.subscriptions import subscription_is_homogeneous
from simulations.protocol.coordinator.image import Image, ImageTopic
from tests.simulations.broker import BAR, FOO, Broker

THIRD = "AAAAAAAAAAAAAAAAAAAAAw"


def joins(broker: Broker, member: str, regex: str, **fields: Any) -> Any:
    return broker.heartbeat(
        member,
        0,
        **{"rebalance_timeout_ms": 300_000, "subscribed_topic_regex": regex, "owned": {}, **fields},
    )


def regexes(broker: Broker) -> dict[str, tuple[str, ...]]:
    return {regex: found.topics for regex, found in broker.group.regexes.items()}


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        ("[", "missing closing ]"),
        ("(", "missing closing )"),
        ("a)", "regexp/syntax: internal error"),
        ("*", "missing argument to repetition operator"),
        ("a**", "invalid nested repetition operator"),
        ("a{2,1}", "invalid repeat count"),
        ("x{1001}", "invalid repeat count"),
        ("\\", "trailing backslash at end of expression"),
        ("(?=x)", "invalid or unsupported Perl syntax"),
        ("(?<=x)", "invalid named capture"),
        ("(?P<", "invalid named capture"),
        ("(?P<n", "invalid named capture"),
        ("(?P<aé>x)", "invalid named capture"),
        ("(?P<a>x)(?<a>y)", "duplicate capture group name"),
        ("[z-a]", "invalid character class range"),
        ("[[:foo:]]", "invalid character class range"),
        ("\\8", "invalid escape sequence"),
        ("\\C", "invalid escape sequence"),
        ("[(?P<a>](?P<a>y)", None),
        ("\\Q(?P<a>\\C\\E(?P<a>y)", None),
        ("\\(?P<a>(?P<a>y)", None),
        ("^foo-.*$", None),
        ("", None),
    ],
)
def test_a_broken_expression_is_told_in_the_words_of_the_brokers_own_library(
    regex: str, words: str | None
) -> None:
    assert description(regex) == words


def test_an_expression_matches_whole_names_of_the_image_internal_ones_too() -> None:
    names = ("foo", "foobar", "barfoo", "__consumer_offsets", "Foo")
    image = Image(
        topics={name: ImageTopic(name=name, topic_id=f"{name:A<22}", partitions=1) for name in names},
        version=7,
    )
    task = ResolveRegexes(regexes=("foo", "foo|.*bar", ".*", "[", "(?i)FOO"), member_id="A")
    found = resolve(task, image, 5)
    assert (found.version, found.timestamp_ms) == (7, 5)
    assert found.topics == {
        "foo": ("foo",),
        "foo|.*bar": ("foo", "foobar"),
        ".*": ("Foo", "__consumer_offsets", "barfoo", "foo", "foobar"),
        "[": (),
        "(?i)FOO": ("Foo", "foo"),
    }


def test_a_broken_expression_is_refused_and_nothing_is_written_or_started() -> None:
    broker = Broker()
    answer = joins(broker, "A", "fo[")
    assert (int(answer.error_code), answer.error_message) == (
        128,
        "SubscribedTopicRegex `fo[` is not a valid regular expression: missing closing ].",
    )
    assert broker.last.records == broker.last.timers == broker.last.tasks == ()
    assert answer.member_id is None


def test_a_lone_expression_joins_without_an_epoch_and_gets_it_with_the_resolution() -> None:
    broker = Broker(assignment_interval_ms=0)
    answer = joins(broker, "A", "fo+")
    assert broker.types == [5, 8]
    assert (answer.member_epoch, answer.assigned) == (1, {})
    assert broker.last.tasks == (ResolveRegexes(regexes=("fo+",), member_id="A"),)
    broker.resolve()
    assert broker.types == [16, 3]
    written = broker.last.records[0]
    assert written["key"] == {"groupId": "orders", "regularExpression": "fo+"}
    assert written["value"] == {"topics": ["foo"], "version": 0, "timestamp": broker.now_ms}
    assert broker.group.group_epoch == 2
    assert broker.group.metadata_hash == broker.shard.image.metadata_hash(("foo",))
    answer = broker.heartbeat("A", 1)
    assert broker.types == [7, 6, 8]
    assert answer.assigned == {FOO: (0, 1, 2)}


def test_a_second_expression_waits_ten_seconds_and_then_all_are_written_again() -> None:
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "fo+")
    broker.resolve()
    broker.heartbeat("A", 1)
    resolved_ms = broker.now_ms
    broker.now_ms += 1
    joins(broker, "B", "ba.")
    assert broker.types == [5, 8], "nobody has resolved it: it bumps nothing"
    assert broker.last.tasks == ()
    broker.now_ms = resolved_ms + 10_000
    broker.heartbeat("A", 2)
    assert broker.last.tasks == ()
    broker.now_ms += 1
    broker.heartbeat("A", 2)
    assert {*broker.last.tasks[0].regexes} == {"fo+", "ba."}
    task = broker.last
    broker.heartbeat("B", 2)
    assert broker.last.tasks == (), "one is under way"
    broker.last = task
    broker.resolve()
    assert sorted(broker.types) == [3, 16, 16]
    assert regexes(broker) == {"fo+": ("foo",), "ba.": ("bar",)}


@pytest.mark.parametrize(("starts", "order"), [("A", ["2", "1"]), ("B", ["1", "2"])])
def test_of_expressions_in_one_bucket_the_one_of_who_starts_the_task_is_written_first(
    starts: str, order: list[str]
) -> None:
    """The broker withdraws the sender's vote and casts it again, also of a sender that changes nothing."""
    first, second = "improvised-212[.]none", "improvised-212[.]b.*"
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", first)
    joins(broker, "B", second)
    broker.shard.memory = replace(broker.shard.memory, resolving=False)
    broker.heartbeat(starts, 1)
    broker.resolve()
    of = {first: "2", second: "1"}
    written = [record["key"]["regularExpression"] for record in broker.last.records if record["type"] == 16]
    assert [of[regex] for regex in written] == order


def test_a_known_expression_bumps_at_once_and_is_not_resolved_again() -> None:
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "fo+")
    broker.resolve()
    broker.heartbeat("A", 1)
    answer = joins(broker, "B", "fo+")
    assert broker.types == [5, 3, 7, 7, 6, 8]
    assert broker.last.tasks == ()
    assert answer.member_epoch == 3


def test_the_last_member_of_an_expression_takes_it_along() -> None:
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "fo+")
    broker.resolve()
    joins(broker, "B", "fo+")
    broker.heartbeat("A", -1)
    assert broker.types == [8, 7, 5, 3]
    assert regexes(broker) == {"fo+": ("foo",)}
    broker.heartbeat("B", -1)
    assert broker.types == [8, 7, 5, 16, 3]
    assert regexes(broker) == {}
    assert broker.last.records[-1]["value"] == {"epoch": 5}, "nothing is subscribed: no hash"


def test_another_expression_deletes_the_old_one_and_cuts_what_it_gave() -> None:
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "fo+")
    broker.resolve()
    broker.heartbeat("A", 1)
    broker.now_ms += 10_001
    broker.heartbeat("A", 2, {FOO: (0, 1, 2)}, subscribed_topic_regex="ba.")
    assert broker.types == [5, 16, 8]
    assert broker.last.tasks[0].regexes == ("ba.",)
    assert set(broker.member("A").pending_revocation) == {FOO}
    broker.resolve()
    assert broker.types == [16, 3]
    broker.heartbeat("A", 2, {})
    assert set(broker.member("A").assigned) == {BAR}


def test_no_expression_any_more_bumps_at_once() -> None:
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "fo+")
    broker.resolve()
    broker.heartbeat("A", 1)
    broker.heartbeat("A", 2, {FOO: (0, 1, 2)}, subscribed_topic_regex="", subscribed_topic_names=("bar",))
    assert broker.types == [5, 16, 3, 7, 6, 8]
    assert broker.last.tasks == ()


def test_names_and_expressions_are_subscribed_together() -> None:
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "fo+", subscribed_topic_names=("bar",))
    assert broker.types == [5, 3, 7, 6, 8]
    broker.resolve()
    broker.heartbeat("A", 2)
    assert set(broker.member("A").assigned) == {FOO, BAR}


def test_a_new_topic_is_found_by_the_first_heartbeat_after_ten_seconds_and_a_lost_one_is_not_looked_for() -> (
    None
):
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "(foo|fox)")
    broker.resolve()
    broker.heartbeat("A", 1)
    broker.create("fox", THIRD)
    broker.heartbeat("A", 2)
    assert broker.last.tasks == ()
    broker.now_ms += 10_001
    broker.heartbeat("A", 2)
    broker.resolve()
    assert broker.types == [16, 3]
    assert broker.last.records[0]["value"]["topics"] == ["foo", "fox"]
    broker.heartbeat("A", 2)
    broker.now_ms += 10_001
    broker.delete("fox")
    broker.heartbeat("A", 3)
    assert broker.last.tasks == ()
    assert broker.types[0] == 3, "the hash tells that it is gone"
    assert regexes(broker) == {"(foo|fox)": ("foo", "fox")}


def test_expressions_are_resolved_again_after_the_refresh_interval_and_written_though_nothing_changed() -> (
    None
):
    broker = Broker(assignment_interval_ms=0, regex_refresh_interval_ms=60_000)
    joins(broker, "A", "fo+")
    broker.resolve()
    broker.heartbeat("A", 1)
    broker.now_ms += 60_000
    broker.heartbeat("A", 2)
    assert broker.last.tasks == ()
    broker.now_ms += 1
    broker.heartbeat("A", 2)
    broker.resolve()
    assert broker.types == [16]


def test_a_result_is_for_who_still_has_the_expression_and_for_a_group_that_is_still_there() -> None:
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "fo+")
    (task,) = broker.last.tasks
    broker.heartbeat("A", 1, {}, subscribed_topic_regex="")
    resolution = resolve(task, broker.shard.image, broker.now_ms)
    assert broker.shard.regexes_resolved(resolution, broker.now_ms).records == ()
    broker.heartbeat("A", -1)
    broker.shard.delete_group(broker.now_ms)
    assert broker.shard.regexes_resolved(resolution, broker.now_ms).records == ()


def test_a_lone_expression_of_all_members_is_a_homogeneous_subscription() -> None:
    broker = Broker(assignment_interval_ms=0)
    joins(broker, "A", "fo+")
    broker.resolve()
    broker.heartbeat("A", 1)
    joins(broker, "B", "fo+")
    assert {m: len(t[FOO]) for m, t in broker.group.target.items()} == {"A": 2, "B": 1}
    broker.join("C", "foo")
    assert {m: len(t[FOO]) for m, t in broker.group.target.items()} == {"A": 1, "B": 1, "C": 1}


def test_what_kind_of_subscription_a_group_has_is_found_when_a_member_goes_not_when_its_expression_does() -> (
    None
):
    """The exchange ``regex-left-behind``: after A's leave nobody looks, and ``bar`` was still counted by then."""
    broker = Broker(assignment_interval_ms=0, foo=5)
    broker.join("B")
    broker.join("C")
    joins(broker, "A", "ba.", subscribed_topic_names=("foo",))
    broker.resolve()
    for member in "ABCABC":
        known = broker.member(member)
        broker.heartbeat(member, known.epoch, {t: tuple(p) for t, p in known.assigned.items()})
    assert {m: t[FOO] for m, t in broker.group.target.items()} == {"A": (2,), "B": (0, 1), "C": (3, 4)}
    broker.heartbeat("A", -1)
    assert broker.types == [8, 7, 5, 16, 3]
    broker.heartbeat("B", broker.member("B").epoch)
    told = {m: t[FOO] for m, t in broker.group.target.items()}
    assert told == {"B": (0, 1, 2), "C": (3, 4)}, "of members that subscribe alike, C would get it"
    broker.join("D")
    assert broker.shard.memory.regexes_counted is None, "a member's record, and it is found anew"


def test_a_heartbeat_of_who_has_no_expression_starts_the_task_too_and_a_topic_that_grew_starts_none() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.create("seen", "AAAAAAAAAAAAAAAAAAAABA")
    joins(broker, "A", "fo+")
    broker.resolve()
    broker.join("B", "bar")
    broker.now_ms += 10_001
    broker.grow("foo", 9)
    broker.heartbeat("B", 3)
    assert broker.last.tasks == (), "no topic was created"
    broker.create("fox", THIRD)
    broker.heartbeat("B", broker.member("B").epoch)
    assert broker.last.tasks == (ResolveRegexes(regexes=("fo+",), member_id="B"),)


@pytest.mark.parametrize(
    ("names", "expressions", "matched", "members", "alike"),
    [
        ({"foo": 2}, {}, {}, 2, True),
        ({"foo": 2, "bar": 1}, {}, {}, 2, False),
        ({}, {}, {}, 2, True),
        ({}, {"f.*": 2}, {"f.*": ("foo",)}, 2, True),
        ({}, {"f.*": 1}, {"f.*": ("foo",)}, 2, False),
        ({}, {"f.*": 2}, {"f.*": ()}, 2, True),
        ({"foo": 1}, {"f.*": 2}, {"f.*": ("foo",)}, 2, False),
        ({}, {"f.*": 2}, {"f.*": ("foo",), "fo+": ("foo",)}, 2, False),
        ({"foo": 2}, {}, {"b.*": ("bar",)}, 2, False),
    ],
)
def test_a_subscription_is_homogeneous_if_all_name_the_same_or_one_expression_of_all_is_all_there_is(
    names: dict[str, int],
    expressions: dict[str, int],
    matched: dict[str, tuple[str, ...]],
    members: int,
    alike: bool,
) -> None:
    counts = Counts(by_name=names, regexes=expressions)
    resolved = {
        regex: ResolvedRegex(topics=topics, version=1, timestamp_ms=1) for regex, topics in matched.items()
    }
    assert subscription_is_homogeneous(counts, resolved, members) is alike
