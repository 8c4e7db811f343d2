"""What a map asks over HTTP: windows of a timeline, at the resolution that is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groups.history.digests import values as v
from groups.models import Timeline
from tests.api.conftest import Api
from tests.stories import Story, a_day_of_three

Stored = Callable[..., Timeline]


def asked(api: Api, timeline: Timeline, of: str, **query: Any) -> dict[str, Any]:
    words = "&".join(f"{name}={value}" for name, value in {"of": of, **query}.items())
    status, answer = api.get(f"timelines/{timeline.id}/digest?{words}")
    assert status == 200, answer
    return answer


def states_at(answer: dict[str, Any], column: int, *names: str) -> list[tuple[Any, ...] | None]:
    """What each row says in a column."""
    told = []
    for row in range(len(answer["offsets"]) - 1):
        runs = [
            run
            for run in range(answer["offsets"][row], answer["offsets"][row + 1])
            if answer["start"][run] <= column
        ]
        told.append(tuple(answer[name][runs[-1]] for name in names) if runs else None)
    return told


def test_each_moment_is_a_column_where_there_is_room(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    moments = api.get(f"timelines/{timeline.id}/chunks/1")[1]["moments"]
    answer = asked(api, timeline, "members")
    assert answer["exact"] is True
    assert answer["columns"]["first"] == [0, *(moment["sequence"] for moment in moments)]
    assert answer["columns"]["moments"] == [0, *([1] * len(moments))]
    assert answer["columns"]["unknown"] == [0] * (len(moments) + 1)
    assert sorted(answer["ids"]) == ["A", "B", "C"]


@pytest.mark.parametrize("at", range(21))
def test_what_holds_at_an_entry_is_what_its_frame_says(stored: Stored, api: Api, at: int) -> None:
    timeline = stored(a_day_of_three())
    moments = [moment["sequence"] for moment in api.get(f"timelines/{timeline.id}/chunks/1")[1]["moments"]]
    holds = max([sequence for sequence in moments if sequence <= at], default=0)
    frame = api.get(f"timelines/{timeline.id}/frame?at={holds}")[1]
    members = asked(api, timeline, "members", **{"from": at, "to": at})
    told = dict(zip(members["ids"], states_at(members, 0, "flags", "owned"), strict=True))
    assert {member_id for member_id, state in told.items() if state and state[0] & v.MEMBER} == set(
        frame["members"]
    )
    for member_id, member in frame["members"].items():
        held = {
            (topic, number)
            for name in ("assigned", "pending_revocation")
            for topic, numbers in member[name].items()
            for number in numbers
        }
        assert told[member_id][1] == len(held)
    partitions = asked(api, timeline, "partitions", **{"from": at, "to": at})
    owners = [state and state[0] for state in states_at(partitions, 0, "owner")]
    owned = {partitions["ids"][owner] for owner in owners if owner is not None and owner >= 0}
    assert owned == {member_id for member_id, member in frame["members"].items() if member["assigned"]}


def test_fewer_columns_hold_all_moments(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    answer = asked(api, timeline, "group", columns=4)
    assert answer["exact"] is False
    assert 2 <= len(answer["columns"]["first"]) <= 4
    moments = api.get(f"timelines/{timeline.id}/chunks/1")[1]["moments"]
    assert sum(answer["columns"]["moments"]) == len(moments)
    assert sum(event["count"] for event in answer["events"]) == len(moments)


def test_topics_that_are_named_are_told_in_their_order_and_no_others(stored: Stored, api: Api) -> None:
    timeline = stored(Story().joins("A", [0]))
    topic = asked(api, timeline, "partitions")["topics"][0]["topic"]
    assert [one["topic"] for one in asked(api, timeline, "partitions", topic=topic)["topics"]] == [topic]
    assert asked(api, timeline, "partitions", topic="nosuch")["topics"] == []


@pytest.mark.parametrize(
    ("query", "field", "says"),
    [
        ("", "of", "must be one of members, partitions, group"),
        ("of=everything", "of", "must be one of"),
        ("of=members&columns=1", "columns", "a whole number from 2"),
        ("of=members&columns=4001", "columns", "4000 at most"),
        ("of=members&from=9&to=3", "to", "lies before from=9"),
        ("of=members&from=-1", "from", "a whole number from 0"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_in_one_line(
    stored: Stored, api: Api, query: str, field: str, says: str
) -> None:
    timeline = stored(a_day_of_three())
    status, answer = api.get(f"timelines/{timeline.id}/digest?{query}")
    assert status == 400
    assert answer["error"]["field"] == field
    assert says in answer["error"]["message"]
    assert "\n" not in answer["error"]["message"]


def test_a_chunk_in_lines_is_the_chunk(stored: Stored, api: Api, client: Any) -> None:
    import orjson

    timeline = stored(a_day_of_three())
    whole = api.get(f"timelines/{timeline.id}/chunks/1")[1]
    text = client.get(f"/api/timelines/{timeline.id}/chunks/1?as=lines").content
    lines = [orjson.loads(line) for line in text.split(b"\n")]
    assert [sorted(line) for line in lines] == [["first", "last"], ["frame"], ["changes"], ["moments"]]
    assert {name: value for line in lines for name, value in line.items()} == whole
