"""The pages of the lessons, and the ways into them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from explorer.pages.lessons import drafting
from explorer.pages.lessons.drafting import draft_of
from explorer.pages.lessons.listing import of_studies, of_terms
from groups.models import Timeline
from simulations import courses
from simulations.world import studies
from tests.stories import Story

pytestmark = pytest.mark.once


def test_all_lessons_are_listed_with_goal_and_minutes(client: Client, transactional_db: None) -> None:
    page = client.get("/lessons/").content.decode()
    for name in courses.names():
        assert f'href="/lessons/{name}"' in page
    assert "Needs no knowledge of Kafka" in page
    assert "4 min" in page


def test_a_lesson_comes_whole_with_its_page(client: Client, transactional_db: None) -> None:
    page = client.get("/lessons/three-epochs").content.decode()
    found = re.search(r'<script type="application/json" id="sheet-data">(.*?)</script>', page)
    assert found is not None
    sheet = json.loads(found[1])
    assert sheet["title"] == "The three epochs"
    assert len(sheet["run"]["chunk"]["moments"]) == 16
    assert 'href="/lessons/released-is-not-assigned">Next lesson' in page


def test_a_lesson_that_is_not_there_is_404(client: Client, transactional_db: None) -> None:
    assert client.get("/lessons/nothing").status_code == 404
    assert client.get("/lessons/nothing/handout").status_code == 404
    assert client.get("/api/lessons/nothing").json()["error"] == {
        "code": "not_found",
        "message": "There is no lesson 'nothing'.",
        "field": "lesson",
        "expected": None,
    }


def test_the_handout_has_the_questions_and_the_answers_behind_them(
    client: Client, transactional_db: None
) -> None:
    page = client.get("/lessons/released-is-not-assigned/handout").content.decode()
    assert page.index("What will it own after the response?") < page.index("<h2>Answers</h2>")
    text = re.sub(r"<[^>]+>", "", page[page.index("<h2>Answers</h2>") :])
    assert "C owns foo-2." in " ".join(text.split())
    assert page.index('<svg class="thumb"') < page.index("What will it own")
    assert "The proposal’s table" in page
    assert "The proposal’s page shows C with its partition already" in text_of(page)
    assert "A shorter heartbeat interval. The coordinator never calls a member." in text_of(page)


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


def test_the_handout_of_an_assignor_by_hand_has_the_six_answers(
    client: Client, transactional_db: None
) -> None:
    page = client.get("/lessons/by-hand-sticky/handout").content.decode()
    answers = text_of(page[page.index("<h2>Answers</h2>") :])
    assert "Two are enough: that is what C is to have." in answers
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
    assert {name: re.findall(r">([^<]+)</td>", cells) for name, cells in rows}["sticky"] == [*"AACBBC", "2"]


def test_the_page_for_writing_begins_with_a_lesson(client: Client, transactional_db: None) -> None:
    page = client.get("/lessons/write?from=heartbeats").content.decode()
    assert "title: Heartbeats" in page
    assert "title: The three epochs" in client.get("/lessons/write").content.decode()
    assert "title: The three epochs" in client.get("/lessons/write?from=<script>").content.decode()


def test_the_first_page_leads_to_the_first_lesson_and_words_to_their_beats(
    client: Client, transactional_db: None
) -> None:
    assert 'href="/lessons/a-group-shares-partitions">' in client.get("/").content.decode()
    page = client.get("/help/").content.decode()
    assert 'href="/lessons/three-epochs?beat=1" aria-label="See it: group epoch in a lesson"' in page


def test_a_case_study_names_its_lesson(client: Client, stored: Callable[..., Timeline]) -> None:
    stored(Story().joins("A", [0]), timeline_id="kip848-member-failure", source="case-study", title="A dies")
    assert 'href="/lessons/a-member-dies">' in client.get("/t/kip848-member-failure").content.decode()
    other = stored(Story().joins("A", [0]))
    assert "Take it as a lesson" not in client.get(f"/t/{other.id}").content.decode()


def test_every_case_study_of_a_proposal_leads_to_a_lesson_and_the_lesson_back(
    client: Client, transactional_db: None
) -> None:
    without = {study for study in studies.names() if study not in of_studies()}
    # Streams' assignor, a setting of one release, what brokers are: told on their own boards alone; a migration's lesson is of the released one.
    assert without == {
        "kip848-streams",
        "kip848-migration",
        "kip848-migration-back",
        "kip848-client-migration",
        "kip848-streams-migration",
        "released-brokers-roll",
        "released-feature-lowered",
        "released-unresolved-regex",
    }
    page = client.get("/lessons/a-member-dies").content.decode()
    assert 'href="/t/kip848-member-failure?play=1">Play the whole case study' in page
    assert "Play the whole case study" not in client.get("/lessons/heartbeats").content.decode()


def test_a_released_case_leads_to_the_lesson_of_the_same_case() -> None:
    assert of_studies()["released-member-failure"] == "a-member-dies"
    assert of_studies()["released-six-partitions"] == "who-waits-for-whom"


def test_the_words_that_a_newcomer_meets_lead_to_the_beat_that_shows_them() -> None:
    needed = {
        "consumer group", "partition", "member", "coordinator", "rebalance", "heartbeat", "session timeout", "killed",
        "target assignment", "group epoch", "assignment epoch", "member epoch", "revoking", "released", "unassigned",
        "stable", "assigning", "reconciling", "preparingrebalance", "completingrebalance", "generation", "leader",
        "barrier", "eager rebalance", "cooperative rebalance", "withheld", "fenced", "instance id", "rebalance timeout",
    }  # fmt: skip
    assert needed - of_terms().keys() == set()


def test_a_lesson_of_ones_own_begins_with_a_stored_timeline(
    client: Client, stored: Callable[..., Timeline]
) -> None:
    log = stored(Story().joins("A", [0, 1]).leaves("A"))
    assert f'href="/lessons/write?timeline={log.id}"' in client.get(f"/t/{log.id}").content.decode()
    draft = draft_of(log)
    assert f"log: {log.id}" in draft
    answer = post(client, "/api/lessons/check", text=draft).json()
    assert answer["problems"] == []
    assert answer["sheet"]["beats"][0]["title"] == "How it begins"
    study = stored(Story().joins("A", [0]), timeline_id="kip848-basic", source="case-study", title="Basic")
    assert "study: kip848-basic" in draft_of(study)
    run = stored(
        Story().joins("A", [0]),
        source="simulation",
        scenario=studies.text("kip848-member-failure"),
        title='A "dies"',
    )
    assert post(client, "/api/lessons/check", text=draft_of(run)).json()["problems"] == []
    assert client.get("/lessons/write?timeline=nothing").status_code == 404


def test_a_timeline_that_is_too_long_for_a_lesson_is_refused(
    client: Client, stored: Callable[..., Timeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stored(Story().joins("A", [0, 1]).leaves("A"))
    monkeypatch.setattr(drafting, "ENTRIES_MAX", 2)
    error = post(client, "/api/lessons/check", text=draft_of(log)).json()["error"]
    assert error["message"].endswith("a lesson is told of 2 at most.")


# ---- the API ----


def post(client: Client, address: str, **body: object) -> object:
    return client.post(address, body, content_type="application/json")


def test_the_api_lists_lessons_and_gives_one(client: Client, transactional_db: None) -> None:
    listed = client.get("/api/lessons").json()
    assert [course["id"] for course in listed] == [
        *("from-zero", "kip-848", "kip-429", "stale-claims", "by-hand", "incidents")
    ]
    assert client.get("/api/lessons/by-hand-range").json()["hands"]["members"][0]["name"] == "A"


def test_a_text_is_checked_and_played(client: Client, transactional_db: None) -> None:
    text = courses.text("three-epochs")
    answer = post(client, "/api/lessons/check", text=text).json()
    assert answer["problems"] == []
    assert answer["sheet"]["title"] == "The three epochs"
    spoiled = post(client, "/api/lessons/check", text=text.replace("A.epoch: 1,", "A.epoch: 7,", 1)).json()
    (problem,) = spoiled["problems"]
    assert problem["message"] == "the run says that A.epoch is 1, not 7"
    assert problem["line"] > 5
    broken = post(client, "/api/lessons/check", text="title: [").json()
    assert broken["sheet"] is None
    assert broken["problems"][0]["message"].startswith("this is not YAML")


@pytest.mark.parametrize(
    ("body", "message", "field"),
    [
        ({}, "text is missing: the YAML of a lesson.", "text"),
        ({"text": 7}, "text is missing: the YAML of a lesson.", "text"),
        ({"text": "x" * 70_000}, "The lesson is longer than 64 KB.", "text"),
    ],
)
def test_a_text_that_is_none_is_refused(
    client: Client, transactional_db: None, body: dict[str, object], message: str, field: str
) -> None:
    error = post(client, "/api/lessons/check", **body).json()["error"]
    assert (error["message"], error["field"]) == (message, field)


def test_a_run_is_played_on_by_what_the_reader_does(client: Client, transactional_db: None) -> None:
    acts = [{"at_ms": 10_601, "do": "join", "who": "D"}]
    answer = post(
        client, "/api/lessons/runs", lesson="released-is-not-assigned", at_ms=10_600, acts=acts
    ).json()
    assert "D joins" in [moment["says"] for moment in answer["run"]["chunk"]["moments"]]
    started = post(client, "/api/runs", scenario=answer["scenario"])
    assert started.status_code == 201


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"lesson": "nothing", "at_ms": 1}, "lesson must be the id of a lesson, or text its YAML."),
        ({"lesson": "three-epochs"}, "at_ms must be a time of the run, in milliseconds."),
        ({"lesson": "three-epochs", "at_ms": True}, "at_ms must be a time of the run, in milliseconds."),
        ({"lesson": "three-epochs", "at_ms": 1, "acts": [1]}, 'acts must be a list of {"at_ms", "do", "who"}.'),
        ({"lesson": "three-epochs", "at_ms": 1, "more": 1}, "'more' is no field"),
        ({"text": "title: A\n", "at_ms": 1}, "A lesson needs goal."),
        ({"lesson": "recorded-one-gone", "at_ms": 1}, "A recording, or a case of the laboratory, cannot be played on."),
        ({"lesson": "three-epochs", "at_ms": 1, "acts": [{"at_ms": 2, "do": "kill", "who": "Q"}]}, "Unknown member Q"),
    ],
)  # fmt: skip
@pytest.mark.long
def test_what_cannot_be_played_on_is_refused_in_a_line(
    client: Client, transactional_db: None, body: dict[str, object], message: str
) -> None:
    answer = post(client, "/api/lessons/runs", **body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(message)


# ---- the command ----


def test_the_command_lists_and_shows_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("lessons", "list")
    assert len(capsys.readouterr().out.splitlines()) == len(courses.names())
    call_command("lessons", "show", "three-epochs")
    assert json.loads(capsys.readouterr().out)["minutes"] == 7
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(courses.text("heartbeats"))
    bad.write_text(courses.text("heartbeats").replace("A.count: 2,", "A.count: 5,", 1))
    call_command("lessons", "check", str(good))
    assert json.loads(capsys.readouterr().out) == {"file": str(good), "problems": []}
    with pytest.raises(SystemExit) as ended:
        call_command("lessons", "check", str(good), str(bad))
    assert ended.value.code == 1
    told = capsys.readouterr()
    assert "the run says that A.count is 2, not 5" in told.err
    assert len(told.out.splitlines()) == 2
    with pytest.raises(CommandError, match="No such file"):
        call_command("lessons", "check", str(tmp_path / "none.yaml"))
    with pytest.raises(CommandError, match="There is no lesson 'none'"):
        call_command("lessons", "show", "none")
