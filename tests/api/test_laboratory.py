"""The laboratory over the API: links, changes, moments of timelines, runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse

from groups.models import Timeline
from simulations.jobs import run_tasks
from simulations.world.scenario import load
from tests.api.conftest import Api
from tests.stories import Story

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]

LINK = "g=abcabc.a&t=12,6,3&s=same&from=range&e=join"


def test_a_link_is_answered_by_all_six(api: Api) -> None:
    status, answer = api.get(f"laboratory?{LINK}")
    assert status == 200
    assert answer["query"] == LINK
    assert answer["title"] == "Six members, G joins"
    assert [f"{each['protocol']} {each['assignor']}" for each in answer["answers"]] == [
        "classic range",
        "classic roundrobin",
        "classic sticky",
        "classic cooperative-sticky",
        "consumer range",
        "consumer uniform",
    ]
    uniform = answer["answers"][5]
    assert uniform["measures"]["moved"] == 3
    assert len(uniform["before"]) == len(uniform["after"]) == 21
    assert answer["members"][6] == {
        "name": "G",
        "rack": "a",
        "topics": [0, 1, 2],
        "joins": True,
        "leaves": False,
    }
    assert api.get("laboratory")[1]["query"] == LINK, "without a query, the example"


def test_changes_are_made_in_turn_and_a_document_does_as_well_as_a_link(api: Api) -> None:
    changes = [{"what": "sizes", "to": "equal"}, {"what": "event", "to": "leave", "count": 2}]
    status, answer = api.post("laboratory", {"query": LINK, "changes": changes})
    assert status == 200
    assert answer["query"] == "g=abcabc&t=7,7,7&s=same&from=range&e=leave:1.4"
    assert api.post("laboratory", {"case": answer["case"]})[1] == answer


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": LINK, "case": {}}, "query"),
        ({"query": 6}, "query"),
        ({"query": "g=6"}, "t"),
        ({"query": LINK, "chnages": []}, "query"),
        ({"case": {"members": [{}], "topics": [{"partitions": 0}]}}, "topics"),
        ({"case": {"members": [{"topic": []}], "topics": [{"partitions": 1}]}}, "members.0"),
        ({"query": LINK, "changes": {}}, "changes"),
        ({"query": LINK, "changes": [7]}, "changes"),
        ({"query": LINK, "changes": [{"what": "dance"}]}, "what"),
        ({"query": LINK, "changes": [{"what": "event", "to": "join", "count": 995}]}, "members"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line_with_its_field(api: Api, body: object, field: str) -> None:
    status, answer = api.post("laboratory", body)
    assert status == 400
    assert answer["error"]["field"] == field
    assert "\n" not in answer["error"]["message"]


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("g=6&t=3&e=boom", "e='boom' must be one of full, stable, join, leave, grow."),
        ("g=99999&t=3", "99,999 members are more than the laboratory's 1,000."),
        ("g=6&t=3&e=join", "Join needs newcomers."),
    ],
)
def test_a_key_of_a_link_is_named_as_it_is_written(api: Api, link: str, says: str) -> None:
    status, answer = api.get(f"laboratory?{link}")
    assert (status, answer["error"]["message"]) == (400, says)


def test_a_moment_of_a_timeline_becomes_a_group_and_one_more_joins(
    api: Api, stored: Callable[..., Timeline]
) -> None:
    timeline = stored(Story().joins("A", [0, 1]).joins("B", [2]).leaves("A"))
    status, answer = api.get("laboratory", timeline=timeline.id, at=10)
    assert status == 200
    assert [member["name"] for member in answer["members"]] == ["A", "B", "new-1"]
    assert answer["axes"]["before"] == "given"
    assert answer["answers"][5]["before"] == [0, 0, 1]
    assert api.get(f"laboratory?{answer['query']}")[1] == answer, "the link stands for itself"
    status, refused = api.get("laboratory", timeline=timeline.id, at=0)
    assert (status, refused["error"]["field"]) == (400, "at")
    assert api.get("laboratory", timeline=timeline.id, at=999)[0] == 404
    assert api.get("laboratory", timeline="nothing")[0] == 404
    assert api.get("laboratory", timeline=timeline.id, g=6)[0] == 400


def test_a_case_is_played_by_the_simulator_or_it_says_why_not(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[str] = []
    monkeypatch.setattr(run_tasks.run, "delay", queued.append)
    status, answer = api.post("laboratory/runs", {"query": LINK, "board": 6})
    assert status == 201
    # ``timeline`` is the name that its id had before.
    url = reverse("board", args=queued)
    assert answer == {"id": queued[0], "type": "timeline", "url": url, "timeline": queued[0]}
    scenario = load(Timeline.objects.get().scenario)
    assert scenario.title == "Six members, G joins (uniform)"
    status, refused = api.post("laboratory/runs", {"query": LINK, "board": 3})
    assert status == 409
    assert "Open 5 (range) or 6 (uniform)" in refused["error"]["message"]
    assert api.post("laboratory/runs", {"query": LINK, "board": 7})[0] == 400
