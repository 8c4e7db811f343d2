"""Committed offsets over HTTP: a line for each partition, flat where nobody read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groups.models import Timeline
from groups.storage import COMMITS_WITHIN
from groups.wire.commit_payloads import commit_payload
from tests.api.conftest import Api
from tests.stories import TOPIC_ID, Story, a_day_of_three

Stored = Callable[..., Timeline]


def read_by(member: str, *offsets: int | None) -> Story:
    """A member that joins and commits these offsets of ``foo-0``, one a second; ``None`` deletes the commit."""
    story = Story().joins(member, [0, 1])
    for offset in offsets:
        version = -1 if offset is None else 3
        story.unit(
            commit_payload(
                group="g",
                topic="foo",
                partition=0,
                version=version,
                committed=offset or 0,
                commit_ms=story.at_ms,
            )
        )
    return story


def lines(api: Api, timeline: Timeline, query: str = "") -> dict[tuple[str, int], list[list[Any]]]:
    status, answer = api.get(f"timelines/{timeline.id}/offsets{query}")
    assert status == 200, answer
    return {(line["topic"], line["partition"]): line["points"] for line in answer["lines"]}


def test_each_commit_is_a_point_at_its_entry_and_time(stored: Stored, api: Api) -> None:
    timeline = stored(read_by("A", 10, 20, 20, None))
    assert lines(api, timeline) == {
        ("foo", 0): [[6, 2000, 10], [7, 3000, 20], [8, 4000, 20], [9, 5000, None]]
    }


def test_only_the_partitions_that_are_asked_for_are_told_in_their_order(stored: Stored, api: Api) -> None:
    timeline = stored(read_by("A", 10, 20))
    assert list(lines(api, timeline, "?partition=foo-1&partition=foo-0")) == [("foo", 1), ("foo", 0)]
    assert lines(api, timeline, "?partition=foo-1") == {("foo", 1): []}
    assert lines(api, timeline, "?from=7&to=7&partition=foo-0") == {("foo", 0): [[7, 3000, 20]]}


def test_a_topic_is_called_by_the_name_that_it_was_given(stored: Stored, api: Api) -> None:
    story = read_by("A", 10)
    for entry in story.entries:
        if "topic" in (key := entry.payload["key"]):
            key["topic"] = TOPIC_ID
    timeline = stored(story)
    Timeline.objects.filter(pk=timeline.pk).update(topic_names={TOPIC_ID: "orders"})
    assert lines(api, timeline, "?partition=orders-0") == {("orders", 0): [[6, 2000, 10]]}
    assert list(lines(api, timeline)) == [("orders", 0)]


def test_a_timeline_without_commits_has_no_line(stored: Stored, api: Api) -> None:
    assert lines(api, stored(a_day_of_three())) == {}


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?partition=foo", "partition='foo' must be a topic and a number, as in orders-3."),
        ("?partition=-1", "partition='-1' must be a topic and a number, as in orders-3."),
        ("?from=9&to=3", "to=3 lies before from=9."),
        ("?points=1", "points='1' must be a whole number from 2."),
        ("?points=9999", "points=9999 must be 2000 at most."),
        (
            f"?from=0&to={COMMITS_WITHIN + 1}",
            "from=0 and to=200001 must lie 200,000 entries apart at most.",
        ),
        ("?" + "&".join("partition=foo-0" for _ in range(65)), "64 partitions at most are told at once."),
    ],
)
def test_a_query_that_cannot_be_answered_is_refused_in_one_line(
    stored: Stored, api: Api, query: str, says: str
) -> None:
    status, answer = api.get(f"timelines/{stored(a_day_of_three()).id}/offsets{query}")
    assert (status, answer["error"]["message"]) == (400, says)
