"""Names of topic ids: from the metadata log, a file, a commit, or a guess that the metadata hash proves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from groups.pipeline.topics.facts import GroupFacts, Known, TopicChange, metadata_story
from groups.pipeline.topics.naming import BadTopicsFile, plan, read_topics_file
from tests.pipeline.segments import BAR, FOO, Group, Payload, hash_of

BOTH = {"foo": FOO, "bar": BAR}


def facts_of(*requests: Sequence[Payload]) -> GroupFacts:
    facts = GroupFacts()
    for offset, payload in enumerate(payload for request in requests for payload in request):
        facts.add(offset, payload)
    return facts


def told(facts: GroupFacts, known: Known | None = None) -> list[tuple[str, Mapping[str, Any]]]:
    return [(note.source, dict(note.topics)) for note in plan(facts, known or Known()).notes]


def test_the_hash_proves_name_and_partition_count_of_one_topic() -> None:
    facts = facts_of(Group().join("A", {FOO: [0, 1, 2]}, hash_of({"foo": (FOO, 3)})))

    assert told(facts) == [("metadata hash", {"foo": {"id": FOO, "partitions": 3}})]


def test_the_hash_proves_which_of_two_ids_has_which_name() -> None:
    names = {"foo": (FOO, 2), "bar": (BAR, 5)}
    facts = facts_of(Group(topics=BOTH).join("A", {BAR: range(5), FOO: range(2)}, hash_of(names)))

    assert told(facts) == [
        ("metadata hash", {"bar": {"id": BAR, "partitions": 5}, "foo": {"id": FOO, "partitions": 2}})
    ]


def test_a_growing_topic_is_proven_at_each_hash() -> None:
    group = Group()
    facts = facts_of(
        group.join("A", {FOO: [0, 1, 2]}, hash_of({"foo": (FOO, 3)})),
        group.join("A", {FOO: [0, 1, 2, 3, 4]}, hash_of({"foo": (FOO, 5)})),
    )

    notes = plan(facts, Known()).notes

    assert [(note.offset, note.topics["foo"]["partitions"]) for note in notes if note.topics["foo"]] == [
        (1, 3),
        (6, 5),
    ]


def test_a_subscribed_topic_that_does_not_exist_does_not_hinder_the_proof() -> None:
    facts = facts_of(Group(topics=BOTH).join("A", {FOO: [0, 1]}, hash_of({"foo": (FOO, 2)})))

    assert told(facts) == [("metadata hash", {"foo": {"id": FOO, "partitions": 2}})]


def test_a_hash_that_no_guess_gives_leaves_the_id_with_a_suggestion() -> None:
    """Racks are part of the hash and cannot be guessed."""
    facts = facts_of(Group().join("A", {FOO: [0, 1]}, metadata_hash=4711))

    found = plan(facts, Known())

    assert found.notes == ()
    assert found.nameless == (
        {
            "id": FOO,
            "highest": 1,
            "suggestion": {"name": "foo", "why": "the one topic that the group subscribes to: foo"},
        },
    )


def test_no_suggestion_is_made_where_two_names_would_do() -> None:
    facts = facts_of(Group(topics=BOTH).join("A", {FOO: [0]}, metadata_hash=4711))

    assert plan(facts, Known()).nameless[0]["suggestion"] is None


def test_the_search_for_a_proof_ends_with_many_nameless_topics() -> None:
    names = {f"topic-{number}": FOO for number in range(40)}
    facts = facts_of(Group(topics=names).join("A", {FOO: [0]}, metadata_hash=4711))

    assert plan(facts, Known()).notes == ()


def test_a_commit_names_an_id_from_its_first_mention_and_the_hash_adds_the_count() -> None:
    facts = facts_of(Group().join("A", {FOO: [0, 1]}, hash_of({"foo": (FOO, 2)})))

    assert told(facts, Known(names={FOO: ("foo", "commit")})) == [
        ("metadata hash", {"foo": {"id": FOO, "partitions": 2}}),
        ("commit", {"foo": {"id": FOO, "partitions": None}}),
    ]


def test_the_metadata_log_stands_above_all_else() -> None:
    facts = facts_of(Group().join("A", {FOO: [0, 1]}, hash_of({"foo": (FOO, 2)})))
    change = TopicChange(at_ms=5, topic_id=FOO, name="foo", partitions=2)

    assert told(facts, Known(names={FOO: ("foo", "commit")}, changes=(change,))) == [
        ("metadata log", {"foo": {"id": FOO, "partitions": 2}})
    ]


def test_topics_of_other_groups_are_left_out() -> None:
    change = TopicChange(at_ms=5, topic_id=BAR, name="bar", partitions=2)

    assert told(facts_of(Group().join("A", {FOO: [0]})), Known(changes=(change,))) == []


def test_the_metadata_log_tells_creation_growth_and_deletion() -> None:
    def partition(number: int) -> dict[str, Any]:
        return {"type": "PartitionRecord", "value": {"topicId": FOO, "partitionId": number}}

    story = metadata_story(
        [
            (1, {"type": "TopicRecord", "value": {"name": "foo", "topicId": FOO}}),
            (1, partition(0)),
            (1, partition(1)),
            (9, partition(2)),
            (20, {"type": "RemoveTopicRecord", "value": {"topicId": FOO}}),
        ]
    )

    assert [(change.at_ms, change.name, change.partitions) for change in story] == [
        (1, "foo", 2),
        (9, "foo", 3),
        (20, "foo", None),
    ]


def test_a_topics_file_gives_names_alone_or_with_partition_counts() -> None:
    assert read_topics_file({FOO: "foo", BAR: {"name": "bar", "partitions": 4}}) == (
        {FOO: "foo", BAR: "bar"},
        {BAR: 4},
    )


@pytest.mark.parametrize("content", [[], {FOO: 7}, {FOO: {"partitions": 3}}, {FOO: ""}, {"foo": FOO}])
def test_a_topics_file_of_another_shape_is_refused_in_one_line(content: Any) -> None:
    with pytest.raises(BadTopicsFile, match="topics file") as refused:
        read_topics_file(content)
    assert "\n" not in str(refused.value)
