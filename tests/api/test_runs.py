"""Starting runs, over the API and from the page."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from kombu.exceptions import OperationalError

from groups.models import Timeline
from simulations.jobs import run_tasks
from simulations.world import studies
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db(transaction=True)

BAD = "topics: {foo: {partitions: 3}}\nmembers: {A: {subscribe: [foo]}}\nscript:\n  - {at: soon, join: A}\nuntil: 60s\n"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    waiting: list[str] = []
    monkeypatch.setattr(run_tasks.run, "delay", waiting.append)
    return waiting


def test_a_run_is_queued_and_its_address_told(api: Api, queued: list[str]) -> None:
    status, answer = api.post("runs", {"scenario": "kip848-basic", "semantics": "kip", "seed": 3})
    assert status == 201
    # ``timeline`` is the name that its id had before.
    url = reverse("board", args=queued)
    assert answer == {"id": queued[0], "type": "timeline", "url": url, "timeline": queued[0]}
    timeline = Timeline.objects.get()
    assert (timeline.id, timeline.semantics, timeline.seed) == (queued[0], "kip", 3)
    assert timeline.scenario == studies.text("kip848-basic")


def test_a_run_is_stored_where_the_queue_cannot_be_reached_and_the_sweep_queues_it_later(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_timeline: str) -> None:
        raise OperationalError("Error 111: Connection refused")

    monkeypatch.setattr(run_tasks.run, "delay", refuse)
    status, answer = api.post("runs", {"scenario": "kip848-basic"})
    assert status == 201
    assert Timeline.objects.get(pk=answer["timeline"]).status == Timeline.Status.RUNNING


def test_a_scenario_of_ones_own_is_taken_as_text(api: Api) -> None:
    text = studies.text("kip848-basic").replace("partitions: 3", "partitions: 4")
    status, answer = api.post("runs", {"scenario": text})
    assert status == 201
    assert Timeline.objects.get(pk=answer["timeline"]).scenario == text


def test_a_scenario_that_is_wrong_is_told_with_line_and_field(api: Api, queued: list[str]) -> None:
    status, answer = api.post("runs", {"scenario": BAD})
    assert status == 400
    assert answer["error"]["line"] == 4
    assert answer["error"]["field"] == "script[0].at"
    assert "\n" not in answer["error"]["message"]
    assert queued == []


def test_a_scenario_is_checked_as_a_run_would_be_and_nothing_is_started(api: Api, queued: list[str]) -> None:
    def problems(**body: object) -> list[dict[str, Any]]:
        status, answer = api.post("runs/check", body)
        assert status == 200
        return list(answer["problems"])

    assert problems(scenario="kip848-basic") == []
    [problem] = problems(scenario=BAD)
    assert (problem["line"], problem["field"]) == (4, "script[0].at")
    assert problem["message"].startswith("expected a duration")
    [problem] = problems(scenario="kip848-basic", semantics="kip", release="4.4.0")
    assert (problem["line"], problem["field"]) == (None, "release")
    [problem] = problems(scenario="#" * (300 * 1024))
    assert problem["message"] == "The scenario is longer than 256 KB."
    assert queued == []
    assert not Timeline.objects.exists()


def test_the_page_begins_with_the_scenario_of_a_run_its_seed_and_its_rules(
    api: Api, queued: list[str]
) -> None:
    text = studies.text("kip848-basic").replace("partitions: 3", "partitions: 4")
    api.post("runs", {"scenario": text, "semantics": "kip", "seed": 9})
    page = api.client.get(f"/simulate/?timeline={queued[0]}").content.decode()
    assert "partitions: 4" in page
    assert 'value="9"' in page
    assert '<option value="kip" selected>' in page
    assert api.client.get("/simulate/?timeline=gone").status_code == 404


def test_a_request_that_is_too_large_is_refused(api: Api) -> None:
    assert api.post("runs", {"scenario": "#" * (300 * 1024)})[0] == 413
    status, answer = api.post("runs", {"scenario": "#" * (2 * 1024 * 1024)})
    assert (status, answer["error"]["message"]) == (413, "The request is larger than this server takes.")


def test_the_page_begins_with_a_case_study_and_starts_what_was_made_of_it(
    api: Api, queued: list[str]
) -> None:
    page = api.client.get("/simulate/?scenario=released-basic").content.decode()
    assert "<option selected>released-basic</option>" in page
    assert page.count("csrfmiddlewaretoken") == 1

    # Browsers send a text's lines with CR LF.
    text = studies.text("released-basic")
    answer = api.client.post(
        "/simulate/", {"scenario": text.replace("\n", "\r\n"), "semantics": "", "seed": ""}
    )
    assert (answer.status_code, answer["Location"]) == (302, reverse("board", args=queued))
    assert Timeline.objects.get().scenario == text


def test_the_page_keeps_what_was_written_and_says_what_is_wrong_with_it(api: Api, queued: list[str]) -> None:
    answer = api.client.post("/simulate/", {"scenario": BAD, "semantics": "kip", "seed": "7"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "line 4, script[0].at" in page
    assert "at: soon" in page
    assert '<option value="kip" selected>' in page
    assert 'data-wrong="4"' in page
    assert "<code>- {at: soon, join: A}</code>" in page
    assert queued == []


def test_what_is_wrong_with_a_seed_is_told_at_the_seed(api: Api, queued: list[str]) -> None:
    answer = api.client.post(
        "/simulate/", {"scenario": studies.text("kip848-basic"), "semantics": "", "seed": "soon"}
    )
    page = answer.content.decode()
    assert 'value="soon" placeholder="the scenario’s" aria-invalid="true" aria-describedby="refused"' in page
    assert "data-wrong" not in page
    assert queued == []
