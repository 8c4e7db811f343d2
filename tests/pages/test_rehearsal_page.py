"""The page of upgrade rehearsals and its API, without scripts."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
import yaml
from django.core.management import CommandError, call_command
from django.test import Client

from explorer.pages.rehearsal.views import TIMELINES_OFFERED
from explorer.pages.runs import starting
from groups.history.entries import ENTRY_FORMAT
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Timeline
from simulations.world.scenario import load
from tests.stories import Story, classic_group

pytestmark = pytest.mark.django_db(transaction=True)

LINK = "group=orders-enrich&members=3&topics=foo:6&client=3.8&assignors=range"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(starting.run_tasks.run, "delay", sent.append)
    return sent


def text_of(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return html.unescape(answer.content.decode())


def test_the_page_tells_the_rehearsal_of_its_address(client: Client) -> None:
    page = text_of(client, f"/rehearsal?{LINK}")
    sheet = client.get(f"/api/rehearsal?{LINK}").json()
    assert sheet["says"][0] in page
    for way in sheet["ways"]:
        assert way["says"] in page
        for stage in way["stages"]:
            assert all(each in page for each in stage["says"])
    for warned in sheet["warnings"]:
        assert warned["says"] in page
    assert f'href="/api/rehearsal/plan?{LINK.replace(":", "%3A")}"' in page


def test_without_an_address_there_is_an_example(client: Client) -> None:
    page = text_of(client, "/rehearsal")
    assert "orders-enrich is upgraded in three bounces" in page
    assert 'aria-current="page">Upgrades' in page


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("members=0", 400, "members='0' must be a whole number from 1"),
        ("members=61", 400, "members: must be 1 to 60"),
        ("members=3&topics=foo", 400, "topics='foo' must be names with their partitions"),
        ("members=3&topics=%3Cb%3E:3", 400, "a topic is named with letters"),
        ("members=3&color=red", 400, "'color' is no field; there are members, topics"),
        ("timeline=nothing", 404, "nothing"),
        ("members=3&assignors=mine", 400, "mine is none of Kafka's assignors"),
    ],
)
@pytest.mark.long
def test_an_address_that_makes_no_sense_is_told_in_one_line_and_leads_on(
    client: Client, query: str, status: int, says: str
) -> None:
    page = text_of(client, f"/rehearsal?{query}", status)
    assert says in page
    assert "Open the example" in page
    assert "Export the plan" not in page
    assert client.get(f"/api/rehearsal?{query}").status_code == status


def test_a_large_group_has_a_row_of_whom_each_bounce_takes(client: Client) -> None:
    page = text_of(client, "/rehearsal?members=14&topics=foo:14")
    assert '<th scope="row">Bounced</th>' in page
    assert "Side by side" not in page, "boards of so many members do not stand beside each other"


def test_a_way_is_played_on_the_board_from_a_bounce_on(client: Client, queued: list[str]) -> None:
    answer = client.post(f"/rehearsal?{LINK}", {"way": "planned@42"})
    run = Timeline.objects.get(source=Timeline.Source.SIMULATION)
    assert (answer.status_code, answer["Location"]) == (302, f"/t/{run.id}?at=42")
    assert queued == [run.id]
    scenario = load(run.scenario, "rehearsal")
    assert scenario.group == "orders-enrich"
    assert [action.who for action in scenario.script if action.verb == "bounce"] == ["A", "B", "C"]


def test_two_ways_are_played_side_by_side_and_the_page_asks_again_until_they_are_done(
    client: Client, queued: list[str]
) -> None:
    answer = client.post(f"/rehearsal?{LINK}", {"way": "beside-back"})
    assert answer["Location"] == f"/compare?runs={','.join(queued)}"
    assert len(queued) == 2
    waiting = client.get(answer["Location"])
    assert (waiting.status_code, waiting["Refresh"]) == (202, "1")
    assert "being simulated" in waiting.content.decode()


def test_a_way_that_there_is_not_is_refused(client: Client, queued: list[str]) -> None:
    answer = client.post(f"/rehearsal?{LINK}", {"way": "sideways"})
    assert answer.status_code == 400
    assert "must be one of planned, hasty, back" in html.unescape(answer.content.decode())
    assert queued == []


def test_the_plan_is_markdown_to_keep(client: Client) -> None:
    answer = client.get(f"/api/rehearsal/plan?{LINK}")
    assert answer["Content-Type"].startswith("text/markdown")
    assert "upgrade-plan.md" in answer["Content-Disposition"]
    assert answer.content.decode().startswith("# Upgrade plan: orders-enrich to the consumer protocol")


@pytest.mark.long
def test_the_api_takes_a_described_group_and_plays_a_way_of_it(client: Client, queued: list[str]) -> None:
    document = {
        "topics": {"foo": 4},
        "members": {"a": {"client": "2.8", "assignors": ["sticky"]}, "b": {"assignors": ["sticky", "range"]}},
    }
    sheet = client.post(
        "/api/rehearsal", orjson.dumps({"document": document}), content_type="application/json"
    ).json()
    assert [row["client"] for row in sheet["assignors"] if row["used"]] == ["range", "sticky"]
    played = client.post(
        "/api/rehearsal/runs",
        orjson.dumps({"document": document, "way": "back"}),
        content_type="application/json",
    )
    assert played.status_code == 201
    assert played.json()["timeline"] == queued[0]
    plan = client.post(
        "/api/rehearsal/plan", orjson.dumps({"document": document}), content_type="application/json"
    )
    assert "classic 2.8, sticky" in plan.content.decode()


@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        ({}, "query", "one of the two"),
        ({"document": 3}, "document", "an object"),
        ({"query": "members=3", "way": "up"}, "way", "must be one of"),
        ({"document": {"topics": {"a": 1}}}, "members", "needs members"),
        ({"query": "members=3", "colour": 1}, "colour", "is no field"),
    ],
)
def test_a_request_that_makes_no_sense_is_told_in_one_line(
    client: Client, body: object, field: str, says: str
) -> None:
    answer = client.post("/api/rehearsal/runs", orjson.dumps(body), content_type="application/json")
    error = answer.json()["error"]
    assert (answer.status_code, error["field"]) == (400, field)
    assert says in error["message"]


def test_a_timelines_group_is_rehearsed_and_its_board_leads_there(
    client: Client, stored: Callable[..., Timeline]
) -> None:
    timeline = stored(Story().joins("A", [0, 1]))
    refused = text_of(client, f"/rehearsal?timeline={timeline.id}", 400)
    assert "every member of this moment is of the consumer protocol" in refused


def test_the_scenario_of_a_rehearsal_is_one_that_the_simulator_page_takes(client: Client) -> None:
    client.post(f"/rehearsal?{LINK}", {"way": "back"})
    text = Timeline.objects.get(source=Timeline.Source.SIMULATION).scenario
    assert yaml.safe_load(text)["group"] == "orders-enrich"
    assert (
        client.post(
            "/api/runs", orjson.dumps({"scenario": text}), content_type="application/json"
        ).status_code
        == 201
    )


def in_a_classic_group(stored: Callable[..., Timeline]) -> Timeline:
    """A log's classic group, whose members have gone by its end."""
    there = classic_group()
    gone = {**there["value"], "generation": 2, "members": [], "protocol": None, "leader": None}
    return stored(Story().unit(there).unit({**there, "value": gone}))


@pytest.mark.long
def test_a_group_of_a_log_is_taken_from_its_last_moment_with_members(
    client: Client, stored: Callable[..., Timeline]
) -> None:
    timeline = in_a_classic_group(stored)
    sheet = client.get(f"/api/rehearsal?timeline={timeline.id}").json()
    assert sheet["question"]["timeline"] == timeline.id
    assert 0 < sheet["question"]["at"] < timeline.last
    assert any("release" in each for each in sheet["assumed"])
    told = client.get(f"/api/rehearsal?timeline={timeline.id}&client=3.6&assignors=range&static=on").json()
    assert not told["assumed"]
    assert all(m["client"] == "3.6" and m["instance_id"] for m in told["question"]["members"].values())
    page = text_of(client, f"/rehearsal?timeline={timeline.id}")
    assert all(each in page for each in sheet["assumed"])
    board = client.get(f"/t/{timeline.id}").content.decode()
    assert f'id="rehearsal" href="/rehearsal?timeline={timeline.id}"' in board


def test_a_moment_beyond_the_end_is_not_found(client: Client, stored: Callable[..., Timeline]) -> None:
    timeline = in_a_classic_group(stored)
    assert "there is no 999" in text_of(client, f"/rehearsal?timeline={timeline.id}&at=999", 404)
    # Before the first entry nobody is in the group; the last moment with members is for whoever names none.
    assert "members" in text_of(client, f"/rehearsal?timeline={timeline.id}&at=0", 400)


def rehearse(*words: str) -> tuple[str, int]:
    """What the command prints, and its exit status."""
    out = io.StringIO()
    try:
        call_command("rehearse", *words, stdout=out)
    except CommandError as error:
        return out.getvalue() + str(error), error.returncode
    return out.getvalue(), 0


def test_the_command_prints_the_plan_of_a_description_or_of_a_timeline(
    stored: Callable[..., Timeline], tmp_path: Path
) -> None:
    group = tmp_path / "group.yaml"
    group.write_text("topics: {foo: 6}\nmembers: 3\nclient: 3.8\nassignors: [range]\n")
    told, status = rehearse(str(group))
    assert (orjson.loads(told)["outcome"], status) == ("done", 0)
    told, status = rehearse(str(group), "--policy", "disabled", "--format", "markdown")
    assert told.startswith("# Upgrade plan: orders to the consumer protocol")
    assert (status, "GROUP_ID_NOT_FOUND" in told) == (1, True)
    told, status = rehearse(str(group), "--to", "cooperative", "--format", "scenario", "--way", "back")
    assert (len(load(told, "x").script), status) == (13 + 2, 0)
    timeline = in_a_classic_group(stored)
    told, status = rehearse("--timeline", timeline.id, "--client", "3.6")
    assert (orjson.loads(told)["question"]["timeline"], status) == (timeline.id, 0)


@pytest.mark.parametrize(
    ("text", "words", "status", "says"),
    [
        ("topics: {foo: 6}\nmembers: 3\nclient: old\n", (), 2, "line 3, client: expected the release"),
        ("topics: [", (), 2, "line 1: this is not YAML"),
        ("topics: {foo: 6}\nmembers: 3\n", ("--to", "share"), 2, "to: unknown target share"),
        ("topics: {foo: 6}\nmembers: 3\n", ("--format", "pdf"), 2, "--format pdf: there are json"),
        ("topics: {foo: 6}\nmembers: 3\n", ("--client", "3.8"), 2, "--client goes with --timeline"),
        ("topics: {foo: 6}\nmembers: 3\n", ("--timeline", "x"), 2, "one of FILE and --timeline"),
        (None, ("--timeline", "nosuch"), 1, "nosuch"),
        (None, ("--timeline", "nosuch", "--at", "-1"), 2, "--at -1: expected a whole number"),
        (None, (), 2, "one of FILE and --timeline"),
    ],
)
def test_the_command_tells_a_mistake_in_one_line(
    tmp_path: Path, text: str | None, words: tuple[str, ...], status: int, says: str
) -> None:
    file = tmp_path / "group.yaml"
    file.write_text(text or "")
    told, code = rehearse(*([str(file)] if text is not None else []), *words)
    assert (code, says in told) == (status, True), told
    assert "\n" not in told.strip()


def links(page: str) -> list[str]:
    listed = page.partition('<ul id="timelines">')[2].partition("</ul>")[0]
    return re.findall(r'href="([^"]*)"', listed)


def test_the_first_click_on_a_listed_timeline_rehearses_it(
    client: Client, stored: Callable[..., Timeline]
) -> None:
    """The form sent the example's members and topics along: the click was refused."""
    timeline = stored(Story().unit(classic_group()), title="Orders at night")
    assert links(text_of(client, "/rehearsal")) == [f"/rehearsal?timeline={timeline.id}"]
    page = text_of(client, links(text_of(client, "/rehearsal"))[0])
    assert 'role="alert"' not in page
    assert f'name="timeline" value="{timeline.id}"' in page
    assert 'name="members"' not in page


def test_a_timeline_is_found_by_title_group_or_id_however_many_are_newer(
    client: Client, stored: Callable[..., Timeline]
) -> None:
    old = stored(Story().unit(classic_group()), title="Orders at night")
    fresh = [
        Timeline(
            id=f"newer{number}",
            title=f"Newer {number}",
            group="g",
            protocol="classic",
            entry_format=ENTRY_FORMAT,
            fold_version=FOLD_VERSION,
            last=1,
            source="import",
        )
        for number in range(TIMELINES_OFFERED)
    ]
    Timeline.objects.bulk_create(fresh)
    page = text_of(client, "/rehearsal")
    assert len(links(page)) == TIMELINES_OFFERED
    assert f"The newest {TIMELINES_OFFERED} of {TIMELINES_OFFERED + 1}." in page
    for word in ("at night", old.group, old.id):
        assert links(text_of(client, f"/rehearsal?find={word}")) == [f"/rehearsal?timeline={old.id}"]
    assert "No timeline has “nowhere”" in text_of(client, "/rehearsal?find=nowhere")
